//===- Replay.cpp - Does a trail prove what it claims? --------------------===//

#include "rewrites/ProofLog/Replay.h"
#include "mlir/IR/IRMapping.h"
#include "rewrites/ProofLog/StepBindings.h"
#include "rewrites/ProofLog/TermBank.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>
#include <unordered_map>

using namespace mlir;
using namespace mlc;
using llvm::ArrayRef;
using llvm::Error;
using llvm::Expected;
using llvm::SmallVector;

template <typename... Parts>
static Error refuse(const char *format, Parts &&...parts) {
  return llvm::createStringError(
      llvm::formatv(format, std::forward<Parts>(parts)...).str());
}

/// Whether every element of a float tensor has the property. It is a property
/// of numbers, so infinities and NaN do not have it.
static bool elementsAre(const EvalTensor &tensor, ElementPredicate predicate) {
  if (!isa<FloatType>(tensor.getElementType()))
    return false;
  int64_t count = tensor.isSplat()
                      ? std::min<int64_t>(tensor.getNumElements(), 1)
                      : tensor.getNumElements();
  for (int64_t i = 0; i < count; ++i) {
    double x = tensor.getDouble(i);
    bool isNumber = std::isfinite(x);
    switch (predicate) {
    case ElementPredicate::Positive:
      if (!isNumber || !(x > 0))
        return false;
      break;
    case ElementPredicate::NonNegative:
      if (!isNumber || !(x >= 0))
        return false;
      break;
    case ElementPredicate::NonZero:
      if (!isNumber || x == 0)
        return false;
      break;
    case ElementPredicate::Finite:
      if (!isNumber)
        return false;
      break;
    case ElementPredicate::AllEqual:
      if (!(x == tensor.getDouble(0)))
        return false;
      break;
    case ElementPredicate::Constant:
      break;
    }
  }
  return true;
}

//===----------------------------------------------------------------------===//
// One step
//===----------------------------------------------------------------------===//

namespace {

class StepReplay {
public:
  StepReplay(TermBank &bank, Rule &rule, const TrailStep &step,
             StepBindings bindings)
      : bank(bank), rule(rule), step(step), bindings(std::move(bindings)),
        before(rule.getBefore().getBody().front()),
        after(rule.getAfter().getBody().front()) {}

  Error run() {
    if (Error error = layArguments())
      return error;
    if (Error error = layBefore())
      return error;
    if (Error error = checkAssumptions())
      return error;
    return buildAfter();
  }

private:
  Error layArguments() {
    if (step.arguments.size() != before.getNumArguments())
      return refuse("the rule has {0} arguments, not {1}",
                    before.getNumArguments(), step.arguments.size());
    for (auto [i, term] : llvm::enumerate(step.arguments)) {
      BlockArgument x = before.getArgument(i), y = after.getArgument(i);
      if (term == noTerm) {
        if (!x.use_empty() || !y.use_empty())
          return refuse("{0} has no term", nameOf(i));
        continue;
      }
      if (term >= bank.size())
        return refuse("{0} is term {1}, of {2}", nameOf(i), term, bank.size());
      if (!hasType(bank.getValue(term), cast<RankedTensorType>(x.getType())))
        return refuse("{0}, term {1}, is not as the rule has it", nameOf(i),
                      term);
      terms[x] = terms[y] = term;
    }
    return Error::success();
  }

  bool hasType(Value value, RankedTensorType wanted) const {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type || type.getElementType() != wanted.getElementType() ||
        type.getRank() != wanted.getRank())
      return false;
    std::optional<SmallVector<IntExpr>> dims = getDims(type),
                                        pattern = getDims(wanted);
    return dims && pattern &&
           *dims == bindings.substitute(ArrayRef<IntExpr>(*pattern));
  }

  Error layBefore() {
    size_t next = 0;
    for (Operation &pattern : before.without_terminator())
      for (OpResult result : pattern.getResults()) {
        if (next == step.before.size())
          return refuse("the step names too few results of the rule's before");
        TermId term = step.before[next++];
        if (Error error = layResult(result, term))
          return error;
        terms[result] = term;
      }
    if (next != step.before.size())
      return refuse("the step names too many results of the rule's before");
    return Error::success();
  }

