//===- Indices.cpp - Sizes and indices as CUDA C++ ------------------------===//

#include "codegen/cuda/Element.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace mlc::cuda {

Index::Index(int64_t value) : value(value) {
  text = std::to_string(value);
  // Literals beyond int need a suffix; the smallest integer has no literal.
  if (value == std::numeric_limits<int64_t>::min())
    text = "(-9223372036854775807ll - 1)";
  else if (value < 0)
    text = "(" + text + (llvm::isInt<32>(value) ? ")" : "ll)");
  else if (!llvm::isInt<32>(value))
    text += "ll";
}

Index ElementPrinter::binary(const Index &x, StringRef sign, const Index &y) {
  return Index(code.define("Index", "i", x.text + " " + sign + " " + y.text));
}

Index ElementPrinter::add(const Index &x, const Index &y) {
  if (x.is(0))
    return y;
  if (y.is(0))
    return x;
  if (x.value && y.value)
    return Index(*x.value + *y.value);
  return binary(x, "+", y);
}

Index ElementPrinter::sub(const Index &x, const Index &y) {
  if (y.is(0))
    return x;
  if (x.value && y.value)
    return Index(*x.value - *y.value);
  return binary(x, "-", y);
}

Index ElementPrinter::mul(const Index &x, const Index &y) {
  if (x.is(1))
    return y;
  if (y.is(1))
    return x;
  if (x.is(0) || y.is(0))
    return Index(0);
  if (x.value && y.value)
    return Index(*x.value * *y.value);
  return binary(x, "*", y);
}

Index ElementPrinter::div(const Index &x, const Index &y) {
  if (y.is(1) || x.is(0))
    return x;
  if (x.value && y.value && *y.value > 0)
    return Index(*x.value / *y.value);
  return binary(x, "/", y);
}

Index ElementPrinter::mod(const Index &x, const Index &y) {
  if (y.is(1) || x.is(0))
    return Index(0);
  if (x.value && y.value && *y.value > 0)
    return Index(*x.value % *y.value);
  return binary(x, "%", y);
}

Index ElementPrinter::evaluate(AffineExpr expr, ArrayRef<Index> dims,
                               ArrayRef<Index> symbols) {
  if (auto value = dyn_cast<AffineConstantExpr>(expr))
    return Index(value.getValue());
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dims[dim.getPosition()];
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return symbols[symbol.getPosition()];
  auto pair = cast<AffineBinaryOpExpr>(expr);
  Index lhs = evaluate(pair.getLHS(), dims, symbols);
  Index rhs = evaluate(pair.getRHS(), dims, symbols);
  auto call = [&](StringRef helper) {
    helpers.need(helper);
    return Index(code.define(
        "Index", "i", helper + "<Index>(" + lhs.text + ", " + rhs.text + ")"));
  };
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return add(lhs, rhs);
  case AffineExprKind::Mul:
    return mul(lhs, rhs);
  case AffineExprKind::FloorDiv:
    return rhs.is(1) ? lhs : call("floorDiv");
  case AffineExprKind::CeilDiv:
    return rhs.is(1) ? lhs : call("ceilDiv");
  default:
    return rhs.is(1) ? Index(0) : sub(lhs, mul(call("floorDiv"), rhs));
  }
}

Indices ElementPrinter::evaluate(AffineMap map, ArrayRef<Index> loops) {
  Indices indices;
  for (AffineExpr expr : map.getResults())
    indices.push_back(evaluate(expr, loops));
  return indices;
}

Indices ElementPrinter::unflatten(Index flat, ArrayRef<IntExpr> shape) {
  Indices indices(shape.size(), Index(0));
  // Dims of size 1 do not contribute.
  SmallVector<unsigned> dims;
  for (auto [d, extent] : llvm::enumerate(shape))
    if (!extent.isConstant(1))
      dims.push_back(d);
  for (unsigned i = dims.size(); i-- > 0;) {
    Index extent = size(shape[dims[i]]);
    indices[dims[i]] = i == 0 ? flat : mod(flat, extent);
    if (i != 0)
      flat = div(flat, extent);
  }
  return indices;
}

std::string ElementPrinter::sizeText(IntExpr expr) {
  switch (expr.getKind()) {
  case IntExpr::Kind::Constant:
    return Index(expr.getConstant()).text;
  case IntExpr::Kind::Symbol: {
    auto found = llvm::find(kernel.symbols, expr.getSymbol());
    return "s" + std::to_string(found - kernel.symbols.begin());
  }
  default:
    break;
  }
  std::string result;
  for (IntExpr operand : expr.getOperands()) {
    std::string value = sizeText(operand);
    if (result.empty()) {
      result = value;
      continue;
    }
    auto call = [&](StringRef helper) {
      helpers.need(helper);
      return (helper + "<long long>(" + result + ", " + value + ")").str();
    };
    switch (expr.getKind()) {
    case IntExpr::Kind::Add:
      result = "(" + result + " + " + value + ")";
      break;
    case IntExpr::Kind::Mul:
      result = "(" + result + " * " + value + ")";
      break;
    case IntExpr::Kind::FloorDiv:
      result = call("floorDiv");
      break;
    case IntExpr::Kind::Mod:
      result = "(" + result + " - " + call("floorDiv") + " * " + value + ")";
      break;
    case IntExpr::Kind::Min:
      result = call("minimum");
      break;
    default:
      result = call("maximum");
      break;
    }
  }
  return result;
}

Index ElementPrinter::size(IntExpr expr) {
  if (std::optional<int64_t> value = expr.asConstant())
    return Index(*value);
  auto [it, isNew] = sizes.try_emplace(sizeText(expr));
  if (isNew)
    it->second = head.define("Index", "n", it->first);
  return Index(it->second);
}

View ElementPrinter::dense(Value tensor, std::string pointer) {
  View view;
  view.pointer = std::move(pointer);
  view.offset = Index(0);
  view.element = cast<RankedTensorType>(tensor.getType()).getElementType();
  for (IntExpr stride :
       rowMajorStrides(kernel.shapeOf(tensor), kernel.context()))
    view.strides.push_back(size(stride));
  return view;
}

} // namespace mlc::cuda
