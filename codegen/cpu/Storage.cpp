//===- Storage.cpp - Elements in memory and in registers ------------------===//

#include "codegen/cpu/Storage.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace mlc::cpu {

Type storageType(Type element) {
  if (element.isInteger(1))
    return IntegerType::get(element.getContext(), 8);
  if (element.isBF16())
    return IntegerType::get(element.getContext(), 16);
  return element;
}

int64_t storageBytes(Type element) {
  if (element.isIndex())
    return 8;
  return storageType(element).getIntOrFloatBitWidth() / 8;
}

/// `type`, or a vector of it where `like` is one.
static Type shapedLike(Value like, Type type) {
  auto vector = dyn_cast<VectorType>(like.getType());
  return vector ? vector.clone(type) : type;
}

Value fromStorage(OpBuilder &b, Location loc, Type element, Value stored) {
  if (storageType(element) == element)
    return stored;
  if (element.isBF16())
    return arith::BitcastOp::create(b, loc, shapedLike(stored, element),
                                    stored);
  Value zero =
      arith::ConstantOp::create(b, loc, b.getZeroAttr(stored.getType()));
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, stored, zero);
}

Value toStorage(OpBuilder &b, Location loc, Value value) {
  Type element = getElementTypeOrSelf(value.getType());
  Type stored = storageType(element);
  if (stored == element)
    return value;
  if (element.isBF16())
    return arith::BitcastOp::create(b, loc, shapedLike(value, stored), value);
  return arith::ExtUIOp::create(b, loc, shapedLike(value, stored), value);
}

Value loadElement(OpBuilder &b, Location loc, Type element, Value memref,
                  Value at) {
  return fromStorage(b, loc, element,
                     memref::LoadOp::create(b, loc, memref, at));
}

void storeElement(OpBuilder &b, Location loc, Value value, Value memref,
                  Value at) {
  memref::StoreOp::create(b, loc, toStorage(b, loc, value), memref, at);
}

Value loadVector(OpBuilder &b, Location loc, VectorType type, Value memref,
                 Value at, Value mask) {
  Type element = type.getElementType();
  auto stored = cast<VectorType>(type.clone(storageType(element)));
  Value loaded;
  if (mask) {
    Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(stored));
    loaded =
        vector::MaskedLoadOp::create(b, loc, stored, memref, at, mask, zero);
  } else {
    loaded = vector::LoadOp::create(b, loc, stored, memref, at);
  }
  return fromStorage(b, loc, element, loaded);
}

void storeVector(OpBuilder &b, Location loc, Value vector, Value memref,
                 Value at, Value mask) {
  Value stored = toStorage(b, loc, vector);
  if (mask)
    vector::MaskedStoreOp::create(b, loc, memref, at, mask, stored);
  else
    vector::StoreOp::create(b, loc, stored, memref, at);
}

} // namespace mlc::cpu
