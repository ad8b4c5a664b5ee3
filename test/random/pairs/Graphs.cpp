//===- Graphs.cpp - Random functions of mlc's operators -------------------===//

#include "Recipe.h"
#include "dialects/Symbolic/Attributes.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using llvm::StringRef;

namespace mlc::test {

namespace {

const char *const unaries[] = {"neg",  "abs",   "exp",     "log",
                               "sqrt", "tanh",  "erf",     "sin",
                               "cos",  "floor", "ceil",    "round_even",
                               "sign", "relu",  "sigmoid", "reciprocal"};
const char *const numberUnaries[] = {"neg", "abs", "relu", "sign"};
const char *const binaries[] = {"add", "sub", "mul", "div", "min", "max"};
const char *const boolBinaries[] = {"and", "or", "xor"};
const char *const predicates[] = {"eq", "ne", "lt", "le", "gt", "ge"};
const char *const kinds[] = {"sum", "prod", "max", "min", "mean"};
const char *const reals[] = {"0.0", "1.0", "-1.0", "0.5", "2.0", "3.0"};

/// Makes a function operator by operator; what does not fit is left out.
class Maker {
public:
  Maker(MLIRContext *context, Random &random)
      : context(context), random(random) {}

  Recipe run() {
    bool isImage = random() % 5 == 0;
    unsigned numArguments = 1 + random() % 3;
    for (unsigned i = 0; i < numArguments; ++i)
      recipe.arguments.push_back(argument(isImage, i));
    update();
    unsigned length = 1 + random() % 5;
    for (unsigned tries = 0; tries < 60 && recipe.steps.size() < length;
         ++tries)
      isImage &&random() % 2 ? image() : any();
    // Mostly what was made last, so that much of it is needed.
    recipe.result = recipe.arguments.size() + recipe.steps.size() - 1;
    assume();
    return std::move(recipe);
  }

private:
  unsigned below(unsigned n) { return random() % n; }
  bool maybe(unsigned oneIn) { return random() % oneIn == 0; }
  std::string number() {
    static constexpr int choices[] = {1, 1, 2, 2, 3, 4, 5, 8, 10, 31, 50, 100};
    return std::to_string(oneOf(choices, random));
  }

  Type element() {
    Builder b(context);
    switch (below(10)) {
    case 0:
    case 1:
      return b.getI32Type();
    case 2:
      return b.getI64Type();
    case 3:
      return b.getIntegerType(8);
    case 4:
      return b.getI1Type();
    default:
      return b.getF32Type();
    }
  }

  Type argument(bool isImage, unsigned i) {
    static const char *const dims[] = {"n",     "n",     "m", "n",    "3",
                                       "2 * n", "n + m", "1", "n + 1"};
    std::string text;
    unsigned rank = 1 + below(3);
    if (isImage) {
      text = i == 0 ? "n, c, h" : i == 1 ? "o, c, k" : "c";
      return typeOf(text, Float32Type::get(context));
    }
    for (unsigned d = 0; d < rank; ++d)
      text += (d ? ", " : "") + std::string(oneOf(dims, random));
    // Often alike, so that binary operators find partners.
    if (i && !maybe(3))
      return maybe(2)
                 ? recipe.arguments[0]
                 : cast<RankedTensorType>(recipe.arguments[0]).clone(element());
    return typeOf(text, element());
  }

  Type typeOf(const std::string &dims, Type element) {
    auto attribute =
        cast<DimsAttr>(parseAttribute("#mlc.dims<[" + dims + "]>", context));
    return getTensorType(attribute.getDims(), element);
  }

  void update() {
    OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(context));
    std::vector<Value> values;
    types = std::vector<Type>(recipe.arguments);
    for (unsigned i = 0; i < recipe.steps.size(); ++i) {
      recipe.result = recipe.arguments.size() + i;
      build(recipe, *module, "f" + std::to_string(i), &values);
      types.push_back(values[recipe.result].getType());
    }
  }

