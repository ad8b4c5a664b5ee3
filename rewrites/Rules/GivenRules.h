//===- GivenRules.h - Rules of a user's file --------------------*- C++ -*-===//
//
// Rules that mlc does not ship are not trusted: each is proved when its file is
// read, whatever the file claims. A file with an unproved rule is rejected as a
// whole.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_REWRITES_RULES_GIVENRULES_H
#define MLC_REWRITES_RULES_GIVENRULES_H

#include "rewrites/Rules/Rule.h"
#include "runtime/Exit.h"
#include "llvm/Support/Error.h"
#include <map>

namespace mlc {

/// Why a file of rules is rejected.
class GivenRulesError : public llvm::ErrorInfo<GivenRulesError> {
public:
  static char ID;

  /// `code`: BadFile, Differs if a rule was refuted, or Unknown if one was not
  /// decided.
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

/// A file of rules with their proofs. Keeps a copy of the text, so that each
/// context can parse it.
class GivenRules {
public:
  /// Reads `text` (of a file called `file`) and proves each rule. Errors
  /// (GivenRulesError) begin with the file's name: the text cannot be parsed or
  /// has no rules; a rule is refuted (with the counterexample) or not decided
  /// (with the reason); a shipped rule or one of `earlier` has the same name.
  static llvm::Expected<GivenRules> prove(llvm::StringRef file,
                                          llvm::StringRef text,
                                          llvm::ArrayRef<GivenRules> earlier);
  /// The same for the file at `path`.
  static llvm::Expected<GivenRules>
  proveFile(llvm::StringRef path, llvm::ArrayRef<GivenRules> earlier);

  /// Adds the rules with their proofs to a set.
  mlir::LogicalResult addTo(RuleSet &rules, mlir::MLIRContext *context) const;

private:
  GivenRules(llvm::StringRef file, llvm::StringRef text)
      : file(file), text(text) {}

  std::string file, text;
  std::map<std::string, RuleProof> proofs; // by hash
};

/// The shipped rules and the given ones.
mlir::LogicalResult addRules(RuleSet &rules, mlir::MLIRContext *context,
                             llvm::ArrayRef<GivenRules> given);

} // namespace mlc

#endif // MLC_REWRITES_RULES_GIVENRULES_H
