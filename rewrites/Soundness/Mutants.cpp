//===- Mutants.cpp - Rules made wrong on purpose --------------------------===//

#include "dialects/Definition/OpInterfaces.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "rewrites/Soundness/Soundness.h"
#include "verifier/search/Counterexample.h"
#include "llvm/ADT/StringSwitch.h"
#include <cmath>
#include <random>
#include <set>

using namespace mlir;
using llvm::StringRef;

namespace mlc {

namespace {

/// Swaps an operator for another one with the same signature.
StringRef otherOperator(StringRef name) {
  return llvm::StringSwitch<StringRef>(name)
      .Case("mlc.add", "mlc.sub")
      .Case("mlc.sub", "mlc.add")
      .Case("mlc.mul", "mlc.add")
      .Case("mlc.div", "mlc.mul")
      .Case("mlc.max", "mlc.min")
      .Case("mlc.min", "mlc.max")
      .Case("mlc.relu", "mlc.neg")
      .Case("mlc.neg", "mlc.relu")
      .Case("mlc.exp", "mlc.neg")
      .Case("mlc.sqrt", "mlc.neg")
      .Case("mlc.reciprocal", "mlc.neg")
      .Case("mlc.tanh", "mlc.relu")
      .Case("mlc.sigmoid", "mlc.tanh")
      .Default("");
}

/// Makes one function wrong in one place.
class Mutation {
public:
  Mutation(func::FuncOp function, std::mt19937_64 &random)
      : function(function), random(random) {
    for (Operation &op : function.getBody().front().without_terminator())
      ops.push_back(&op);
  }

  /// Makes a change; false if the attempted one does not apply.
  bool run(std::string &change) {
    if (ops.empty())
      return false;
    Operation *op = ops[pick(ops.size())];
    switch (pick(5)) {
    case 0:
      return replaceOperator(op, change);
    case 1:
      return exchangeOperands(op, change);
    case 2:
      return otherOperand(op, change);
    default:
      return changeAttribute(op, change);
    }
  }

  /// Infers result types after a change; false if the function is not well
  /// formed.
  bool inferTypes() {
    for (Operation &op : function.getBody().front().without_terminator()) {
      FailureOr<llvm::SmallVector<Type>> types = inferResultTypes(&op);
      if (failed(types) || types->size() != op.getNumResults())
        return false;
      for (auto [result, type] : llvm::zip(op.getResults(), *types))
        result.setType(type);
    }
    Operation *end = function.getBody().front().getTerminator();
    function.setType(FunctionType::get(function.getContext(),
                                       function.getArgumentTypes(),
                                       end->getOperandTypes()));
    return succeeded(verify(function));
  }

private:
  uint64_t pick(uint64_t n) { return random() % n; }

  bool replaceOperator(Operation *op, std::string &change) {
    StringRef other = otherOperator(op->getName().getStringRef());
    if (other.empty())
      return false;
    OperationState state(op->getLoc(), other, op->getOperands(),
                         op->getResultTypes(), op->getAttrs());
    OpBuilder builder(op);
    Operation *made = builder.create(state);
    change = (op->getName().getStringRef() + " becomes " + other).str();
    op->replaceAllUsesWith(made->getResults());
    op->erase();
    return true;
  }

  bool exchangeOperands(Operation *op, std::string &change) {
    if (op->getNumOperands() < 2)
      return false;
    unsigned a = pick(op->getNumOperands()), b = pick(op->getNumOperands());
    if (op->getOperand(a) == op->getOperand(b))
      return false;
    Value first = op->getOperand(a);
    op->setOperand(a, op->getOperand(b));
    op->setOperand(b, first);
    change =
        ("operands of " + op->getName().getStringRef() + " exchanged").str();
    return true;
  }

  bool otherOperand(Operation *op, std::string &change) {
    if (op->getNumOperands() == 0)
      return false;
    unsigned i = pick(op->getNumOperands());
    llvm::SmallVector<Value> values(function.getArguments());
    for (Operation *before : ops) {
      if (before == op)
        break;
      llvm::append_range(values, before->getResults());
    }
    Value other = values[pick(values.size())];
    if (other == op->getOperand(i) ||
        other.getType() != op->getOperand(i).getType())
      return false;
    op->setOperand(i, other);
    change = ("operand " + llvm::Twine(i) + " of " +
              op->getName().getStringRef() + " is another value")
                 .str();
    return true;
  }

  bool changeAttribute(Operation *op, std::string &change) {
    if (op->getAttrs().empty())
      return false;
    NamedAttribute attribute = op->getAttrs()[pick(op->getAttrs().size())];
    Attribute other = changed(attribute.getValue());
    if (!other || other == attribute.getValue())
      return false;
    llvm::raw_string_ostream os(change);
    os << "attribute " << attribute.getName().getValue() << " of "
       << op->getName() << ": " << attribute.getValue() << " becomes " << other;
    op->setAttr(attribute.getName(), other);
    return true;
  }

  Attribute changed(Attribute attribute) {
    if (auto dims = dyn_cast<DimsAttr>(attribute))
      return changedDims(dims);
    if (auto integer = dyn_cast<IntExpr>(attribute))
      return integer + (pick(2) ? 1 : -1);
    if (auto flag = dyn_cast<BoolAttr>(attribute))
      return BoolAttr::get(attribute.getContext(), !flag.getValue());
    if (auto number = dyn_cast<IntegerAttr>(attribute))
      return IntegerAttr::get(number.getType(),
                              number.getValue().getSExtValue() +
                                  (pick(2) ? 1 : -1));
    if (auto list = dyn_cast<DenseI64ArrayAttr>(attribute))
      return changedList(list);
    if (auto real = dyn_cast<RealAttr>(attribute))
      return real.isSymbol() ? RealAttr::get(attribute.getContext(), 0.75)
                             : RealAttr::get(attribute.getContext(),
                                             real.getDouble() + 1.0);
    if (auto word = dyn_cast<StringAttr>(attribute))
      return StringAttr::get(attribute.getContext(),
                             otherWord(word.getValue()));
    return {};
  }

