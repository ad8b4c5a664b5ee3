//===- Graph.h - The mlc dialect's operators --------------------*- C++ -*-===//

#ifndef MLC_DIALECTS_GRAPH_GRAPH_H
#define MLC_DIALECTS_GRAPH_GRAPH_H

#include "dialects/Graph/Pointwise.h"
#include "dialects/Interfaces/OpInterfaces.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#define GET_OP_CLASSES
#include "dialects/Graph/Ops.h.inc"

#endif // MLC_DIALECTS_GRAPH_GRAPH_H
