//===- JoinStages.cpp - The entries of a step as one function -------------===//

#include "dialects/Definition/OpInterfaces.h"
#include "dialects/Dist/Dist.h"
#include "dialects/Graph/MovementOps.h"
#include "dialects/Module/States.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Base/Form.h"
#include "passes/Base/Passes.h"
#include "runtime/schedule/StageEntry.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <map>

using namespace mlir;
using llvm::SmallVector;
using llvm::StringRef;
using Kind = mlc::runtime::schedule::ActionKind;

namespace mlc {

#define GEN_PASS_DEF_JOINSTAGESPASS
#include "passes/Base/Passes.h.inc"

namespace {

/// Where an entry comes in a step of one micro-batch: forward passes from the
/// first stage on, then gradients and norms from the last, then updates from
/// the first.
std::optional<std::pair<int, int64_t>> placeOf(func::FuncOp function) {
  StringRef name = function.getName();
  if (name == "accumulate" || name == "main")
    return {{0, 0}};
  if (name == "apply")
    return {{4, 0}};
  auto entry = runtime::schedule::StageEntry::parse(name);
  if (!entry)
    return std::nullopt;
  for (auto [place, kind] : {std::pair(0, Kind::Forward),
                             {1, Kind::Backward},
                             {1, Kind::InputGradient},
                             {2, Kind::WeightGradient},
                             {3, Kind::Norm},
                             {4, Kind::Step}})
    if (entry->kind == kind)
      return {{place, place >= 1 && place <= 3 ? -entry->stage : entry->stage}};
  return std::nullopt;
}

/// Whether `expr` is the number 0, or a read of the tensor without dims that is
/// input `zero`.
bool isZero(const Expr &expr, unsigned zero) {
  if (expr->kind == Expr::Kind::Constant)
    return expr->number == 0 && expr->integerNumber == 0;
  return expr->kind == Expr::Kind::Read && !expr->tensor.isStage &&
         expr->tensor.index == zero && expr->operands.empty();
}

/// What an operator gives whose operand `zero` is 0, if its definition is
/// `select(x[zero] > 0, ..., x[k])` with x[k] read where it is: its operand k.
Value chosenByZero(Operation *op, unsigned zero) {
  auto defined = dyn_cast<DefinitionOpInterface>(op);
  FailureOr<Definition> definition =
      defined ? getDefinition(defined) : FailureOr<Definition>(failure());
  if (failed(definition) || definition->stages.size() != 1 ||
      definition->stages[0].pieces.size() != 1)
    return {};
  const Stage &stage = definition->stages[0];
  const Piece &piece = stage.pieces[0];
  if (piece.body->kind != Expr::Kind::Select)
    return {};
  const Expr &condition = piece.body->operands[0],
             &other = piece.body->operands[2];
  if (condition->kind != Expr::Kind::Compare ||
      condition->predicate != ComparePredicate::GT ||
      !isZero(condition->operands[0], zero) ||
      !isZero(condition->operands[1], zero) ||
      other->kind != Expr::Kind::Read || other->tensor.isStage ||
      other->guarded ||
      definition->inputs[other->tensor.index].dims != stage.dims)
    return {};
  for (auto [loop, index] : llvm::zip_equal(piece.loops, other->operands))
    if (index->kind != Expr::Kind::Loop || index->loop != loop.id)
      return {};
  return op->getOperand(other->tensor.index);
}

/// Carries out entries one after another in one function.
class Join {
public:
  explicit Join(func::FuncOp first)
      : builder(first),
        function(func::FuncOp::create(builder, first.getLoc(), "joined",
                                      builder.getFunctionType({}, {}))) {
    builder.setInsertionPointToStart(function.addEntryBlock());
  }

