//===- WrittenShardings.cpp - Shardings as papers have them ---------------===//

#include "passes/Shardings/WrittenShardings.h"
#include "passes/Distribute/Pin.h"
#include "passes/Distribute/Strategies.h"
#include "passes/Shardings/WeightedOperators.h"
#include "llvm/ADT/MapVector.h"
#include <map>
#include <set>

using namespace mlir;
using llvm::SmallVector;
using llvm::StringRef;
using Kind = mlc::dist::Weighted::Kind;

namespace mlc::dist {

namespace {

/// A product that is split by columns, by the number of its operator.
using Seeds = std::set<size_t>;

/// Follows what products with columns give, in program order, until it is
/// summed.
class PairFinder {
public:
  PairFinder(func::FuncOp main, AxisAttr axis) : main(main), axis(axis) {}

  /// The dims that weights are split along. Products whose columns cannot be
  /// followed are left whole, with those that they meet, and all is done again.
  std::map<std::string, unsigned> find() {
    do {
      flows.clear();
      dims.clear();
      isAgain = false;
      size_t number = 0;
      for (Operation &op : main.getBody().front().without_terminator())
        visit(op, number++);
      std::map<std::string, unsigned> found;
      for (const auto &[weight, split] : dims)
        if (llvm::none_of(split.second,
                          [&](size_t seed) { return whole.count(seed); }))
          found[weight] = split.first;
      if (!isAgain)
        return found;
    } while (true);
  }

private:
  struct Flow {
    Place place;
    Seeds seeds;
  };

  void giveUp(const Seeds &seeds) {
    for (size_t seed : seeds)
      isAgain |= whole.insert(seed).second;
  }

  /// Splits what an operand is made of, if it is a weight.
  bool splitWeight(Value operand, const Place &place, const Seeds &seeds) {
    if (!isOfWeight(operand))
      return true;
    auto dim = findWeightDim(operand, place, axis);
    if (!dim)
      return false;
    auto [it, isNew] = dims.try_emplace(dim->weight, dim->dim, seeds);
    if (!isNew) {
      it->second.second.insert(seeds.begin(), seeds.end());
      if (it->second.first != dim->dim) {
        giveUp(it->second.second);
        return false;
      }
    }
    return true;
  }

  void visit(Operation &op, size_t number) {
    Seeds seeds;
    for (Value operand : op.getOperands())
      if (auto it = flows.find(operand); it != flows.end())
        seeds.insert(it->second.seeds.begin(), it->second.seeds.end());
    if (seeds.empty())
      return begin(op, number);
    if (!follow(op, seeds))
      giveUp(seeds);
  }

  void begin(Operation &op, size_t number) {
    auto weighted = findWeighted(&op, axis);
    if (!weighted || weighted->kind == Kind::Convolution)
      return;
    Value weight = op.getOperand(weighted->weight);
    if (weighted->kind == Kind::Lookup) {
      // The sum of what is looked up is whole.
      for (const Place &rows : listSplits(weight, axis))
        if (auto factor = findFactor(weighted->definition,
                                     {false, weighted->weight}, rows, axis);
            factor && factor->isLookup({false, weighted->weight}))
          splitWeight(weight, rows, {number});
      return;
    }
    if (whole.count(number))
      return;
    auto columns = findColumns(*weighted, axis);
    auto factor = columns ? findFactor(weighted->definition,
                                       {true, weighted->definition.results[0]},
                                       *columns, axis)
                          : std::nullopt;
    if (factor &&
        splitWeight(weight, factor->placeOf({false, weighted->weight}),
                    {number}))
      flows[op.getResult(0)] = {*columns, {number}};
  }

  /// Whether the operator works on parts of what flows into it.
  bool follow(Operation &op, const Seeds &seeds) {
    std::optional<Definition> definition = meaningOf(&op);
    std::optional<Factor> factor;
    for (auto [i, operand] : llvm::enumerate(op.getOperands())) {
      auto it = flows.find(operand);
      if (!definition || it == flows.end())
        continue;
      if (!factor)
        factor = findFactor(*definition, {false, unsigned(i)}, it->second.place,
                            axis);
      if (!factor || !isSame(factor->placeOf({false, unsigned(i)}),
                             it->second.place, axis))
        return false;
    }
    if (!factor)
      return false;
    auto plan = makePlan(&op, *definition, *factor, Kinds(op.getNumOperands()));
    if (!plan || plan->partials.isCut())
      return false;
    for (auto [i, operand] : llvm::enumerate(op.getOperands()))
      if (factor->inputs[i] && !flows.count(operand) &&
          !splitWeight(operand, factor->placeOf({false, unsigned(i)}), seeds))
        return false;
    if (plan->result.isSplit())
      flows[op.getResult(0)] = {plan->result, seeds};
    // What is summed are rows of another weight.
    return plan->result.isSplit() ||
           (plan->result.isPartial() && findWeighted(&op, axis));
  }

