//===- Rematerialize.cpp - Recomputation in place of memory ---------------===//

#include "passes/Memory/Rematerialize.h"
#include "codegen/kernel/Kernel.h"
#include "passes/Base/Form.h"
#include "passes/Memory/Exact.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using llvm::ArrayRef;

namespace mlc {

#define GEN_PASS_DEF_REMATERIALIZEPASS
#include "passes/Base/Passes.h.inc"

remat::Plan remat::solve(const Problem &problem, uint64_t budget) {
  Plan plan = solveFast(problem, budget, defaultWork);
  // Sizes that CBC solves in a second.
  constexpr size_t mostExact = 20;
  if (problem.steps.size() > mostExact || (plan.fits && plan.extraSeconds <= 0))
    return plan;
  ExactOptions options;
  options.nodes = 200;
  ExactPlan exact =
      solveExact(problem, budget, plan.fits ? &plan : nullptr, options);
  if (exact.plan &&
      (!plan.fits || exact.plan->extraSeconds < plan.extraSeconds))
    return *exact.plan;
  return plan;
}

namespace {

/// Predicts the times of launches.
class LaunchCosts {
public:
  LaunchCosts(exec::ProgramOp program, const CostParameters &cost)
      : module(program->getParentOfType<ModuleOp>()), cost(cost) {}

  double seconds(exec::LaunchOp launch) {
    double bytes = 0;
    for (Value buffer : launch->getOperands())
      bytes += bytesOf(buffer);
    double products = productsOf(launch);
    double others = launch.getWork() && launch.getWork()->isConstant()
                        ? launch.getWork()->getConstant()
                        : 0;
    const MemoryLevel *level = &cost.memory.front();
    while (level != &cost.memory.back() && bytes > level->bytes)
      ++level;
    double computing =
        products /
            (cost.contractionFlopsPerSecond * cost.contractionEfficiency) +
        std::max(0.0, others - products) / cost.scalarFlopsPerSecond;
    return cost.secondsPerKernel +
           std::max(computing, bytes / level->bytesPerSecond);
  }

private:
  static double bytesOf(Value buffer) {
    Operation *op = buffer.getDefiningOp();
    auto dims = op->getAttrOfType<DimsAttr>("dims");
    auto element = op->getAttrOfType<TypeAttr>("element");
    if (!dims || !element)
      return 0;
    double bytes = element.getValue().getIntOrFloatBitWidth() / 8.0;
    for (IntExpr dim : dims.getDims())
      bytes *= dim.isConstant() ? dim.getConstant() : 0;
    return bytes;
  }

  /// The operations of the kernel's contractions.
  double productsOf(exec::LaunchOp launch) {
    auto function = module.lookupSymbol<func::FuncOp>(launch.getKernel());
    if (!function)
      return 0;
    auto [it, isNew] = products.try_emplace(launch.getKernel());
    if (isNew)
      if (FailureOr<Kernel> kernel = Kernel::read(function); succeeded(kernel))
        it->second = {countProducts(*kernel), kernel->symbols};
    auto &[count, symbols] = it->second;
    if (!count)
      return 0;
    IntExpr known = count.substitute([&](llvm::StringRef name) {
      for (auto [symbol, value] :
           llvm::zip(symbols, launch.getArgs().getDims()))
        if (name == symbol)
          return value;
      return IntExpr();
    });
    return known.isConstant() ? known.getConstant() : 0;
  }

  ModuleOp module;
  const CostParameters &cost;
  llvm::StringMap<std::pair<IntExpr, SmallVector<std::string>>> products;
};

/// A program that follows a plan, with its costs.
struct Attempt {
  OwningOpRef<exec::ProgramOp> program;
  uint64_t arenaBytes = UINT64_MAX;
  double seconds = 0;
  unsigned runs = 0;
};

class Rematerializer {
public:
  Rematerializer(exec::ProgramOp program, const MemoryLimit &limit,
                 const remat::StepFacts &facts)
      : program(program), limit(limit), facts(facts) {}

  FailureOr<MemoryReport> run();

private:
  FailureOr<Attempt> attempt(const remat::Plan &plan);
  LogicalResult search(const remat::Problem &problem);
  LogicalResult tell(const remat::Problem &problem);

