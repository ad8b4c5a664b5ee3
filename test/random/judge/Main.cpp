//===- Main.cpp - What kernel and prover say of many pairs ----------------===//
//
//   judge-pairs FILE... [--skip N] [--effort F]
//
// Reads pairs of functions, @NAME_before and @NAME_after or the two of a file,
// and prints of each
//
//   begin NUMBER NAME
//   end NUMBER accepted|refused proved|refuted|unknown SECONDS
//
// what the kernel says of the proof that is found, and what `verify` does
// without numbers, which could only refute. Many pairs in one process, for
// tools/experiments/prover_faults.py; where it ends early, it can go on behind
// the pair that it began last.
//
//===----------------------------------------------------------------------===//

#include "dialects/Module/ParseModule.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Diagnostics.h"
#include "verifier/read/AssumeText.h"
#include "verifier/search/ByKernel.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Path.h"
#include <chrono>

using namespace mlc;
namespace cl = llvm::cl;

static cl::list<std::string> files(cl::Positional, cl::OneOrMore,
                                   cl::desc("files of pairs"));
static cl::opt<unsigned> skip("skip", cl::desc("Leave out the first N"),
                              cl::init(0));
static cl::opt<double> effort("effort",
                              cl::desc("Share of the usual work (0.05)"),
                              cl::init(0.05));

namespace {

struct Pair {
  std::string name;
  mlir::func::FuncOp before, after;
};

std::vector<Pair> pairsOf(mlir::ModuleOp module, llvm::StringRef file) {
  std::vector<Pair> pairs;
  for (auto before : module.getOps<mlir::func::FuncOp>()) {
    llvm::StringRef name = before.getSymName();
    if (!name.consume_back("_before"))
      continue;
    if (auto after =
            module.lookupSymbol<mlir::func::FuncOp>((name + "_after").str()))
      pairs.push_back({name.str(), before, after});
  }
  auto functions = llvm::to_vector(module.getOps<mlir::func::FuncOp>());
  if (pairs.empty() && functions.size() == 2)
    pairs.push_back(
        {llvm::sys::path::stem(file).str(), functions[0], functions[1]});
  return pairs;
}

void judge(const Pair &pair, unsigned number) {
  llvm::outs() << "begin " << number << ' ' << pair.name << '\n';
  llvm::outs().flush();
  auto start = std::chrono::steady_clock::now();
  VerifierOptions options;
  options.scaleWork(effort);
  options.trialsBefore = options.trialsAfter = 0;
  options.classifyFloats = false;
  llvm::Expected<Assumptions> assumptions = readAssumptions(pair.before);
  if (!assumptions) {
    llvm::consumeError(assumptions.takeError());
    return;
  }
  bool isAccepted =
      verifier::proveByKernel(pair.before, pair.after, *assumptions, options)
          .isAccepted;
  Verdict verdict = verify(pair.before, pair.after, *assumptions, options);
  std::chrono::duration<double> taken =
      std::chrono::steady_clock::now() - start;
  llvm::outs() << llvm::formatv("end {0} {1} {2} {3:f3}\n", number,
                                isAccepted ? "accepted" : "refused",
                                name(verdict.kind), taken.count());
  llvm::outs().flush();
}

} // namespace

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::ParseCommandLineOptions(argc, argv,
                              "what kernel and prover say of many pairs\n");
  mlir::DialectRegistry registry;
  registry.insert<MlcDialect, mlir::func::FuncDialect,
                  mlir::linalg::LinalgDialect, mlir::tensor::TensorDialect,
                  mlir::arith::ArithDialect, mlir::math::MathDialect,
                  mlir::affine::AffineDialect, mlir::scf::SCFDialect>();
  unsigned number = 0;
  for (const std::string &file : files) {
    // A context of its own: what it has uniqued stays.
    mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
    context.getDiagEngine().registerHandler(
        [](mlir::Diagnostic &) { return mlir::success(); });
    auto module = parseModuleFile(file, &context);
    if (!module) {
      llvm::errs() << file << ": cannot be read\n";
      return 3;
    }
    for (const Pair &pair : pairsOf(*module, file))
      if (number++ >= skip)
        judge(pair, number - 1);
  }
  return 0;
}
