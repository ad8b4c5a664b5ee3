//===- ModelOperators.cpp - From a model to a graph of operators ----------===//

#include "passes/Shardings/ModelOperators.h"
#include "dialects/Module/CompileTime.h"
#include "dialects/Module/StageFacts.h"
#include "passes/Distribute/Pin.h"
#include "passes/Shardings/OperatorDims.h"
#include "passes/Shardings/OperatorKinds.h"

using namespace mlir;
using llvm::SmallVector;
using llvm::StringRef;

namespace mlc::dist {

using planner::OperatorGraph;
using planner::SplitKind;
using planner::StepOperator;

namespace {

bool isFloat(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && isa<FloatType>(type.getElementType());
}

std::optional<SmallVector<int64_t>> sizesOf(Value value) {
  SmallVector<int64_t> sizes;
  for (const IntExpr &dim : dimsOf(value)) {
    auto size = dim.asConstant();
    if (!size || *size < 1)
      return std::nullopt;
    sizes.push_back(*size);
  }
  return sizes;
}

/// An operator of the graph, as it is found.
struct Group {
  llvm::SetVector<Operation *> operations;
  Operation *root = nullptr;
  std::vector<Division> divisions;
};

class Grouper {
public:
  Grouper(func::FuncOp main, OperatorGraph &graph, const PartPrices *prices)
      : main(main), graph(graph), prices(prices), finder(main.getContext()) {}

  LogicalResult run(std::string &wrong) {
    for (Operation &op : main.getBody().front().without_terminator())
      if (!checkSizes(op, wrong))
        return failure();
    findFixed();
    for (Operation &op : main.getBody().front().without_terminator())
      if (!fixed.contains(&op))
        join(&op);
    if (groups.empty()) {
      wrong = "has no operators that depend on its inputs";
      return failure();
    }
    for (Group &group : groups)
      findDivisions(group);
    mergeProducts();
    findSamples();
    addWeights();
    for (size_t i = 0; i < groups.size(); ++i)
      addOperator(i);
    markStages();
    return success();
  }

private:
  static bool checkSizes(Operation &op, std::string &wrong) {
    for (Value result : op.getResults())
      if (!sizesOf(result)) {
        wrong = "node '" + nodeOf(&op).str() +
                "' has a result whose dims are not known; fix them";
        return false;
      }
    return true;
  }

  bool isParameter(Value value) const {
    auto argument = dyn_cast<BlockArgument>(value);
    func::FuncOp function = main;
    return argument &&
           function.getArgAttr(argument.getArgNumber(), kParameterAttr);
  }

  /// What depends on parameters alone.
  void findFixed() {
    for (Operation &op : main.getBody().front().without_terminator())
      if (llvm::all_of(op.getOperands(), [&](Value operand) {
            return operand.getDefiningOp()
                       ? fixed.contains(operand.getDefiningOp())
                       : isParameter(operand);
          }))
        fixed.insert(&op);
  }

  void join(Operation *op) {
    int64_t last = -1;
    if (!isHeavy(op))
      for (Value operand : op->getOperands())
        if (Operation *maker = operand.getDefiningOp();
            maker && groupOf.contains(maker))
          last = std::max<int64_t>(last, groupOf.lookup(maker));
    if (last < 0) {
      last = int64_t(groups.size());
      groups.emplace_back().root = op;
    }
    groupOf[op] = size_t(last);
    groups[last].operations.insert(op);
  }

  /// First along what other groups make, whose dims may be parts of those of
  /// results, then along results.
  void findDivisions(Group &group) {
    group.divisions.clear();
    auto isKnown = [&](auto &&divides) {
      return llvm::any_of(group.divisions, divides);
    };
    auto add = [&](std::optional<Division> division) {
      if (division && group.divisions.size() < planner::kMostDims)
        group.divisions.push_back(std::move(*division));
    };
    for (Operation *op : group.operations)
      for (OpOperand &operand : op->getOpOperands()) {
        Operation *maker = operand.get().getDefiningOp();
        if (isFixed(operand.get()) ||
            (maker && group.operations.contains(maker)))
          continue;
        for (auto [d, size] : llvm::enumerate(*sizesOf(operand.get())))
          if (size > 1 && !isKnown([&](const Division &known) {
                auto it = known.reads.find(&operand);
                return it != known.reads.end() && it->second.dim == d;
              }))
            add(finder.find(group.operations, operand, unsigned(d)));
      }
    Value result = group.operations.back()->getResult(0);
    for (auto [d, size] : llvm::enumerate(*sizesOf(result)))
      if (size > 1 && !isKnown([&](const Division &known) {
            return known.values.lookup(result).dim == d;
          }))
        add(finder.find(group.operations, result, unsigned(d)));
  }

