//===- VerifyCommand.cpp - mlc-rules verify -------------------------------===//

#include "rewrites/Rules/VerifyRules.h"
#include "rewrites/Support/Stopwatch.h"
#include "tools/mlc-rules/Command.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

namespace cl = llvm::cl;

namespace mlc::rules {

static cl::SubCommand command("verify", "prove every rule anew");
static RuleFileOptions options(command);
static cl::opt<std::string>
    certificates("certificates", cl::value_desc("folder"),
                 cl::desc("write each proof's lemmas as SMT-LIB there"),
                 cl::sub(command), cl::cat(category()));
static cl::opt<double> timeout("timeout", cl::value_desc("seconds"),
                               cl::desc("end with code 9 then (never)"),
                               cl::sub(command), cl::cat(category()));

static cl::opt<unsigned> jobs("jobs", cl::value_desc("N"), cl::init(0),
                              cl::desc("threads (all cores)"), cl::sub(command),
                              cl::cat(category()));

static Exit writeCertificate(Rule &rule, const Verdict &verdict) {
  if (certificates.empty() || !verdict.isProved())
    return Exit::Done;
  if (std::error_code error = llvm::sys::fs::create_directories(certificates))
    return fail(Exit::Resources, certificates + ": " + error.message());
  llvm::SmallString<128> path(certificates);
  llvm::sys::path::append(path, rule.getName() + ".smt2");
  return writeFile(path, verdict.certificate.smtlib);
}

static void print(Rule &rule, const Verdict &verdict) {
  llvm::outs() << llvm::formatv("{0,-36} {1,-8} {2,8:f1} ms", rule.getName(),
                                name(verdict.kind), verdict.totalMs);
  if (verdict.isProved())
    llvm::outs() << "  " << name(verdict.floatClass)
                 << (verdict.isTwoWay ? "" : ", one way");
  if (verdict.isUnknown())
    llvm::outs() << "  " << verdict.reason;
  llvm::outs() << '\n';
  if (verdict.isRefuted())
    llvm::outs() << verdict.counterexample.text << '\n';
}

static Exit run() {
  if (jobs > 256)
    return fail(Exit::Usage,
                "--jobs: expected 1 to 256 threads, got " + llvm::Twine(jobs));
  if (std::string wrong = endAfter("--timeout", timeout); !wrong.empty())
    return fail(Exit::Usage, wrong);
  mlir::MLIRContext context;
  RuleSet rules;
  if (Exit code = options.load(rules, context); code != Exit::Done)
    return code;
  llvm::json::Array array;
  Exit result = Exit::Done;
  unsigned proved = 0;
  Stopwatch watch;
  VerifyRulesOptions settings;
  settings.jobs = jobs;
  auto load = [](RuleSet &rules, mlir::MLIRContext &context) {
    return options.load(rules, context) == Exit::Done;
  };
  Exit written = Exit::Done;
  auto take = [&](size_t i, const Verdict &verdict) {
    Rule &rule = rules.rules[i];
    proved += verdict.isProved();
    result = worse(result, verdict);
    if (written == Exit::Done)
      written = writeCertificate(rule, verdict);
    if (!options.json) {
      print(rule, verdict);
      return;
    }
    llvm::json::Object object = describe(rule);
    addVerdict(object, verdict);
    array.push_back(std::move(object));
  };
  if (!verifyRules(rules.rules.size(), settings, load, take))
    return Exit::BadFile;
  if (written != Exit::Done)
    return written;
  if (options.json)
    printJson(std::move(array));
  else
    llvm::outs() << llvm::formatv("{0} of {1} rules proved in {2:f1} s\n",
                                  proved, rules.rules.size(), watch.seconds());
  return result;
}

Command verifyCommand() { return {command, run}; }

} // namespace mlc::rules
