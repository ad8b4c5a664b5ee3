//===- mlc-verify.cpp - Are two functions equal, for all sizes? -----------===//
//
//   mlc-verify before.mlir after.mlir      the first function of each, or the
//                                          one that --function names
//   mlc-verify pair.mlir                   its first two functions
//
// The before function may carry what is assumed as attributes:
//   mlc.assume = ["g >= 1", "2 * p == k - 1", "s divides h"]
//   and, on an argument, mlc.assume = ["positive"]; see README.md.
//
//===----------------------------------------------------------------------===//

#include "dialects/Graph/Graph.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "verifier/AssumeText.h"
#include "verifier/Verifier.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlc;
namespace cl = llvm::cl;

static cl::OptionCategory category("mlc-verify options");
static cl::list<std::string> files(cl::Positional, cl::OneOrMore,
                                   cl::desc("before.mlir [after.mlir]"),
                                   cl::cat(category));
static cl::opt<std::string>
    functionName("function", cl::value_desc("name"),
                 cl::desc("Compare the functions of this name in two files"),
                 cl::cat(category));
static cl::opt<bool> json("json", cl::desc("Print the verdict as JSON"),
                          cl::cat(category));
static cl::opt<std::string>
    certificateFile("certificate",
                    cl::desc("Write the proof's integer lemmas as SMT-LIB"),
                    cl::value_desc("file"), cl::cat(category));
static cl::opt<double> timeout("timeout", cl::desc("Seconds in all"),
                               cl::init(60.0), cl::cat(category));
static cl::opt<double> lemmaTimeout("lemma-timeout",
                                    cl::desc("Seconds for one lemma"),
                                    cl::init(3.0), cl::cat(category));
static cl::opt<uint64_t> seed("seed",
                              cl::desc("Seed of random trials and the solver"),
                              cl::init(1), cl::cat(category));

enum ExitCode {
  Proved = 0,
  Usage = 2,
  BadFile = 3,
  Refuted = 5,
  Undecided = 6,
  OutOfResources = 9,
};

static int error(int code, const llvm::Twine &text) {
  llvm::errs() << "mlc: error: " << text << '\n';
  return code;
}

static mlir::OwningOpRef<mlir::ModuleOp> parse(const std::string &file,
                                               mlir::MLIRContext *context) {
  return mlir::parseSourceFile<mlir::ModuleOp>(file, context);
}

static int exitCodeOf(const Verdict &verdict) {
  return verdict.isProved()    ? Proved
         : verdict.isRefuted() ? Refuted
                               : Undecided;
}

static void printJson(const Verdict &verdict) {
  llvm::json::Object object{{"verdict", name(verdict.kind).str()},
                            {"ms", verdict.totalMs},
                            {"solver_ms", verdict.solverMs}};
  if (verdict.isProved()) {
    object["float_class"] = name(verdict.floatClass).str();
    object["lemmas"] = verdict.certificate.numLemmas;
  }
  if (verdict.isRefuted()) {
    llvm::json::Object symbols;
    for (const auto &[symbol, value] : verdict.counterexample.integers)
      symbols[symbol] = value;
    for (const auto &[symbol, value] : verdict.counterexample.reals)
      symbols[symbol] = value;
    llvm::json::Array element;
    for (int64_t index : verdict.counterexample.element)
      element.push_back(index);
    object["counterexample"] =
        llvm::json::Object{{"symbols", std::move(symbols)},
                           {"result", verdict.counterexample.result},
                           {"element", std::move(element)},
                           {"text", verdict.counterexample.text}};
  }
  if (verdict.isUnknown())
    object["reason"] = verdict.reason;
  llvm::outs() << llvm::formatv("{0:2}", llvm::json::Value(std::move(object)))
               << '\n';
}

static void printText(const Verdict &verdict) {
  llvm::outs() << name(verdict.kind);
  if (verdict.isProved())
    llvm::outs() << " (" << name(verdict.floatClass) << ", "
                 << verdict.certificate.numLemmas << " lemmas)";
  if (verdict.isUnknown())
    llvm::outs() << ": " << verdict.reason;
  llvm::outs() << '\n';
  if (verdict.isRefuted())
    llvm::outs() << verdict.counterexample.text;
}

static int writeCertificate(const std::string &text) {
  llvm::Error failed = llvm::writeToOutput(
      certificateFile, [&](llvm::raw_ostream &os) -> llvm::Error {
        os << text;
        return llvm::Error::success();
      });
  if (!failed)
    return Proved;
  return error(OutOfResources,
               certificateFile + ": " + llvm::toString(std::move(failed)));
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::HideUnrelatedOptions(category);
  std::string problem;
  llvm::raw_string_ostream problemStream(problem);
  if (!cl::ParseCommandLineOptions(
          argc, argv,
          "proves two functions over tensors equal for all sizes, or shows "
          "where they differ\n\nexit codes: 0 proved, 5 refuted, 6 unknown, 2 "
          "usage, 3 bad file\n",
          &problemStream)) {
    llvm::errs() << "mlc: error: " << problem;
    return Usage;
  }
  if (files.size() > 2 || timeout <= 0.0 || lemmaTimeout <= 0.0)
    return error(Usage, "give one file with two functions or two files, and "
                        "positive times; see --help");

  mlir::DialectRegistry registry;
  registry.insert<MlcDialect, mlir::func::FuncDialect,
                  mlir::linalg::LinalgDialect, mlir::tensor::TensorDialect,
                  mlir::arith::ArithDialect, mlir::math::MathDialect,
                  mlir::affine::AffineDialect, mlir::scf::SCFDialect>();
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  std::vector<mlir::OwningOpRef<mlir::ModuleOp>> modules;
  std::vector<mlir::func::FuncOp> functions;
  for (const std::string &file : files) {
    modules.push_back(parse(file, &context));
    if (!modules.back())
      return error(BadFile, file + ": cannot be read");
    for (auto function : modules.back()->getOps<mlir::func::FuncOp>()) {
      if (!functionName.empty() && function.getSymName() != functionName)
        continue;
      functions.push_back(function);
      if (files.size() == 2)
        break;
    }
  }
  if (functions.size() < 2)
    return error(BadFile,
                 files.front() + ": holds no function to compare with");
  llvm::Expected<Assumptions> assumptions = readAssumptions(functions[0]);
  if (!assumptions)
    return error(BadFile, files.front() + ": " +
                              llvm::toString(assumptions.takeError()));

  VerifierOptions options;
  options.timeoutMs = static_cast<unsigned>(timeout * 1000.0);
  options.lemmaTimeoutMs = static_cast<unsigned>(lemmaTimeout * 1000.0);
  options.seed = seed;
  Verdict verdict = verify(functions[0], functions[1], *assumptions, options);
  json ? printJson(verdict) : printText(verdict);
  if (verdict.isProved() && !certificateFile.empty())
    if (int code = writeCertificate(verdict.certificate.smtlib))
      return code;
  return exitCodeOf(verdict);
}
