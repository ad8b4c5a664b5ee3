//===- ProofsCommand.cpp - mlc-rules proofs -------------------------------===//

#include "rewrites/Support/Stopwatch.h"
#include "tools/mlc-rules/Command.h"
#include "verifier/ByKernel.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

namespace cl = llvm::cl;

namespace mlc::rules {

static cl::SubCommand command("proofs", "find or check proofs for the kernel");
static RuleFileOptions options(command);
static cl::opt<std::string>
    out("out", cl::value_desc("folder"),
        cl::desc("write each proof that the kernel accepts there"),
        cl::sub(command), cl::cat(category()));
static cl::opt<std::string>
    checked("check", cl::value_desc("folder"),
            cl::desc("have the kernel check the proofs there, look for none"),
            cl::sub(command), cl::cat(category()));

static std::string pathOf(llvm::StringRef folder, Rule &rule) {
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, rule.getName() + ".proof");
  return path.str().str();
}

static Exit write(Rule &rule, const verifier::KernelVerdict &verdict) {
  if (out.empty() || !verdict.isAccepted)
    return Exit::Done;
  std::string path = pathOf(out, rule);
  llvm::Error error = llvm::writeToOutput(path, [&](llvm::raw_ostream &os) {
    os << verdict.proof;
    return llvm::Error::success();
  });
  return error ? fail(Exit::Resources,
                      path + ": " + llvm::toString(std::move(error)))
               : Exit::Done;
}

static verifier::KernelVerdict judge(Rule &rule) {
  if (checked.empty())
    return verifier::proveByKernel(rule.getBefore(), rule.getAfter(),
                                   rule.assumptions);
  verifier::KernelVerdict verdict;
  auto buffer = llvm::MemoryBuffer::getFile(pathOf(checked, rule));
  if (!buffer) {
    verdict.reason = "there is no proof: " + buffer.getError().message();
    return verdict;
  }
  return verifier::checkByKernel(rule.getBefore(), rule.getAfter(),
                                 rule.assumptions, (*buffer)->getBuffer());
}

static Exit run() {
  if (!out.empty() && !checked.empty())
    return fail(Exit::Usage, "give --out or --check, not both; see --help");
  mlir::MLIRContext context;
  RuleSet rules;
  if (Exit code = options.load(rules, context); code != Exit::Done)
    return code;
  if (!out.empty())
    if (std::error_code error = llvm::sys::fs::create_directories(out))
      return fail(Exit::Resources, out + ": " + error.message());
  llvm::json::Array array;
  unsigned accepted = 0;
  Stopwatch watch;
  for (Rule &rule : rules.rules) {
    verifier::KernelVerdict verdict = judge(rule);
    accepted += verdict.isAccepted;
    if (Exit code = write(rule, verdict); code != Exit::Done)
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
