//===- mlc-eval.cpp - The reference evaluator on a file -------------------===//

#include "dialects/Evaluator/Evaluator.h"
#include "dialects/Module/ParseModule.h"
#include "dialects/Symbolic/Attributes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "passes/Distribute/RunRanks.h"
#include "runtime/Exit.h"
#include "tools/CommandLine.h"
#include "tools/mlc-eval/Npy.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>

using namespace mlir;
using namespace mlc;
using llvm::Error;
using llvm::Expected;

namespace {

namespace cl = llvm::cl;
cl::OptionCategory category("mlc-eval");
cl::opt<std::string> file(cl::Positional, cl::desc("FILE.mlir"), cl::init("-"),
                          cl::cat(category));
cl::opt<std::string> functionName("function", cl::init("main"),
                                  cl::desc("the function to run"),
                                  cl::cat(category));
cl::list<std::string> inputFiles("input",
                                 cl::desc(".npy files, in argument order"),
                                 cl::cat(category));
cl::opt<std::string> outputDir("output-dir",
                               cl::desc("where results go, as <index>.npy"),
                               cl::cat(category));
cl::list<std::string> symbolValues("symbol", cl::desc("NAME=VALUE of a dim"),
                                   cl::cat(category));
cl::opt<uint64_t> seed("seed", cl::init(0),
                       cl::desc("for inputs that are not given"),
                       cl::cat(category));
cl::opt<bool> ranks(
    "ranks",
    cl::desc("the function is what each rank of the module's dist.mesh carries "
             "out, of which there are 4096 at most: inputs and results are the "
             "whole tensors"),
    cl::cat(category));
cl::opt<bool> printValues("print", cl::desc("write the elements to stdout"),
                          cl::cat(category));
cl::opt<bool> printTime("time", cl::desc("write seconds to stderr"),
                        cl::cat(category));
cl::opt<EvalDomain> domain(
    "domain", cl::init(EvalDomain::Native), cl::desc("numbers to compute with"),
    cl::values(clEnumValN(EvalDomain::Native, "native", "as stored"),
               clEnumValN(EvalDomain::Float64, "float64", "double"),
               clEnumValN(EvalDomain::Interval, "interval", "bounds of reals"),
               clEnumValN(EvalDomain::Modular, "modular", "mod 2^61 - 1"),
               clEnumValN(EvalDomain::Rational, "rational", "fractions")),
    cl::cat(category));

/// The sizes of the arguments; for ranks, those of the whole tensors.
Expected<std::vector<llvm::SmallVector<int64_t>>>
argumentSizes(func::FuncOp function, llvm::ArrayRef<dist::AxisAttr> mesh,
              const EvalOptions &options) {
  if (ranks)
    return wholeArgumentDims(function, mesh, options);
  std::vector<llvm::SmallVector<int64_t>> all(inputFiles.size());
  for (Type type : function.getArgumentTypes().drop_front(inputFiles.size())) {
    auto tensorType = dyn_cast<RankedTensorType>(type);
    std::optional<llvm::SmallVector<IntExpr>> dims;
    if (tensorType)
      dims = getDims(tensorType);
    if (!dims)
      return evalError(EvalFailure::Input,
                       "arguments must be ranked tensors with named dims");
    Expected<llvm::SmallVector<int64_t>> sizes =
        evaluateDims(*dims, options.symbols);
    if (!sizes)
      return sizes.takeError();
    all.push_back(std::move(*sizes));
  }
  return all;
}

Expected<std::vector<EvalTensor>>
readInputs(func::FuncOp function, llvm::ArrayRef<dist::AxisAttr> mesh,
           const EvalOptions &options) {
  std::vector<EvalTensor> inputs;
  std::vector<llvm::SmallVector<int64_t>> sizes;
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes())) {
    auto tensorType = dyn_cast<RankedTensorType>(type);
    if (!tensorType)
      return evalError(EvalFailure::Input, "arguments must be ranked tensors");
    if (i < inputFiles.size()) {
      Expected<EvalTensor> native =
          readNpy(inputFiles[i], tensorType.getElementType());
      if (!native)
        return native.takeError();
      Expected<EvalTensor> tensor = native->toDomain(options.domain);
      if (!tensor)
        return tensor.takeError();
      inputs.push_back(std::move(*tensor));
      continue;
    }
    if (sizes.empty()) {
      auto all = argumentSizes(function, mesh, options);
      if (!all)
        return all.takeError();
      sizes = std::move(*all);
    }
    Expected<EvalTensor> tensor = EvalTensor::random(
        sizes[i], tensorType.getElementType(), options.domain, seed + i);
    if (!tensor)
      return tensor.takeError();
    inputs.push_back(std::move(*tensor));
  }
  return inputs;
}

