//===- mlc-verify.cpp - Are two functions equal, for all sizes? -----------===//
//
//   mlc-verify before.mlir after.mlir      the first function of each, or the
//                                          one that --function names
//   mlc-verify pair.mlir                   its two functions
//   mlc-verify file.mlir --gradient-of=f --gradient=g
//                                          whether @g gives the gradients of @f
//   mlc-verify file.mlir --jvp=f           what that means: prints the file and
//                                          @f_jvp, the forward derivative of @f
//   mlc-verify --trail model.onnx out.onnx  whether out.onnx is model.onnx, by
//                                          the trail that it carries
//
// The before function may carry what is assumed as attributes:
//   mlc.assume = ["g >= 1", "2 * p == k - 1", "s divides h"]
//   and, on an argument, mlc.assume = ["positive"]; see README.md.
//
//===----------------------------------------------------------------------===//

#include "dialects/Dist/Dist.h"
#include "dialects/Module/ParseModule.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "passes/Differentiate/Forward.h"
#include "runtime/FileBytes.h"
#include "tools/CommandLine.h"
#include "tools/mlc-verify/TrailCommand.h"
#include "verifier/Verifier.h"
#include "verifier/read/AssumeText.h"
#include "verifier/search/AnswerAssumptions.h"
#include "verifier/search/ByKernel.h"
#include "verifier/search/Gradient.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlc;
namespace cl = llvm::cl;

static cl::OptionCategory category("mlc-verify options");
static cl::list<std::string> files(cl::Positional, cl::OneOrMore,
                                   cl::desc("before.mlir [after.mlir], or "
                                            "model.onnx out.onnx"),
                                   cl::cat(category));
static cl::opt<std::string>
    functionName("function", cl::value_desc("name"),
                 cl::desc("Compare the functions of this name in two files"),
                 cl::cat(category));
static cl::opt<std::string> gradientOf(
    "gradient-of", cl::value_desc("name"),
    cl::desc("With --gradient: the function whose gradients it gives"),
    cl::cat(category));
static cl::opt<std::string>
    gradientName("gradient", cl::value_desc("name"),
                 cl::desc("Prove that this function gives gradients: of its "
                          "arguments and then cotangents of results"),
                 cl::cat(category));
static cl::opt<std::string>
    jvpName("jvp", cl::value_desc("name"),
            cl::desc("Print the file with the forward derivative of this "
                     "function, by which gradients are judged"),
            cl::cat(category));
static cl::opt<bool>
    trail("trail",
          cl::desc("Replay the trail by which out.onnx equals model.onnx"),
          cl::cat(category));
static cl::list<std::string>
    rules("rules", cl::value_desc("file.mlir"),
          cl::desc("Rules of your own that the trail uses; proved here"),
          cl::cat(category));
static cl::list<std::string>
    dims("dim", cl::value_desc("name=N|name=any"),
         cl::desc("The dims that mlc optimize was given"), cl::cat(category));
static cl::list<std::string>
    parameters("parameter", cl::value_desc("name"),
               cl::desc("The parameters that mlc optimize was given"),
               cl::cat(category));
static cl::opt<FloatClass> required(
    "require", cl::init(FloatClass::ValueChanging),
    cl::desc("What a proof must keep of floats, or the exit code is 6"),
    cl::values(clEnumValN(FloatClass::BitExact, "bit-exact",
                          "every bit (any NaN for any other)"),
               clEnumValN(FloatClass::Reassociating, "reassociating",
                          "every term, in any order")),
    cl::cat(category));
static cl::opt<bool> json("json", cl::desc("Print the verdict as JSON"),
                          cl::cat(category));
static cl::opt<std::string>
    certificateFile("certificate",
                    cl::desc("Write the proof's integer lemmas as SMT-LIB"),
                    cl::value_desc("file"), cl::cat(category));
static cl::opt<std::string> proofFile(
    "proof", cl::value_desc("file"),
    cl::desc("Look for a proof that the kernel accepts, and write it"),
    cl::cat(category));