  Attribute changedDims(DimsAttr dims) {
    llvm::SmallVector<IntExpr> list(dims.getDims());
    if (list.empty())
      return {};
    unsigned i = pick(list.size()), j = pick(list.size());
    if (pick(2) && list[i] != list[j])
      std::swap(list[i], list[j]);
    else
      list[i] = list[i] + (pick(2) ? 1 : -1);
    return DimsAttr::get(dims.getContext(), llvm::ArrayRef<IntExpr>(list));
  }

  Attribute changedList(DenseI64ArrayAttr attribute) {
    llvm::SmallVector<int64_t> list(attribute.asArrayRef());
    if (list.empty())
      return {};
    unsigned i = pick(list.size()), j = pick(list.size());
    if (list.size() > 1 && i != j)
      std::swap(list[i], list[j]);
    else
      list[i] = list[i] == 0 ? 1 : list[i] - 1;
    return DenseI64ArrayAttr::get(attribute.getContext(), list);
  }

  static StringRef otherWord(StringRef word) {
    return llvm::StringSwitch<StringRef>(word)
        .Case("sum", "mean")
        .Case("mean", "sum")
        .Case("max", "min")
        .Case("min", "max")
        .Case("constant", "edge")
        .Default(word);
  }

  func::FuncOp function;
  std::mt19937_64 &random;
  std::vector<Operation *> ops;
};

/// A rule's two functions in a module of their own.
Mutant copyOf(Rule &rule) {
  Mutant mutant;
  mutant.origin = rule.getName().str();
  mutant.module = ModuleOp::create(rule.def.getLoc());
  OpBuilder builder = OpBuilder::atBlockEnd(mutant.module->getBody());
  mutant.before = cast<func::FuncOp>(builder.clone(*rule.getBefore()));
  mutant.after = cast<func::FuncOp>(builder.clone(*rule.getAfter()));
  mutant.assumptions = rule.assumptions;
  return mutant;
}

/// Drops a condition that is not trivial.
bool dropCondition(Mutant &mutant, std::mt19937_64 &random) {
  Assumptions &all = mutant.assumptions;
  size_t count = all.integers.size() + all.reals.size() + all.tensors.size();
  if (count == 0)
    return false;
  size_t i = random() % count;
  Assumptions left;
  if (i < all.integers.size()) {
    left.integers.push_back(all.integers[i]);
    all.integers.erase(all.integers.begin() + i);
  } else if ((i -= all.integers.size()) < all.reals.size()) {
    left.reals.push_back(all.reals[i]);
    all.reals.erase(all.reals.begin() + i);
  } else {
    i -= all.reals.size();
    left.tensors.push_back(all.tensors[i]);
    all.tensors.erase(all.tensors.begin() + i);
  }
  mutant.change = "left out: " + str(left);
  return true;
}

/// Whether numbers show a difference, with other draws than a verifier's.
bool showDifference(Mutant &mutant, uint64_t seed) {
  using namespace verifier;
  Goal goal = makeGoal(mutant.before, mutant.after, mutant.assumptions);
  if (!goal.failure.empty())
    return false;
  bool sawInstance = false;
  std::optional<Counterexample> found =
      findCounterexample(goal, mutant.assumptions, seed ^ 0x5eed, /*trials=*/40,
                         /*isSmall=*/false, sawInstance);
  if (!found)
    return false;
  mutant.difference = found->text;
  mutant.isOfValue = !std::isnan(found->after);
  return true;
}

std::optional<Mutant> makeMutant(Rule &rule, std::mt19937_64 &random) {
  Mutant mutant = copyOf(rule);
  uint64_t kind = random() % 8;
  if (kind == 0) {
    if (!dropCondition(mutant, random))
      return std::nullopt;
  } else {
    Mutation mutation(kind < 3 ? mutant.before : mutant.after, random);
    if (!mutation.run(mutant.change) || !mutation.inferTypes())
      return std::nullopt;
    mutant.change += kind < 3 ? " (before)" : " (after)";
  }
  if (!showDifference(mutant, random()))
    return std::nullopt;
  return mutant;
}

} // namespace

std::vector<Mutant> makeMutants(RuleSet &rules, unsigned count, uint64_t seed) {
  std::vector<Mutant> mutants;
  std::set<std::string> seen;
  size_t numOther = 0;
  std::mt19937_64 random(seed);
  if (rules.rules.empty())
    return mutants;
  MLIRContext *context = rules.rules.front().def.getContext();
  // Most changes are not well typed; do not report that.
  ScopedDiagnosticHandler silence(context, [](Diagnostic &) {});
  uint64_t mostTries = 60 * uint64_t(count);
  for (uint64_t t = 0; t < mostTries && mutants.size() < count; ++t) {
    Rule &rule = rules.rules[t % rules.rules.size()];
    std::optional<Mutant> mutant = makeMutant(rule, random);
    // Sides of different shapes are too easy to distinguish, so limit their
    // share.
    bool isWelcome =
        mutant && (mutant->isOfValue || 5 * numOther < mutants.size());
    if (!isWelcome ||
        !seen.insert(mutant->origin + ": " + mutant->change).second)
      continue;
    numOther += !mutant->isOfValue;
    mutants.push_back(std::move(*mutant));
  }
  return mutants;
}

} // namespace mlc
