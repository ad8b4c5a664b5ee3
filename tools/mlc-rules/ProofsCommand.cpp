//===- ProofsCommand.cpp - mlc-rules proofs -------------------------------===//

#include "rewrites/Rules/StatementText.h"
#include "rewrites/Support/Stopwatch.h"
#include "runtime/FileBytes.h"
#include "tools/mlc-rules/Command.h"
#include "verifier/search/ByKernel.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

namespace cl = llvm::cl;

namespace mlc::rules {

static cl::SubCommand command("proofs", "find or check proofs for the kernel");
static RuleFileOptions options(command);
static cl::opt<std::string>
    out("out", cl::value_desc("folder"),
        cl::desc("write each proof that the kernel accepts there, and what it "
                 "proves, for mlc-check"),
        cl::sub(command), cl::cat(category()));
static cl::opt<std::string>
    checked("check", cl::value_desc("folder"),
            cl::desc("have the kernel check the proofs there, look for none"),
            cl::sub(command), cl::cat(category()));

static cl::opt<std::string>
    smtlib("smtlib", cl::value_desc("folder"),
           cl::desc("write there as SMT-LIB, of each proof that the kernel "
                    "accepts, what Z3 was asked and confirmed; with --check "
                    "only what the proof needs, not what the search asked"),
           cl::sub(command), cl::cat(category()));

static std::string pathOf(llvm::StringRef folder, Rule &rule,
                          llvm::StringRef suffix = ".proof") {
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, rule.getName() + suffix);
  return path.str().str();
}

/// Writes the proof, and beside it the statement it proves, for mlc-check.
static Exit writeProof(Rule &rule, llvm::StringRef proof) {
  std::string statement = statementText(rule.getName(), rule.getBefore(),
                                        rule.getAfter(), rule.assumptions);
  if (!statement.empty())
    if (Exit code = writeFile(pathOf(out, rule, ".mlir"), statement);
        code != Exit::Done)
      return code;
  return writeFile(pathOf(out, rule), proof);
}

static verifier::KernelVerdict judge(Rule &rule, Certificate &obligations) {
  VerifierOptions settings;
  if (!smtlib.empty())
    settings.onObligation = [&](const std::string &script) {
      obligations.add("obligation", script);
    };
  if (checked.empty())
    return verifier::proveByKernel(rule.getBefore(), rule.getAfter(),
                                   rule.assumptions, settings);
  runtime::FileBytes bytes;
  runtime::Status status = runtime::FileBytes::read(
      pathOf(checked, rule).c_str(), runtime::maxTextFile, bytes);
  if (!status.ok())
    return {{.reason = "there is no proof: " + status.message}};
  return {verifier::checkProof(rule.getBefore(), rule.getAfter(),
                               rule.assumptions, bytes.text(),
                               {.onObligation = settings.onObligation})};
}

static Exit run() {
  if (!out.empty() && !checked.empty())
    return fail(Exit::Usage, "give --out or --check, not both; see --help");
  mlir::MLIRContext context;
  RuleSet rules;
  if (Exit code = options.load(rules, context); code != Exit::Done)
    return code;
  for (const std::string *folder : {&out.getValue(), &smtlib.getValue()})
    if (!folder->empty())
      if (std::error_code error = llvm::sys::fs::create_directories(*folder))
        return fail(Exit::Resources, *folder + ": " + error.message());
  llvm::json::Array array;
  unsigned accepted = 0;
  Stopwatch watch;
  for (Rule &rule : rules.rules) {
    Certificate obligations;
    verifier::KernelVerdict verdict = judge(rule, obligations);
    accepted += verdict.isAccepted;
    if (verdict.isAccepted && !out.empty())
      if (Exit code = writeProof(rule, verdict.proof); code != Exit::Done)
        return code;
    if (verdict.isAccepted && !smtlib.empty())
      if (Exit code =
              writeFile(pathOf(smtlib, rule, ".smt2"), obligations.smtlib);
          code != Exit::Done)
        return code;
    const char *answer = verdict.isAccepted ? "accepted" : "refused";
    if (!options.json) {
      llvm::outs() << llvm::formatv("{0,-36} {1,-8} {2,8:f1} ms",
                                    rule.getName(), answer, verdict.ms)
                   << (verdict.isAccepted ? "" : "  " + verdict.reason) << '\n';
      continue;
    }
    llvm::json::Object object = describe(rule);
    object["verdict"] = answer;
    object["seconds"] = verdict.ms / 1000;
    object["obligations"] = verdict.numObligations;
    if (!verdict.isAccepted)
      object["reason"] = verdict.reason;
    array.push_back(std::move(object));
  }
  if (options.json)
    printJson(std::move(array));
  else
    llvm::outs() << llvm::formatv(
        "the kernel accepts the proofs of {0} of {1} rules, in {2:f1} s\n",
        accepted, rules.rules.size(), watch.seconds());
  return accepted == rules.rules.size() ? Exit::Done : Exit::Unknown;
}

Command proofsCommand() { return {command, run}; }

} // namespace mlc::rules
