//===- RuleProgram.cpp - A rule compiled for an e-graph -------------------===//

#include "rewrites/EGraph/RuleProgram.h"
#include <set>

using namespace mlir;
using namespace mlc;
using namespace mlc::egraph;
using llvm::SmallVector;
using llvm::StringRef;

unsigned RuleProgram::slot(std::vector<std::string> &names, StringRef name) {
  auto it = llvm::find(names, name);
  if (it != names.end())
    return it - names.begin();
  names.push_back(name.str());
  return names.size() - 1;
}

IntPattern RuleProgram::integerPattern(IntExpr expr) {
  // Every symbol gets a slot, including those inside expressions.
  expr.walkSymbols([&](StringRef symbol) { slot(integers, symbol); });
  int bare = expr.getKind() == IntExpr::Kind::Symbol
                 ? static_cast<int>(slot(integers, expr.getSymbol()))
                 : -1;
  return {expr, bare};
}

/// The numbers of a function's values.
static llvm::DenseMap<Value, unsigned> numberValues(func::FuncOp function) {
  llvm::DenseMap<Value, unsigned> numbers;
  unsigned next = 0;
  for (Value argument : function.getBody().getArguments())
    numbers[argument] = next++;
  for (Operation &op : function.getBody().front())
    for (Value result : op.getResults())
      numbers[result] = next++;
  return numbers;
}

bool RuleProgram::readPattern(func::FuncOp function) {
  llvm::DenseMap<Value, unsigned> numbers = numberValues(function);
  numValues = numbers.size();
  for (Type type : function.getArgumentTypes()) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    std::optional<SmallVector<IntExpr>> dims;
    if (tensor)
      dims = getDims(tensor);
    if (!dims)
      return false;
    ArgumentPattern argument{tensor.getElementType(), {}};
    for (IntExpr dim : *dims)
      argument.dims.push_back(integerPattern(dim));
    arguments.push_back(std::move(argument));
  }
  for (Operation &op : function.getBody().front().without_terminator()) {
    if (op.getNumResults() == 0)
      return false;
    PatternOp wanted{
        op.getName(), {}, {}, numbers[op.getResult(0)], op.getNumResults()};
    for (Value operand : op.getOperands())
      wanted.operands.push_back(numbers[operand]);
    for (NamedAttribute attribute : op.getAttrs()) {
      AttributePattern value;
      value.name = attribute.getName();
      value.value = attribute.getValue();
      if (auto expr = dyn_cast<IntExpr>(value.value)) {
        value.kind = AttributePattern::Kind::Integer;
        value.values.push_back(integerPattern(expr));
      } else if (auto dims = dyn_cast<DimsAttr>(value.value)) {
        value.kind = AttributePattern::Kind::Dims;
        for (IntExpr dim : dims)
          value.values.push_back(integerPattern(dim));
      } else if (auto real = dyn_cast<RealAttr>(value.value);
                 real && real.isSymbol()) {
        value.kind = AttributePattern::Kind::Real;
        value.real = slot(reals, real.getSymbol());
      }
      wanted.attributes.push_back(std::move(value));
    }
    pattern.push_back(std::move(wanted));
  }
  for (Value result : function.getBody().front().getTerminator()->getOperands())
    patternResults.push_back(numbers[result]);
  return true;
}

static bool hasSymbols(Attribute attribute) {
  bool found = false;
  attribute.walk([&](Attribute inner) {
    if (auto expr = dyn_cast<IntExpr>(inner))
      expr.walkSymbols([&](StringRef) { found = true; });
    if (auto dims = dyn_cast<DimsAttr>(inner))
      for (IntExpr dim : dims)
        dim.walkSymbols([&](StringRef) { found = true; });
    if (auto real = dyn_cast<RealAttr>(inner))
      found |= real.isSymbol();
  });
  return found;
}

void RuleProgram::readBuilt(func::FuncOp function) {
  llvm::DenseMap<Value, unsigned> numbers = numberValues(function);
  for (Operation &op : function.getBody().front().without_terminator()) {
    BuildOp made{
        op.getName(), op.getAttrDictionary(), false, {}, op.getNumResults()};
    made.hasSymbols = hasSymbols(made.attributes);
    for (Value operand : op.getOperands())
      made.operands.push_back(numbers[operand]);
    built.push_back(std::move(made));
  }
  for (Value result : function.getBody().front().getTerminator()->getOperands())
    builtResults.push_back(numbers[result]);
}

std::pair<unsigned, unsigned> RuleProgram::giverOf(unsigned value) const {
  for (auto [i, op] : llvm::enumerate(pattern))
    if (value >= op.firstResult && value < op.firstResult + op.numResults)
      return {static_cast<unsigned>(i), value - op.firstResult};
  llvm_unreachable("an argument is given by no operator");
}

std::pair<unsigned, unsigned> RuleProgram::builderOf(unsigned value) const {
  unsigned first = arguments.size();
  for (auto [i, op] : llvm::enumerate(built)) {
    if (value < first + op.numResults)
      return {static_cast<unsigned>(i), value - first};
    first += op.numResults;
  }
  llvm_unreachable("an argument is built by no operator");
}