Error writeResults(llvm::ArrayRef<EvalTensor> results) {
  for (auto [i, tensor] : llvm::enumerate(results)) {
    if (printValues) {
      llvm::outs() << i << ": [";
      llvm::interleaveComma(tensor.getDims(), llvm::outs());
      llvm::outs() << "] " << tensor.getElementType() << ':';
      for (int64_t j = 0; j < tensor.getNumElements(); ++j) {
        llvm::outs() << ' ';
        tensor.printElement(llvm::outs(), j);
      }
      llvm::outs() << '\n';
    }
    if (outputDir.empty())
      continue;
    if (std::error_code failure = llvm::sys::fs::create_directories(outputDir))
      return evalError(EvalFailure::Input,
                       outputDir + ": " + failure.message());
    if (Error error =
            writeNpy((outputDir + "/" + llvm::Twine(i) + ".npy").str(), tensor))
      return error;
  }
  return Error::success();
}

Error run(ModuleOp module) {
  auto function = module.lookupSymbol<func::FuncOp>(functionName);
  if (!function)
    return evalError(EvalFailure::Input, "no function @" + functionName);
  EvalOptions options;
  options.domain = domain;
  for (llvm::StringRef pair : symbolValues) {
    auto [symbol, text] = pair.split('=');
    int64_t value;
    if (text.getAsInteger(10, value))
      return evalError(EvalFailure::Input, "expected NAME=VALUE, got " + pair);
    options.symbols[symbol] = value;
  }
  llvm::SmallVector<dist::AxisAttr> mesh;
  if (ranks) {
    FailureOr<llvm::SmallVector<dist::AxisAttr>> axes = readMesh(module);
    if (failed(axes))
      return evalError(EvalFailure::Input, "dist.mesh is not well formed");
    mesh = std::move(*axes);
  }
  Expected<std::vector<EvalTensor>> inputs =
      readInputs(function, mesh, options);
  if (!inputs)
    return inputs.takeError();
  auto start = std::chrono::steady_clock::now();
  Expected<std::vector<EvalTensor>> results =
      ranks ? runRanks(function, mesh, *inputs, options)
            : evaluateFunction(function, *inputs, options);
  if (!results)
    return results.takeError();
  std::chrono::duration<double> seconds =
      std::chrono::steady_clock::now() - start;
  if (printTime)
    llvm::errs() << "seconds: " << seconds.count() << '\n';
  return writeResults(*results);
}

} // namespace

int main(int argc, char **argv) {
  mlc::startTool();
  llvm::InitLLVM init(argc, argv);
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(
      argc, argv, "evaluates a function of mlc operators by definition\n");
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<MlcDialect, dist::DistDialect, func::FuncDialect>();
  OwningOpRef<ModuleOp> module = parseModuleFile(file, &context);
  if (!module)
    return static_cast<int>(Exit::BadFile);
  if (Error error = run(*module)) {
    llvm::errs() << "mlc: error: " << file << ": "
                 << llvm::toString(std::move(error)) << '\n';
    return static_cast<int>(Exit::BadFile);
  }
  return static_cast<int>(Exit::Done);
}
