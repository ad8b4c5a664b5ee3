//===- ProveGivenRules.cpp - The rules of a user's file, proved -----------===//

#include "mlir/IR/Diagnostics.h"
#include "rewrites/Rules/GivenRules.h"
#include "rewrites/Rules/VerifyRules.h"
#include "runtime/FileBytes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlc;
using llvm::Expected;
using llvm::StringRef;

char GivenRulesError::ID = 0;

static llvm::Error refuse(Exit code, const llvm::Twine &text) {
  return llvm::make_error<GivenRulesError>(code, text.str());
}

/// Reads rules into `rules`; the error is the first diagnostic.
static llvm::Error
readAs(StringRef file, mlir::MLIRContext &context,
       llvm::function_ref<mlir::LogicalResult(mlir::MLIRContext *)> read) {
  std::string problem;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &d) {
    if (problem.empty() && d.getSeverity() == mlir::DiagnosticSeverity::Error) {
      llvm::raw_string_ostream os(problem);
      if (auto at = llvm::dyn_cast<mlir::FileLineColLoc>(d.getLocation()))
        os << at.getLine() << ':' << at.getColumn() << ": ";
      os << d;
    }
    return mlir::success();
  });
  if (succeeded(read(&context)))
    return llvm::Error::success();
  return refuse(Exit::BadFile,
                file + ": " +
                    (problem.empty() ? "is no file of rules" : problem) +
                    "; see docs/AddARewrite.md for the form");
}

/// Why a rule is not applied.
static std::string refusal(StringRef file, Rule &rule, const Verdict &verdict) {
  std::string start = (file + ": rule @" + rule.getName() + " is ").str();
  if (verdict.isRefuted())
    return start + "refuted; correct it or leave it out\n" +
           StringRef(verdict.counterexample.text).rtrim().str();
  return start + "not proved: " + verdict.reason +
         "; see docs/AddARewrite.md for what can be proved";
}

Expected<GivenRules> GivenRules::prove(StringRef file, StringRef text,
                                       llvm::ArrayRef<GivenRules> earlier) {
  GivenRules given(file, text);
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  RuleSet rules;
  if (llvm::Error error = readAs(file, context, [&](mlir::MLIRContext *in) {
        return addRules(rules, in, earlier);
      }))
    return error;
  const size_t numShipped = rules.rules.size();
  if (llvm::Error error = readAs(file, context, [&](mlir::MLIRContext *in) {
        return addRuleFile(rules, in, text, file);
      }))
    return error;
  const auto own = llvm::MutableArrayRef(rules.rules).drop_front(numShipped);
  if (own.empty())
    return refuse(Exit::BadFile, file + ": has no rules");
  std::string problem;
  Exit code = Exit::Done;
  VerifyRulesOptions options;
  options.verifier.minimizeCounterexample = true;
  const bool isRead = verifyRules(
      own.size(), options,
      [&](RuleSet &rules, mlir::MLIRContext &context) {
        return succeeded(addRuleFile(rules, &context, text, file));
      },
      [&](size_t i, const Verdict &verdict) {
        if (verdict.isProved())
          given.proofs[own[i].hash] = {verdict.floatClass, verdict.isTwoWay};
        else if (problem.empty()) {
          problem = refusal(file, own[i], verdict);
          code = verdict.isRefuted() ? Exit::Differs : Exit::Unknown;
        }
      });
  if (!isRead)
    return refuse(Exit::BadFile, file + ": cannot be read on every thread");
  if (!problem.empty())
    return refuse(code, problem);
  return given;
}

Expected<GivenRules> GivenRules::proveFile(StringRef path,
                                           llvm::ArrayRef<GivenRules> earlier) {
  runtime::FileBytes bytes;
  runtime::Status status =
      runtime::FileBytes::read(path.str().c_str(), runtime::maxTextFile, bytes);
  if (!status.ok())
    return refuse(Exit::BadFile, path + ": " + status.message +
                                     "; give the path of a rule file");
  return prove(path, bytes.text(), earlier);
}
