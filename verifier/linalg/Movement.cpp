//===- Movement.cpp - Slices, shapes and generated tensors ----------------===//

#include "verifier/linalg/Machine.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace mlc::interpret {

static bool isNegative(int64_t size) { return size < 0; }

bool Machine::runEmpty(tensor::EmptyOp op) {
  Tensor tensor;
  tensor.elementType = op.getType().getElementType();
  if (!indicesOf(op.getMixedSizes(), tensor.dims))
    return false;
  std::optional<int64_t> count = run.spendElements(tensor.dims);
  if (!count)
    return false;
  tensor.elements.resize(*count);
  set(op.getResult(), std::move(tensor));
  return true;
}

/// Sets its element type and dims; `dynamic` has the sizes that the type leaves
/// open.
bool Machine::setType(Tensor &tensor, RankedTensorType type,
                      OperandRange dynamic) {
  tensor.elementType = type.getElementType();
  unsigned next = 0;
  for (int64_t size : type.getShape()) {
    std::optional<int64_t> dim = ShapedType::isDynamic(size)
                                     ? indexOf(dynamic[next++])
                                     : std::optional(size);
    if (!dim)
      return false;
    tensor.dims.push_back(*dim);
  }
  return true;
}

bool Machine::runSplat(tensor::SplatOp op) {
  auto value = scalars.find(op.getInput());
  if (value == scalars.end())
    return run.unknown("a number that no known operation gives");
  Tensor tensor;
  if (!setType(tensor, op.getType(), op.getDynamicSizes()))
    return false;
  std::optional<int64_t> count = run.spendElements(tensor.dims);
  if (!count)
    return false;
  tensor.elements.assign(*count, value->second);
  set(op.getResult(), std::move(tensor));
  return true;
}

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

/// Reads a slice and checks that it lies inside a tensor of these dims.
bool Machine::boxOf(OffsetSizeAndStrideOpInterface op, ArrayRef<int64_t> dims,
                    Box &box) {
  if (!indicesOf(op.getMixedOffsets(), box.offsets) ||
      !indicesOf(op.getMixedSizes(), box.sizes) ||
      !indicesOf(op.getMixedStrides(), box.strides))
    return false;
  if (box.sizes.size() != dims.size())
    return run.unknown("a slice of another rank");
  bool isEmpty = llvm::is_contained(box.sizes, 0);
  for (auto [offset, size, stride, dim] :
       llvm::zip(box.offsets, box.sizes, box.strides, dims)) {
    if (size < 0 || offset < 0)
      return run.undefined("a slice starts before the tensor, or has a "
                           "negative size");
    if (stride <= 0)
      return run.open("a slice goes backwards");
    int64_t reach = 0, last = 0;
    if (llvm::MulOverflow(std::max<int64_t>(size, 1) - 1, stride, reach) ||
        llvm::AddOverflow(offset, reach, last))
      return run.undefined("a slice ends behind the tensor");
    if (size > 0 && last >= dim)
      return isEmpty ? run.open("a slice of nothing lies outside")
                     : run.undefined("a slice ends behind the tensor");
    // The specification does not say whether an empty slice may start past the
    // end.
    if (size == 0 && offset > dim)
      return run.open("a slice of nothing lies outside");
  }
  return true;
}

static SmallVector<int64_t> inLarge(ArrayRef<int64_t> offsets,
                                    ArrayRef<int64_t> strides,
                                    ArrayRef<int64_t> at) {
  SmallVector<int64_t> large;
  for (auto [offset, stride, index] : llvm::zip(offsets, strides, at))
    large.push_back(offset + stride * index);
  return large;
}

/// The slice has all dims; dropping those of size 1 keeps the order.
bool Machine::runSlice(tensor::ExtractSliceOp op) {
  TensorRef source = operand(op.getSource());
  Box box;
  if (!source || !boxOf(op, source->dims, box))
    return false;
  std::optional<int64_t> count = run.spendElements(box.sizes);
  if (!count)
    return false;
  Tensor tensor;
  tensor.elementType = source->elementType;
  llvm::SmallBitVector dropped = op.getDroppedDims();
  for (auto [d, size] : llvm::enumerate(box.sizes))
    if (!dropped[d])
      tensor.dims.push_back(size);
    else if (size != 1)
      return run.undefined("a dim that is dropped is not 1");
  forEachPoint(box.sizes, [&](ArrayRef<int64_t> at) {
    tensor.elements.push_back(source->elements[*placeOf(
        source->dims, inLarge(box.offsets, box.strides, at))]);
    return true;
  });
  set(op.getResult(), std::move(tensor));
  return true;
}

bool Machine::write(const Tensor &source, OffsetSizeAndStrideOpInterface op,
                    Tensor &dest, std::vector<bool> *written) {
  Box box;
  if (!boxOf(op, dest.dims, box) || !run.spend(1 + source.elements.size()))
    return false;
  // Both have the same dims except those of size 1.
  auto withoutOnes = [](ArrayRef<int64_t> dims) {
    SmallVector<int64_t> rest(dims);
    llvm::erase(rest, 1);
    return rest;
  };
  if (source.dims.size() == box.sizes.size()
          ? ArrayRef(source.dims) != ArrayRef(box.sizes)
          : withoutOnes(source.dims) != withoutOnes(box.sizes))
    return run.undefined("a slice has not the size of what is inserted");
  size_t next = 0;
  return forEachPoint(box.sizes, [&](ArrayRef<int64_t> at) {
    int64_t place = *placeOf(dest.dims, inLarge(box.offsets, box.strides, at));
    if (written && (*written)[place])
      return run.undefined("two iterations write one element");
    if (written)
      (*written)[place] = true;
    dest.elements[place] = source.elements[next++];
    return true;
  });
}