  func::FuncOp main;
  AxisAttr axis;
  llvm::DenseMap<Value, Flow> flows;
  std::map<std::string, std::pair<unsigned, Seeds>> dims;
  /// Products that stay whole.
  Seeds whole;
  bool isAgain = false;
};

} // namespace

static runtime::TensorSharding shardingOf(StringRef name, unsigned dim,
                                          AxisAttr axis) {
  runtime::TensorSharding sharding{name.str(), {}};
  sharding.axes.resize(dim + 1);
  sharding.axes.back().push_back(axis.getName().str());
  return sharding;
}

std::vector<runtime::TensorSharding> splitInPairs(func::FuncOp main,
                                                  AxisAttr axis) {
  std::vector<runtime::TensorSharding> shardings;
  for (const auto &[weight, dim] : PairFinder(main, axis).find())
    shardings.push_back(shardingOf(weight, dim, axis));
  return shardings;
}

/// The dim of a bias that is added to the result of a product.
static std::optional<WeightDim> findBias(Operation *product,
                                         const Place &columns, AxisAttr axis) {
  if (!product->hasOneUse())
    return std::nullopt;
  OpOperand &use = *product->use_begin();
  std::optional<Definition> definition = meaningOf(use.getOwner());
  auto factor = definition
                    ? findFactor(*definition, {false, use.getOperandNumber()},
                                 columns, axis)
                    : std::nullopt;
  if (factor)
    for (auto [i, operand] : llvm::enumerate(use.getOwner()->getOperands()))
      if (factor->inputs[i] && isOfWeight(operand))
        return findWeightDim(operand, factor->placeOf({false, unsigned(i)}),
                             axis);
  return std::nullopt;
}

std::vector<runtime::TensorSharding> splitSamplesThenColumns(func::FuncOp main,
                                                             AxisAttr axis) {
  std::vector<runtime::TensorSharding> samples, columns;
  for (Operation &op : main.getBody().front().without_terminator()) {
    auto weighted = findWeighted(&op, axis);
    if (!weighted || weighted->kind == Kind::Lookup)
      continue;
    const StringRef node = nodeOf(&op);
    if (weighted->kind == Kind::Convolution) {
      auto batch = dimsOf(op.getResult(0))[0].asConstant();
      if (node.empty() || !batch || *batch % int64_t(countRanks(axis)))
        return {};
      samples.push_back(shardingOf(node, 0, axis));
      continue;
    }
    auto place = findColumns(*weighted, axis);
    auto factor = place ? findFactor(weighted->definition,
                                     {true, weighted->definition.results[0]},
                                     *place, axis)
                        : std::nullopt;
    Value weight = op.getOperand(weighted->weight);
    auto dim =
        factor ? findWeightDim(weight,
                               factor->placeOf({false, weighted->weight}), axis)
               : std::nullopt;
    // Of a number of classes that is odd, all ranks have all.
    if (!dim)
      continue;
    columns.push_back(shardingOf(dim->weight, dim->dim, axis));
    if (auto bias = findBias(&op, *place, axis))
      columns.push_back(shardingOf(bias->weight, bias->dim, axis));
    if (!node.empty())
      columns.push_back(shardingOf(node, place->dim, axis));
  }
  if (samples.empty() || columns.empty())
    return {};
  std::set<std::string> known;
  std::vector<runtime::TensorSharding> all;
  for (auto *list : {&samples, &columns})
    for (runtime::TensorSharding &sharding : *list)
      if (known.insert(sharding.pattern).second)
        all.push_back(std::move(sharding));
  return all;
}

std::vector<std::string> listLayerEnds(func::FuncOp main) {
  std::vector<std::string> ends;
  // Lookups are of any axis.
  const AxisAttr any = AxisAttr::get(main.getContext(), "any",
                                     IntExpr::constant(main.getContext(), 1));
  llvm::StringMap<size_t> last;
  size_t number = 0;
  for (Operation &op : main.getBody().front().without_terminator())
    last[nodeOf(&op)] = number++;
  number = 0;
  std::string before, node;
  bool isFirst = true;
  llvm::DenseSet<Operation *> fixed;
  for (Operation &op : main.getBody().front().without_terminator()) {
    const size_t own = number++;
    // What is made of weights and constants alone belongs to its readers.
    if (llvm::all_of(op.getOperands(), [&](Value operand) {
          Operation *made = operand.getDefiningOp();
          return made ? fixed.contains(made) : isOfWeight(operand);
        })) {
      fixed.insert(&op);
      continue;
    }
    const StringRef name = nodeOf(&op);
    if (name != node) {
      before = last[node] < own && !node.empty() ? node : "";
      node = name.str();
    }
    if (!findWeighted(&op, any))
      continue;
    if (!isFirst && !before.empty() && (ends.empty() || ends.back() != before))
      ends.push_back(before);
    isFirst = false;
  }
  return ends;
}

} // namespace mlc::dist
