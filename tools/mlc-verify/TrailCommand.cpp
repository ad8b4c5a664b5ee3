//===- TrailCommand.cpp - mlc-verify --trail ------------------------------===//

#include "tools/mlc-verify/TrailCommand.h"
#include "passes/Import/ForExport.h"
#include "passes/Import/GraphEquality.h"
#include "passes/Optimize/ConstantFold.h"
#include "passes/Optimize/Prepare.h"
#include "rewrites/ProofLog/Replay.h"
#include "runtime/FileBytes.h"
#include "verifier/search/AnswerAssumptions.h"
#include "llvm/ADT/StringExtras.h"
#include <chrono>
#include <set>

using namespace mlc;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;

namespace {

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

/// The shipped rules, and those of the user's files.
class ProvedRules {
public:
  ProvedRules(mlir::MLIRContext *context, const VerifierOptions &options)
      : context(context), options(options) {}

  Error read(llvm::ArrayRef<std::string> files) {
    if (failed(addShippedRules(rules, context)))
      return llvm::createStringError("the shipped rules cannot be read");
    numShipped = rules.rules.size();
    for (const std::string &file : files) {
      runtime::FileBytes bytes;
      runtime::Status status =
          runtime::FileBytes::read(file.c_str(), runtime::maxTextFile, bytes);
      if (!status.ok())
        return llvm::createStringError(file + ": " + status.message);
      if (failed(addRuleFile(rules, context, bytes.text(), file)))
        return llvm::createStringError(file + ": is no file of rules");
    }
    for (auto [i, rule] : llvm::enumerate(rules.rules))
      byName[rule.getName()] = i;
    return Error::success();
  }

  Expected<Rule *> find(const TrailStep &step) {
    auto it = byName.find(step.rule);
    if (it == byName.end())
      return llvm::createStringError("there is no rule of this name; give its "
                                     "file with --rules");
    Rule &rule = rules.rules[it->second];
    if (rule.hash != step.hash)
      return llvm::createStringError("the rule's hash is " + rule.hash +
                                     ", not " + step.hash);
    if (Error error = prove(rule, it->second >= numShipped))
      return error;
    return &rule;
  }

  /// The rules used, grouped by what vouches for them, and the float class of
  /// the least exact one.
  std::vector<std::string> restsOn() const {
    std::vector<std::string> lines;
    auto list = [&](const std::set<std::string> &names, const char *how) {
      if (!names.empty())
        lines.push_back(std::to_string(names.size()) + " rules " + how + ": " +
                        llvm::join(names, ", "));
    };
    list(usedShipped, "proved when mlc was built");
    list(usedOwn, "of your files, proved just now");
    list(usedOneWay, "proved in one direction, where their before is defined");
    lines.push_back(describeProver());
    lines.push_back(describeFloats(least));
    lines.push_back("import of both files and constant folding by mlc");
    return lines;
  }

  FloatClass leastExact() const { return least; }
  bool isTwoWay() const { return usedOneWay.empty(); }

private:
  /// A user's rule is always proved here, whatever its file or name says.
  Error prove(Rule &rule, bool isUsers) {
    if (!isUsers) {
      if (!rule.proved)
        return llvm::createStringError("the shipped rule is not proved");
      least = std::max(least, rule.proved->floatClass);
      usedShipped.insert(rule.getName().str());
      if (!rule.proved->isTwoWay)
        usedOneWay.insert(rule.getName().str());
      return Error::success();
    }
    auto [it, inserted] = verdicts.try_emplace(rule.hash);
    if (inserted)
      it->second =
          verify(rule.getBefore(), rule.getAfter(), rule.assumptions, options);
    const Verdict &verdict = it->second;
    if (!verdict.isProved())
      return llvm::createStringError(
          "your rule is not proved: " + name(verdict.kind) +
          (verdict.isRefuted() ? "\n" + verdict.counterexample.text
                               : ": " + verdict.reason));
    rule.proved = RuleProof{verdict.floatClass, verdict.isTwoWay};
    least = std::max(least, verdict.floatClass);
    usedOwn.insert(rule.getName().str());
    if (!verdict.isTwoWay)
      usedOneWay.insert(rule.getName().str());
    return Error::success();
  }

  mlir::MLIRContext *context;
  const VerifierOptions &options;
  RuleSet rules;
  size_t numShipped = 0;
  llvm::StringMap<size_t> byName;
  llvm::StringMap<Verdict> verdicts; // by hash
  std::set<std::string> usedShipped, usedOwn, usedOneWay;
  FloatClass least = FloatClass::BitExact;
};

//===----------------------------------------------------------------------===//
// The check
//===----------------------------------------------------------------------===//

/// Whether JSON is nested no deeper than a trail, since the parser recurses.
bool isShallow(StringRef text) {
  unsigned depth = 0;
  bool inString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (inString) {
      i += c == '\\';
      inString = c != '"';
    } else if (c == '"') {
      inString = true;
    } else if (c == '[' || c == '{') {
      if (++depth > 16)
        return false;
    } else if ((c == ']' || c == '}') && depth > 0) {
      --depth;
    }
  }
  return true;
}