static cl::opt<std::string>
    checkedFile("check-proof", cl::value_desc("file"),
                cl::desc("Have the kernel check this proof, and nothing else"),
                cl::cat(category));
static cl::opt<std::string>
    obligationsFile("obligations", cl::value_desc("file"),
                    cl::desc("With --proof or --check-proof: write as SMT-LIB "
                             "what Z3 was asked and confirmed"),
                    cl::cat(category));
static cl::opt<double>
    effort("effort", cl::value_desc("factor"),
           cl::desc("How much of the usual, counted work to spend at most (1)"),
           cl::init(1.0), cl::cat(category));
static cl::opt<double> timeout("timeout", cl::value_desc("seconds"),
                               cl::desc("End with code 9 then (never)"),
                               cl::cat(category));
static cl::opt<uint64_t> seed("seed",
                              cl::desc("Seed of random trials and the solver"),
                              cl::init(1), cl::cat(category));

static Exit error(Exit code, const llvm::Twine &text) {
  llvm::errs() << "mlc: error: " << text << '\n';
  return code;
}

static Exit exitOf(const Verdict &verdict) {
  return verdict.isProved()    ? Exit::Done
         : verdict.isRefuted() ? Exit::Differs
                               : Exit::Unknown;
}

/// Whether a proof meets the required float class.
static Exit checkClass(FloatClass floatClass) {
  if (floatClass <= required)
    return Exit::Done;
  return error(Exit::Unknown, "the proof is " + name(floatClass) +
                                  ", and --require=" + name(required) +
                                  " asks for more");
}

static llvm::json::Array asArray(const std::vector<std::string> &lines) {
  llvm::json::Array array;
  for (const std::string &line : lines)
    array.push_back(line);
  return array;
}

static void printRestsOn(const std::vector<std::string> &lines) {
  if (!lines.empty())
    llvm::outs() << "rests on\n";
  for (const std::string &line : lines)
    llvm::outs() << "  " << line << '\n';
}

static void printJson(const Verdict &verdict,
                      const std::vector<std::string> &restsOn) {
  llvm::json::Object object{{"verdict", name(verdict.kind).str()},
                            {"ms", verdict.totalMs},
                            {"solver_ms", verdict.solverMs}};
  if (verdict.isProved()) {
    object["float_class"] = name(verdict.floatClass).str();
    object["two_way"] = verdict.isTwoWay;
    object["lemmas"] = verdict.certificate.numLemmas;
  }
  if (verdict.isRefuted()) {
    llvm::json::Object symbols;
    for (const auto &[symbol, value] : verdict.counterexample.integers)
      symbols[symbol] = value;
    for (const auto &[symbol, value] : verdict.counterexample.reals)
      symbols[symbol] = value;
    llvm::json::Array element(verdict.counterexample.element), arguments;
    for (const Counterexample::Argument &argument :
         verdict.counterexample.arguments)
      arguments.push_back(llvm::json::Object{
          {"dims", llvm::json::Array(argument.dims)},
          {"elements", llvm::json::Array(argument.elements)}});
    object["counterexample"] =
        llvm::json::Object{{"symbols", std::move(symbols)},
                           {"arguments", std::move(arguments)},
                           {"result", verdict.counterexample.result},
                           {"element", std::move(element)},
                           {"text", verdict.counterexample.text}};
  }
  if (verdict.isUnknown())
    object["reason"] = verdict.reason;
  else
    object["rests_on"] = asArray(restsOn);
  llvm::outs() << llvm::formatv("{0:2}", llvm::json::Value(std::move(object)))
               << '\n';
}

static void printText(const Verdict &verdict,
                      const std::vector<std::string> &restsOn) {
  llvm::outs() << name(verdict.kind);
  if (verdict.isProved())
    llvm::outs() << " (" << name(verdict.floatClass) << ", "
                 << verdict.certificate.numLemmas << " lemmas)";
  if (verdict.isUnknown())
    llvm::outs() << ": " << verdict.reason;
  llvm::outs() << '\n';
  if (verdict.isRefuted())
    llvm::outs() << verdict.counterexample.text;
  printRestsOn(restsOn);
}

