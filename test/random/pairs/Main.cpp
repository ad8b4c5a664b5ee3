//===- Main.cpp - Random pairs: verdicts beside labels --------------------===//
//
//   random-pairs N [--seed S] [--effort F] [--jobs J] [--keep FOLDER]
//   [--kernel] [--kind K]
//
// Makes N pairs of functions, asks the verifier, labels them by construction
// and by evaluation, and prints counts of verdict x label. A false pair that
// is proved, or a true one that is refuted, is reduced, written to FOLDER and
// makes the exit code 5; so does a proof that is not accepted by itself. Pair i
// depends on S, K and i alone. Of linalg is a quarter of them, and of the
// others a third are scalars; partial functions, with their gradients, are a
// kind of their own.
//
//===----------------------------------------------------------------------===//

#include "Linalg.h"
#include "Partial.h"
#include "Recipe.h"
#include "dialects/Module/ParseModule.h"
#include "dialects/Symbolic/Attributes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "verifier/read/AssumeText.h"
#include "verifier/read/CheckProof.h"
#include "verifier/search/ByKernel.h"
#include "verifier/search/Gradient.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/InitLLVM.h"
#include <atomic>
#include <mutex>
#include <thread>

using namespace mlc;
using namespace mlc::test;
namespace cl = llvm::cl;

static cl::OptionCategory category("Options");
static cl::opt<unsigned> count(cl::Positional, cl::Required, cl::cat(category),
                               cl::desc("how many pairs"));
static cl::opt<uint64_t> seed("seed", cl::cat(category),
                              cl::desc("Seed of all pairs (1)"), cl::init(1));
static cl::opt<uint64_t> start("start", cl::cat(category),
                               cl::desc("Number of the first (0)"),
                               cl::init(0));
static cl::opt<double> effort("effort", cl::cat(category),
                              cl::desc("Share of the verifier's work (0.02)"),
                              cl::init(0.02));
static cl::opt<unsigned> jobs("jobs", cl::cat(category),
                              cl::desc("Threads (1)"), cl::init(1));
static cl::opt<std::string> keep("keep", cl::cat(category),
                                 cl::desc("Folder for what disagrees (none)"));
static cl::opt<bool> byKernel("kernel", cl::cat(category),
                              cl::desc("Ask for proofs that the kernel "
                                       "accepts, not the prover"));
enum class PairKind { Any, Graph, Scalar, Linalg, Partial };
static cl::opt<PairKind>
    kind("kind", cl::cat(category), cl::desc("What the functions are of"),
         cl::init(PairKind::Any),
         cl::values(clEnumValN(PairKind::Any, "any", "All of these"),
                    clEnumValN(PairKind::Graph, "graph", "Operators of mlc"),
                    clEnumValN(PairKind::Scalar, "scalar",
                               "arith on elements of vectors"),
                    clEnumValN(PairKind::Linalg, "linalg",
                               "linalg, tensor and scf on tensors"),
                    clEnumValN(PairKind::Partial, "partial",
                               "Functions that are not defined everywhere, "
                               "gradients among them")));
static cl::opt<bool> show("show", cl::cat(category),
                          cl::desc("Print every pair and its answers"));

namespace {

enum Truth { Unlabelled, SeenEqual, ByConstruction, False };
constexpr const char *truths[] = {"unlabelled", "equal where tried",
                                  "true by construction", "false"};

struct Pair {
  Recipe before, after;
  std::shared_ptr<const LinalgPair> linalg;   // instead of them
  std::shared_ptr<const PartialPair> partial; // or this
  std::string text;                           // of those
  bool isTrue = false;                        // by construction
};

struct Answer {
  bool isBuilt = false;
  bool isRefused = false; // a proof was found, and not accepted by itself
  Verdict verdict;
  Label label;
  std::string text;

