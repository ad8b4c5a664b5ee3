//===- IndexMath.cpp - Index arithmetic that folds constants --------------===//

#include "codegen/cpu/IndexMath.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace mlc::cpu {

std::optional<int64_t> IndexMath::fixed(Index v) {
  if (auto attr = dyn_cast<Attribute>(v))
    return cast<IntegerAttr>(attr).getInt();
  return std::nullopt;
}

Value IndexMath::value(Index v) {
  if (auto k = fixed(v))
    return arith::ConstantIndexOp::create(b, loc, *k);
  return cast<Value>(v);
}

Index IndexMath::add(Index a, Index c) {
  auto x = fixed(a), y = fixed(c);
  if (x && y)
    return constant(*x + *y);
  if (x == 0)
    return c;
  if (y == 0)
    return a;
  return arith::AddIOp::create(b, loc, value(a), value(c)).getResult();
}

Index IndexMath::sub(Index a, Index c) {
  auto x = fixed(a), y = fixed(c);
  if (x && y)
    return constant(*x - *y);
  if (y == 0)
    return a;
  return arith::SubIOp::create(b, loc, value(a), value(c)).getResult();
}

Index IndexMath::mul(Index a, Index c) {
  auto x = fixed(a), y = fixed(c);
  if (x && y)
    return constant(*x * *y);
  if (x == 0 || y == 0)
    return constant(0);
  if (x == 1)
    return c;
  if (y == 1)
    return a;
  return arith::MulIOp::create(b, loc, value(a), value(c)).getResult();
}

Index IndexMath::min(Index a, Index c) {
  auto x = fixed(a), y = fixed(c);
  if (x && y)
    return constant(std::min(*x, *y));
  return arith::MinSIOp::create(b, loc, value(a), value(c)).getResult();
}

Index IndexMath::max(Index a, Index c) {
  auto x = fixed(a), y = fixed(c);
  if (x && y)
    return constant(std::max(*x, *y));
  return arith::MaxSIOp::create(b, loc, value(a), value(c)).getResult();
}

Index IndexMath::div(Index a, Index c) {
  auto x = fixed(a), y = fixed(c);
  if (x && y && *y != 0)
    return constant(*x / *y);
  if (y == 1)
    return a;
  return arith::DivUIOp::create(b, loc, value(a), value(c)).getResult();
}

Index IndexMath::ceilDiv(Index a, Index c) {
  return div(add(a, sub(c, constant(1))), c);
}

Index IndexMath::rem(Index a, Index c) {
  auto x = fixed(a), y = fixed(c);
  if (x && y && *y != 0)
    return constant(*x % *y);
  if (y == 1)
    return constant(0);
  return arith::RemUIOp::create(b, loc, value(a), value(c)).getResult();
}

} // namespace mlc::cpu