  Error layResult(OpResult wanted, TermId term) {
    Operation *pattern = wanted.getOwner();
    auto actual = term < bank.size() ? dyn_cast<OpResult>(bank.getValue(term))
                                     : OpResult();
    if (!actual || actual.getOwner()->getName() != pattern->getName() ||
        actual.getResultNumber() != wanted.getResultNumber() ||
        pattern->getNumRegions() != 0)
      return refuse("term {0} is no {1}", term, pattern->getName());
    ArrayRef<NamedAttribute> has = actual.getOwner()->getAttrs();
    if (has.size() != pattern->getAttrs().size())
      return refuse("term {0} has other attributes than the rule's {1}", term,
                    pattern->getName());
    for (NamedAttribute attribute : pattern->getAttrs()) {
      Attribute value = bindings.substitute(attribute.getValue());
      if (actual.getOwner()->getAttr(attribute.getName()) != value)
        return refuse("attribute {0} of term {1} is not {2}",
                      attribute.getName(), term, value);
    }
    ArrayRef<TermId> operands = bank.getOperands(actual.getOwner());
    if (operands.size() != pattern->getNumOperands())
      return refuse("term {0} has {1} operands, not {2}", term, operands.size(),
                    pattern->getNumOperands());
    for (auto [i, operand] : llvm::enumerate(pattern->getOperands())) {
      if (bank.areEqual(operands[i], terms.at(operand)))
        continue;
      // An operator that reads a refined term is itself refined.
      isExact = false;
      if (!bank.refines(terms.at(operand), operands[i]))
        return refuse("operand {0} of term {1} is not known to equal term {2}",
                      i, term, terms.at(operand));
    }
    return Error::success();
  }

  Error checkAssumptions() {
    for (const Condition &condition : rule.assumptions.integers)
      if (bindings.decide(condition) != true) {
        std::string text;
        llvm::raw_string_ostream os(text);
        condition.print(os);
        return refuse("the condition {0} does not hold with {1}", text,
                      step.bindings());
      }
    for (const TensorAssumption &tensor : rule.assumptions.tensors)
      if (Error error = checkTensor(tensor))
        return error;
    for (auto [i, term] : llvm::enumerate(step.arguments))
      if (!isBitExact(rule) && term != noTerm && bank.hasNoNumber(term))
        return refuse("{0}, term {1}, has an infinity or a NaN, and the proof "
                      "is of real numbers",
                      nameOf(i), term);
    return Error::success();
  }

  /// The rule's name for an argument.
  std::string nameOf(unsigned argument) const {
    return describeArgument(rule.getBefore(), argument);
  }

  Error checkTensor(const TensorAssumption &assumption) {
    TermId term = step.arguments[assumption.argument];
    if (term == noTerm)
      return refuse("{0} has no term", nameOf(assumption.argument));
    if (!bank.isConstant(term))
      return refuse("{0}, term {1}, is not known at compile time",
                    nameOf(assumption.argument), term);
    if (assumption.predicate == ElementPredicate::Constant)
      return Error::success();
    Expected<EvalTensor> value = bank.evaluate(term);
    if (!value)
      return value.takeError();
    if (!elementsAre(*value, assumption.predicate))
      return refuse("the elements of {0}, term {1}, are not all {2}",
                    nameOf(assumption.argument), term,
                    name(assumption.predicate));
    return Error::success();
  }

  Error buildAfter() {
    for (Operation &pattern : after.without_terminator()) {
      SmallVector<TermId> operands;
      for (Value operand : pattern.getOperands())
        operands.push_back(terms.at(operand));
      SmallVector<NamedAttribute> attributes;
      for (NamedAttribute attribute : pattern.getAttrs())
        attributes.push_back(
            {attribute.getName(), bindings.substitute(attribute.getValue())});
      TermId first = bank.size();
      Expected<Operation *> made =
          bank.add(&pattern, operands, attributes, step.before);
      if (!made)
        return refuse("after cannot be built: {0}",
                      llvm::toString(made.takeError()));
      for (auto [i, result] : llvm::enumerate(pattern.getResults()))
        terms[result] = first + i;
    }
    for (auto [x, y] : llvm::zip_equal(before.getTerminator()->getOperands(),
                                       after.getTerminator()->getOperands()))
      if (Error error = isExact && rule.proved->isTwoWay
                            ? bank.unite(terms.at(x), terms.at(y))
                            : bank.refine(terms.at(x), terms.at(y)))
        return error;
    return Error::success();
  }

