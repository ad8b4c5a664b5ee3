//===- ShardingProblem.cpp - How to share a step, as choices --------------===//

#include "passes/Shardings/ShardingProblem.h"
#include "dialects/Definition/Analysis.h"
#include "dialects/Definition/OpInterfaces.h"
#include "dialects/Graph/PointwiseOps.h"
#include "dialects/Module/States.h"
#include "passes/Distribute/Pin.h"
#include "passes/Distribute/Strategies.h"
#include "passes/Shardings/PartSeconds.h"
#include <limits>
#include <map>

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

namespace mlc::dist {

using planner::ChoiceProblem;
using runtime::transport::Collective;

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
/// Points in time at which memory is looked at.
constexpr size_t kRows = 6;

class ProblemBuilder {
public:
  ProblemBuilder(func::FuncOp function, const ShardingOptions &options)
      : function(function), body(function.getBody().front()), options(options),
        axis(options.axis), ranks(countRanks(options.axis)) {}

  ShardingProblem build() {
    for (BlockArgument argument : body.getArguments())
      addArgument(argument);
    for (Operation &op : body.without_terminator())
      addOperation(op);
    addReturns();
    followForward();
    if (options.memory > 0)
      addRows();
    return std::move(made);
  }

private:
  /// Where a tensor is when its readers look for it.
  using Tensor = ShardingProblem::Tensor;

  uint32_t addNode(std::string name, std::vector<double> costs) {
    made.problem.nodes.push_back({std::move(name), std::move(costs)});
    return made.problem.nodes.size() - 1;
  }

  StringRef ownerOf(unsigned argument) {
    auto state = function.getArgAttrOfType<StringAttr>(argument, kStateAttr);
    return state ? options.ownerOf(state.getValue()) : StringRef();
  }

  void addArgument(BlockArgument argument) {
    const StringRef owner = ownerOf(argument.getArgNumber());
    if (owner.empty()) {
      tensors[argument] = {addNode("argument", {0}), {Place::whole()}};
      return;
    }
    auto [it, isNew] = ownerPlaces.try_emplace(owner.str(), owners().size());
    if (isNew) {
      Tensor tensor;
      tensor.places.push_back(Place::whole());
      llvm::append_range(tensor.places, listSplits(argument, axis));
      tensor.node =
          addNode(owner.str(), std::vector<double>(tensor.places.size(), 0));
      owners().emplace_back(owner.str(), std::move(tensor));
    }
    tensors[argument] = owners()[it->second].second;
    // A scalar that belongs to a weight is whole.
    for (Place &place : tensors[argument].places)
      if (place.isSplit() &&
          place.dim >= cast<RankedTensorType>(argument.getType()).getRank())
        place = Place::whole();
    stateBytes[tensors[argument].node] += bytesOf(argument);
  }
  std::vector<std::pair<std::string, Tensor>> &owners() { return made.owners; }

  /// What bringing a tensor from one place to another takes. In a sum with
  /// partial terms (Sums.h) a whole one is a term, too.
  double exchange(Value value, const Place &from, const Place &to,
                  bool isTerm) const {
    if (isSame(from, to, axis))
      return 0;
    if (from.isWhole())
      return to.isPartial() && !isTerm && !isZero(value) ? kNever : 0;
    if (to.isPartial())
      return kNever;
    const double bytes = bytesOf(value);
    double halo = 0;
    if (to.hasHalo())
      halo = options.costs.exchange(
          Collective::AllGather,
          ranks * bytes * double(to.low + to.high) /
              std::max(1.0, countElements({dimsOf(value)[to.dim]})));
    const Place plain = to.withoutHalo();
    if (from.isPartial())
      return halo + options.costs.exchange(plain.isSplit()
                                               ? Collective::ReduceScatter
                                               : Collective::AllReduce,
                                           bytes);
    if (isSame(from, plain, axis))
      return halo;
    const bool isTurned = plain.isSplit() && plain.dim != from.dim &&
                          plain.unit.isConstant(1) && from.unit.isConstant(1);
    return halo + options.costs.exchange(isTurned ? Collective::AllToAll
                                                  : Collective::AllGather,
                                         bytes);
  }

  /// An edge from where a tensor is to where `node` wants it by each choice; by
  /// those for which `leads` is true it is not there whole. It may be a term of
  /// a sum.
  void addEdge(Value value, const Tensor &from, uint32_t node,
               ArrayRef<Place> wanted, ArrayRef<bool> leads = {},
               bool isTerm = false) {
    std::vector<double> costs;
    bool isAny = false;
    for (const Place &have : from.places)
      for (auto [i, want] : llvm::enumerate(wanted)) {
        const bool isMissing = !leads.empty() && leads[i] && have.isWhole();
        costs.push_back(isMissing ? kNever
                                  : exchange(value, have, want, isTerm));
        isAny |= costs.back() != 0;
      }
    if (isAny && from.node != node)
      made.problem.edges.push_back({from.node, node, std::move(costs)});
  }

