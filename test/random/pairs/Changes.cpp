//===- Changes.cpp - Recipes changed in one place -------------------------===//

#include "Recipe.h"
#include "dialects/Symbolic/Attributes.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using llvm::StringRef;

namespace mlc::test {

namespace {

/// Operators of one signature; a name is taken for another of its row.
const std::vector<std::vector<StringRef>> rows = {
    {"mlc.add", "mlc.sub", "mlc.mul", "mlc.div", "mlc.min", "mlc.max"},
    {"mlc.and", "mlc.or", "mlc.xor"},
    {"mlc.neg", "mlc.abs", "mlc.relu", "mlc.sign", "mlc.exp", "mlc.log",
     "mlc.sqrt", "mlc.tanh", "mlc.reciprocal", "mlc.floor", "mlc.ceil"},
    {"mlc.softmax", "mlc.log_softmax"},
    {"mlc.arg_max", "mlc.arg_min"},
    {"arith.addi",  "arith.subi",       "arith.muli",      "arith.divsi",
     "arith.divui", "arith.remsi",      "arith.remui",     "arith.maxsi",
     "arith.minsi", "arith.maxui",      "arith.minui",     "arith.andi",
     "arith.ori",   "arith.xori",       "arith.shli",      "arith.shrsi",
     "arith.shrui", "arith.floordivsi", "arith.ceildivsi", "arith.ceildivui"},
    {"arith.addf", "arith.subf", "arith.mulf", "arith.divf", "arith.maximumf",
     "arith.minimumf", "arith.maxnumf", "arith.minnumf"},
    {"arith.extsi", "arith.extui"},
    {"arith.sitofp", "arith.uitofp"},
    {"arith.index_cast", "arith.index_castui"},
};

/// Texts that an attribute may hold one for the other.
const std::vector<std::vector<StringRef>> words = {
    {"sum", "prod", "max", "min", "mean"},
    {"eq", "ne", "lt", "le", "gt", "ge"},
    {"constant", "edge", "reflect"},
};

std::optional<StringRef> another(const std::vector<std::vector<StringRef>> &all,
                                 StringRef word, Random &random) {
  for (const std::vector<StringRef> &row : all)
    if (llvm::is_contained(row, word))
      return oneOf(row, random);
  return std::nullopt;
}

class Mutator {
public:
  Mutator(Recipe &recipe, ArrayRef<Type> types, Random &random)
      : recipe(recipe), types(types), random(random),
        context(types.front().getContext()), b(context) {}

  bool mutate() {
    if (recipe.steps.empty())
      return false;
    switch (below(recipe.isScalar ? 6 : 8)) {
    case 0:
    case 1:
      return attribute(oneOf(recipe.steps, random));
    case 2: {
      Step &step = oneOf(recipe.steps, random);
      std::optional<StringRef> other = another(rows, step.op, random);
      if (!other || *other == step.op)
        return false;
      step.op = other->str();
      return true;
    }
    case 3: {
      Step &step = oneOf(recipe.steps, random);
      if (step.operands.size() < 2)
        return false;
      std::swap(step.operands[below(2)], step.operands.back());
      return true;
    }
    case 4: {
      Step &step = oneOf(recipe.steps, random);
      if (step.operands.empty())
        return false;
      unsigned &operand = oneOf(step.operands, random);
      unsigned other = below(types.size());
      if (other == operand || other >= types.size() ||
          operand >= types.size() || types[other] != types[operand])
        return false;
      operand = other;
      return true;
    }
    case 5: {
      // Leave an operation out.
      unsigned at = below(recipe.steps.size());
      unsigned value = recipe.arguments.size() + at;
      if (value >= types.size())
        return false;
      for (unsigned operand : recipe.steps[at].operands)
        if (operand < types.size() && types[operand] == types[value]) {
          redirect(value, operand);
          return true;
        }
      return false;
    }
    case 6:
      if (recipe.conditions.empty())
        return false;
      recipe.conditions.erase(recipe.conditions.begin() +
                              below(recipe.conditions.size()));
      return true;
    default:
      if (recipe.predicates.empty())
        return false;
      recipe.predicates.pop_back();
      return true;
    }
  }

private:
  unsigned below(unsigned n) { return random() % n; }
  bool maybe(unsigned oneIn) { return random() % oneIn == 0; }

  void redirect(unsigned from, unsigned to) {
    for (Step &step : recipe.steps)
      for (unsigned &operand : step.operands)
        if (operand == from)
          operand = to;
    if (recipe.result == from)
      recipe.result = to;
  }

  IntExpr changed(IntExpr expr) {
    switch (below(6)) {
    case 0:
      return expr + 1;
    case 1:
      return expr - 1;
    case 2:
      return expr * 2;
    case 3:
      return IntExpr::max(expr - int64_t(1 + below(60)),
                          IntExpr::constant(context, 0));
    case 4:
      return IntExpr::symbol(context, maybe(2) ? "n" : "m");
    default:
      return IntExpr::constant(context, below(4));
    }
  }

