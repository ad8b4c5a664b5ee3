//===- GivenRules.h - Rules of a user's file --------------------*- C++ -*-===//
//
// Nobody vouches for a rule that mlc does not ship: it is proved when its file
// is read, whatever the file says, and a file with one that is not proved is
// refused whole.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_REWRITES_RULES_GIVENRULES_H
#define MLC_REWRITES_RULES_GIVENRULES_H

#include "rewrites/Rules/Rule.h"
#include "runtime/Exit.h"
#include "llvm/Support/Error.h"
#include <map>

namespace mlc {

/// Why a file of rules is not taken.
class GivenRulesError : public llvm::ErrorInfo<GivenRulesError> {
public:
  static char ID;

  /// `code`: BadFile, or Differs of a rule that was refuted, or Unknown of one
  /// that was not decided.
  GivenRulesError(Exit code, std::string text)
      : code(code), text(std::move(text)) {}
  Exit getCode() const { return code; }
  void log(llvm::raw_ostream &os) const override { os << text; }
  std::error_code convertToErrorCode() const override {
    return llvm::inconvertibleErrorCode();
  }

private:
  Exit code;
  std::string text;
};

/// A file of rules with what was proved of them. A copy of the text, so that
/// each context can read it.
class GivenRules {
public:
  /// Reads `text` (of a file called `file`) and proves each rule. Errors
  /// (GivenRulesError) begin with the file's name: no rules or none that can be
  /// read; a rule that is refuted (with the counterexample) or not decided
  /// (with the reason); a name that a shipped rule or one of `earlier` has.
  static llvm::Expected<GivenRules> prove(llvm::StringRef file,
                                          llvm::StringRef text,
                                          llvm::ArrayRef<GivenRules> earlier);
  /// The same of the file at `path`.
  static llvm::Expected<GivenRules>
  proveFile(llvm::StringRef path, llvm::ArrayRef<GivenRules> earlier);

  /// Adds the rules to a set, as proved.
  mlir::LogicalResult addTo(RuleSet &rules, mlir::MLIRContext *context) const;

private:
  GivenRules(llvm::StringRef file, llvm::StringRef text)
      : file(file), text(text) {}

  std::string file, text;
  std::map<std::string, FloatClass> proofs; // by hash
};

/// The shipped rules and the given ones.
mlir::LogicalResult addRules(RuleSet &rules, mlir::MLIRContext *context,
                             llvm::ArrayRef<GivenRules> given);

} // namespace mlc

#endif // MLC_REWRITES_RULES_GIVENRULES_H