  /// The only other group that reads results of one; nothing if there are
  /// several, or if the model returns one.
  std::optional<size_t> onlyReader(size_t number) const {
    std::optional<size_t> reader;
    for (Operation *op : groups[number].operations)
      for (Operation *user : op->getUsers()) {
        if (!groupOf.contains(user))
          return std::nullopt;
        const size_t other = groupOf.lookup(user);
        if (other == number)
          continue;
        if (reader && *reader != other)
          return std::nullopt;
        reader = other;
      }
    return reader;
  }

  /// Products whose results another product's operator divides as it divides
  /// its own.
  void mergeProducts() {
    for (size_t i = 0; i < groups.size(); ++i) {
      const std::optional<size_t> reader = onlyReader(i);
      if (!reader || !isProduct(groups[i].root) ||
          !isProduct(groups[*reader].root) || !dividesAlike(i, *reader))
        continue;
      Group &to = groups[*reader];
      llvm::SetVector<Operation *> all = groups[i].operations;
      all.insert(to.operations.begin(), to.operations.end());
      for (Operation *op : groups[i].operations)
        groupOf[op] = *reader;
      to.operations = std::move(all);
      groups[i].operations.clear();
      findDivisions(to);
    }
    llvm::erase_if(groups,
                   [](const Group &group) { return group.operations.empty(); });
    for (size_t i = 0; i < groups.size(); ++i)
      for (Operation *op : groups[i].operations)
        groupOf[op] = i;
  }

  bool dividesAlike(size_t number, size_t reader) const {
    const Group &to = groups[reader];
    for (Operation *op : to.operations)
      for (OpOperand &operand : op->getOpOperands()) {
        Operation *maker = operand.get().getDefiningOp();
        if (!maker || !groups[number].operations.contains(maker))
          continue;
        for (auto [d, size] : llvm::enumerate(*sizesOf(operand.get())))
          if (size > 1 &&
              llvm::none_of(to.divisions, [&](const Division &division) {
                auto it = division.reads.find(&operand);
                return it != division.reads.end() && it->second.dim == d;
              }))
            return false;
      }
    return true;
  }

  /// Which dims follow from the first dims of inputs.
  void findSamples() {
    for (BlockArgument argument : main.getArguments())
      if (!isParameter(argument) && !dimsOf(argument).empty())
        samples[argument] = 0;
    for (Group &group : groups)
      for (const Division &division : group.divisions)
        if (isOfSamples(division))
          for (const auto &[value, divided] : division.values)
            samples.try_emplace(value, divided.dim);
  }

  bool isOfSamples(const Division &division) const {
    return llvm::any_of(division.reads, [&](const auto &read) {
      auto it = samples.find(read.first->get());
      return it != samples.end() && it->second == read.second.dim;
    });
  }

  SplitKind kindOf(const Group &group, size_t number) {
    if (isOfSamples(group.divisions[number]))
      return SplitKind::Sample;
    StepOperator scratch;
    for (Operation *op : group.operations)
      for (OpOperand &operand : op->getOpOperands())
        if (isFixed(operand.get()))
          addFixed(group, operand, scratch);
    return llvm::any_of(scratch.weights,
                        [&](const planner::WeightRead &read) {
                          return llvm::is_contained(read.along,
                                                    int32_t(number));
                        })
               ? SplitKind::Parameter
               : SplitKind::Attribute;
  }

  /// Whether it depends on parameters alone.
  bool isFixed(Value value) const {
    Operation *maker = value.getDefiningOp();
    return maker ? fixed.contains(maker) : isParameter(value);
  }