bool Machine::runInsert(tensor::InsertSliceOp op) {
  TensorRef source = operand(op.getSource()), dest = operand(op.getDest());
  if (!source || !dest || !run.spendElements(dest->dims))
    return false;
  Tensor tensor = *dest;
  if (!write(*source, op, tensor, nullptr))
    return false;
  set(op.getResult(), std::move(tensor));
  return true;
}

bool Machine::runPad(tensor::PadOp op) {
  TensorRef source = operand(op.getSource());
  SmallVector<int64_t> low, high;
  if (!source || !indicesOf(op.getMixedLowPad(), low) ||
      !indicesOf(op.getMixedHighPad(), high))
    return false;
  if (llvm::any_of(low, isNegative) || llvm::any_of(high, isNegative))
    return run.undefined("a padding is negative");
  Tensor tensor;
  tensor.elementType = source->elementType;
  for (auto [l, h, dim] : llvm::zip(low, high, source->dims)) {
    int64_t size = 0;
    if (llvm::AddOverflow(l, h, size) || llvm::AddOverflow(size, dim, size))
      return run.open("an index is beyond 64 bits");
    tensor.dims.push_back(size);
  }
  std::optional<Body> body = compile(op.getRegion().front());
  if (!body || !run.spendElements(tensor.dims))
    return false;
  bool isDone = forEachPoint(tensor.dims, [&](ArrayRef<int64_t> at) {
    SmallVector<int64_t> inner;
    for (auto [index, l] : llvm::zip(at, low))
      inner.push_back(index - l);
    if (std::optional<int64_t> place = placeOf(source->dims, inner)) {
      tensor.elements.push_back(source->elements[*place]);
      return true;
    }
    for (auto [slot, index] : llvm::enumerate(at))
      body->slots[slot] = Scalar::index(index);
    if (!runBody(*body, at))
      return false;
    tensor.elements.push_back(body->slots[body->yields[0]]);
    return true;
  });
  if (isDone)
    set(op.getResult(), std::move(tensor));
  return isDone;
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

/// The product of some dims, which are not negative; nullopt beyond 64 bits.
static std::optional<int64_t> productOf(ArrayRef<int64_t> dims,
                                        ArrayRef<int64_t> group) {
  int64_t product = 1;
  for (int64_t d : group)
    if (llvm::MulOverflow(product, dims[d], product))
      return std::nullopt;
  return product;
}

bool Machine::runCollapse(tensor::CollapseShapeOp op) {
  TensorRef source = operand(op.getSrc());
  if (!source || !run.spendElements(source->dims))
    return false;
  // Reassociation keeps the row-major order.
  Tensor tensor = *source;
  tensor.dims.clear();
  for (const ReassociationIndices &group : op.getReassociationIndices()) {
    std::optional<int64_t> product = productOf(source->dims, group);
    if (!product)
      return run.open("an index is beyond 64 bits");
    tensor.dims.push_back(*product);
  }
  set(op.getResult(), std::move(tensor));
  return true;
}

bool Machine::runExpand(tensor::ExpandShapeOp op) {
  TensorRef source = operand(op.getSrc());
  SmallVector<int64_t> dims;
  if (!source || !indicesOf(op.getMixedOutputShape(), dims) ||
      !run.spendElements(source->dims))
    return false;
  if (llvm::any_of(dims, isNegative))
    return run.undefined("a size is negative");
  for (auto [group, dim] :
       llvm::zip(op.getReassociationIndices(), source->dims))
    if (productOf(dims, group) != dim)
      return run.undefined("a reshape changes the number of elements");
  Tensor tensor = *source;
  tensor.dims = dims;
  set(op.getResult(), std::move(tensor));
  return true;
}

bool Machine::runConcat(tensor::ConcatOp op) {
  unsigned axis = op.getDim();
  std::vector<TensorRef> parts;
  for (Value input : op.getInputs()) {
    parts.push_back(operand(input));
    if (!parts.back() || !run.spendElements(parts.back()->dims))
      return false;
  }
  Tensor tensor = *parts[0];
  for (size_t p = 1; p < parts.size(); ++p)
    for (size_t d = 0; d < tensor.dims.size(); ++d) {
      if (d == axis)
        tensor.dims[d] += parts[p]->dims[d];
      else if (parts[p]->dims[d] != tensor.dims[d])
        return run.undefined("tensor.concat joins tensors of other sizes");
    }
  std::optional<int64_t> count = run.spendElements(tensor.dims);
  if (!count)
    return false;
  tensor.elements.assign(*count, Scalar());
  int64_t begin = 0;
  for (const TensorRef &part : parts) {
    size_t next = 0;
    forEachPoint(part->dims, [&](ArrayRef<int64_t> at) {
      SmallVector<int64_t> large(at);
      large[axis] += begin;
      tensor.elements[*placeOf(tensor.dims, large)] = part->elements[next++];
      return true;
    });
    begin += part->dims[axis];
  }
  set(op.getResult(), std::move(tensor));
  return true;
}

bool Machine::runGenerate(tensor::GenerateOp op) {
  Tensor tensor;
  if (!setType(tensor, op.getType(), op.getDynamicExtents()))
    return false;
  std::optional<Body> body = compile(op.getBody().front());
  if (!body || !run.spendElements(tensor.dims))
    return false;
  bool isDone = forEachPoint(tensor.dims, [&](ArrayRef<int64_t> at) {
    for (auto [slot, index] : llvm::enumerate(at))
      body->slots[slot] = Scalar::index(index);
    if (!runBody(*body, at))
      return false;
    tensor.elements.push_back(body->slots[body->yields[0]]);
    return true;
  });
  if (isDone)
    set(op.getResult(), std::move(tensor));
  return isDone;
}

} // namespace mlc::interpret
