//===- Lowering.h - From emitted bodies to machine code ---------*- C++ -*-===//

#ifndef MLC_CODEGEN_CPU_LOWERING_H
#define MLC_CODEGEN_CPU_LOWERING_H

#include "codegen/target/Target.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace mlc::cpu {

/// Rewrites a module of emitted functions to the LLVM dialect. Errors are
/// emitted where they occur.
mlir::LogicalResult lowerToLLVMDialect(mlir::ModuleOp module);

/// Machine code, as an ELF relocatable object, of a module in the LLVM dialect.
/// Exports the functions that are not internal. With `dumpPrefix`, also writes
/// PREFIX.ll and PREFIX.s.
llvm::Expected<std::string> makeObject(mlir::ModuleOp module,
                                       const Target &target,
                                       llvm::StringRef dumpPrefix);

/// Links objects into one shared object. Fails when a symbol stays undefined.
llvm::Expected<std::string>
linkSharedObject(const std::vector<std::string> &objects);

} // namespace mlc::cpu

#endif // MLC_CODEGEN_CPU_LOWERING_H