  void addWeights() {
    for (BlockArgument argument : main.getArguments()) {
      if (!isParameter(argument))
        continue;
      auto name = main.getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                    "mlc.name");
      planner::StepWeight weight;
      weight.name = name ? name.str() : "";
      const auto sizes = sizesOf(argument);
      weight.dims.assign(sizes->begin(), sizes->end());
      weight.elementBytes = elementBytesOf(argument);
      weights[argument] = int32_t(graph.weights.size());
      graph.weights.push_back(std::move(weight));
    }
  }

  static int32_t elementBytesOf(Value value) {
    auto type = cast<RankedTensorType>(value.getType());
    return std::max(1, int(type.getElementTypeBitWidth()) / 8);
  }

  /// Samples first, parameters last, where neighbours have them.
  std::vector<SplitKind> sortDivisions(Group &group) {
    std::vector<std::pair<SplitKind, size_t>> order;
    for (size_t i = 0; i < group.divisions.size(); ++i)
      order.push_back({kindOf(group, i), i});
    llvm::sort(order);
    std::vector<Division> sorted;
    std::vector<SplitKind> kinds;
    for (const auto &[kind, number] : order) {
      sorted.push_back(std::move(group.divisions[number]));
      kinds.push_back(kind);
    }
    group.divisions = std::move(sorted);
    return kinds;
  }

  void addOperator(size_t number) {
    Group &group = groups[number];
    const std::vector<SplitKind> kinds = sortDivisions(group);
    StepOperator op;
    op.name = nodeOf(group.root).str();
    op.type = group.root->getName().stripDialect().str();
    for (auto [kind, division] : llvm::zip(kinds, group.divisions))
      op.dims.push_back({kind, division.extent.getConstant(),
                         prices ? sharesOf(group, division)
                                : decltype(planner::OperatorDim::shares)()});
    bool isActive = false;
    for (Operation *operation : group.operations)
      for (OpOperand &operand : operation->getOpOperands())
        isActive |= addRead(group, operand, op);
    for (Operation *operation : group.operations)
      for (Value result : operation->getResults())
        if (llvm::any_of(result.getUsers(), [&](Operation *user) {
              return groupOf.contains(user) && groupOf.lookup(user) != number;
            }))
          addResult(group, number, result, op);
    active.push_back(isActive);
    graph.operators.push_back(std::move(op));
  }

  /// Each operation's share, by itself, of what it takes in the model.
  std::vector<std::pair<int32_t, double>> sharesOf(const Group &group,
                                                   const Division &division) {
    std::vector<std::pair<int32_t, double>> shares;
    const int64_t extent = division.extent.getConstant();
    for (int32_t parts = 2; parts <= prices->devices; ++parts) {
      if (prices->devices % parts || extent % parts)
        continue;
      double whole = 0, part = 0;
      for (Operation *op : group.operations) {
        const double seconds = prices->seconds(op);
        whole += seconds;
        part += seconds *
                finder.shareOf(op, division.values.lookup(op->getResult(0)),
                               division.extent, parts, prices->seconds);
      }
      if (whole > 0)
        shares.push_back({parts, std::clamp(part / whole, 1e-6, 1.0)});
    }
    return shares;
  }

  /// Whether gradients are wanted because of it.
  bool addRead(const Group &group, OpOperand &operand, StepOperator &op) {
    Value value = operand.get();
    Operation *maker = value.getDefiningOp();
    if (maker && group.operations.contains(maker))
      return false;
    if (isFixed(value))
      return addFixed(group, operand, op);
    if (!maker)
      return false;
    planner::DimMap along(dimsOf(value).size(), planner::kWhole);
    for (auto [i, division] : llvm::enumerate(group.divisions))
      if (auto it = division.reads.find(&operand); it != division.reads.end())
        along[it->second.dim] = int32_t(i);
    const bool isActive = isFloat(value) && active[groupOf.lookup(maker)];
    const int32_t tensor = tensors.lookup(value);
    if (llvm::none_of(op.reads, [&](const planner::TensorRead &known) {
          return known.tensor == tensor && known.along == along;
        }))
      op.reads.push_back({tensor, std::move(along), isActive});
    return isActive;
  }

