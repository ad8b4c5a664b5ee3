//===- Changes.cpp - Recipes changed in one place -------------------------===//

#include "Recipe.h"
#include "dialects/Graph/Graph.h"
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

class Changer {
public:
  Changer(Recipe &recipe, ArrayRef<Type> types, Random &random)
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

  bool preserve() {
    return recipe.isScalar ? preserveScalar() : preserveGraph();
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

  /// A value that was there before any change, some operand that reads it (or
  /// the result), to be made to read `made` instead.
  void replaceOneUse(unsigned value, unsigned made) {
    std::vector<unsigned *> uses;
    for (unsigned i = 0; i + recipe.arguments.size() < made; ++i)
      for (unsigned &operand : recipe.steps[i].operands)
        if (operand == value && i + recipe.arguments.size() < firstNew)
          uses.push_back(&operand);
    if (recipe.result == value)
      uses.push_back(&recipe.result);
    if (!uses.empty())
      *oneOf(uses, random) = made;
  }

  //===--- Attributes
  //------------------------------------------------------===//

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

  //===--- Changes that keep the value
  //-------------------------------------===//

  unsigned add(StringRef name, std::vector<unsigned> operands,
               const std::string &attributes = "") {
    Step step;
    step.op = name.str();
    step.operands = std::move(operands);
    auto dictionary =
        cast<DictionaryAttr>(parseAttribute("{" + attributes + "}", context));
    step.attributes.assign(dictionary.begin(), dictionary.end());
    return recipe.add(std::move(step));
  }
  unsigned addScalar(StringRef name, std::vector<unsigned> operands, Type type,
                     std::vector<NamedAttribute> attributes = {}) {
    return recipe.add(
        {name.str(), std::move(operands), std::move(attributes), type});
  }
  unsigned scalar(Type type, int64_t value) {
    Attribute number =
        isa<FloatType>(type)
            ? Attribute(FloatAttr::get(type, static_cast<double>(value)))
            : Attribute(IntegerAttr::get(
                  type, isa<IndexType>(type)
                            ? APInt(64, value, true)
                            : APInt(type.getIntOrFloatBitWidth(), value, true,
                                    /*implicitTrunc=*/true)));
    return addScalar("arith.constant", {}, type,
                     {b.getNamedAttr("value", number)});
  }

  /// Operators whose operands may change places.
  bool commute() {
    static const std::vector<StringRef> names = {
        "mlc.add",     "mlc.mul",     "mlc.min",     "mlc.max",
        "mlc.and",     "mlc.or",      "mlc.xor",     "arith.addi",
        "arith.muli",  "arith.andi",  "arith.ori",   "arith.xori",
        "arith.maxsi", "arith.minsi", "arith.maxui", "arith.minui",
        "arith.addf",  "arith.mulf"};
    std::vector<Step *> fitting;
    for (Step &step : recipe.steps)
      if (llvm::is_contained(names, step.op))
        fitting.push_back(&step);
    if (fitting.empty())
      return false;
    Step &step = *oneOf(fitting, random);
    std::swap(step.operands[0], step.operands[1]);
    return true;
  }

  bool preserveGraph() {
    firstNew = recipe.arguments.size() + recipe.steps.size();
    unsigned x = below(std::min<size_t>(types.size(), firstNew));
    auto type = cast<RankedTensorType>(types[x]);
    Type e = type.getElementType();
    unsigned rank = type.getRank();
    bool isFloat = isa<FloatType>(e), isBool = e.isInteger(1);
    SmallVector<IntExpr> dims = *getDims(type);
    std::vector<std::string> sizes, zeros, ones;
    for (IntExpr dim : dims) {
      sizes.push_back(dim.str());
      zeros.push_back("0");
      ones.push_back("1");
    }
    auto list = [](ArrayRef<std::string> texts) {
      return "#mlc.dims<[" + llvm::join(texts, ", ") + "]>";
    };
    std::string elementText;
    llvm::raw_string_ostream(elementText) << e;
    auto fill = [&](const std::string &value) {
      return add("mlc.fill", {},
                 "dims = " + list(sizes) + ", value = #mlc.real<" + value +
                     ">, type = " + elementText);
    };
    unsigned made = x;
    switch (below(10)) {
    case 0:
      return commute();
    case 1:
      made = isBool ? add("mlc.not", {add("mlc.not", {x})})
                    : add("mlc.neg", {add("mlc.neg", {x})});
      break;
    case 2:
      if (isBool)
        return false;
      made = add("mlc.add", {x, fill("0.0")});
      break;
    case 3:
      if (isBool)
        return false;
      made = add("mlc.mul", {fill("1.0"), x});
      break;
    case 4: {
      if (rank == 0)
        return false;
      std::string axes =
          "axes = array<i64: " + std::to_string(below(rank)) + ">";
      made = add("mlc.reverse", {add("mlc.reverse", {x}, axes)}, axes);
      break;
    }
    case 5:
      if (rank < 2)
        return false;
      {
        std::string order = "permutation = array<i64: 1, 0";
        for (unsigned d = 2; d < rank; ++d)
          order += ", " + std::to_string(d);
        made = add("mlc.transpose", {add("mlc.transpose", {x}, order + ">")},
                   order + ">");
      }
      break;
    case 6: {
      // Flat and back.
      IntExpr all = IntExpr::constant(context, 1);
      for (IntExpr dim : dims)
        all = all * dim;
      made = add("mlc.reshape",
                 {add("mlc.reshape", {x}, "dims = " + list({all.str()}))},
                 "dims = " + list(sizes));
      break;
    }
    case 7: {
      // Twice as long, and its first or second half.
      if (rank == 0)
        return false;
      std::vector<std::string> starts = zeros;
      if (maybe(2))
        starts[0] = sizes[0];
      made = add("mlc.slice", {add("mlc.concat", {x, x}, "axis = 0 : i64")},
                 "starts = " + list(starts) + ", sizes = " + list(sizes) +
                     ", steps = " + list(ones));
      break;
    }
    case 8: {
      if (rank == 0)
        return false;
      std::vector<std::string> low = zeros, high = zeros;
      low[0] = std::to_string(1 + below(3));
      high[0] = std::to_string(below(3));
      made = add("mlc.slice",
                 {add("mlc.pad", {x},
                      "low = " + list(low) + ", high = " + list(high) +
                          ", mode = \"constant\", value = #mlc.real<0.0>")},
                 "starts = " + list(low) + ", sizes = " + list(sizes) +
                     ", steps = " + list(ones));
      break;
    }
    default:
      if (isBool || rank == 0)
        return false;
      // x as the sum of x and 0 along a new axis of 2... or of its halves.
      if (isFloat)
        made = add("mlc.mul", {add("mlc.add", {x, x}), fill("0.5")});
      else
        made = add("mlc.sub", {add("mlc.add", {x, x}), x});
    }
    replaceOneUse(x, made);
    return true;
  }

  bool preserveScalar() {
    firstNew = recipe.arguments.size() + recipe.steps.size();
    unsigned x = below(std::min<size_t>(types.size(), firstNew));
    Type type = types[x], bit = b.getI1Type();
    bool isFloat = isa<FloatType>(type), isBool = type == bit;
    auto op = [&](StringRef name, unsigned a, unsigned c) {
      return addScalar(name, {a, c}, type);
    };
    unsigned made = x;
    if (isFloat) {
      switch (below(4)) {
      case 0:
        return commute();
      case 1:
        made =
            addScalar("arith.negf", {addScalar("arith.negf", {x}, type)}, type);
        break;
      case 2:
        made = op("arith.mulf", x, scalar(type, 1));
        break;
      default:
        made = op("arith.subf", op("arith.addf", x, x), x);
      }
      replaceOneUse(x, made);
      return true;
    }
    switch (below(9)) {
    case 0:
      return commute();
    case 1:
      made = op("arith.xori", op("arith.xori", x, scalar(type, -1)),
                scalar(type, -1));
      break;
    case 2:
      made = op("arith.subi", op("arith.addi", x, scalar(type, 100)),
                scalar(type, 100));
      break;
    case 3:
      made = op("arith.addi", op("arith.muli", x, scalar(type, 3)),
                op("arith.muli", x, scalar(type, -2)));
      break;
    case 4: {
      unsigned condition = addScalar(
          "arith.cmpi", {x, scalar(type, 1)}, bit,
          {b.getNamedAttr("predicate", b.getI64IntegerAttr(below(10)))});
      made = addScalar("arith.select", {condition, x, x}, type);
      break;
    }
    case 5: {
      if (isa<IndexType>(type) || type.getIntOrFloatBitWidth() > 32)
        return false;
      Type wide = b.getI64Type();
      made = addScalar(
          "arith.trunci",
          {addScalar(maybe(2) ? "arith.extsi" : "arith.extui", {x}, wide)},
          type);
      break;
    }
    case 6:
      made = op(maybe(2) ? "arith.maxsi" : "arith.minui", x, x);
      break;
    case 7:
      if (!isBool)
        return false;
      // Of a bit: 1 and 0, all ones and 0.
      made = addScalar(
          "arith.trunci",
          {addScalar("arith.select",
                     {x, scalar(b.getI32Type(), -1), scalar(b.getI32Type(), 0)},
                     b.getI32Type())},
          type);
      break;
    default:
      made = op("arith.andi", x, op("arith.ori", x, scalar(type, 5)));
    }
    replaceOneUse(x, made);
    return true;
  }

  Recipe &recipe;
  ArrayRef<Type> types;
  Random &random;
  MLIRContext *context;
  mlir::Builder b;
  unsigned firstNew = 0;
};

} // namespace

bool preserve(Recipe &recipe, ArrayRef<Type> types, Random &random) {
  return Changer(recipe, types, random).preserve();
}

bool mutate(Recipe &recipe, ArrayRef<Type> types, Random &random) {
  return Changer(recipe, types, random).mutate();
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