  /// Adds the operator if it is well formed.
  bool op(StringRef name, std::vector<unsigned> operands,
          const std::string &attributes = "") {
    Attribute parsed = parseAttribute("{" + attributes + "}", context);
    if (!parsed)
      return false;
    Step step;
    step.op = ("mlc." + name).str();
    step.operands = std::move(operands);
    auto dictionary = cast<DictionaryAttr>(parsed).getValue();
    step.attributes.assign(dictionary.begin(), dictionary.end());
    recipe.result = recipe.add(std::move(step));
    OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(context));
    std::vector<Value> values;
    if (!build(recipe, *module, "f", &values)) {
      recipe.steps.pop_back();
      return false;
    }
    types.push_back(values[recipe.result].getType());
    return true;
  }

  unsigned pick() {
    // The last ones more often.
    return maybe(2) ? types.size() - 1 : below(types.size());
  }
  RankedTensorType typeAt(unsigned value) {
    return cast<RankedTensorType>(types[value]);
  }
  std::optional<unsigned> like(Type type) {
    std::vector<unsigned> fitting;
    for (unsigned i = 0; i < types.size(); ++i)
      if (types[i] == type)
        fitting.push_back(i);
    if (fitting.empty())
      return std::nullopt;
    return oneOf(fitting, random);
  }
  SmallVector<IntExpr> dimsOf(unsigned value) {
    return *getDims(typeAt(value));
  }
  static std::string join(ArrayRef<std::string> texts) {
    return llvm::join(texts, ", ");
  }
  std::string dimsText(ArrayRef<IntExpr> dims) {
    std::vector<std::string> texts;
    for (IntExpr dim : dims)
      texts.push_back(dim.str());
    return "#mlc.dims<[" + join(texts) + "]>";
  }

  /// Something between 0 and the dim, mostly.
  std::string within(IntExpr dim) {
    std::string d = dim.str(), k = number();
    switch (below(8)) {
    case 0:
      return "max(" + d + " - " + k + ", 0)";
    case 1:
      return "min(" + d + ", " + k + ")";
    case 2:
      return "floordiv(" + d + ", 2)";
    case 3:
      return "mod(" + d + ", " + k + ")";
    case 4:
      return d + " - 1";
    case 5:
      return k;
    default:
      return "0";
    }
  }

  std::string typeText(Type type) {
    std::string text;
    llvm::raw_string_ostream(text) << type;
    return text;
  }

  void pointwise(unsigned x) {
    Type e = typeAt(x).getElementType();
    bool isFloat = isa<FloatType>(e), isBool = e.isInteger(1);
    std::optional<unsigned> y = like(types[x]);
    switch (below(6)) {
    case 0:
      if (isBool)
        op("not", {x});
      else if (!isFloat)
        op(oneOf(numberUnaries, random), {x});
      else if (maybe(5))
        op("leaky_relu", {x},
           std::string("alpha = #mlc.real<") + oneOf(reals, random) + ">");
      else
        op(oneOf(unaries, random), {x});
      return;
    case 1:
    case 2:
      if (isBool)
        op(oneOf(boolBinaries, random), {x, *y});
      else
        op(!isFloat && maybe(6) ? "mod" : oneOf(binaries, random), {x, *y});
      return;
    case 3:
      if (!isBool)
        op("compare", {x, *y},
           std::string("predicate = \"") + oneOf(predicates, random) + "\"");
      return;
    case 4: {
      std::string fill = "dims = " + dimsText(dimsOf(x)) +
                         ", value = #mlc.real<" + oneOf(reals, random) +
                         ">, type = " + typeText(e);
      if (!isBool && op("fill", {}, fill))
        op(oneOf(binaries, random),
           {x, static_cast<unsigned>(types.size() - 1)});
      return;
    }
    default: {
      if (std::optional<unsigned> c =
              like(typeAt(x).clone(IntegerType::get(context, 1)));
          c && maybe(2)) {
        op("select", {*c, x, *y});
        return;
      }
      op("cast", {x}, "to = " + typeText(element()));
    }
    }
  }

  std::string axes(unsigned rank) {
    std::string text = std::to_string(below(rank));
    if (rank == 2 && maybe(3))
      text = "0, 1";
    return "array<i64: " + text + ">";
  }

