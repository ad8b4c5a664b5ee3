//===- AuditCommand.cpp - mlc-rules audit ---------------------------------===//
//
// Judges rules of any origin. A refuted rule comes with a small counterexample
// and, if one was found and proved, a condition under which the rule holds.
//
//===----------------------------------------------------------------------===//

#include "rewrites/Precondition/Precondition.h"
#include "tools/mlc-rules/Command.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

namespace cl = llvm::cl;

namespace mlc::rules {

static cl::SubCommand
    command("audit",
            "judge rules: proved, refuted with a small counterexample and the "
            "condition under which they hold, or unknown");
static RuleFileOptions options(command);
static cl::opt<double> timeout("timeout", cl::value_desc("seconds"),
                               cl::desc("end with code 9 then (never)"),
                               cl::sub(command), cl::cat(category()));

namespace {

struct Answer {
  Verdict verdict;
  /// For a refuted rule.
  SynthesizedCondition repair;

  double seconds() const { return verdict.totalMs / 1000 + repair.seconds; }
  bool hasRepair() const { return repair.isProved(); }
};

Answer judge(Rule &rule) {
  Answer answer;
  VerifierOptions settings;
  settings.minimizeCounterexample = true;
  answer.verdict =
      verify(rule.getBefore(), rule.getAfter(), rule.assumptions, settings);
  if (!answer.verdict.isRefuted())
    return answer;
  SynthesisOptions synthesis;
  synthesis.anyArgument = true;
  answer.repair = synthesizeCondition(rule.getBefore(), rule.getAfter(),
                                      rule.assumptions, synthesis);
  return answer;
}

/// `holds_if` is null if no condition was found and proved; `why_not` then
/// tells why.
void addAnswer(llvm::json::Object &object, const Answer &answer) {
  addVerdict(object, answer.verdict);
  object["seconds"] = answer.seconds();
  if (!answer.verdict.isRefuted())
    return;
  if (answer.hasRepair()) {
    object["holds_if"] = answer.repair.text();
    object["holds_only_if"] = answer.repair.isWeakest;
    return;
  }
  object["holds_if"] = nullptr;
  object["why_not"] = answer.repair.wasFound()
                          ? "'" + answer.repair.text() +
                                "' fits all samples but is not proved: " +
                                answer.repair.verdict.reason
                          : answer.repair.verdict.reason;
}

void print(Rule &rule, const Answer &answer) {
  llvm::outs() << llvm::formatv("{0,-44} {1,-8} {2,6:f2} s", rule.getName(),
                                name(answer.verdict.kind), answer.seconds());
  if (answer.verdict.isProved())
    llvm::outs() << "  " << name(answer.verdict.floatClass);
  if (answer.verdict.isUnknown())
    llvm::outs() << "  " << answer.verdict.reason;
  llvm::outs() << '\n';
  if (!answer.verdict.isRefuted())
    return;
  llvm::outs() << answer.verdict.counterexample.text;
  if (answer.hasRepair())
    llvm::outs() << "  holds " << (answer.repair.isWeakest ? "only if " : "if ")
                 << answer.repair.text() << '\n';
  else
    llvm::outs() << "  no condition found under which it holds\n";
}

Exit run() {
  if (options.files.empty())
    return fail(Exit::Usage,
                "expected a file of rules; see mlc-rules audit --help");
  if (std::string wrong = endAfter("--timeout", timeout); !wrong.empty())
    return fail(Exit::Usage, wrong);
  mlir::MLIRContext context;
  RuleSet rules;
  if (Exit code = options.load(rules, context); code != Exit::Done)
    return code;
  llvm::json::Array array;
  Exit result = Exit::Done;
  for (Rule &rule : rules.rules) {
    Answer answer = judge(rule);
    result = worse(result, answer.verdict);
    if (!options.json) {
      print(rule, answer);
      continue;
    }
    llvm::json::Object object = describe(rule);
    addAnswer(object, answer);
    array.push_back(std::move(object));
  }
  if (options.json)
    printJson(std::move(array));
  return result;
}

} // namespace

Command auditCommand() { return {command, run}; }

} // namespace mlc::rules