static Exit writeTo(llvm::StringRef path, const std::string &text) {
  std::vector<std::string> inputs(files.begin(), files.end());
  inputs.push_back(checkedFile);
  runtime::Status status = writeText(path, text, inputs);
  return status.ok() ? Exit::Done
                     : error(static_cast<Exit>(status.code), status.message);
}

/// Proofs for the kernel: searches and writes one, or checks one, for the
/// goal that has one.
static Exit askKernel(llvm::ArrayRef<verifier::Goal> goals,
                      const Assumptions &assumptions,
                      mlir::MLIRContext *context, VerifierOptions options) {
  auto start = std::chrono::steady_clock::now();
  verifier::KernelVerdict verdict;
  Certificate obligations;
  options.onObligation = [&](const std::string &script) {
    obligations.add("obligation", script);
  };
  if (checkedFile.empty()) {
    for (const verifier::Goal &goal : goals)
      if (!verdict.isAccepted)
        verdict = verifier::proveGoal(goal, assumptions, context, options);
  } else {
    runtime::FileBytes bytes;
    runtime::Status status = runtime::FileBytes::read(
        checkedFile.c_str(), runtime::maxTextFile, bytes);
    if (!status.ok())
      return error(static_cast<Exit>(status.code),
                   checkedFile + ": " + status.message);
    for (const verifier::Goal &goal : goals)
      if (!verdict.isAccepted)
        verdict = {
            verifier::checkGoal(goal, assumptions, bytes.text(),
                                {options.maxLemmaWork, options.onObligation})};
  }
  if (json) {
    std::chrono::duration<double, std::milli> spent =
        std::chrono::steady_clock::now() - start;
    llvm::json::Object object{
        {"verdict", verdict.isAccepted ? "accepted" : "refused"},
        {"ms", spent.count()},
        {"obligations", verdict.numObligations}};
    if (!verdict.isAccepted)
      object["reason"] = verdict.reason;
    llvm::outs() << llvm::formatv("{0:2}", llvm::json::Value(std::move(object)))
                 << '\n';
  } else if (verdict.isAccepted) {
    llvm::outs() << "accepted by the kernel (" << verdict.numObligations
                 << " obligations)\n";
  } else {
    llvm::outs() << "refused by the kernel: " << verdict.reason << '\n';
  }
  if (!verdict.isAccepted)
    return Exit::Unknown;
  if (!obligationsFile.empty())
    if (Exit code = writeTo(obligationsFile, obligations.smtlib);
        code != Exit::Done)
      return code;
  if (checkedFile.empty())
    if (Exit code = writeTo(proofFile, verdict.proof); code != Exit::Done)
      return code;
  return checkClass(verdict.floatClass);
}

namespace {

/// The functions of the files.
class Functions {
public:
  Functions()
      : context(verifier::readDialects(),
                mlir::MLIRContext::Threading::DISABLED) {
    // A file with only linalg does not load these dialects.
    context.loadDialect<MlcDialect, dist::DistDialect>();
  }

  Exit read() {
    for (const std::string &file : files) {
      modules.push_back(parseModuleFile(file, &context));
      if (!modules.back())
        return error(Exit::BadFile, file + ": cannot be read");
    }
    return Exit::Done;
  }

  /// Finds the two functions to compare: the first of each file, or the two of
  /// one.
  Exit findPair(std::vector<mlir::func::FuncOp> &pair) {
    for (auto &module : modules)
      for (auto function : module->getOps<mlir::func::FuncOp>()) {
        if (!functionName.empty() && function.getSymName() != functionName)
          continue;
        pair.push_back(function);
        if (files.size() == 2)
          break;
      }
    if (pair.size() == 2)
      return Exit::Done;
    return error(Exit::BadFile,
                 files.front() + (pair.size() < 2
                                      ? ": holds no function to compare with"
                                      : ": holds more than two functions"));
  }

  Exit find(llvm::StringRef name, mlir::func::FuncOp &function) {
    for (auto &module : modules)
      for (auto one : module->getOps<mlir::func::FuncOp>())
        if (!function && one.getSymName() == name)
          function = one;
    if (function)
      return Exit::Done;
    return error(Exit::BadFile, files.front() + ": holds no function @" + name);
  }