  void movement(unsigned x) {
    SmallVector<IntExpr> dims = dimsOf(x);
    unsigned rank = dims.size();
    if (rank == 0)
      return;
    std::vector<std::string> a, b, c;
    switch (below(8)) {
    case 0:
      for (IntExpr dim : dims) {
        std::string start = maybe(2) ? "0" : within(dim);
        a.push_back(start);
        b.push_back(maybe(2) ? dim.str() + " - (" + start + ")" : within(dim));
        c.push_back(maybe(6) ? "2" : "1");
      }
      op("slice", {x},
         "starts = #mlc.dims<[" + join(a) + "]>, sizes = #mlc.dims<[" +
             join(b) + "]>, steps = #mlc.dims<[" + join(c) + "]>");
      return;
    case 1: {
      std::optional<unsigned> y = like(types[x]);
      op("concat", {x, *y}, "axis = " + std::to_string(below(rank)) + " : i64");
      return;
    }
    case 2: {
      std::vector<unsigned> order(rank);
      std::iota(order.begin(), order.end(), 0u);
      std::shuffle(order.begin(), order.end(), random);
      for (unsigned d : order)
        a.push_back(std::to_string(d));
      op("transpose", {x}, "permutation = array<i64: " + join(a) + ">");
      return;
    }
    case 3:
      op("reverse", {x}, "axes = " + axes(rank));
      return;
    case 4: {
      for (unsigned d = 0; d < rank; ++d) {
        a.push_back(maybe(2) ? "0" : number());
        b.push_back(maybe(2) ? "0" : number());
      }
      static const char *const modes[] = {"constant", "constant", "edge",
                                          "reflect"};
      op("pad", {x},
         "low = #mlc.dims<[" + join(a) + "]>, high = #mlc.dims<[" + join(b) +
             "]>, mode = \"" + oneOf(modes, random) + "\", value = #mlc.real<" +
             oneOf(reals, random) + ">");
      return;
    }
    case 5: {
      // Flattened, or with a dim of 1 more.
      IntExpr all = dims[0];
      for (unsigned d = 1; d < rank; ++d)
        all = all * dims[d];
      if (rank > 1 && maybe(2))
        dims.assign(1, all);
      else
        dims.insert(dims.begin() + below(rank + 1),
                    IntExpr::constant(context, 1));
      op("reshape", {x}, "dims = " + dimsText(dims));
      return;
    }
    case 6: {
      for (IntExpr &dim : dims)
        if (dim.isConstant(1))
          dim = maybe(2) ? IntExpr::symbol(context, "n")
                         : IntExpr::constant(context, 4);
      op("broadcast", {x}, "dims = " + dimsText(dims));
      return;
    }
    default: {
      std::string indices = "dims = #mlc.dims<[" + dims[0].str() +
                            "]>, axis = 0 : i64, start = #mlc.int<" +
                            (maybe(2) ? "0" : within(dims[0])) +
                            ">, step = #mlc.int<1>";
      if (op("iota", {}, indices) && maybe(2))
        op("gather", {x, static_cast<unsigned>(types.size() - 1)},
           "axis = 0 : i64");
    }
    }
  }

  void reduction(unsigned x) {
    unsigned rank = typeAt(x).getRank();
    if (rank == 0)
      return;
    std::string axis = "axis = " + std::to_string(below(rank)) + " : i64";
    auto flag = [&] { return maybe(2) ? "true" : "false"; };
    switch (below(8)) {
    case 0:
      op("softmax", {x}, axis);
      return;
    case 1:
      op("log_softmax", {x}, axis);
      return;
    case 2:
      op("cumsum", {x},
         axis + ", exclusive = " + flag() + ", reverse = " + flag());
      return;
    case 3:
      op(maybe(2) ? "arg_max" : "arg_min", {x}, axis);
      return;
    default:
      op("reduce", {x},
         std::string("kind = \"") + oneOf(kinds, random) +
             "\", axes = " + axes(rank));
    }
  }