  TermBank &bank;
  Rule &rule;
  const TrailStep &step;
  StepBindings bindings;
  Block &before, &after;
  llvm::DenseMap<Value, TermId> terms; // of both sides
  bool isExact = true;                 // `before` matches equal terms
};

//===----------------------------------------------------------------------===//
// The result
//===----------------------------------------------------------------------===//

/// Puts the chosen operators after the others and removes the others.
class Rebuild {
public:
  Rebuild(func::FuncOp function, TermBank &bank, const Trail &trail)
      : block(function.getBody().front()), bank(bank), trail(trail) {}

  Error run() {
    for (unsigned i = 0; i < block.getNumArguments(); ++i)
      values[i] = block.getArgument(i);
    SmallVector<Operation *> old;
    for (Operation &op : block.without_terminator())
      old.push_back(&op);
    for (const ChosenOperator &chosen : trail.chosen)
      if (Error error = put(chosen))
        return error;
    if (Error error = setOutputs())
      return error;
    for (Operation *op : llvm::reverse(old))
      op->erase();
    return Error::success();
  }

private:
  Error put(const ChosenOperator &chosen) {
    auto result = chosen.term < bank.size()
                      ? dyn_cast<OpResult>(bank.getValue(chosen.term))
                      : OpResult();
    if (!result || result.getResultNumber() != 0)
      return refuse("term {0} is no operator's first result", chosen.term);
    if (values.count(chosen.term))
      return refuse("term {0} is chosen twice", chosen.term);
    ArrayRef<TermId> made = bank.getOperands(result.getOwner());
    if (made.size() != chosen.operands.size())
      return refuse("term {0} has {1} operands, not {2}", chosen.term,
                    made.size(), chosen.operands.size());
    IRMapping mapping;
    SmallVector<Value> operands;
    for (auto [i, operand] : llvm::enumerate(chosen.operands)) {
      if (!values.count(operand))
        return refuse("term {0} reads term {1}, which is not chosen before it",
                      chosen.term, operand);
      if (!bank.refines(operand, made[i]))
        return refuse("term {0} reads term {1}, which is not known to equal "
                      "its operand, term {2}",
                      chosen.term, operand, made[i]);
      operands.push_back(values.at(operand));
    }
    OpBuilder builder(block.getTerminator());
    Operation *copy = builder.clone(*result.getOwner());
    copy->setOperands(operands);
    for (auto [i, value] : llvm::enumerate(copy->getResults()))
      values[chosen.term + i] = value;
    return Error::success();
  }

  Error setOutputs() {
    ArrayRef<TermId> wanted = bank.getOutputs();
    if (trail.outputs.size() != wanted.size())
      return refuse("the function has {0} outputs, not {1}", wanted.size(),
                    trail.outputs.size());
    SmallVector<Value> outputs;
    for (auto [i, term] : llvm::enumerate(trail.outputs)) {
      if (!values.count(term))
        return refuse("output {0} is term {1}, which is not chosen", i, term);
      if (!bank.refines(term, wanted[i]))
        return refuse("output {0} is term {1}, which is not known to equal "
                      "term {2}",
                      i, term, wanted[i]);
      outputs.push_back(values.at(term));
    }
    block.getTerminator()->setOperands(outputs);
    return Error::success();
  }

  Block &block;
  TermBank &bank;
  const Trail &trail;
  // The values of terms in the result. A map, because a trail may name any
  // number.
  std::unordered_map<TermId, Value> values;
};

} // namespace

static Error replayStep(TermBank &bank, const TrailStep &step,
                        RuleLookup findRule) {
  Expected<Rule *> rule = findRule(step);
  if (!rule)
    return rule.takeError();
  if (!(*rule)->proved)
    return refuse("the rule is not proved");
  Expected<StepBindings> bindings = StepBindings::read(**rule, step);
  if (!bindings)
    return bindings.takeError();
  return StepReplay(bank, **rule, step, std::move(*bindings)).run();
}

Error mlc::replayTrail(func::FuncOp function, const Trail &trail,
                       RuleLookup findRule) {
  TermBank bank(function);
  for (auto [i, step] : llvm::enumerate(trail.steps))
    if (Error error = replayStep(bank, step, findRule))
      return refuse("step {0} ({1}): {2}", i + 1, step.rule,
                    llvm::toString(std::move(error)));
  if (Error error = Rebuild(function, bank, trail).run())
    return refuse("the result: {0}", llvm::toString(std::move(error)));
  return Error::success();
}