  mlir::ModuleOp first() { return *modules.front(); }
  mlir::MLIRContext *getContext() { return &context; }

private:
  mlir::MLIRContext context;
  std::vector<mlir::OwningOpRef<mlir::ModuleOp>> modules;
};

} // namespace

/// Prints the verdict.
static Exit report(const Verdict &verdict,
                   const std::vector<std::string> &restsOn) {
  json ? printJson(verdict, restsOn) : printText(verdict, restsOn);
  if (verdict.isProved() && !certificateFile.empty())
    if (Exit code = writeTo(certificateFile, verdict.certificate.smtlib);
        code != Exit::Done)
      return code;
  return verdict.isProved() ? checkClass(verdict.floatClass) : exitOf(verdict);
}

static Exit compareFunctions(Functions &functions,
                             const VerifierOptions &options) {
  std::vector<mlir::func::FuncOp> pair;
  if (Exit code = functions.findPair(pair); code != Exit::Done)
    return code;
  llvm::Expected<Assumptions> assumptions = readAssumptions(pair[0]);
  if (!assumptions)
    return error(Exit::BadFile, files.front() + ": " +
                                    llvm::toString(assumptions.takeError()));
  if (!proofFile.empty() || !checkedFile.empty())
    return askKernel(verifier::makeGoal(pair[0], pair[1], *assumptions),
                     *assumptions, functions.getContext(), options);
  Verdict verdict = verify(pair[0], pair[1], *assumptions, options);
  return report(verdict, restsOn(verdict, *assumptions));
}

static Exit judgeGradient(Functions &functions,
                          const VerifierOptions &options) {
  mlir::func::FuncOp function, gradient;
  for (auto [name, found] :
       {std::pair(&gradientOf, &function), std::pair(&gradientName, &gradient)})
    if (Exit code = functions.find(*name, *found); code != Exit::Done)
      return code;
  if (std::string why = verifier::whyNotOfGradient(function, gradient);
      !why.empty())
    return error(Exit::BadFile, files.front() + ": a gradient " + why);
  llvm::Expected<Assumptions> assumptions = readAssumptions(function);
  if (!assumptions)
    return error(Exit::BadFile, files.front() + ": " +
                                    llvm::toString(assumptions.takeError()));
  if (!proofFile.empty() || !checkedFile.empty())
    return askKernel(
        verifier::makeGradientGoals(function, gradient, *assumptions),
        *assumptions, functions.getContext(), options);
  Verdict verdict = verifyGradient(function, gradient, *assumptions, options);
  std::vector<std::string> lines = restsOn(verdict, *assumptions);
  if (!lines.empty())
    lines.insert(lines.begin() + 1, describeDerivative());
  return report(verdict, lines);
}

static Exit printForward(Functions &functions) {
  mlir::func::FuncOp function;
  if (Exit code = functions.find(jvpName, function); code != Exit::Done)
    return code;
  if (functions.first().lookupSymbol(jvpName + "_jvp"))
    return error(Exit::BadFile, files.front() + ": has a function @" + jvpName +
                                    "_jvp already");
  if (failed(addForward(function)))
    return error(Exit::Unsupported, files.front() + ": @" + jvpName +
                                        " has no forward derivative in text");
  functions.first().print(llvm::outs());
  return Exit::Done;
}

static Exit askAboutFunctions(const VerifierOptions &options) {
  if (!obligationsFile.empty() && proofFile.empty() && checkedFile.empty())
    return error(Exit::Usage, "--obligations goes with --proof or "
                              "--check-proof; see --help");
  if (files.size() > 2 || !rules.empty() || !dims.empty() ||
      !parameters.empty())
    return error(Exit::Usage,
                 "give one file with two functions or two files; "
                 "--rules, --dim and --parameter go with --trail; see --help");
  bool isGradient = !gradientOf.empty() || !gradientName.empty();
  if (isGradient && (gradientOf.empty() || gradientName.empty()))
    return error(Exit::Usage,
                 "--gradient-of and --gradient go together; see --help");
  if ((isGradient || !jvpName.empty()) && !functionName.empty())
    return error(Exit::Usage, "--function names what is compared; it does not "
                              "go with --gradient or --jvp; see --help");
  if (!jvpName.empty() && (isGradient || files.size() > 1))
    return error(Exit::Usage, "--jvp takes one file, and nothing to prove; "
                              "see --help");
  Functions functions;
  if (Exit code = functions.read(); code != Exit::Done)
    return code;
  if (!jvpName.empty())
    return printForward(functions);
  return isGradient ? judgeGradient(functions, options)
                    : compareFunctions(functions, options);
}