  /// An element in index notation, for `mlc.compute` on a vector.
  std::string term(unsigned depth, bool inSum) {
    std::string i = inSum && maybe(2) ? "r" : "i";
    if (depth == 0)
      switch (below(3)) {
      case 0:
        return std::string("f32(") + (maybe(2) ? i : number()) + ")";
      case 1:
        return "x<0>[" + i + (maybe(2) ? "" : " + " + number()) + "]";
      default:
        return "x<0>[" + i + (maybe(2) ? "" : " - k") + "]";
      }
    switch (below(inSum ? 4 : 6)) {
    case 0:
      return "(" + term(depth - 1, inSum) + " + " + term(depth - 1, inSum) +
             ")";
    case 1:
      return term(depth - 1, inSum) + " * " + term(depth - 1, inSum);
    case 2:
      return "select(" + i + (maybe(2) ? " < " : " >= ") +
             (maybe(2) ? number() : "k") + ", " + term(depth - 1, inSum) +
             ", " + term(depth - 1, inSum) + ")";
    case 3:
      return "max(" + term(depth - 1, inSum) + ", " + term(depth - 1, inSum) +
             ")";
    default:
      return std::string(maybe(3) ? "max" : "sum") + "{r < " +
             (maybe(2)   ? "k"
              : maybe(2) ? "i + 1"
                         : number()) +
             "}(" + term(depth - 1, true) + ")";
    }
  }

  void compute(unsigned x) {
    if (typeAt(x).getRank() != 1 || !typeAt(x).getElementType().isF32())
      return;
    IntExpr dim = dimsOf(x)[0];
    // The bound of a loop holds no loop, so "i + 1" is rarely taken.
    op("compute", {x},
       "definition = \"(x; k) Y[i] = " + term(1 + below(3), false) +
           "\", dims = #mlc.dims<[" + (maybe(3) ? "1" : dim.str()) +
           "]>, integers = #mlc.dims<[" + (maybe(2) ? dim.str() : within(dim)) +
           "]>, reals = [], type = f32");
  }

  void any() {
    unsigned x = pick();
    switch (below(9)) {
    case 0:
    case 1:
    case 2:
      return pointwise(x);
    case 3:
    case 4:
    case 5:
      return movement(x);
    case 6:
      return reduction(x);
    case 7:
      return compute(x);
    default:
      if (typeAt(x).getRank() >= 2)
        op("matmul", {x, pick()});
    }
  }

  void image() {
    unsigned x = pick();
    if (typeAt(x).getRank() != 3)
      return;
    static const char *const pads[] = {"0, 0", "1, 1", "0, 1", "2, 2", "k, k"};
    std::string one = std::to_string(1 + below(2));
    std::string common = std::string("strides = #mlc.dims<[") + one +
                         "]>, pads = #mlc.dims<[" + oneOf(pads, random) +
                         "]>, dilations = #mlc.dims<[" +
                         (maybe(4) ? "2" : "1") + "]>";
    std::string window = common + ", kernel = #mlc.dims<[" +
                         std::to_string(1 + below(3)) +
                         "]>, ceil_pads = #mlc.dims<[0]>";
    switch (below(5)) {
    case 0:
      op("max_pool", {x}, window);
      return;
    case 1:
      op("avg_pool", {x},
         window + ", count_include_pad = " + (maybe(2) ? "true" : "false"));
      return;
    case 2:
      op("conv_transpose", {x, pick()},
         common + ", output_padding = #mlc.dims<[0]>, groups = #mlc.int<1>");
      return;
    default:
      op("conv", {x, pick()},
         common + ", groups = #mlc.int<" + (maybe(4) ? "2" : "1") + ">");
    }
  }

  void assume() {
    static const char *const conditions[] = {
        "n >= 1", "n >= 2",  "n >= 8",      "n >= 20",     "n >= 100",
        "n == m", "n <= 10", "2 divides n", "n >= m",      "m >= 3",
        "n != 4", "m == 1",  "3 divides m", "n - m >= 10", "2 * m == n"};
    for (unsigned i = below(3); i > 0; --i)
      recipe.conditions.push_back(oneOf(conditions, random));
    static const char *const elements[] = {"positive", "non-negative",
                                           "non-zero", "all-equal"};
    if (maybe(4) && !cast<RankedTensorType>(recipe.arguments[0])
                         .getElementType()
                         .isInteger(1))
      recipe.predicates.push_back({0, oneOf(elements, random)});
  }

  MLIRContext *context;
  Random &random;
  Recipe recipe;
  std::vector<Type> types;
};

} // namespace

Recipe makeGraph(MLIRContext *context, Random &random) {
  return Maker(context, random).run();
}

} // namespace mlc::test