  std::optional<double> secondsAlone(Operation *op, const Plan &plan) {
    return secondsOfPart(op, plan, axis, options.costs.operation);
  }

  /// What a plan takes without the exchanges of its operands: of the operator's
  /// time the share that its part takes of the whole, both by themselves.
  double secondsOf(Operation *op, const Plan &plan, double whole,
                   std::optional<double> wholeAlone) {
    double seconds = whole;
    if (plan.factor.extent && wholeAlone && *wholeAlone > 0)
      if (auto alone = secondsAlone(op, plan))
        seconds *= *alone / *wholeAlone;
    for (auto [stage, isCut] :
         llvm::zip(plan.definition.stages, plan.partials.cuts))
      if (isCut)
        seconds += options.costs.exchange(
            Collective::AllReduce,
            countElements(stage.dims) *
                getElementBytes(
                    cast<RankedTensorType>(op->getResult(0).getType())
                        .getElementType()));
    return seconds;
  }

  void addOperation(Operation &op) {
    std::optional<Definition> definition = meaningOf(&op);
    const double whole = options.costs.operation(&op);
    if (!definition) {
      const uint32_t node = addNode(nameOf(op), {whole});
      for (Value operand : op.getOperands())
        addEdge(operand, tensors.at(operand), node, {Place::whole()});
      for (Value result : op.getResults())
        tensors[result] = {node, {Place::whole()}};
      return;
    }
    const std::vector<Plan> plans = listPlans(&op, *definition, axis);
    const std::vector<Choice> choices = choicesOf(op, plans);
    std::vector<double> costs;
    Tensor result;
    const std::optional<double> alone =
        whole > 0 ? secondsAlone(&op, planWhole(&op, *definition))
                  : std::nullopt;
    for (const Choice &choice : choices) {
      costs.push_back(secondsOf(&op, *choice.plan, whole, alone));
      result.places.push_back(choice.plan->result);
    }
    result.node = addNode(nameOf(op), std::move(costs));
    for (auto [i, operand] : llvm::enumerate(op.getOperands())) {
      SmallVector<Place> wanted;
      SmallVector<bool> leads;
      for (const Choice &choice : choices) {
        wanted.push_back(choice.plan->operands[i]);
        leads.push_back(choice.lead == int(i));
      }
      addEdge(operand, tensors.at(operand), result.node, wanted, leads,
              isa<AddOp>(op));
    }
    addResult(op.getResult(0), std::move(result));
  }

  struct Choice {
    const Plan *plan;
    int lead; ///< the operand that is split already; -1: none has to be
  };

  /// The partitioner shares an operator because an operand is split, or its
  /// result is pinned: a choice for each operand that may be the reason.
  std::vector<Choice> choicesOf(Operation &op,
                                const std::vector<Plan> &plans) const {
    std::vector<Choice> choices;
    const bool isFree = !options.needsReason || op.hasAttr(kPinAttr) ||
                        op.getNumOperands() == 0;
    for (const Plan &plan : plans) {
      if (isFree || !plan.factor.extent) {
        choices.push_back({&plan, -1});
        continue;
      }
      for (auto [i, place] : llvm::enumerate(plan.operands))
        if (place.isSplit())
          choices.push_back({&plan, int(i)});
    }
    return choices;
  }

  static std::string nameOf(Operation &op) {
    const StringRef node = nodeOf(&op);
    return node.empty() ? op.getName().getStringRef().str() : node.str();
  }

  /// With several readers a tensor is brought to one place first.
  void addResult(Value value, Tensor from) {
    // So is one whose place is given.
    if ((!value.hasOneUse() && !value.use_empty()) ||
        value.getDefiningOp()->hasAttr(kPinAttr)) {
      Tensor shared;
      shared.places.push_back(Place::whole());
      llvm::append_range(shared.places, listSplits(value, axis));
      for (const Place &place : from.places)
        if (llvm::none_of(shared.places, [&](const Place &known) {
              return isSame(known, place, axis);
            }))
          shared.places.push_back(place);
      shared.node = addNode(made.problem.nodes[from.node].name + " (result)",
                            std::vector<double>(shared.places.size(), 0));
      addEdge(value, from, shared.node, shared.places);
      from = std::move(shared);
    }
    made.results[value] = from;
    tensors[value] = std::move(from);
  }