  /// Parameters behind an operand, through what is made of them alone.
  bool addFixed(const Group &group, OpOperand &operand, StepOperator &op) {
    bool isAny = false;
    using Divided = SmallVector<std::optional<DividedDim>>;
    SmallVector<std::pair<Value, Divided>> open;
    Divided first;
    for (const Division &division : group.divisions) {
      auto it = division.reads.find(&operand);
      first.push_back(it == division.reads.end() ? std::nullopt
                                                 : std::optional(it->second));
    }
    open.push_back({operand.get(), first});
    while (!open.empty()) {
      auto [value, divided] = open.pop_back_val();
      if (isParameter(value)) {
        isAny = true;
        addWeightRead(value, divided, op);
        continue;
      }
      Operation *maker = value.getDefiningOp();
      for (OpOperand &part : maker->getOpOperands()) {
        Divided parts;
        for (auto [dim, division] : llvm::zip(divided, group.divisions)) {
          parts.emplace_back();
          if (!dim || maker->getNumResults() != 1)
            continue;
          if (const auto &step = finder.step(maker, -1, *dim, division.extent))
            parts.back() = step->operands[part.getOperandNumber()];
        }
        open.push_back({part.get(), std::move(parts)});
      }
    }
    return isAny;
  }

  void addWeightRead(Value value,
                     llvm::ArrayRef<std::optional<DividedDim>> divided,
                     StepOperator &op) {
    planner::WeightRead read;
    read.weight = weights.lookup(value);
    read.along.assign(dimsOf(value).size(), planner::kWhole);
    for (auto [i, dim] : llvm::enumerate(divided))
      if (dim)
        read.along[dim->dim] = int32_t(i);
    for (planner::WeightRead &known : op.weights)
      if (known.weight == read.weight) {
        // Two reads of one weight that differ take all of it.
        if (known.along != read.along)
          known.along.assign(read.along.size(), planner::kWhole);
        return;
      }
    op.weights.push_back(std::move(read));
  }

  void addResult(const Group &group, size_t number, Value result,
                 StepOperator &op) {
    planner::StepTensor tensor;
    tensor.name = nodeOf(result.getDefiningOp()).str();
    const auto sizes = sizesOf(result);
    tensor.dims.assign(sizes->begin(), sizes->end());
    tensor.elementBytes = elementBytesOf(result);
    tensor.maker = int32_t(number);
    tensor.along.assign(tensor.dims.size(), planner::kWhole);
    for (auto [i, division] : llvm::enumerate(group.divisions))
      tensor.along[division.values.lookup(result).dim] = int32_t(i);
    tensors[result] = int32_t(graph.tensors.size());
    op.results.push_back(int32_t(graph.tensors.size()));
    graph.tensors.push_back(std::move(tensor));
  }

  /// What depends on parameters alone belongs to its first reader.
  void markStages() {
    Builder b(main.getContext());
    for (Operation &op :
         llvm::reverse(main.getBody().front().without_terminator())) {
      auto it = groupOf.find(&op);
      int64_t stage = it == groupOf.end() ? INT64_MAX : int64_t(it->second);
      if (it == groupOf.end())
        for (Operation *user : op.getUsers())
          if (auto other = user->getAttrOfType<IntegerAttr>(kStageAttr))
            stage = std::min(stage, other.getInt());
      if (stage != INT64_MAX)
        op.setAttr(kStageAttr, b.getI64IntegerAttr(stage));
    }
  }

  func::FuncOp main;
  OperatorGraph &graph;
  const PartPrices *prices;
  DivisionFinder finder;
  llvm::DenseSet<Operation *> fixed;
  std::vector<Group> groups;
  llvm::DenseMap<Operation *, size_t> groupOf;
  llvm::DenseMap<Value, unsigned> samples;
  llvm::DenseMap<Value, int32_t> weights, tensors;
  std::vector<bool> active; ///< groups that gradients reach
};

} // namespace

LogicalResult groupOperators(ModuleOp model, OperatorGraph &graph,
                             std::string &wrong, const PartPrices *prices) {
  auto main = model.lookupSymbol<func::FuncOp>("main");
  if (!main || !main.getBody().hasOneBlock()) {
    wrong = "has no function @main of one block";
    return failure();
  }
  graph = OperatorGraph();
  return Grouper(main, graph, prices).run(wrong);
}

} // namespace mlc::dist
