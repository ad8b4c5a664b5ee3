//===- EntryArena.cpp - An entry's arena before it is compiled ------------===//

#include "tools/mlc/EntryArena.h"
#include "dialects/Definition/OpInterfaces.h"
#include "dialects/Module/States.h"
#include "passes/Memory/ExecProblem.h"
#include "runtime/Planner.h"
#include <map>

using namespace mlc;

int64_t mlc::cli::tensorBytes(mlir::Type type) {
  auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(type);
  const auto dims = tensor ? getDims(tensor) : std::nullopt;
  if (!dims)
    return 0;
  int64_t bytes = (tensor.getElementTypeBitWidth() + 7) / 8;
  for (IntExpr dim : *dims) {
    const auto size =
        dim.evaluate([](llvm::StringRef symbol) -> std::optional<int64_t> {
          if (symbol.starts_with("rank."))
            return 0;
          return std::nullopt;
        });
    bytes *= size.value_or(0);
  }
  return bytes;
}

namespace {

/// Groups operators as passes/Fuse does, roughly, and plans what groups give
/// each other.
class ArenaEstimate {
public:
  ArenaEstimate(mlir::func::FuncOp entry, llvm::ArrayRef<bool> isDirect,
                const CostModel &cost)
      : entry(entry), isDirect(isDirect), cost(cost) {}
  int64_t bytes();

private:
  struct Group {
    bool hasContraction = false;
    /// The dims that its loops run over.
    llvm::SmallVector<int64_t> dims;
  };

  bool isFolded(mlir::Operation *op);
  mlir::Value rootOf(mlir::Value value);
  void assign(mlir::Operation *op);
  bool canJoin(mlir::Operation *op, const Group &group);
  bool isWritten(mlir::Value value);
  const Work &workOf(mlir::Operation *op);
  void readUses();
  static llvm::ArrayRef<int64_t> dimsOf(mlir::Value value) {
    return llvm::cast<mlir::RankedTensorType>(value.getType()).getShape();
  }

  mlir::func::FuncOp entry;
  llvm::ArrayRef<bool> isDirect;
  const CostModel &cost;
  std::map<mlir::Operation *, Work> works;
  std::vector<Group> groups;
  llvm::DenseMap<mlir::Operation *, uint32_t> groupOf;
  /// For each tensor the last group that reads it.
  llvm::DenseMap<mlir::Value, uint32_t> lastUse;
  llvm::DenseSet<mlir::Value> isReadOutside;
};

} // namespace

/// Whether readers find the result in the operand: it is the same memory, or
/// elements of it in another order, as contractions read them, or repeated.
bool ArenaEstimate::isFolded(mlir::Operation *op) {
  if (op->getNumOperands() == 0)
    return false;
  if (cost.isReinterpretation(op))
    return true;
  const Work &work = workOf(op);
  if (!llvm::isa<DefinitionOpInterface>(op) || op->getNumOperands() != 1 ||
      work.operations > 0 || !work.contractions.empty())
    return false;
  return work.isPointwise ||
         llvm::all_of(op->getUsers(), [&](mlir::Operation *user) {
           return !workOf(user).contractions.empty();
         });
}