  Truth truth(bool isTrue) const {
    if (label.kind == Label::Kind::Different)
      return False;
    if (isTrue)
      return ByConstruction;
    return label.kind == Label::Kind::Equal ? SeenEqual : Unlabelled;
  }
};

std::vector<mlir::Type> typesOf(const Recipe &recipe,
                                mlir::MLIRContext *context) {
  std::vector<mlir::Type> types = recipe.arguments;
  if (recipe.isScalar) {
    for (const Step &step : recipe.steps)
      types.push_back(step.type);
    return types;
  }
  for (unsigned i = 0; i < recipe.steps.size(); ++i) {
    mlir::OwningOpRef<mlir::ModuleOp> module =
        mlir::ModuleOp::create(mlir::UnknownLoc::get(context));
    Recipe one = recipe;
    one.result = recipe.arguments.size() + i;
    std::vector<mlir::Value> values;
    if (!build(one, *module, "f", &values))
      break;
    types.push_back(values[one.result].getType());
  }
  return types;
}

Pair makePairOfLinalg(mlir::MLIRContext *context, Random &random) {
  Pair pair;
  auto made = std::make_shared<LinalgPair>(makeLinalgPair(context, random));
  pair.isTrue = made->isTrue;
  pair.text =
      linalgText(*made, made->before, "before", /*isPlain=*/true, random) +
      linalgText(*made, made->after, "after", /*isPlain=*/false, random);
  pair.linalg = std::move(made);
  return pair;
}

Pair makePairOfPartial(Random &random) {
  Pair pair;
  auto made = std::make_shared<PartialPair>(makePartialPair(random));
  pair.isTrue = made->isTrue;
  pair.text = partialText(*made, random);
  pair.partial = std::move(made);
  return pair;
}

Pair makePair(mlir::MLIRContext *context, Random &random) {
  if (kind == PairKind::Partial)
    return makePairOfPartial(random);
  bool isLinalg = random() % 4 == 0, isScalar = random() % 3 == 0;
  if (kind != PairKind::Any) {
    isLinalg = kind == PairKind::Linalg;
    isScalar = kind == PairKind::Scalar;
  }
  if (isLinalg)
    return makePairOfLinalg(context, random);
  auto make = [&] {
    return isScalar ? makeScalars(context, random) : makeGraph(context, random);
  };
  Pair pair;
  pair.before = make();
  pair.after = pair.before;
  std::vector<mlir::Type> types = typesOf(pair.before, context);
  // A condition or a predicate that is dropped is dropped for both.
  pair.isTrue = true;
  unsigned way = random() % 8;
  for (unsigned i = 1 + random() % 3; i > 0 && way < 6; --i)
    preserve(pair.after, types, random);
  if (way >= 4) {
    pair.isTrue = false;
    bool isChanged = false;
    for (unsigned tries = 0; tries < 8 && !isChanged; ++tries)
      isChanged = mutate(pair.after, types, random);
    if (way == 7) {
      Recipe other = pair.before.isScalar ? makeScalars(context, random)
                                          : makeGraph(context, random);
      recombine(pair.after, types, other, typesOf(other, context), random);
    }
  }
  pair.before.conditions = pair.after.conditions;
  pair.before.predicates = pair.after.predicates;
  return pair;
}

VerifierOptions optionsOfPairs() {
  VerifierOptions options;
  options.scaleWork(effort);
  options.trialsAfter = 30;
  options.classifyFloats = false;
  return options;
}

/// Whether a proof is accepted as mlc-check does, which has only its text.
bool isAccepted(llvm::ArrayRef<verifier::Goal> goals,
                const Assumptions &assumptions, llvm::StringRef proof) {
  return llvm::any_of(goals, [&](const verifier::Goal &goal) {
    return verifier::checkGoal(goal, assumptions, proof).isAccepted;
  });
}

Answer askPartial(const Pair &pair, mlir::MLIRContext *context,
                  uint64_t number) {
  Answer answer;
  auto module = parseModuleText(pair.text, "pair", context);
  if (!module)
    return answer;
  bool isGradient = pair.partial->function != nullptr;
  auto before =
      module->lookupSymbol<mlir::func::FuncOp>(isGradient ? "f" : "before");
  auto after =
      module->lookupSymbol<mlir::func::FuncOp>(isGradient ? "g" : "after");
  Assumptions none;
  answer.isBuilt = true;
  answer.verdict = isGradient
                       ? verifyGradient(before, after, none, optionsOfPairs())
                       : verify(before, after, none, optionsOfPairs());
  if (answer.verdict.isProved()) {
    std::vector<verifier::Goal> goals;
    if (isGradient)
      goals = verifier::makeGradientGoals(before, after, none);
    else
      goals.push_back(verifier::makeGoal(before, after, none));
    answer.isRefused =
        !isAccepted(goals, none, answer.verdict.certificate.proof);
  }
  answer.label = labelPartial(*pair.partial, number);
  answer.text = pair.text;
  return answer;
}

Answer ask(const Pair &pair, mlir::MLIRContext *context, uint64_t number) {
  if (pair.partial)
    return askPartial(pair, context, number);
  Answer answer;
  mlir::OwningOpRef<mlir::ModuleOp> module =
      pair.linalg ? parseModuleText(pair.text, "pair", context)
                  : mlir::ModuleOp::create(mlir::UnknownLoc::get(context));
  if (!module)
    return answer;
  if (!pair.linalg) {
    build(pair.before, *module, "before");
    build(pair.after, *module, "after");
  }
  auto before = module->lookupSymbol<mlir::func::FuncOp>("before"),
       after = module->lookupSymbol<mlir::func::FuncOp>("after");
  auto resultOf = [](mlir::func::FuncOp side) {
    return mlir::cast<mlir::RankedTensorType>(side.getResultTypes()[0]);
  };
  if (!before || !after ||
      resultOf(before).getElementType() != resultOf(after).getElementType() ||
      resultOf(before).getRank() != resultOf(after).getRank())
    return answer;
  llvm::Expected<Assumptions> assumptions = readAssumptions(before);
  if (!assumptions) {
    llvm::consumeError(assumptions.takeError());
    return answer;
  }
  answer.isBuilt = true;
  VerifierOptions options = optionsOfPairs();
  if (byKernel) {
    verifier::KernelVerdict kernel =
        verifier::proveByKernel(before, after, *assumptions, options);
    answer.verdict.kind =
        kernel.isAccepted ? Verdict::Kind::Proved : Verdict::Kind::Unknown;
    answer.verdict.reason = kernel.reason;
  } else {
    answer.verdict = verify(before, after, *assumptions, options);
  }
  answer.label = pair.linalg ? labelLinalg(*pair.linalg, before, after, number)
                 : pair.before.isScalar
                     ? labelScalars(before, after, number)
                     : labelGraphs(before, after, *assumptions, number);
  llvm::raw_string_ostream(answer.text) << *module;
  return answer;
}

/// A false pair that is proved, or a true one that is refuted.
bool disagrees(const Pair &pair, const Answer &answer) {
  if (!answer.isBuilt)
    return false;
  Truth truth = answer.truth(pair.isTrue);
  return answer.isRefused || (answer.verdict.isProved() && truth == False) ||
         (answer.verdict.isRefuted() && truth == ByConstruction);
}

/// Leaves out steps and assumptions while the pair disagrees.
Pair reduce(Pair pair, mlir::MLIRContext *context, uint64_t number) {
  auto accept = [&](const Pair &candidate) {
    if (!disagrees(candidate, ask(candidate, context, number)))
      return false;
    pair = candidate;
    return true;
  };
  auto redirect = [](Recipe &recipe, unsigned from, unsigned to) {
    for (Step &step : recipe.steps)
      for (unsigned &operand : step.operands)
        if (operand == from)
          operand = to;
    if (recipe.result == from)
      recipe.result = to;
  };
  for (bool isSmaller = true; isSmaller;) {
    isSmaller = false;
    for (size_t i = 0; i < pair.before.conditions.size(); ++i) {
      Pair candidate = pair;
      for (Recipe *side : {&candidate.before, &candidate.after})
        side->conditions.erase(side->conditions.begin() + i);
      isSmaller |= accept(candidate);
    }
    unsigned first = pair.before.arguments.size();
    for (unsigned s = 0; s < pair.before.steps.size() && pair.isTrue == false;
         ++s)
      for (unsigned operand :
           std::vector<unsigned>(pair.before.steps[s].operands)) {
        Pair candidate = pair;
        redirect(candidate.before, first + s, operand);
        redirect(candidate.after, first + s, operand);
        Answer answer = ask(candidate, context, number);
        if (answer.text.size() < ask(pair, context, number).text.size())
          isSmaller |= accept(candidate);
      }
  }
  return pair;
}

class Campaign {
public:
  void run() {
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < jobs; ++i)
      threads.emplace_back([&] { work(); });
    for (std::thread &thread : threads)
      thread.join();
  }

