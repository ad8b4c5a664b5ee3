//===- CheckCommand.cpp - mlc-rules check ---------------------------------===//
//
// Tests the prover with numbers: every rule on random instantiations (none may
// differ), and deliberately wrong rules (none may be proved).
//
//===----------------------------------------------------------------------===//

#include "rewrites/Rules/StatementText.h"
#include "rewrites/Soundness/Soundness.h"
#include "rewrites/Support/Stopwatch.h"
#include "tools/mlc-rules/Command.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

namespace cl = llvm::cl;

namespace mlc::rules {

static cl::SubCommand
    command("check", "test rules with numbers: on random instantiations, and "
                     "made wrong on purpose");
static RuleFileOptions options(command);
static cl::opt<unsigned>
    instantiations("instantiations", cl::value_desc("n"),
                   cl::desc("random instantiations of each rule (100)"),
                   cl::init(100), cl::sub(command), cl::cat(category()));
static cl::opt<unsigned>
    mutants("mutants", cl::value_desc("n"),
            cl::desc("wrong rules to make and to have judged (0)"), cl::init(0),
            cl::sub(command), cl::cat(category()));
static cl::opt<std::string>
    pairs("write-mutants", cl::value_desc("file"),
          cl::desc("write the wrong rules there, as pairs of functions for "
                   "mlc-verify, and have none judged"),
          cl::sub(command), cl::cat(category()));
static cl::opt<unsigned> bits(
    "bits", cl::value_desc("n"),
    cl::desc(
        "float instantiations of each bit-exact rule, with signed zeros, "
        "subnormals, infinities and NaN, to compare bit by bit, and of each "
        "reassociating one with NaN in inputs, to compare where it comes "
        "out (0)"),
    cl::init(0), cl::sub(command), cl::cat(category()));
static cl::opt<uint64_t> seed("seed", cl::desc("seed of all draws (1)"),
                              cl::init(1), cl::sub(command),
                              cl::cat(category()));

namespace {

/// Returns the number of rules that failed.
unsigned checkRules(RuleSet &rules, llvm::json::Array &out) {
  unsigned failures = 0;
  for (Rule &rule : rules.rules) {
    Stopwatch watch;
    InstantiationResult result =
        checkInstantiations(rule, instantiations, seed);
    failures += !result.failure.empty();
    if (options.json) {
      llvm::json::Object object{{"name", rule.getName()},
                                {"equal", result.equal},
                                {"exact", result.exact},
                                {"undecided", result.undecided},
                                {"seconds", watch.seconds()}};
      if (!result.failure.empty())
        object["failure"] = result.failure;
      out.push_back(std::move(object));
      continue;
    }
    llvm::outs() << llvm::formatv("{0,-44} {1,6} equal, {2,6} of them exact",
                                  rule.getName(), result.equal, result.exact);
    if (!result.failure.empty())
      llvm::outs() << "; FAILS: " << result.failure;
    llvm::outs() << '\n';
  }
  return failures;
}

/// A rule's label, from the table or else from the prover.
FloatClass labelOf(Rule &rule) {
  if (rule.proved)
    return rule.proved->floatClass;
  Verdict verdict = verify(rule.getBefore(), rule.getAfter(), rule.assumptions);
  return verdict.isProved() ? verdict.floatClass : FloatClass::ValueChanging;
}

/// Returns the number of rules that are less exact on floats than their label.
unsigned checkAllBits(RuleSet &rules, llvm::json::Array &out) {
  unsigned failures = 0, numExact = 0, numReassociating = 0;
  uint64_t numEqual = 0, numSpoiled = 0;
  for (Rule &rule : rules.rules) {
    FloatClass label = labelOf(rule);
    if (label == FloatClass::ValueChanging)
      continue;
    bool isExact = label == FloatClass::BitExact;
    (isExact ? numExact : numReassociating) += 1;
    InstantiationResult result =
        isExact ? checkBits(rule, bits, seed) : checkSpoiled(rule, bits, seed);
    (isExact ? numEqual : numSpoiled) += result.equal;
    failures += !result.failure.empty();
    if (options.json) {
      llvm::json::Object object{
          {"name", rule.getName()},
          {isExact ? "equal_bits" : "equal_places_of_nan", result.equal},
          {"undecided", result.undecided}};
      if (!result.failure.empty())
        object["failure"] = result.failure;
      out.push_back(std::move(object));
    } else if (!result.failure.empty()) {
      llvm::outs() << rule.getName() << ": NOT "
                   << (isExact ? "BIT-EXACT: " : "REASSOCIATING: ")
                   << result.failure << '\n';
    }
  }
  if (!options.json)
    llvm::outs() << numExact << " bit-exact rules, " << numEqual
                 << " instantiations of equal bits, " << numReassociating
                 << " reassociating rules, " << numSpoiled
                 << " with NaN at the same places, " << failures
                 << " rules fail\n";
  return failures;
}

/// Lets the prover judge without trials on numbers, which could only help it.
Verdict judgeWithoutNumbers(const Mutant &mutant) {
  VerifierOptions settings;
  settings.trialsBefore = settings.trialsAfter = 0;
  settings.classifyFloats = false;
  settings.scaleWork(0.25);
  return verify(mutant.before, mutant.after, mutant.assumptions, settings);
}

/// Returns the number of wrong rules that were proved.
unsigned checkMutants(RuleSet &rules, llvm::json::Array &out) {
  unsigned proved = 0, refuted = 0, unknown = 0;
  std::vector<Mutant> wrong = makeMutants(rules, mutants, seed);
  for (Mutant &mutant : wrong) {
    Stopwatch watch;
    Verdict alone = judgeWithoutNumbers(mutant);
    Verdict full = verify(mutant.before, mutant.after, mutant.assumptions);
    bool isProved = alone.isProved() || full.isProved();
    proved += isProved;
    refuted += full.isRefuted();
    unknown += full.isUnknown();
    if (options.json)
      out.push_back(llvm::json::Object{{"origin", mutant.origin},
                                       {"change", mutant.change},
                                       {"verdict", name(full.kind)},
                                       {"without_numbers", name(alone.kind)},
                                       {"difference", mutant.difference},
                                       {"of_value", mutant.isOfValue},
                                       {"seconds", watch.seconds()}});
    else if (isProved)
      llvm::outs() << mutant.origin << ": " << mutant.change
                   << ": PROVED, and yet\n"
                   << mutant.difference;
  }
  if (!options.json)
    llvm::outs() << wrong.size() << " wrong rules: " << refuted << " refuted, "
                 << unknown << " unknown, " << proved << " proved\n";
  return proved;
}

Exit writeMutants(RuleSet &rules) {
  std::string text;
  for (auto [i, mutant] : llvm::enumerate(makeMutants(rules, mutants, seed))) {
    std::string pair =
        statementText("mutant_" + std::to_string(i) + "_of_" + mutant.origin,
                      mutant.before, mutant.after, mutant.assumptions);
    if (!pair.empty())
      text += "// " + mutant.change + "\n" + pair;
  }
  return writeFile(pairs, text);
}

Exit run() {
  mlir::MLIRContext context;
  RuleSet rules;
  if (Exit code = options.load(rules, context); code != Exit::Done)
    return code;
  if (!pairs.empty())
    return writeMutants(rules);
  llvm::json::Array checked, compared, judged;
  unsigned failures = checkRules(rules, checked);
  if (!options.json)
    llvm::outs() << rules.rules.size() << " rules, " << failures
                 << " of them fail\n";
  unsigned inexact = bits ? checkAllBits(rules, compared) : 0;
  unsigned proved = mutants ? checkMutants(rules, judged) : 0;
  if (options.json)
    printJson(llvm::json::Object{{"rules", std::move(checked)},
                                 {"bits", std::move(compared)},
                                 {"mutants", std::move(judged)},
                                 {"failures", failures},
                                 {"mutants_proved", proved}});
  return failures || inexact || proved ? Exit::Differs : Exit::Done;
}

} // namespace

Command checkCommand() { return {command, run}; }

} // namespace mlc::rules
