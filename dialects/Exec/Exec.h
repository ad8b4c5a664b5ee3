//===- Exec.h - Programs for the runtime ------------------------*- C++ -*-===//

#ifndef MLC_DIALECTS_EXEC_EXEC_H
#define MLC_DIALECTS_EXEC_EXEC_H

#include "dialects/Symbolic/Attributes.h"
#include "dialects/Symbolic/Enums.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/Exec/ExecDialect.h.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/Exec/ExecTypes.h.inc"

#include "dialects/Exec/ExecInterfaces.h.inc"

#define GET_OP_CLASSES
#include "dialects/Exec/Exec.h.inc"

#endif // MLC_DIALECTS_EXEC_EXEC_H