  LogicalResult add(func::FuncOp entry) {
    IRMapping mapping;
    for (BlockArgument argument : entry.getArguments()) {
      FailureOr<Value> value = find(entry, argument);
      if (failed(value))
        return failure();
      mapping.map(argument, *value);
    }
    Block &body = entry.getBody().front();
    for (Operation &op : body.without_terminator())
      add(&op, keepOf(entry), mapping);
    for (auto [i, operand] :
         llvm::enumerate(body.getTerminator()->getOperands())) {
      Value value = mapping.lookup(operand);
      auto state = entry.getResultAttrOfType<StringAttr>(i, kStateAttr);
      auto name = entry.getResultAttrOfType<StringAttr>(i, "mlc.name");
      if (state)
        states[state] = written[state] = value;
      else
        results[name] = value;
      keepParts(entry.getResultAttrDict(i), state ? state : name);
    }
    return success();
  }

  /// Returns what is not carried: numbers, and states by name.
  void finish() {
    Builder b(function.getContext());
    SmallVector<Value> values;
    SmallVector<DictionaryAttr> attributes;
    auto add = [&](StringRef attribute, StringAttr name, Value value) {
      values.push_back(value);
      NamedAttrList all(parts.lookup(name));
      all.set(attribute, name);
      attributes.push_back(all.getDictionary(b.getContext()));
    };
    for (auto &[name, value] : sorted(results))
      if (!carried.contains(name))
        add("mlc.name", name, value);
    for (auto &[name, value] : sorted(written))
      if (!isGradient(name))
        add(kStateAttr, name, value);
    func::ReturnOp::create(builder, function.getLoc(), values);
    function.setType(builder.getFunctionType(
        function.getBody().getArgumentTypes(), ValueRange(values).getTypes()));
    for (auto [i, attribute] : llvm::enumerate(attributes))
      function.setResultAttrs(i, attribute);
    sortArguments();
  }

private:
  /// Notes which part of a result ranks have.
  void keepParts(DictionaryAttr of, StringAttr name) {
    NamedAttrList kept;
    for (StringRef part :
         {StringRef(dist::kShardingAttr), StringRef(dist::kWholeAttr)})
      if (Attribute value = of ? of.get(part) : Attribute())
        kept.set(part, value);
    parts[name] = kept.getDictionary(function.getContext());
  }

  /// The argument that tells whether gradients are added to earlier ones.
  static Value keepOf(func::FuncOp entry) {
    for (BlockArgument argument : entry.getArguments())
      if (auto role = entry.getArgAttrOfType<StringAttr>(
              argument.getArgNumber(), kInputRoleAttr);
          role && role == runtime::name(runtime::InputRole::Keep))
        return argument;
    return {};
  }

  /// The gradients of the step's only batch begin new sums.
  void add(Operation *op, Value keep, IRMapping &mapping) {
    for (OpOperand &operand : op->getOpOperands())
      if (keep && operand.get() == keep)
        if (Value chosen = chosenByZero(op, operand.getOperandNumber())) {
          mapping.map(op->getResult(0), mapping.lookup(chosen));
          return;
        }
    builder.clone(*op, mapping);
  }

  using Values = llvm::MapVector<StringAttr, Value>;

  static std::map<StringAttr, Value, bool (*)(StringAttr, StringAttr)>
  sorted(const Values &values) {
    std::map<StringAttr, Value, bool (*)(StringAttr, StringAttr)> all(
        [](StringAttr a, StringAttr b) { return a.getValue() < b.getValue(); });
    for (auto [name, value] : values)
      all[name] = value;
    return all;
  }

  bool isGradient(StringAttr state) {
    return getStateUse(function->getParentOfType<ModuleOp>(), state).role ==
           runtime::StateRole::GradientSum;
  }