static Exit replayTrail(const VerifierOptions &options) {
  if (files.size() != 2 || !functionName.empty() || !certificateFile.empty() ||
      !gradientOf.empty() || !gradientName.empty() || !jvpName.empty())
    return error(Exit::Usage,
                 "--trail takes the model and what mlc optimize wrote; "
                 "see --help");
  TrailGoal goal;
  goal.model = files[0];
  goal.result = files[1];
  goal.ruleFiles = rules;
  goal.verifier = options;
  goal.import.parameters.assign(parameters.begin(), parameters.end());
  for (llvm::StringRef dim : dims) {
    // A name may contain '='.
    auto [name, value] = dim.rsplit('=');
    int64_t number = 0;
    bool isOpen = value == "any";
    if (name.empty() || (!isOpen && value.getAsInteger(10, number)))
      return error(Exit::Usage,
                   "--dim takes NAME=N or NAME=any, not '" + dim + "'");
    goal.import.dims.emplace_back(
        name.str(), isOpen ? std::nullopt : std::optional<int64_t>(number));
  }
  TrailReport report = checkTrail(goal);
  bool isReplayed = report.answer == Exit::Done;
  if (!isReplayed)
    error(report.answer, report.reason);
  if (json) {
    llvm::json::Object object{{"verdict", isReplayed ? "replayed" : "refused"},
                              {"steps", report.steps},
                              {"operators", report.operators},
                              {"seconds", report.seconds}};
    if (isReplayed) {
      object["two_way"] = report.isTwoWay;
      object["rests_on"] = asArray(report.restsOn);
    } else {
      object["reason"] = report.reason;
    }
    llvm::outs() << llvm::formatv("{0:2}", llvm::json::Value(std::move(object)))
                 << '\n';
  } else if (isReplayed) {
    llvm::outs() << llvm::formatv(
        "replayed: {0} steps prove the {1} operators of {2} equal to {3}{4} "
        "({5:f2} s)\n",
        report.steps, report.operators, goal.result, goal.model,
        report.isTwoWay ? "" : " wherever that is defined", report.seconds);
    printRestsOn(report.restsOn);
  }
  return isReplayed ? checkClass(report.floatClass) : report.answer;
}

static Exit runTool(int argc, char **argv) {
  cl::HideUnrelatedOptions(category);
  std::string problem = parseCommandLine(
      argc, argv,
      "proves two functions over tensors equal for all sizes, or shows where "
      "they differ; proves or refutes gradients; replays the trail of an "
      "optimized model\n\nexit codes: 0 "
      "proved, 5 refuted, 6 unknown or less than --require, 2 usage, 3 bad "
      "file, 4 unsupported, 9 out of time\n");
  if (!problem.empty())
    return error(Exit::Usage, problem);
  if (std::string wrong = endAfter("--timeout", timeout); !wrong.empty())
    return error(Exit::Usage, wrong);
  if (!(effort > 0.0 && effort <= 1000.0))
    return error(Exit::Usage,
                 "--effort: expected a factor above 0, up to 1000");
  VerifierOptions options;
  options.scaleWork(effort);
  options.seed = seed;
  return trail ? replayTrail(options) : askAboutFunctions(options);
}

int main(int argc, char **argv) {
  startTool();
  llvm::InitLLVM init(argc, argv, /*InstallPipeSignalExitHandler=*/false);
  return finishTool(static_cast<int>(runTool(argc, argv)));
}
