//===- mlc-rules.cpp - Lists and proves rules -----------------------------===//

#include "dialects/Graph/Graph.h"
#include "rewrites/Rule.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlc;
namespace cl = llvm::cl;

namespace {

cl::OptionCategory category("mlc-rules options");
cl::SubCommand listCommand("list", "print every rule and its condition");
cl::SubCommand verifyCommand("verify", "prove every rule anew");

cl::opt<bool> json("json", cl::desc("print one JSON document"),
                   cl::sub(listCommand), cl::sub(verifyCommand),
                   cl::cat(category));
cl::list<std::string> files(cl::Positional, cl::desc("[rule file...]"),
                            cl::sub(listCommand), cl::sub(verifyCommand),
                            cl::cat(category));
cl::opt<std::string>
    certificates("certificates", cl::value_desc("folder"),
                 cl::desc("write each proof's lemmas as SMT-LIB there"),
                 cl::sub(verifyCommand), cl::cat(category));
cl::opt<unsigned> timeout("timeout", cl::value_desc("seconds"),
                          cl::desc("for one rule (60)"), cl::init(60),
                          cl::sub(verifyCommand), cl::cat(category));

// Exit codes of all of mlc's tools: docs/Architecture.md.
enum Exit { Done = 0, Usage = 2, BadInput = 3, Refuted = 5, Unknown = 6, Resources = 9 };

int fail(Exit code, const llvm::Twine &message) {
  llvm::errs() << "mlc: error: " << message << '\n';
  return code;
}

/// The rules of the files, or those that ship with mlc. Rules stay alive as
/// long as the set.
int load(RuleSet &rules, mlir::MLIRContext &context) {
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

std::string textOf(mlir::func::FuncOp function) {
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

int runList(RuleSet &rules) {
  llvm::json::Array array;
  for (Rule &rule : rules.rules) {
    const ProvedRule *proof = findProof(rule);
    if (json) {
      llvm::json::Object object = describe(rule);
      object["proved"] = proof != nullptr;
      if (proof)
        object["float_class"] = name(proof->floatClass);
      array.push_back(std::move(object));
      continue;
    }
    llvm::outs() << rule.getName() << ": " << rule.getText() << '\n';
    if (std::string condition = rule.conditionText(); !condition.empty())
      llvm::outs() << "  where " << condition << '\n';
    llvm::outs() << "  "
                 << (proof ? ("proved, " + name(proof->floatClass)).str()
                           : "not proved: never applied")
                 << '\n';
  }
  if (json)
    llvm::outs() << llvm::formatv("{0:2}\n", llvm::json::Value(std::move(array)));
  return Done;
}

int writeCertificate(Rule &rule, const Verdict &verdict) {
  if (certificates.empty() || !verdict.isProved())
    return Done;
  if (std::error_code error = llvm::sys::fs::create_directories(certificates))
    return fail(Resources, certificates + ": " + error.message());
  llvm::SmallString<128> path(certificates);
  llvm::sys::path::append(path, rule.getName() + ".smt2");
  llvm::Error error = llvm::writeToOutput(path, [&](llvm::raw_ostream &os) {
    os << verdict.certificate.smtlib;
    return llvm::Error::success();
  });
  if (error)
    return fail(Resources, path + ": " + llvm::toString(std::move(error)));
  return Done;
}

int runVerify(RuleSet &rules) {
  llvm::json::Array array;
  int result = Done;
  unsigned proved = 0;
  double totalMs = 0;
  for (Rule &rule : rules.rules) {
    VerifierOptions options;
    options.timeoutMs = timeout * 1000;
    Verdict verdict = verify(rule.getBefore(), rule.getAfter(),
                             rule.assumptions, options);
    proved += verdict.isProved();
    totalMs += verdict.totalMs;
    if (verdict.isRefuted())
      result = Refuted;
    else if (verdict.isUnknown() && result == Done)
      result = Unknown;
    if (int code = writeCertificate(rule, verdict))
      return code;
    if (json) {
      llvm::json::Object object = describe(rule);
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
      array.push_back(std::move(object));
      continue;
    }
    llvm::outs() << llvm::formatv("{0,-36} {1,-8} {2,8:f1} ms", rule.getName(),
                                  name(verdict.kind), verdict.totalMs);
    if (verdict.isProved())
      llvm::outs() << "  " << name(verdict.floatClass);
    if (verdict.isUnknown())
      llvm::outs() << "  " << verdict.reason;
    llvm::outs() << '\n';
    if (verdict.isRefuted())
      llvm::outs() << verdict.counterexample.text << '\n';
  }
  if (json)
    llvm::outs() << llvm::formatv("{0:2}\n", llvm::json::Value(std::move(array)));
  else
    llvm::outs() << llvm::formatv("{0} of {1} rules proved in {2:f1} s\n", proved,
                                  rules.rules.size(), totalMs / 1000);
  return result;
}

} // namespace

int main(int argc, char **argv) {
  cl::HideUnrelatedOptions({&category});
  for (cl::SubCommand *command : {&listCommand, &verifyCommand})
    cl::HideUnrelatedOptions({&category}, *command);
  std::string usage;
  llvm::raw_string_ostream errors(usage);
  if (!cl::ParseCommandLineOptions(
          argc, argv, "mlc-rules: the rewrites that mlc knows\n", &errors)) {
    llvm::errs() << "mlc: error: " << usage;
    return Usage;
  }
  if (!listCommand && !verifyCommand)
    return fail(Usage, "expected list or verify; see mlc-rules --help");
  mlir::MLIRContext context;
  RuleSet rules;
  if (int code = load(rules, context))
    return code;
  return listCommand ? runList(rules) : runVerify(rules);
}
