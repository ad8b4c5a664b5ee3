//===- Preserving.cpp - Recipes changed so that their value stays ---------===//

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

class Preserver {
public:
  Preserver(Recipe &recipe, ArrayRef<Type> types, Random &random)
      : recipe(recipe), types(types), random(random),
        context(types.front().getContext()), b(context) {}

  bool preserve() {
    return recipe.isScalar ? preserveScalar() : preserveGraph();
  }

private:
  unsigned below(unsigned n) { return random() % n; }
  bool maybe(unsigned oneIn) { return random() % oneIn == 0; }

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

  static std::string list(ArrayRef<std::string> dims) {
    return "#mlc.dims<[" + llvm::join(dims, ", ") + "]>";
  }
  static std::vector<std::string> sizesOf(RankedTensorType type) {
    SmallVector<IntExpr> dims = *getDims(type);
    std::vector<std::string> sizes;
    for (IntExpr dim : dims)
      sizes.push_back(dim.str());
    return sizes;
  }

  /// A tensor like one of `type` that is `value` everywhere.
  unsigned fill(RankedTensorType type, const std::string &value) {
    std::string element;
    llvm::raw_string_ostream(element) << type.getElementType();
    return add("mlc.fill", {},
               "dims = " + list(sizesOf(type)) + ", value = #mlc.real<" +
                   value + ">, type = " + element);
  }

  /// x by arithmetic that does nothing; nothing where x's type has none.
  std::optional<unsigned> throughArithmetic(unsigned kind, unsigned x,
                                            RankedTensorType type) {
    bool isBool = type.getElementType().isInteger(1);
    if (kind == 1)
      return isBool ? add("mlc.not", {add("mlc.not", {x})})
                    : add("mlc.neg", {add("mlc.neg", {x})});
    if (isBool)
      return std::nullopt;
    if (kind == 2)
      return add("mlc.add", {x, fill(type, "0.0")});
    if (kind == 3)
      return add("mlc.mul", {fill(type, "1.0"), x});
    if (type.getRank() == 0)
      return std::nullopt;
    // Twice x, without the second.
    unsigned twice = add("mlc.add", {x, x});
    return isa<FloatType>(type.getElementType())
               ? add("mlc.mul", {twice, fill(type, "0.5")})
               : add("mlc.sub", {twice, x});
  }

  /// x moved there and back.
  std::optional<unsigned> throughMovement(unsigned kind, unsigned x,
                                          RankedTensorType type) {
    std::vector<std::string> sizes = sizesOf(type);
    unsigned rank = sizes.size();
    switch (kind) {
    case 4: {
      if (rank == 0)
        return std::nullopt;
      std::string axes =
          "axes = array<i64: " + std::to_string(below(rank)) + ">";
      return add("mlc.reverse", {add("mlc.reverse", {x}, axes)}, axes);
    }
    case 5: {
      if (rank < 2)
        return std::nullopt;
      std::string order = "permutation = array<i64: 1, 0";
      for (unsigned d = 2; d < rank; ++d)
        order += ", " + std::to_string(d);
      return add("mlc.transpose", {add("mlc.transpose", {x}, order + ">")},
                 order + ">");
    }
    default: { // flat
      std::string all = getNumElements(context, *getDims(type)).str();
      return add("mlc.reshape",
                 {add("mlc.reshape", {x}, "dims = " + list({all}))},
                 "dims = " + list(sizes));
    }
    }
  }

  /// A part of more than x that is x.
  std::optional<unsigned> throughSlice(unsigned kind, unsigned x,
                                       RankedTensorType type) {
    std::vector<std::string> sizes = sizesOf(type);
    if (sizes.empty())
      return std::nullopt;
    std::vector<std::string> zeros(sizes.size(), "0"), ones(sizes.size(), "1");
    std::vector<std::string> starts = zeros;
    unsigned more;
    if (kind == 7) { // twice as long, and its first or second half
      if (maybe(2))
        starts[0] = sizes[0];
      more = add("mlc.concat", {x, x}, "axis = 0 : i64");
    } else {
      std::vector<std::string> high = zeros;
      starts[0] = std::to_string(1 + below(3));
      high[0] = std::to_string(below(3));
      more = add("mlc.pad", {x},
                 "low = " + list(starts) + ", high = " + list(high) +
                     ", mode = \"constant\", value = #mlc.real<0.0>");
    }
    return add("mlc.slice", {more},
               "starts = " + list(starts) + ", sizes = " + list(sizes) +
                   ", steps = " + list(ones));
  }

  bool preserveGraph() {
    firstNew = recipe.arguments.size() + recipe.steps.size();
    unsigned x = below(std::min<size_t>(types.size(), firstNew));
    auto type = cast<RankedTensorType>(types[x]);
    unsigned kind = below(10);
    if (kind == 0)
      return commute();
    std::optional<unsigned> made =
        kind >= 4 && kind <= 6   ? throughMovement(kind, x, type)
        : kind == 7 || kind == 8 ? throughSlice(kind, x, type)
                                 : throughArithmetic(kind, x, type);
    if (!made)
      return false;
    replaceOneUse(x, *made);
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
  return Preserver(recipe, types, random).preserve();
}

} // namespace mlc::test
