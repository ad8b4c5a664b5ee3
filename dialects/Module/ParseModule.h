//===- ParseModule.h - Modules from texts of unknown origin -----*- C++ -*-===//

#ifndef MLC_DIALECTS_MODULE_PARSEMODULE_H
#define MLC_DIALECTS_MODULE_PARSEMODULE_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/Value.h"

namespace llvm {
class SourceMgr;
}

namespace mlc {

/// Reads and verifies a module, like mlir::parseSourceFile, but first rejects
/// input that makes MLIR 22's own verifiers and accessors read out of bounds: a
/// `tensor.concat` along a dim that its operands lack, a `tensor.pad` without a
/// width per side, groups of a reshape that are not its dims. Null, with errors
/// emitted, if the text is not a module. Block arguments keep the names of the
/// text (argumentName).
mlir::OwningOpRef<mlir::ModuleOp> parseModule(const llvm::SourceMgr &sources,
                                              mlir::MLIRContext *context);
/// The same for the file called `path`; `-` is standard input.
mlir::OwningOpRef<mlir::ModuleOp> parseModuleFile(llvm::StringRef path,
                                                  mlir::MLIRContext *context);
/// The same for `text`, which messages call `name`.
mlir::OwningOpRef<mlir::ModuleOp> parseModuleText(llvm::StringRef text,
                                                  llvm::StringRef name,
                                                  mlir::MLIRContext *context);
/// Reads, without verification, a text that an earlier parseModuleText
/// accepted: the build's, of which this program holds the hash.
mlir::OwningOpRef<mlir::ModuleOp> parseVerifiedText(llvm::StringRef text,
                                                    llvm::StringRef name,
                                                    mlir::MLIRContext *context);

/// The name of an argument in the text from which it was read, without `%`;
/// empty if it was not read by the functions above. The name is the argument's
/// location, a NameLoc, so that printing with
/// OpPrintingFlags::printNameLocAsPrefix reproduces it.
llvm::StringRef argumentName(mlir::BlockArgument argument);
/// Gives an argument a name.
void setArgumentName(mlir::BlockArgument argument, llvm::StringRef name);

} // namespace mlc

#endif // MLC_DIALECTS_MODULE_PARSEMODULE_H