  int report() const {
    llvm::outs() << llvm::formatv("{0,-22}{1,10}{2,10}{3,10}\n", "", "proved",
                                  "refuted", "unknown");
    for (unsigned t = 0; t < 4; ++t)
      llvm::outs() << llvm::formatv("{0,-22}{1,10}{2,10}{3,10}\n", truths[t],
                                    table[t][0].load(), table[t][1].load(),
                                    table[t][2].load());
    llvm::outs() << llvm::formatv("{0} pairs; {1} were not well formed; "
                                  "{2} disagree\n",
                                  count.getValue(), notBuilt.load(),
                                  found.load());
    return found ? 5 : 0;
  }

private:
  void work() {
    constexpr uint64_t chunk = 50;
    while (true) {
      uint64_t begin = next.fetch_add(chunk);
      if (begin >= count)
        return;
      // A context of its own for few: what it has uniqued stays.
      mlir::DialectRegistry registry;
      registry.insert<MlcDialect, mlir::func::FuncDialect,
                      mlir::linalg::LinalgDialect, mlir::tensor::TensorDialect,
                      mlir::arith::ArithDialect, mlir::math::MathDialect,
                      mlir::affine::AffineDialect, mlir::scf::SCFDialect>();
      mlir::MLIRContext context(registry,
                                mlir::MLIRContext::Threading::DISABLED);
      context.loadAllAvailableDialects();
      context.getDiagEngine().registerHandler(
          [](mlir::Diagnostic &) { return mlir::success(); });
      for (uint64_t i = begin; i < std::min<uint64_t>(begin + chunk, count);
           ++i)
        one(&context, start + i);
    }
  }

