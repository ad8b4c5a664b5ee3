//===- Scalars.cpp - Running scalar operations ----------------------------===//

#include "verifier/linalg/Scalars.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using llvm::APInt;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace mlc::interpret {

unsigned widthOf(Type type) {
  return isa<IndexType>(type) ? 64 : type.getIntOrFloatBitWidth();
}

static bool isKnownType(Type type) {
  if (isa<IndexType>(type))
    return true;
  if (auto integer = dyn_cast<IntegerType>(type))
    return integer.isSignless() && integer.getWidth() <= 64;
  return type.isF16() || type.isBF16() || type.isF32() || type.isF64();
}

/// Whether the meaning of all attributes is known here: flags may make a value
/// poison or change its rounding.
static bool hasPlainAttributes(Operation *op) {
  return llvm::all_of(op->getAttrDictionary(), [op](NamedAttribute attribute) {
    StringRef name = attribute.getName();
    if (name == "value" || name == "predicate" || name == "map" ||
        op->getDiscardableAttr(name))
      return true;
    if (name == "roundingmode")
      return attribute.getValue() ==
             arith::RoundingModeAttr::get(op->getContext(),
                                          arith::RoundingMode::to_nearest_even);
    if (auto flags = dyn_cast<arith::FastMathFlagsAttr>(attribute.getValue()))
      return flags.getValue() == arith::FastMathFlags::none;
    if (auto flags =
            dyn_cast<arith::IntegerOverflowFlagsAttr>(attribute.getValue()))
      return flags.getValue() == arith::IntegerOverflowFlags::none;
    return false;
  });
}

Scalar numberOf(Attribute value) {
  if (auto integer = dyn_cast_or_null<IntegerAttr>(value))
    return Scalar::of(integer.getValue());
  auto number = dyn_cast_or_null<FloatAttr>(value);
  if (!number || number.getValue().isNaN())
    return Scalar::none(Undefined::NotANumber);
  llvm::APFloat wide = number.getValue();
  bool losesInfo = false;
  wide.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven,
               &losesInfo);
  double real = wide.convertToDouble();
  return Scalar::of(Interval{real, real});
}

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

std::optional<int64_t> evaluate(AffineExpr expr, ArrayRef<int64_t> dims,
                                ArrayRef<int64_t> symbols, Run &run) {
  if (auto number = dyn_cast<AffineConstantExpr>(expr))
    return number.getValue();
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dims[dim.getPosition()];
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return symbols[symbol.getPosition()];
  auto both = cast<AffineBinaryOpExpr>(expr);
  std::optional<int64_t> a = evaluate(both.getLHS(), dims, symbols, run),
                         b = evaluate(both.getRHS(), dims, symbols, run);
  if (!a || !b)
    return std::nullopt;
  AffineExprKind kind = expr.getKind();
  bool isSum = kind == AffineExprKind::Add,
       isProduct = kind == AffineExprKind::Mul;
  int64_t result = 0;
  if (isSum || isProduct) {
    bool overflows = isSum ? llvm::AddOverflow(*a, *b, result)
                           : llvm::MulOverflow(*a, *b, result);
    if (!overflows)
      return result;
    run.open("an index is beyond 64 bits");
    return std::nullopt;
  }
  if (*b <= 0) {
    run.undefined("an index is divided by a number that is not positive");
    return std::nullopt;
  }
  int64_t quotient = *a / *b, rest = *a % *b;
  if (kind == AffineExprKind::CeilDiv)
    return quotient + (rest > 0);
  if (kind == AffineExprKind::FloorDiv)
    return quotient - (rest < 0);
  return rest < 0 ? rest + *b : rest;
}