  bool attribute(Step &step) {
    if (step.attributes.empty())
      return false;
    NamedAttribute &named = oneOf(step.attributes, random);
    Attribute old = named.getValue(), next;
    if (auto dims = dyn_cast<DimsAttr>(old)) {
      SmallVector<IntExpr> list(dims.getDims());
      if (list.empty())
        return false;
      if (list.size() > 1 && maybe(4))
        std::swap(list.front(), list.back());
      else
        list[below(list.size())] = changed(oneOf(list, random));
      next = DimsAttr::get(context, list);
    } else if (auto expr = dyn_cast<IntExpr>(old)) {
      next = changed(expr);
    } else if (auto real = dyn_cast<RealAttr>(old)) {
      static constexpr double numbers[] = {0.0, 1.0, -1.0, 0.5, 2.0, -0.0, 3.0};
      next = RealAttr::get(context, oneOf(numbers, random));
    } else if (auto list = dyn_cast<DenseI64ArrayAttr>(old)) {
      SmallVector<int64_t> values(list.asArrayRef());
      if (values.empty())
        return false;
      if (values.size() > 1)
        std::swap(values[below(values.size())], values.back());
      else
        values[0] = below(3);
      next = b.getDenseI64ArrayAttr(values);
    } else if (auto flag = dyn_cast<BoolAttr>(old)) {
      next = b.getBoolAttr(!flag.getValue());
    } else if (auto text = dyn_cast<StringAttr>(old)) {
      std::string definition = text.getValue().str();
      if (std::optional<StringRef> other =
              another(words, text.getValue(), random))
        next = b.getStringAttr(*other);
      else if (changeText(definition))
        next = b.getStringAttr(definition);
    } else if (auto number = dyn_cast<IntegerAttr>(old)) {
      next = changedNumber(number);
    } else if (auto number = dyn_cast<FloatAttr>(old)) {
      static constexpr double numbers[] = {0.0, 1.0, -1.0, 0.5, 2.0, -0.0};
      next = FloatAttr::get(number.getType(), oneOf(numbers, random));
    } else if (auto type = dyn_cast<TypeAttr>(old)) {
      next = TypeAttr::get(maybe(2) ? Type(b.getF32Type()) : b.getI32Type());
    }
    if (!next || next == old)
      return false;
    named.setValue(next);
    return true;
  }

  Attribute changedNumber(IntegerAttr number) {
    APInt value = number.getValue();
    unsigned width = value.getBitWidth();
    if (named("predicate", number))
      return b.getI64IntegerAttr(below(10));
    switch (below(5)) {
    case 0:
      return IntegerAttr::get(number.getType(), value + 1);
    case 1:
      return IntegerAttr::get(number.getType(), value - 1);
    case 2:
      return IntegerAttr::get(number.getType(), -value);
    case 3:
      return IntegerAttr::get(number.getType(),
                              APInt::getSignedMinValue(width));
    default:
      return IntegerAttr::get(number.getType(), APInt(width, below(2)));
    }
  }
  bool named(StringRef name, Attribute attribute) {
    for (const Step &step : recipe.steps)
      for (const NamedAttribute &each : step.attributes)
        if (each.getValue() == attribute && each.getName() == name)
          return true;
    return false;
  }

  /// A definition's number, sign or variable.
  bool changeText(std::string &text) {
    static constexpr std::pair<char, char> signs[] = {
        {'+', '-'}, {'-', '+'}, {'*', '+'}, {'<', '>'}, {'r', 'i'},
        {'i', 'k'}, {'0', '1'}, {'1', '0'}, {'1', '2'}, {'2', '3'},
        {'3', '4'}, {'5', '6'}, {'8', '9'}};
    size_t start = text.find('=');
    std::vector<std::pair<size_t, char>> places;
    for (size_t i = start + 1; i < text.size() && start != std::string::npos;
         ++i)
      for (auto [from, to] : signs)
        if (text[i] == from)
          places.push_back({i, to});
    if (places.empty())
      return false;
    auto [at, to] = oneOf(places, random);
    text[at] = to;
    return true;
  }

  Recipe &recipe;
  ArrayRef<Type> types;
  Random &random;
  MLIRContext *context;
  mlir::Builder b;
};

} // namespace

bool mutate(Recipe &recipe, ArrayRef<Type> types, Random &random) {
  return Mutator(recipe, types, random).mutate();
}

bool recombine(Recipe &recipe, ArrayRef<Type> types, const Recipe &other,
               ArrayRef<Type> otherTypes, Random &random) {
  // Values of the other, on arguments of the same types.
  for (unsigned i = 0; i < other.arguments.size(); ++i)
    if (i >= recipe.arguments.size() ||
        recipe.arguments[i] != other.arguments[i])
      return false;
  unsigned shift =
      recipe.steps.size() + recipe.arguments.size() - other.arguments.size();
  unsigned known = types.size();
  for (Step step : other.steps) {
    for (unsigned &operand : step.operands)
      if (operand >= other.arguments.size())
        operand += shift;
    recipe.add(std::move(step));
  }
  std::vector<std::pair<unsigned, unsigned>> fitting;
  for (unsigned i = recipe.arguments.size(); i < known; ++i)
    for (unsigned j = other.arguments.size(); j < otherTypes.size(); ++j)
      if (types[i] == otherTypes[j])
        fitting.push_back({i, j + shift});
  if (fitting.empty())
    return false;
  auto [from, to] = oneOf(fitting, random);
  if (recipe.result == from) {
    recipe.result = to;
    return true;
  }
  for (unsigned i = 0; i + recipe.arguments.size() < known; ++i)
    for (unsigned &operand : recipe.steps[i].operands)
      if (operand == from)
        operand = to;
  return true;
}

} // namespace mlc::test