  void one(mlir::MLIRContext *context, uint64_t number) {
    Random random(seed * 1000003 + number);
    Pair pair = makePair(context, random);
    Answer answer = ask(pair, context, number);
    if (!answer.isBuilt) {
      ++notBuilt;
      return;
    }
    Truth truth = answer.truth(pair.isTrue);
    ++table[truth][static_cast<unsigned>(answer.verdict.kind)];
    if (show) {
      std::scoped_lock lock(mutex);
      llvm::outs() << "// " << number << ": " << name(answer.verdict.kind)
                   << ", " << truths[truth] << ' ' << answer.label.where << ' '
                   << answer.verdict.reason << '\n'
                   << answer.text << '\n';
    }
    if (!disagrees(pair, answer))
      return;
    ++found;
    Pair small = reduce(pair, context, number);
    answer = ask(small, context, number);
    std::scoped_lock lock(mutex);
    std::string text = llvm::formatv(
        "// {0}, but {1}; seed {2}, pair {3}. {4}\n{5}{6}",
        name(answer.verdict.kind), truths[answer.truth(pair.isTrue)],
        seed.getValue(), number, answer.label.where,
        comment(answer.verdict.counterexample.text), answer.text);
    llvm::outs() << text << '\n';
    llvm::outs().flush();
    if (keep.empty())
      return;
    std::error_code error;
    llvm::sys::fs::create_directories(keep);
    llvm::raw_fd_ostream file(keep + "/" + std::to_string(seed) + "-" +
                                  std::to_string(number) + ".mlir",
                              error);
    if (!error)
      file << text;
  }

  static std::string comment(llvm::StringRef text) {
    std::string result;
    llvm::SmallVector<llvm::StringRef> lines;
    text.split(lines, '\n', -1, /*KeepEmpty=*/false);
    for (llvm::StringRef line : lines)
      result += ("//" + line + "\n").str();
    return result;
  }

  std::atomic<uint64_t> next{0}, notBuilt{0}, found{0};
  std::atomic<uint64_t> table[4][3] = {};
  std::mutex mutex;
};

} // namespace

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv,
                              "random pairs of functions: verdicts beside "
                              "what evaluation and construction say\n");
  Campaign campaign;
  campaign.run();
  return campaign.report();
}
