//===- Scalars.cpp - Random functions of arith in linalg ------------------===//

#include "Recipe.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using llvm::StringRef;

namespace mlc::test {

namespace {

class ScalarMaker {
public:
  ScalarMaker(MLIRContext *context, Random &random)
      : b(context), random(random) {}

  Recipe run() {
    recipe.isScalar = true;
    unsigned numArguments = 1 + below(2);
    for (unsigned i = 0; i < numArguments; ++i)
      recipe.arguments.push_back(i && below(3) ? recipe.arguments[0]
                                               : element());
    types = recipe.arguments;
    if (below(2))
      add("linalg.index", {}, b.getIndexType(),
          {b.getNamedAttr("dim", b.getI64IntegerAttr(0))});
    unsigned length = 1 + below(5);
    for (unsigned tries = 0; tries < 40 && made < length; ++tries)
      any();
    recipe.result = types.size() - 1;
    if (isa<IndexType>(types.back()))
      recipe.result = add("arith.index_cast", {recipe.result},
                          below(2) ? b.getI32Type() : b.getI64Type());
    return std::move(recipe);
  }

private:
  unsigned below(unsigned n) { return random() % n; }

  Type element() {
    switch (below(6)) {
    case 0:
      return b.getI1Type();
    case 1:
      return b.getIntegerType(8);
    case 2:
      return b.getI64Type();
    case 3:
      return b.getF32Type();
    default:
      return b.getI32Type();
    }
  }

  unsigned add(StringRef name, std::vector<unsigned> operands, Type type,
               std::vector<NamedAttribute> attributes = {}) {
    types.push_back(type);
    ++made;
    return recipe.add(
        {name.str(), std::move(operands), std::move(attributes), type});
  }

  unsigned constant(Type type) {
    static constexpr int64_t numbers[] = {0, 1, 2, 3, 7, -1, -2, 100, 4, 8};
    Attribute value;
    if (isa<FloatType>(type))
      value = FloatAttr::get(type, double(oneOf(numbers, random)));
    else
      value = IntegerAttr::get(type,
                               isa<IndexType>(type)
                                   ? APInt(64, oneOf(numbers, random), true)
                                   : APInt(type.getIntOrFloatBitWidth(),
                                           oneOf(numbers, random), true, true));
    --made; // for free
    return add("arith.constant", {}, type, {b.getNamedAttr("value", value)});
  }

  unsigned partner(Type type) {
    std::vector<unsigned> fitting;
    for (unsigned i = 0; i < types.size(); ++i)
      if (types[i] == type)
        fitting.push_back(i);
    return below(2) || fitting.empty() ? constant(type)
                                       : oneOf(fitting, random);
  }

  void any() {
    unsigned x = below(2) ? types.size() - 1 : below(types.size());
    Type type = types[x];
    bool isFloat = isa<FloatType>(type), isIndex = isa<IndexType>(type);
    switch (below(6)) {
    case 0:
    case 1:
    case 2: {
      static constexpr StringRef floats[] = {
          "arith.addf",     "arith.subf",     "arith.mulf",    "arith.divf",
          "arith.maximumf", "arith.minimumf", "arith.maxnumf", "arith.minnumf"};
      static constexpr StringRef integers[] = {
          "arith.addi",  "arith.subi",  "arith.muli",       "arith.divsi",
          "arith.divui", "arith.remsi", "arith.remui",      "arith.maxsi",
          "arith.minsi", "arith.maxui", "arith.minui",      "arith.andi",
          "arith.ori",   "arith.xori",  "arith.floordivsi", "arith.ceildivsi",
          "arith.addi",  "arith.subi",  "arith.muli",       "arith.ceildivui",
          "arith.shli",  "arith.shrsi", "arith.shrui"};
      add(isFloat ? oneOf(floats, random) : oneOf(integers, random),
          {x, partner(type)}, type);
      return;
    }
    case 3: {
      unsigned y = partner(type);
      if (isFloat) {
        static constexpr int64_t predicates[] = {1, 2, 3, 4, 5, 13};
        add("arith.cmpf", {x, y}, b.getI1Type(),
            {b.getNamedAttr("predicate",
                            b.getI64IntegerAttr(oneOf(predicates, random)))});
      } else {
        add("arith.cmpi", {x, y}, b.getI1Type(),
            {b.getNamedAttr("predicate", b.getI64IntegerAttr(below(10)))});
      }
      return;
    }
    case 4: {
      for (unsigned i = types.size(); i-- > 0;)
        if (types[i].isInteger(1)) {
          add("arith.select", {i, x, partner(type)}, type);
          return;
        }
      return;
    }
    default:
      convert(x, type, isFloat, isIndex);
    }
  }

  void convert(unsigned x, Type type, bool isFloat, bool isIndex) {
    Type to = element();
    if (isIndex) {
      add(below(3) ? "arith.index_cast" : "arith.index_castui", {x},
          below(2) ? b.getI32Type() : b.getIntegerType(8));
      return;
    }
    if (isFloat || to == type)
      return;
    if (isa<FloatType>(to)) {
      add(below(2) ? "arith.sitofp" : "arith.uitofp", {x}, to);
      return;
    }
    if (below(5) == 0) {
      add(below(3) ? "arith.index_cast" : "arith.index_castui", {x},
          b.getIndexType());
      return;
    }
    if (to.getIntOrFloatBitWidth() < type.getIntOrFloatBitWidth())
      add("arith.trunci", {x}, to);
    else
      add(below(2) ? "arith.extsi" : "arith.extui", {x}, to);
  }

  mlir::Builder b;
  Random &random;
  Recipe recipe;
  std::vector<Type> types;
  unsigned made = 0;
};

} // namespace

Recipe makeScalars(MLIRContext *context, Random &random) {
  return ScalarMaker(context, random).run();
}

} // namespace mlc::test