unsigned RuleProgram::depthOf(unsigned value) const {
  if (value < arguments.size())
    return 0;
  const PatternOp &op = pattern[giverOf(value).first];
  unsigned deepest = 0;
  for (unsigned operand : op.operands)
    deepest = std::max(deepest, depthOf(operand));
  // A projection adds a level above a tuple.
  return deepest + (op.numResults > 1 ? 2 : 1);
}

/// Goes down from the operator of the first result; then, for parts that are
/// connected only by inputs, up from the shared inputs.
bool RuleProgram::orderSteps() {
  llvm::SmallVector<bool> isKnown(numValues, false), isLaid(pattern.size());
  auto lay = [&](PatternStep step) {
    const PatternOp &op = pattern[step.op];
    isLaid[step.op] = true;
    for (unsigned operand : op.operands)
      isKnown[operand] = true;
    for (unsigned i = 0; i < op.numResults; ++i)
      isKnown[op.firstResult + i] = true;
    steps.push_back(step);
  };
  auto next = [&]() -> std::optional<PatternStep> {
    for (unsigned value = 0; value < numValues; ++value)
      if (value >= arguments.size() && isKnown[value] &&
          !isLaid[giverOf(value).first])
        return PatternStep{PatternStep::Kind::Down, giverOf(value).first, value,
                           0};
    for (auto [i, op] : llvm::enumerate(pattern))
      for (auto [k, operand] : llvm::enumerate(op.operands))
        if (!isLaid[i] && isKnown[operand])
          return PatternStep{PatternStep::Kind::Up, static_cast<unsigned>(i),
                             operand, static_cast<unsigned>(k)};
    return std::nullopt;
  };
  if (patternResults.empty() || patternResults.front() < arguments.size())
    return false;
  depth = depthOf(patternResults.front());
  lay({PatternStep::Kind::Root, giverOf(patternResults.front()).first});
  while (std::optional<PatternStep> step = next())
    lay(*step);
  return llvm::all_of(isLaid, [](bool laid) { return laid; });
}

/// If the built side has its own symbols, looks for an operator on both sides
/// that reads the same argument. Other readers of that argument in the graph
/// show which sizes are useful.
bool RuleProgram::findChoice(func::FuncOp function) {
  std::set<std::string> bound(integers.begin(), integers.end());
  auto isFree = [&](IntExpr expr) {
    bool free = false;
    expr.walkSymbols(
        [&](StringRef symbol) { free |= !bound.count(symbol.str()); });
    return free;
  };
  bool needed = false;
  for (Operation &op : function.getBody().front())
    op.getAttrDictionary().walk([&](Attribute inner) {
      if (auto expr = dyn_cast<IntExpr>(inner))
        needed |= isFree(expr);
      if (auto dims = dyn_cast<DimsAttr>(inner))
        needed |= llvm::any_of(dims, isFree);
      if (auto real = dyn_cast<RealAttr>(inner); real && real.isSymbol())
        needed |= !llvm::is_contained(reals, real.getSymbol());
    });
  if (!needed)
    return true;
  llvm::DenseMap<Value, unsigned> numbers = numberValues(function);
  for (Operation &op : function.getBody().front().without_terminator())
    for (const PatternOp &other : pattern)
      for (unsigned k = 0;
           other.name == op.getName() && k < op.getNumOperands(); ++k) {
        if (k >= other.operands.size() ||
            numbers[op.getOperand(k)] != other.operands[k] ||
            other.operands[k] >= arguments.size())
          continue;
        Choice found{op.getName(), other.operands[k], k, {}};
        for (unsigned i = 0; i < op.getNumOperands(); ++i)
          for (auto [d, dim] : llvm::enumerate(*getDims(
                   cast<RankedTensorType>(op.getOperand(i).getType()))))
            if (isFree(dim))
              found.equations.push_back({i, static_cast<unsigned>(d), dim});
        if (found.equations.empty())
          continue;
        for (const ChoiceEquation &equation : found.equations)
          equation.size.walkSymbols(
              [&](StringRef symbol) { slot(integers, symbol); });
        choice = std::move(found);
        return true;
      }
  return false;
}

std::unique_ptr<RuleProgram> RuleProgram::compile(Rule &rule,
                                                  Direction direction) {
  bool isForward = direction == Direction::Forward;
  func::FuncOp from = isForward ? rule.getBefore() : rule.getAfter();
  func::FuncOp to = isForward ? rule.getAfter() : rule.getBefore();
  auto program = std::make_unique<RuleProgram>();
  program->rule = &rule;
  if (!program->readPattern(from) || !program->orderSteps())
    return nullptr;
  program->readBuilt(to);
  if (!program->findChoice(to))
    return nullptr;
  // An argument that the built side reads must have been met.
  llvm::SmallVector<bool> isMet(program->arguments.size(), false);
  for (const PatternOp &op : program->pattern)
    for (unsigned operand : op.operands)
      if (operand < isMet.size())
        isMet[operand] = true;
  auto isUsable = [&](unsigned value) {
    return value >= isMet.size() || isMet[value];
  };
  bool usable = llvm::all_of(program->builtResults, isUsable);
  for (const BuildOp &op : program->built)
    usable &= llvm::all_of(op.operands, isUsable);
  return usable ? std::move(program) : nullptr;
}