  FailureOr<Value> find(func::FuncOp entry, BlockArgument argument) {
    unsigned i = argument.getArgNumber();
    auto name = entry.getArgAttrOfType<StringAttr>(i, "mlc.name");
    auto role = entry.getArgAttrOfType<StringAttr>(i, kInputRoleAttr);
    if (role && role == runtime::name(runtime::InputRole::Carried)) {
      carried.insert(name);
      if (Value value = results.lookup(name))
        return value;
      return entry.emitError()
             << "reads '" << name.getValue() << "' before it is there";
    }
    if (role && role == runtime::name(runtime::InputRole::Keep))
      return createZero(cast<RankedTensorType>(argument.getType()));
    auto state = entry.getArgAttrOfType<StringAttr>(i, kStateAttr);
    if (state && !states.contains(state) && isGradient(state))
      states[state] = createZero(cast<RankedTensorType>(argument.getType()));
    Value &known = state ? states[state] : inputs[name];
    if (!known) {
      unsigned last = function.getNumArguments();
      (void)function.insertArgument(last, argument.getType(),
                                    entry.getArgAttrDict(i), argument.getLoc());
      known = function.getArgument(last);
    }
    return known;
  }

  /// Of a number, or of a weight's dims, which are fixed.
  Value createZero(RankedTensorType type) {
    return createOp<FillOp>(builder, function.getLoc(),
                            DimsAttr::get(builder.getContext(), *getDims(type)),
                            RealAttr::get(builder.getContext(), 0.0),
                            type.getElementType())
        ->getResult();
  }

  /// Inputs by name, then states by name; without those that nobody reads.
  void sortArguments() {
    Block &body = function.getBody().front();
    auto keyOf = [&](unsigned i) {
      auto state = function.getArgAttrOfType<StringAttr>(i, kStateAttr);
      auto name = function.getArgAttrOfType<StringAttr>(i, "mlc.name");
      return std::pair(state ? 1 : 0, (state ? state : name).str());
    };
    SmallVector<unsigned> order;
    for (unsigned i = 0, count = function.getNumArguments(); i < count; ++i)
      if (!body.getArgument(i).use_empty())
        order.push_back(i);
    llvm::sort(order,
               [&](unsigned a, unsigned b) { return keyOf(a) < keyOf(b); });
    const unsigned count = function.getNumArguments();
    for (unsigned i : order) {
      unsigned last = function.getNumArguments();
      (void)function.insertArgument(last, body.getArgument(i).getType(),
                                    function.getArgAttrDict(i),
                                    body.getArgument(i).getLoc());
      body.getArgument(i).replaceAllUsesWith(body.getArgument(last));
    }
    llvm::BitVector before(function.getNumArguments());
    before.set(0, count);
    (void)function.eraseArguments(before);
  }

  OpBuilder builder;
  func::FuncOp function;
  Values states, written, inputs, results;
  /// Sharding attributes of results and states, by their names.
  llvm::DenseMap<StringAttr, DictionaryAttr> parts;
  llvm::DenseSet<StringAttr> carried;
};

struct JoinStagesPass : impl::JoinStagesPassBase<JoinStagesPass> {
  using JoinStagesPassBase::JoinStagesPassBase;

  void runOnOperation() override {
    if (failed(requireForm(*this, getOperation(), Form::Graph)) ||
        failed(join()))
      signalPassFailure();
  }

private:
  LogicalResult join() {
    SmallVector<std::pair<std::pair<int, int64_t>, func::FuncOp>> entries;
    // The model itself is beside entries of training.
    for (bool isModel : {false, true})
      for (auto function : getOperation().getOps<func::FuncOp>())
        if (auto place = placeOf(function);
            place && !function.isDeclaration() &&
            (function.getName() == "main") == isModel &&
            (!isModel || entries.empty()))
          entries.push_back({*place, function});
    if (entries.empty())
      return getOperation().emitError() << "has no entries of a step to join";
    llvm::stable_sort(entries, llvm::less_first());
    Join joined(entries.front().second);
    for (auto &[place, entry] : entries)
      if (failed(joined.add(entry)))
        return failure();
    joined.finish();
    for (auto &[place, entry] : entries)
      entry.erase();
    return success();
  }
};

} // namespace

} // namespace mlc
