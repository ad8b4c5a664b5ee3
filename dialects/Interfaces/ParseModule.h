//===- ParseModule.h - Modules from texts of unknown origin -----*- C++ -*-===//

#ifndef MLC_DIALECTS_INTERFACES_PARSEMODULE_H
#define MLC_DIALECTS_INTERFACES_PARSEMODULE_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/Value.h"

namespace llvm {
class SourceMgr;
}

namespace mlc {

/// Reads and verifies a module, as mlir::parseSourceFile does, but refuses
/// first what makes MLIR 22's own verifiers and accessors read out of bounds:
/// the dim of a `tensor.concat` that its operands do not have, a `tensor.pad`
/// without a width for each side, groups of a reshape that are not its dims.
/// Null, with errors emitted, where the text is no module. Arguments of blocks
/// keep the names that the text has for them (argumentName).
mlir::OwningOpRef<mlir::ModuleOp> parseModule(const llvm::SourceMgr &sources,
                                              mlir::MLIRContext *context);
/// The same for the file called `path`; `-` is standard input.
mlir::OwningOpRef<mlir::ModuleOp> parseModuleFile(llvm::StringRef path,
                                                  mlir::MLIRContext *context);
/// The same for `text`, which messages call `name`.
mlir::OwningOpRef<mlir::ModuleOp> parseModuleText(llvm::StringRef text,
                                                  llvm::StringRef name,
                                                  mlir::MLIRContext *context);

/// What the text from which an argument was read calls it, without `%`; empty
/// where it was not read by the functions above. It is the argument's location,
/// a NameLoc, so that printing with OpPrintingFlags::printNameLocAsPrefix gives
/// the name again.
llvm::StringRef argumentName(mlir::BlockArgument argument);
/// Gives an argument a name.
void setArgumentName(mlir::BlockArgument argument, llvm::StringRef name);

} // namespace mlc

#endif // MLC_DIALECTS_INTERFACES_PARSEMODULE_H
