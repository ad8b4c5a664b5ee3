//===- ArithTest.cpp - The evaluator's reading of arith against folders ---===//
//
// Every operation of arith that is read, on every pair of edge values of every
// type (all values of one and eight bits): upstream's folder and the evaluator
// must say the same bits. What has no folded value (division by zero) must be
// undefined in the evaluator too.
//
//===----------------------------------------------------------------------===//

#include "verifier/read/Arith.h"
#include "dialects/Evaluator/Evaluator.h"
#include "dialects/Symbolic/Attributes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLExtras.h"
#include <catch2/catch.hpp>

using namespace mlir;
using namespace mlc;

namespace {

struct Context {
  MLIRContext context;
  Builder builder{&context};
  Context() {
    context.loadDialect<MlcDialect, arith::ArithDialect, math::MathDialect>();
  }
};

std::vector<Attribute> integersOf(IntegerType type, bool isExhaustive) {
  unsigned width = type.getWidth();
  std::vector<Attribute> values;
  auto add = [&](const llvm::APInt &value) {
    Attribute attribute = IntegerAttr::get(type, value);
    if (!llvm::is_contained(values, attribute))
      values.push_back(attribute);
  };
  if (width == 1 || (width == 8 && isExhaustive)) {
    for (unsigned value = 0; value < (1u << width); ++value)
      values.push_back(IntegerAttr::get(type, llvm::APInt(width, value)));
    return values;
  }
  for (int64_t value : {0, 1, 2, 3, 5, 7, -1, -2, -3, -7})
    add(llvm::APInt(width, value, true, true));
  for (unsigned k : {3u, width / 2, width - 2, width - 1})
    for (int64_t near : {-1, 0, 1})
      add(llvm::APInt::getOneBitSet(width, k) +
          llvm::APInt(width, near, true, true));
  return values;
}

std::vector<Attribute> floatsOf(FloatType type) {
  std::vector<Attribute> values;
  for (double value : {0.0, -0.0, 1.0, -1.0, 0.5, 2.5, -2.5, 3.5, 100.0, 1e-6})
    values.push_back(FloatAttr::get(type, value));
  const llvm::fltSemantics &semantics = type.getFloatSemantics();
  for (bool negative : {false, true}) {
    values.push_back(
        FloatAttr::get(type, llvm::APFloat::getInf(semantics, negative)));
    values.push_back(
        FloatAttr::get(type, llvm::APFloat::getLargest(semantics, negative)));
    values.push_back(
        FloatAttr::get(type, llvm::APFloat::getSmallest(semantics, negative)));
  }
  values.push_back(FloatAttr::get(type, llvm::APFloat::getNaN(semantics)));
  return values;
}

std::vector<Attribute> valuesOf(Type type, bool isExhaustive) {
  if (auto integer = dyn_cast<IntegerType>(type))
    return integersOf(integer, isExhaustive);
  return floatsOf(cast<FloatType>(type));
}

/// Of two zeros, a maximum may be either: the evaluator's is the second.
bool sameNumber(StringRef name, Attribute a, Attribute b) {
  auto x = dyn_cast<FloatAttr>(a), y = dyn_cast<FloatAttr>(b);
  bool isExtreme =
      name.starts_with("arith.max") || name.starts_with("arith.min");
  if (x && y && isExtreme && x.getValue().isZero() && y.getValue().isZero())
    return true;
  if (x && y && x.getValue().isNaN() && y.getValue().isNaN())
    return true;
  return a == b;
}

/// An operation by its name, its reading, and what both make of numbers.
class Reading {
public:
  Reading(MLIRContext *context, StringRef name, ArrayRef<Type> operands,
          Type result, Attribute predicate)
      : operands(operands) {
    Location location = UnknownLoc::get(context);
    for (Type type : operands)
      block.addArgument(type, location);
    OperationState state(location, name);
    state.addOperands(block.getArguments());
    state.addTypes(result);
    if (predicate)
      state.addAttribute("predicate", predicate);
    op = Operation::create(state);
    block.push_back(op);
    IntExpr n = IntExpr::symbol(context, "n");
    SmallVector<TensorShape> inputs;
    for (Type type : operands)
      inputs.push_back({{n}, type});
    DefinitionBuilder builder(context, inputs);
    unsigned stage = builder.stage("y", {n}, result, [&](ArrayRef<Expr> i) {
      SmallVector<Expr> elements;
      for (unsigned k = 0; k < operands.size(); ++k)
        elements.push_back(builder.read(k, i));
      Expr element = verifier::elementOf(op, elements);
      isRead = bool(element);
      return element ? element : builder.constant(result, 0);
    });
    builder.result(stage);
    definition = builder.take();
  }

  bool isRead = false;

  /// Nothing where the folder has no value.
  std::optional<Attribute> fold(ArrayRef<Attribute> numbers) {
    SmallVector<OpFoldResult> folded;
    if (failed(op->fold(numbers, folded)) || folded.size() != 1)
      return std::nullopt;
    if (auto attribute = dyn_cast<Attribute>(folded[0])) {
      if (!isa<IntegerAttr, FloatAttr>(attribute))
        return std::nullopt; // poison
      return attribute;
    }
    auto value = cast<BlockArgument>(cast<Value>(folded[0]));
    return numbers[value.getArgNumber()];
  }

