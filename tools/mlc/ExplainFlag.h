//===- ExplainFlag.h - --explain of commands that search --------*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_EXPLAINFLAG_H
#define MLC_TOOLS_MLC_EXPLAINFLAG_H

#include "mlir/IR/OwningOpRef.h"
#include "tools/mlc/Build.h"
#include "tools/mlc/Explain.h"

namespace mlc::cli {

/// `--explain[=FILE.svg|FILE.html]`, in the order in which a command needs it:
///
///   check        before anything is read
///   keep         once the model is imported
///   explain      once the optimize phase is over
class ExplainFlag {
public:
  explicit ExplainFlag(llvm::cl::SubCommand &sub);

  /// Fails with code 2 for a file that is neither SVG nor HTML.
  llvm::Error check() const;
  /// The drawing's file; empty if none.
  const std::string &getFile() const { return file.getValue(); }
  bool isGiven() const { return file.getNumOccurrences(); }
  /// A copy of the imported model, which shares its weights; null if the flag
  /// was not given.
  mlir::OwningOpRef<mlir::ModuleOp> keep(mlir::ModuleOp imported) const;
  /// Prints and draws the steps from `before`, the result of `keep`, to
  /// `after`, which has the trail. Does nothing without the flag. `compilation`
  /// did the search; `model` is the name of its file.
  llvm::Error explain(const Compilation &compilation, const std::string &model,
                      mlir::OwningOpRef<mlir::ModuleOp> before,
                      mlir::ModuleOp after, llvm::raw_ostream &os) const;

private:
  llvm::Error draw(const std::string &model, const Explanation &one) const;

  llvm::cl::opt<std::string> file;
};

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_EXPLAINFLAG_H