  exec::ProgramOp program;
  const MemoryLimit &limit;
  const remat::StepFacts &facts;
  MemoryReport report;
  /// The fastest program within the limit.
  std::optional<Attempt> best;
  uint64_t smallest = UINT64_MAX;
};

/// Clones the program, outside the module, and makes it follow `plan`.
FailureOr<Attempt> Rematerializer::attempt(const remat::Plan &plan) {
  Attempt result;
  result.program = program.clone();
  FailureOr<remat::ExecProblem> copy =
      remat::readExecProblem(*result.program, facts);
  if (failed(copy))
    return failure();
  remat::Schedule schedule = remat::toSchedule(copy->problem, plan.holds);
  if (schedule.runs.empty())
    return program.emitError("a plan of its memory cannot be carried out; this "
                             "is a bug in mlc");
  remat::applySchedule(*copy, schedule);
  FailureOr<remat::ExecProblem> after =
      remat::readExecProblem(*result.program, facts);
  if (failed(after))
    return failure();
  result.arenaBytes = after->arenaBytes();
  result.seconds = schedule.seconds;
  result.runs = schedule.runs.size();
  smallest = std::min(smallest, result.arenaBytes);
  return result;
}

/// Gaps make an arena larger than the memory alive in it. So this lowers the
/// limit on live memory until the arena fits.
LogicalResult Rematerializer::search(const remat::Problem &problem) {
  constexpr unsigned most = 12;
  uint64_t target = limit.arenaBytes;
  for (unsigned i = 0; i < most; ++i) {
    remat::Plan plan = remat::solve(problem, target);
    FailureOr<Attempt> made = attempt(plan);
    if (failed(made))
      return failure();
    if (made->arenaBytes <= limit.arenaBytes) {
      best = std::move(*made);
      return success();
    }
    if (!plan.fits)
      return success();
    uint64_t step = std::max(made->arenaBytes - limit.arenaBytes, target / 256);
    target = std::min(plan.peak, target);
    target -= std::min(target, step);
  }
  return success();
}

static std::string bytesText(uint64_t bytes) {
  return llvm::formatv("{0} bytes ({1:F2} MiB)", bytes, bytes / 1048576.0);
}

/// Reports why nothing fits.
LogicalResult Rematerializer::tell(const remat::Problem &problem) {
  std::string text = "a memory budget of " + bytesText(limit.arenaBytes);
  if (limit.arenaBytes < report.boundBytes)
    return program.emitError(text)
           << " is below what any order of the steps needs, "
           << bytesText(report.boundBytes);
  return program.emitError(text)
         << " is too small: the least that was found is " << bytesText(smallest)
         << ", and no order of the steps needs less than "
         << bytesText(report.boundBytes);
}

FailureOr<MemoryReport> Rematerializer::run() {
  FailureOr<remat::ExecProblem> read = remat::readExecProblem(program, facts);
  if (failed(read))
    return failure();
  const remat::Problem &problem = read->problem;
  // Plans have a cell for each step and buffer.
  constexpr size_t mostCells = size_t(1) << 24;
  if (problem.steps.size() * problem.values.size() > mostCells)
    return program.emitError("memory can be limited for programs of about 4000 "
                             "steps at most, and this one has ")
           << problem.steps.size();
  report.arenaBefore = report.arenaBytes = smallest = read->arenaBytes();
  report.boundBytes = remat::lowerBound(problem);
  report.seconds = problem.seconds();
  if (limit.arenaBytes == 0 || report.arenaBytes <= limit.arenaBytes)
    return report;
  if (limit.arenaBytes < report.boundBytes)
    return tell(problem);
  if (failed(search(problem)))
    return failure();
  if (!best)
    return tell(problem);
  report.arenaBytes = best->arenaBytes;
  report.repeatedSteps = best->runs - problem.steps.size();
  report.extraSeconds = best->seconds - report.seconds;
  program.getBody().takeBody((*best->program).getBody());
  return report;
}

} // namespace

FailureOr<MemoryReport> rematerialize(
    exec::ProgramOp program, const Target &target, const MemoryLimit &limit,
    llvm::function_ref<ArrayRef<std::pair<unsigned, unsigned>>(exec::LaunchOp)>
        inPlace) {
  LaunchCosts costs(program, target.cost);
  auto seconds = [&](exec::LaunchOp launch) { return costs.seconds(launch); };
  remat::StepFacts facts{inPlace, seconds};
  return Rematerializer(program, limit, facts).run();
}

namespace {
struct RematerializePass : impl::RematerializePassBase<RematerializePass> {
  using RematerializePassBase::RematerializePassBase;

  void runOnOperation() override {
    if (failed(requireForm(*this, getOperation(), Form::Kernels)))
      return signalPassFailure();
    FailureOr<CodeTarget> target =
        findCodeTarget(getOperation(), std::nullopt, targetName);
    if (failed(target))
      return signalPassFailure();
    MemoryLimit limit;
    limit.arenaBytes = budget;
    // In-place pairs are known only after kernels are compiled.
    auto none = [](exec::LaunchOp) {
      return ArrayRef<std::pair<unsigned, unsigned>>();
    };
    for (auto program : getOperation().getOps<exec::ProgramOp>())
      if (budget != 0 &&
          failed(rematerialize(program, target->target, limit, none)))
        return signalPassFailure();
  }
};
} // namespace

} // namespace mlc
