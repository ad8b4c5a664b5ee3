//===- Command.cpp - What the subcommands of mlc-rules share --------------===//

#include "tools/mlc-rules/Command.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

namespace cl = llvm::cl;

namespace mlc::rules {

cl::OptionCategory &category() {
  static cl::OptionCategory options("mlc-rules options");
  return options;
}

int fail(Exit code, const llvm::Twine &message) {
  llvm::errs() << "mlc: error: " << message << '\n';
  return code;
}

RuleFileOptions::RuleFileOptions(cl::SubCommand &command)
    : files(cl::Positional, cl::desc("[rule file...]"), cl::sub(command),
            cl::cat(category())),
      json("json", cl::desc("print one JSON document"), cl::sub(command),
           cl::cat(category())) {}

int RuleFileOptions::load(RuleSet &rules, mlir::MLIRContext &context) const {
  if (files.empty())
    return failed(addShippedRules(rules, &context)) ? BadInput : Done;
  for (const std::string &file : files) {
    auto buffer = llvm::MemoryBuffer::getFile(file);
    if (!buffer)
      return fail(BadInput, file + ": " + buffer.getError().message() +
                                "; give the path of a rule file");
    if (failed(addRuleFile(rules, &context, (*buffer)->getBuffer(), file)))
      return fail(BadInput, file + ": not a file of rules; see "
                                   "docs/AddARewrite.md for the form");
  }
  return Done;
}

static std::string textOf(mlir::func::FuncOp function) {
  std::string text;
  llvm::raw_string_ostream os(text);
  function.print(os);
  return text;
}

llvm::json::Object describe(Rule &rule) {
  return llvm::json::Object{{"name", rule.getName()},
                            {"text", rule.getText()},
                            {"hash", rule.hash},
                            {"condition", rule.conditionText()},
                            {"before", textOf(rule.getBefore())},
                            {"after", textOf(rule.getAfter())}};
}

void addVerdict(llvm::json::Object &object, const Verdict &verdict) {
  object["verdict"] = name(verdict.kind);
  object["seconds"] = verdict.totalMs / 1000;
  object["solver_seconds"] = verdict.solverMs / 1000;
  if (verdict.isProved()) {
    object["float_class"] = name(verdict.floatClass);
    object["lemmas"] = verdict.certificate.numLemmas;
  }
  if (verdict.isRefuted())
    object["counterexample"] = verdict.counterexample.text;
  if (verdict.isUnknown())
    object["reason"] = verdict.reason;
}

int worse(int code, const Verdict &verdict) {
  if (verdict.isRefuted())
    return Refuted;
  return verdict.isUnknown() && code == Done ? int(Unknown) : code;
}

void printJson(llvm::json::Value value) {
  llvm::outs() << llvm::formatv("{0:2}\n", value);
}

} // namespace mlc::rules