mlir::Value ArenaEstimate::rootOf(mlir::Value value) {
  while (mlir::Operation *op = value.getDefiningOp()) {
    if (!isFolded(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

/// None for operators without a definition.
const Work &ArenaEstimate::workOf(mlir::Operation *op) {
  auto [it, isNew] = works.try_emplace(op);
  auto defined = llvm::dyn_cast<DefinitionOpInterface>(op);
  if (isNew && defined)
    if (auto definition = getDefinition(defined); succeeded(definition))
      it->second =
          countWork(op->getContext(), *definition, cost.getSymbolSizes());
  return it->second;
}

/// What reads the group's results at the same place, or row by row.
bool ArenaEstimate::canJoin(mlir::Operation *op, const Group &group) {
  const Work &work = workOf(op);
  if (!work.contractions.empty())
    return false;
  llvm::ArrayRef<int64_t> result = dimsOf(op->getResult(0));
  if (group.hasContraction)
    return work.isPointwise && result == llvm::ArrayRef(group.dims);
  // Loop groups share their outer dim.
  return result.empty() || group.dims.empty() ||
         result.front() == group.dims.front();
}

void ArenaEstimate::assign(mlir::Operation *op) {
  std::optional<uint32_t> latest;
  for (mlir::Value operand : op->getOperands())
    if (mlir::Operation *maker = rootOf(operand).getDefiningOp())
      if (auto it = groupOf.find(maker);
          it != groupOf.end() && (!latest || it->second > *latest))
        latest = it->second;
  if (latest && canJoin(op, groups[*latest])) {
    groupOf[op] = *latest;
    return;
  }
  groupOf[op] = uint32_t(groups.size());
  groups.push_back({!workOf(op).contractions.empty(),
                    llvm::to_vector(dimsOf(op->getResult(0)))});
}

/// Whether a result of the entry has memory of its own.
bool ArenaEstimate::isWritten(mlir::Value value) {
  mlir::Operation *end = entry.getBody().front().getTerminator();
  for (mlir::OpOperand &use : value.getUses())
    if (use.getOwner() == end &&
        (isDirect[use.getOperandNumber()] ||
         entry.getResultAttr(use.getOperandNumber(), kStateAttr)))
      return true;
  return false;
}

void ArenaEstimate::readUses() {
  for (mlir::Operation &op : entry.getBody().front()) {
    auto own = groupOf.find(&op);
    const bool isEnd = op.hasTrait<mlir::OpTrait::IsTerminator>();
    if (own == groupOf.end() && !isEnd)
      continue;
    const uint32_t at = isEnd ? uint32_t(groups.size()) : own->second;
    for (mlir::Value operand : op.getOperands()) {
      mlir::Value root = rootOf(operand);
      auto maker = root.getDefiningOp() ? groupOf.find(root.getDefiningOp())
                                        : groupOf.end();
      if (maker == groupOf.end() || maker->second == at)
        continue;
      isReadOutside.insert(root);
      lastUse[root] = std::max(lastUse.lookup(root), at);
    }
  }
}

int64_t ArenaEstimate::bytes() {
  for (mlir::Operation &op : entry.getBody().front())
    if (!op.hasTrait<mlir::OpTrait::IsTerminator>() && op.getNumResults() &&
        !isFolded(&op) && !workOf(&op).isLeaf)
      assign(&op);
  readUses();
  std::vector<runtime::PlanItem> items;
  for (mlir::Operation &op : entry.getBody().front())
    for (mlir::Value result : op.getResults())
      if (isReadOutside.contains(result) && !isWritten(result))
        items.push_back({uint64_t(cli::tensorBytes(result.getType())),
                         groupOf.lookup(&op), lastUse.lookup(result)});
  return int64_t(runtime::planMemory(items).peak);
}

int64_t mlc::cli::estimateArena(mlir::func::FuncOp entry,
                                llvm::ArrayRef<bool> isDirect,
                                const CostModel &cost) {
  return ArenaEstimate(entry, isDirect, cost).bytes();
}

std::optional<int64_t>
mlc::cli::findArena(exec::ProgramOp program,
                    const llvm::StringMap<const CompiledKernel *> &kernels,
                    const llvm::StringSet<> &elsewhere) {
  auto inPlace = [&](exec::LaunchOp launch)
      -> llvm::ArrayRef<std::pair<unsigned, unsigned>> {
    const CompiledKernel *kernel = kernels.lookup(launch.getKernel());
    return kernel ? llvm::ArrayRef(kernel->inPlace)
                  : llvm::ArrayRef<std::pair<unsigned, unsigned>>();
  };
  auto seconds = [](exec::LaunchOp) { return 0.0; };
  // What is not known to the byte stays an estimate, without an error.
  mlir::ScopedDiagnosticHandler quiet(
      program.getContext(), [](mlir::Diagnostic &) { return mlir::success(); });
  auto problem = remat::readExecProblem(program, {inPlace, seconds});
  if (failed(problem))
    return std::nullopt;
  size_t output = 0;
  program.walk([&](exec::OutputOp op) {
    const runtime::BufferId buffer = problem->skeleton.outputs[output++].buffer;
    if (elsewhere.contains(op.getName()))
      problem->isPlaced[buffer] = 0;
  });
  return int64_t(problem->arenaBytes());
}

std::optional<int64_t>
mlc::cli::findScratch(exec::ProgramOp program,
                      const llvm::StringMap<const CompiledKernel *> &kernels) {
  int64_t most = 0;
  bool isKnown = true;
  program.walk([&](exec::LaunchOp launch) {
    const CompiledKernel *kernel = kernels.lookup(launch.getKernel());
    auto bytes = kernel ? kernel->scratchBytes.asConstant() : std::nullopt;
    isKnown &= bytes.has_value();
    most = std::max(most, bytes.value_or(0));
  });
  // As Session::makePlan has it.
  return isKnown ? std::optional((most + 63) / 64 * 64 + 64) : std::nullopt;
}