static ScalarFn affineFunction(Operation *op, Run &run) {
  auto valuesOf = [&run](AffineMap map, ArrayRef<Scalar> x) {
    SmallVector<int64_t> at, values;
    for (const Scalar &operand : x)
      at.push_back(operand.integer.getSExtValue());
    for (AffineExpr expr : map.getResults())
      values.push_back(evaluate(expr, ArrayRef(at).take_front(map.getNumDims()),
                                ArrayRef(at).drop_front(map.getNumDims()), run)
                           .value_or(0));
    return values;
  };
  if (auto apply = dyn_cast<affine::AffineApplyOp>(op))
    return [=, map = apply.getAffineMap()](ArrayRef<Scalar> x) {
      return Scalar::index(valuesOf(map, x).front());
    };
  if (auto min = dyn_cast<affine::AffineMinOp>(op))
    return [=, map = min.getAffineMap()](ArrayRef<Scalar> x) {
      return Scalar::index(*llvm::min_element(valuesOf(map, x)));
    };
  if (auto max = dyn_cast<affine::AffineMaxOp>(op))
    return [=, map = max.getAffineMap()](ArrayRef<Scalar> x) {
      return Scalar::index(*llvm::max_element(valuesOf(map, x)));
    };
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Operations on tensors
//===----------------------------------------------------------------------===//

static ScalarFn functionOfTensor(Operation *op, TensorOf tensorOf, Run &run) {
  if (auto dim = dyn_cast<tensor::DimOp>(op)) {
    TensorRef tensor = tensorOf(dim.getSource());
    if (!tensor)
      return nullptr;
    return [tensor, &run](ArrayRef<Scalar> x) {
      uint64_t d = x[0].integer.getZExtValue();
      if (d < tensor->dims.size())
        return Scalar::index(tensor->dims[d]);
      run.undefined("a dim that a tensor does not have");
      return Scalar();
    };
  }
  if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
    TensorRef tensor = tensorOf(extract.getTensor());
    if (!tensor)
      return nullptr;
    return [tensor, &run](ArrayRef<Scalar> x) {
      SmallVector<int64_t> at;
      for (const Scalar &index : x)
        at.push_back(index.integer.getSExtValue());
      std::optional<int64_t> place = placeOf(tensor->dims, at);
      if (place)
        return tensor->elements[*place];
      run.undefined("tensor.extract reads out of range");
      return Scalar();
    };
  }
  return nullptr;
}

//===----------------------------------------------------------------------===//
// All operations
//===----------------------------------------------------------------------===//

/// An operand that is no number makes the result no number. The run ends if it
/// would decide whether the function is defined.
static ScalarFn strict(ScalarFn inner, bool mayBeUndefined, Run &run) {
  if (!inner)
    return nullptr;
  return [inner = std::move(inner), mayBeUndefined,
          &run](ArrayRef<Scalar> x) -> Scalar {
    for (const Scalar &operand : x) {
      if (operand.isNumber())
        continue;
      if (mayBeUndefined)
        run.open("an index or a divisor is no number");
      return operand;
    }
    Scalar result = inner(x);
    run.sawNone |= result.state == Scalar::State::None;
    return result;
  };
}

ScalarFn scalarFunction(Operation *op, TensorOf tensorOf, Run &run) {
  if (op->getNumResults() != 1 || op->getNumRegions() != 0 ||
      !isKnownType(op->getResult(0).getType()))
    return nullptr;
  auto isKnown = [](Type type) {
    return isa<RankedTensorType>(type) || isKnownType(type);
  };
  if (!llvm::all_of(op->getOperandTypes(), isKnown) || !hasPlainAttributes(op))
    return nullptr;
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return [value = numberOf(constant.getValue())](ArrayRef<Scalar>) {
      return value;
    };
  if (auto choice = dyn_cast<arith::SelectOp>(op)) {
    if (isa<RankedTensorType>(choice.getCondition().getType()))
      return nullptr;
    return [](ArrayRef<Scalar> x) {
      if (!x[0].isNumber())
        return x[0];
      return x[0].integer.isZero() ? x[2] : x[1];
    };
  }
  if (ScalarFn fn = functionOfTensor(op, tensorOf, run))
    return strict(std::move(fn), true, run);
  if (ScalarFn fn = affineFunction(op, run))
    return strict(std::move(fn), true, run);
  if (ScalarFn fn = conversion(op, run))
    return strict(std::move(fn), false, run);
  bool divides = isa<arith::DivSIOp, arith::DivUIOp, arith::FloorDivSIOp,
                     arith::CeilDivSIOp, arith::CeilDivUIOp, arith::RemSIOp,
                     arith::RemUIOp>(op);
  ScalarFn fn =
      isa<FloatType>(op->getResult(0).getType()) || isa<arith::CmpFOp>(op)
          ? floatFunction(op, run)
          : integerFunction(op, run);
  return strict(std::move(fn), divides, run);
}

} // namespace mlc::interpret