class TrailCheck {
public:
  explicit TrailCheck(const TrailGoal &goal) : goal(goal) {}

  TrailReport run() {
    auto start = std::chrono::steady_clock::now();
    (void)check();
    report.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
            .count();
    return std::move(report);
  }

private:
  bool end(Exit answer, const std::string &reason) {
    report.answer = answer;
    report.reason = reason;
    return false;
  }
  bool refuse(const std::string &reason) {
    return end(Exit::Differs, goal.result + ": " + reason);
  }

  bool check() {
    return readResult() && importModel() && replay() && compare();
  }

  bool readResult() {
    Expected<ModelFile> file = ModelFile::open(goal.result);
    if (!file)
      return end(Exit::BadFile,
                 goal.result + ": " + llvm::toString(file.takeError()));
    result = std::move(*file);
    const std::string *text = nullptr;
    for (const onnx::StringStringEntryProto &entry :
         result->proto().metadata_props()) {
      if (entry.key() != "mlc.trail")
        continue;
      if (text)
        return end(Exit::BadFile, goal.result + ": holds two trails");
      text = &entry.value();
    }
    if (!text)
      return end(Exit::BadFile, goal.result +
                                    ": holds no trail (metadata mlc.trail); "
                                    "make it with mlc optimize");
    Expected<std::vector<Trail>> parsed =
        isShallow(*text) ? parseTrails(*text)
                         : llvm::createStringError("nested too deeply");
    if (!parsed)
      return end(Exit::BadFile, goal.result + ": mlc.trail cannot be read: " +
                                    llvm::toString(parsed.takeError()));
    trails = std::move(*parsed);
    return true;
  }

  bool importModel() {
    ImportReport imported;
    module = importOnnx(goal.model, goal.import, &context, imported, model);
    if (imported.ok())
      return succeeded(prepare(*module)) ||
             end(Exit::BadFile, goal.model + ": cannot be prepared");
    return end(imported.status, imported.status == Exit::Unsupported
                                    ? goal.model +
                                          ": has operators that mlc does not "
                                          "compile; see mlc check"
                                    : imported.message);
  }

  bool replay() {
    ProvedRules rules(&context, goal.verifier);
    if (Error error = rules.read(goal.ruleFiles))
      return end(Exit::BadFile, llvm::toString(std::move(error)));
    auto functions = llvm::to_vector(module->getOps<mlir::func::FuncOp>());
    if (trails.size() != functions.size())
      return refuse("the model has " + std::to_string(functions.size()) +
                    " functions, and " + std::to_string(trails.size()) +
                    " have a trail");
    for (auto [function, trail] : llvm::zip_equal(functions, trails)) {
      if (function.getName() != trail.function)
        return refuse("a trail of " + trail.function + " instead of " +
                      function.getName().str());
      report.steps += trail.steps.size();
      report.operators += trail.chosen.size();
      if (Error error =
              replayTrail(function, trail, [&](const TrailStep &step) {
                return rules.find(step);
              }))
        return refuse(llvm::toString(std::move(error)));
      foldConstantsFully(function);
    }
    report.restsOn = rules.restsOn();
    report.floatClass = rules.leastExact();
    report.isTwoWay = rules.isTwoWay();
    return true;
  }

  /// Imports the result's file like any model, and compares that with what the
  /// trail makes of the model.
  bool compare() {
    ImportReport imported;
    ImportOptions options; // dims that were fixed are fixed in the file
    options.parameters = goal.import.parameters;
    mlir::OwningOpRef<mlir::ModuleOp> found =
        importFile(*result, goal.result, options, &context, imported);
    if (!found)
      return refuse("cannot be imported: " + imported.message);
    if (failed(prepare(*found)))
      return refuse("cannot be prepared");
    for (auto function : found->getOps<mlir::func::FuncOp>())
      foldConstantsFully(function);
    if (std::optional<std::string> difference =
            graphDifference(*module, *found))
      return refuse("differs from what the trail makes: " + *difference);
    // If the model has several meanings, equal graphs prove only this one.
    std::vector<std::string> assumptions = assumptionsOf(*module);
    if (assumptions.empty())
      return true;
    if (std::optional<std::string> difference = fileDifference(*model, *result))
      return refuse("open dims decide what the model means (" +
                    assumptions.front() +
                    "), so that it must stay as it is, "
                    "but " +
                    *difference);
    return true;
  }

  const TrailGoal &goal;
  TrailReport report;
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  std::shared_ptr<ModelFile> model;
  std::optional<ModelFile> result;
  std::vector<Trail> trails;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

} // namespace

TrailReport mlc::checkTrail(const TrailGoal &goal) {
  return TrailCheck(goal).run();
}