  /// The evaluator's values at `points`; nothing where one is undefined.
  std::optional<std::vector<Attribute>>
  evaluate(ArrayRef<SmallVector<Attribute, 2>> points) {
    std::vector<EvalTensor> inputs;
    std::vector<DenseElementsAttr> kept;
    for (auto [k, type] : llvm::enumerate(operands)) {
      SmallVector<Attribute> column;
      for (const auto &point : points)
        column.push_back(point[k]);
      kept.push_back(DenseElementsAttr::get(
          RankedTensorType::get({int64_t(points.size())}, type), column));
      llvm::Expected<EvalTensor> input = EvalTensor::fromAttr(kept.back());
      REQUIRE(bool(input));
      inputs.push_back(*input);
    }
    auto results = mlc::evaluate(definition, inputs);
    if (!results) {
      llvm::consumeError(results.takeError());
      return std::nullopt;
    }
    llvm::Expected<ElementsAttr> values =
        results->front().toAttr(/*resourceBytes=*/int64_t(1) << 30);
    REQUIRE(bool(values));
    auto all = cast<DenseElementsAttr>(*values).getValues<Attribute>();
    return std::vector<Attribute>(all.begin(), all.end());
  }

private:
  SmallVector<Type> operands;
  Block block;
  Operation *op = nullptr;
  Definition definition;
};

void check(MLIRContext *context, StringRef name, ArrayRef<Type> operands,
           Type result, Attribute predicate = {}) {
  Reading reading(context, name, operands, result, predicate);
  if (!reading.isRead)
    return; // beyond the verifier: nothing is claimed
  std::vector<Attribute> first = valuesOf(operands[0], true);
  std::vector<Attribute> second{Attribute()};
  if (operands.size() == 2)
    second = valuesOf(operands[1], false);
  std::vector<SmallVector<Attribute, 2>> points;
  std::vector<Attribute> expected;
  for (Attribute a : first)
    for (Attribute b : second) {
      SmallVector<Attribute, 2> point{a};
      if (b)
        point.push_back(b);
      if (std::optional<Attribute> value = reading.fold(point)) {
        points.push_back(point);
        expected.push_back(*value);
      }
    }
  INFO(name.str());
  REQUIRE(!points.empty());
  std::optional<std::vector<Attribute>> values = reading.evaluate(points);
  for (size_t i = 0; i < points.size(); ++i) {
    // Undefined somewhere: one by one says where.
    std::optional<std::vector<Attribute>> own =
        values ? std::vector<Attribute>{(*values)[i]}
               : reading.evaluate({points[i]});
    bool agrees = own && sameNumber(name, own->front(), expected[i]);
    if (agrees)
      continue;
    std::string text;
    llvm::raw_string_ostream os(text);
    llvm::interleaveComma(points[i], os);
    os << " folds to " << expected[i] << ", is evaluated to ";
    own ? os << own->front() : os << "nothing";
    FAIL_CHECK(name.str() << " of " << text);
    return;
  }
}

} // namespace

TEST_CASE("integer arithmetic is what upstream folds", "[arith]") {
  Context c;
  for (unsigned width : {1, 8, 16, 32, 64}) {
    Type type = c.builder.getIntegerType(width);
    for (StringRef name :
         {"arith.addi", "arith.subi", "arith.muli", "arith.divsi",
          "arith.divui", "arith.ceildivsi", "arith.ceildivui",
          "arith.floordivsi", "arith.remui", "arith.andi", "arith.ori",
          "arith.xori", "arith.maxsi", "arith.maxui", "arith.minsi",
          "arith.minui"})
      check(&c.context, name, {type, type}, type);
    check(&c.context, "math.absi", {type}, type);
    for (unsigned p = 0; p <= arith::getMaxEnumValForCmpIPredicate(); ++p)
      check(&c.context, "arith.cmpi", {type, type}, c.builder.getI1Type(),
            arith::CmpIPredicateAttr::get(&c.context, arith::CmpIPredicate(p)));
  }
}

TEST_CASE("conversions are what upstream folds", "[arith]") {
  Context c;
  SmallVector<Type> floats{c.builder.getF16Type(), c.builder.getBF16Type(),
                           c.builder.getF32Type(), c.builder.getF64Type()};
  for (unsigned width : {1, 8, 16, 32, 64}) {
    Type type = c.builder.getIntegerType(width);
    for (unsigned wider : {8, 16, 32, 64}) {
      if (wider <= width)
        continue;
      Type to = c.builder.getIntegerType(wider);
      check(&c.context, "arith.extsi", {type}, to);
      check(&c.context, "arith.extui", {type}, to);
      check(&c.context, "arith.trunci", {to}, type);
    }
    for (Type to : floats) {
      check(&c.context, "arith.sitofp", {type}, to);
      check(&c.context, "arith.uitofp", {type}, to);
    }
  }
  for (Type from : floats)
    for (Type to : floats) {
      if (from.getIntOrFloatBitWidth() < to.getIntOrFloatBitWidth())
        check(&c.context, "arith.extf", {from}, to);
      if (from.getIntOrFloatBitWidth() > to.getIntOrFloatBitWidth())
        check(&c.context, "arith.truncf", {from}, to);
    }
}

TEST_CASE("floats are what upstream folds", "[arith]") {
  Context c;
  for (Type type : {Type(c.builder.getF32Type()), Type(c.builder.getF64Type()),
                    Type(c.builder.getF16Type())}) {
    for (StringRef name :
         {"arith.addf", "arith.subf", "arith.mulf", "arith.divf",
          "arith.maximumf", "arith.minimumf", "arith.maxnumf", "arith.minnumf"})
      check(&c.context, name, {type, type}, type);
    check(&c.context, "arith.negf", {type}, type);
    for (unsigned p = 0; p <= arith::getMaxEnumValForCmpFPredicate(); ++p)
      check(&c.context, "arith.cmpf", {type, type}, c.builder.getI1Type(),
            arith::CmpFPredicateAttr::get(&c.context, arith::CmpFPredicate(p)));
  }
}
