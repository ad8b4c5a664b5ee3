//===- OpBase.h - Includes for operator classes -----------------*- C++ -*-===//

#ifndef MLC_DIALECTS_GRAPH_OPBASE_H
#define MLC_DIALECTS_GRAPH_OPBASE_H

#include "dialects/Definition/OpInterfaces.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#endif // MLC_DIALECTS_GRAPH_OPBASE_H