  void addReturns() {
    for (auto [i, value] :
         llvm::enumerate(body.getTerminator()->getOperands())) {
      auto state = function.getResultAttrOfType<StringAttr>(i, kStateAttr);
      const StringRef owner =
          state ? options.ownerOf(state.getValue()) : StringRef();
      auto it = ownerPlaces.find(owner.str());
      if (it == ownerPlaces.end()) {
        addEdge(value, tensors.at(value), addNode("result", {0}),
                {Place::whole()});
        continue;
      }
      Tensor to = owners()[it->second].second;
      for (Place &place : to.places)
        if (place.isSplit() &&
            place.dim >= cast<RankedTensorType>(value.getType()).getRank())
          place = Place::whole();
      addEdge(value, tensors.at(value), to.node, to.places);
    }
  }

  /// The gradient of a pinned tensor is where the tensor is, as the partitioner
  /// will have it (Pins.h).
  void followForward() {
    std::map<StringRef, Value> forward;
    for (Operation &op : body.without_terminator())
      if (op.hasAttr(kPinAttr) && !op.hasAttr(kPinGradientAttr))
        forward[nodeOf(&op)] = op.getResult(0);
    for (Operation &op : body.without_terminator()) {
      auto node = op.getAttrOfType<StringAttr>(kPinGradientAttr);
      auto it = node ? forward.find(node.getValue()) : forward.end();
      if (it == forward.end() || !made.results.count(it->second) ||
          !made.results.count(op.getResult(0)))
        continue;
      const Tensor &own = made.results[it->second],
                   &gradient = made.results[op.getResult(0)];
      std::vector<double> costs;
      for (const Place &place : own.places)
        for (const Place &its : gradient.places)
          costs.push_back(isFollowing(place, its) ? 0 : kNever);
      if (own.node != gradient.node)
        made.problem.edges.push_back(
            {own.node, gradient.node, std::move(costs)});
    }
  }

  bool isFollowing(const Place &place, const Place &gradient) const {
    return isSame(place, gradient, axis) ||
           (!place.isSplit() && !gradient.isSplit());
  }

  /// The bytes of a tensor on a rank.
  int64_t bytesAt(double bytes, const Place &place) const {
    return int64_t(place.isSplit() ? bytes / ranks : bytes);
  }

  /// At the positions with the most bytes of each stretch of the function.
  void addRows() {
    std::vector<Operation *> order;
    llvm::DenseMap<Operation *, size_t> positions;
    for (Operation &op : body) {
      positions[&op] = order.size();
      order.push_back(&op);
    }
    std::vector<double> live(order.size() + 1, 0);
    std::vector<std::pair<Value, std::pair<size_t, size_t>>> spans;
    for (Operation *op : order)
      for (Value value : op->getResults()) {
        size_t last = positions[op];
        for (Operation *user : value.getUsers())
          last = std::max(last, positions[user]);
        spans.push_back({value, {positions[op], last}});
        live[positions[op]] += bytesOf(value);
        live[last + 1] -= bytesOf(value);
      }
    std::vector<size_t> points;
    double now = 0, most = -1;
    size_t best = 0;
    const size_t stretch = (order.size() + kRows - 1) / kRows;
    for (size_t i = 0; i < order.size(); ++i) {
      now += live[i];
      if (now > most) {
        most = now;
        best = i;
      }
      if ((i + 1) % stretch == 0 || i + 1 == order.size()) {
        points.push_back(best);
        most = -1;
      }
    }
    for (size_t point : points)
      addRow(*order[point], point, spans);
  }

  void addRow(Operation &op, size_t point,
              ArrayRef<std::pair<Value, std::pair<size_t, size_t>>> spans) {
    std::map<uint32_t, std::vector<int64_t>> bytes;
    auto add = [&](const Tensor &tensor, double all) {
      std::vector<int64_t> &sums = bytes[tensor.node];
      sums.resize(tensor.places.size(), 0);
      for (auto [sum, place] : llvm::zip(sums, tensor.places))
        sum += bytesAt(all, place);
    };
    for (const auto &[name, tensor] : owners())
      add(tensor, stateBytes[tensor.node]);
    for (const auto &[value, span] : spans)
      if (span.first <= point && point <= span.second)
        if (auto it = made.results.find(value); it != made.results.end())
          add(it->second, bytesOf(value));
    ChoiceProblem::Row row;
    row.name = "memory at " + nameOf(op);
    row.budget = options.memory;
    for (auto &[node, uses] : bytes)
      row.uses.push_back({node, std::move(uses)});
    made.problem.rows.push_back(std::move(row));
  }

  func::FuncOp function;
  Block &body;
  const ShardingOptions &options;
  AxisAttr axis;
  double ranks;
  ShardingProblem made;
  llvm::DenseMap<Value, Tensor> tensors;
  std::map<std::string, size_t> ownerPlaces;
  std::map<uint32_t, double> stateBytes;
};

} // namespace

ShardingProblem makeShardingProblem(func::FuncOp function,
                                    const ShardingOptions &options) {
  return ProblemBuilder(function, options).build();
}

} // namespace mlc::dist
