//===- LinalgMovement.cpp - Slices, shapes and generated tensors ----------===//

#include "verifier/read/LinalgReader.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace mlc::verifier {

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

namespace {
struct SliceBox {
  SmallVector<IntExpr> offsets, sizes, strides;
  llvm::SmallBitVector dropped;
};
} // namespace

/// Positions in the large tensor of a point of the slice.
static SmallVector<IntExpr> largeIndices(const SliceBox &box,
                                         ArrayRef<IntExpr> at) {
  SmallVector<IntExpr> result;
  unsigned next = 0;
  for (size_t d = 0; d < box.offsets.size(); ++d)
    result.push_back(box.dropped[d]
                         ? box.offsets[d]
                         : box.offsets[d] + at[next++] * box.strides[d]);
  return result;
}

template <typename Fn>
static std::optional<SliceBox> boxOf(OffsetSizeAndStrideOpInterface op,
                                     llvm::SmallBitVector dropped, Fn read) {
  SliceBox box;
  box.dropped = dropped;
  auto readAll = [&](ArrayRef<OpFoldResult> from, auto &to) {
    for (OpFoldResult value : from) {
      std::optional<IntExpr> integer = read(value);
      if (!integer)
        return false;
      to.push_back(*integer);
    }
    return true;
  };
  if (!readAll(op.getMixedOffsets(), box.offsets) ||
      !readAll(op.getMixedSizes(), box.sizes) ||
      !readAll(op.getMixedStrides(), box.strides))
    return std::nullopt;
  return box;
}

void LinalgReader::mustLieInside(Indices offsets, Indices sizes,
                                 Indices strides, Indices dims) {
  for (auto [offset, size, stride, dim] :
       llvm::zip(offsets, sizes, strides, dims)) {
    must(offset, ComparePredicate::GE, constant(0), "a slice starts inside");
    must(size, ComparePredicate::GE, constant(0), "a slice's size is not < 0");
    must(stride, ComparePredicate::GT, constant(0), "a stride is positive");
    must(offset + (size - 1) * stride, ComparePredicate::LT, dim,
         "a slice ends inside");
  }
}

bool LinalgReader::readSlice(tensor::ExtractSliceOp op) {
  std::optional<Tensor> source = tensorOf(op.getSource());
  std::optional<SliceBox> box =
      boxOf(op, op.getDroppedDims(),
            [&](OpFoldResult value) { return integerOf(value); });
  if (!source || !box)
    return fail("a slice with unknown offsets or source");
  mustLieInside(box->offsets, box->sizes, box->strides, source->dims);
  Tensor tensor{{}, source->elementType, {}, {}};
  for (size_t d = 0; d < box->sizes.size(); ++d)
    if (!box->dropped[d])
      tensor.dims.push_back(box->sizes[d]);
  mustHaveSizes(op.getResult(), tensor.dims);
  tensor.at = [source = *source, box = *box](Indices at) {
    return source.at(largeIndices(box, at));
  };
  tensors[op.getResult()] = tensor;
  return true;
}

bool LinalgReader::readInsert(Value result, Value source, Value dest,
                              OffsetSizeAndStrideOpInterface op,
                              RankedTensorType sourceType) {
  std::optional<Tensor> from = tensorOf(source), to = tensorOf(dest);
  llvm::SmallBitVector dropped(op.getMixedSizes().size());
  // Dims of size 1 that the source does not have.
  if (sourceType.getRank() < static_cast<int64_t>(dropped.size())) {
    auto mask =
        computeRankReductionMask(op.getStaticSizes(), sourceType.getShape());
    if (!mask)
      return fail("a slice whose dropped dims are not clear");
    for (unsigned d : *mask)
      dropped.set(d);
  }
  std::optional<SliceBox> box =
      boxOf(op, dropped, [&](OpFoldResult value) { return integerOf(value); });
  if (!from || !to || !box)
    return fail("a slice with unknown offsets or source");
  if (!llvm::all_of(box->strides, [](IntExpr s) { return s.isConstant(1); }))
    return fail("an inserted slice with a stride");
  mustLieInside(box->offsets, box->sizes, box->strides, to->dims);
  for (unsigned d = 0, next = 0; d < box->sizes.size(); ++d)
    must(box->sizes[d], ComparePredicate::EQ,
         box->dropped[d] ? constant(1) : from->dims[next++],
         "a slice has the size of what is inserted");
  Update update;
  update.base = to->at;
  update.nonNegatives = [box = *box](Indices at) {
    SmallVector<IntExpr> guards;
    for (size_t d = 0; d < at.size(); ++d) {
      guards.push_back(at[d] - box.offsets[d]);
      guards.push_back(box.offsets[d] + box.sizes[d] - at[d] - 1);
    }
    return guards;
  };
  update.value = [box = *box, from = *from](Indices at) {
    SmallVector<IntExpr> inner;
    for (size_t d = 0; d < at.size(); ++d)
      if (!box.dropped[d])
        inner.push_back(at[d] - box.offsets[d]);
    return from.at(inner);
  };
  tensors[result] = updated(to->dims, to->elementType, update);
  return true;
}

bool LinalgReader::readPad(tensor::PadOp op) {
  std::optional<Tensor> source = tensorOf(op.getSource());
  Value border = op.getConstantPaddingValue();
  if (!source || !border || !readScalars(op.getRegion().front()))
    return fail("tensor.pad with a border that is no constant");
  Expr outside = scalarOf(border);
  SmallVector<IntExpr> low;
  Tensor tensor{{}, source->elementType, {}, {}};
  for (auto [l, h, dim] :
       llvm::zip(op.getMixedLowPad(), op.getMixedHighPad(), source->dims)) {
    std::optional<IntExpr> below = integerOf(l), above = integerOf(h);
    if (!below || !above)
      return fail("tensor.pad by an unknown amount");
    must(*below, ComparePredicate::GE, constant(0), "a padding is not < 0");
    must(*above, ComparePredicate::GE, constant(0), "a padding is not < 0");
    low.push_back(*below);
    tensor.dims.push_back(*below + dim + *above);
  }
  mustHaveSizes(op.getResult(), tensor.dims);
  tensor.at = [this, source = *source, low, outside](Indices at) {
    SmallVector<IntExpr> inner, guards;
    for (size_t d = 0; d < at.size(); ++d) {
      inner.push_back(at[d] - low[d]);
      guards.push_back(inner.back());
      guards.push_back(source.dims[d] - inner.back() - 1);
    }
    Expr condition = allNonNegative(guards);
    Expr value = source.at(inner);
    return condition ? mlc::select(condition, value, outside) : value;
  };
  tensors[op.getResult()] = tensor;
  return true;
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

bool LinalgReader::readReshape(Value source, Value result,
                               ArrayRef<ReassociationIndices> groups,
                               bool isCollapse) {
  std::optional<Tensor> from = tensorOf(source);
  if (!from)
    return fail("a reshape of an unknown tensor");
  Tensor tensor{{}, from->elementType, {}, {}};
  if (isCollapse) {
    for (const ReassociationIndices &group : groups) {
      IntExpr product = constant(1);
      for (int64_t d : group)
        product = product * from->dims[d];
      tensor.dims.push_back(product);
    }
  } else {
    auto expand = cast<tensor::ExpandShapeOp>(result.getDefiningOp());
    for (OpFoldResult size : expand.getMixedOutputShape()) {
      std::optional<IntExpr> dim = integerOf(size);
      if (!dim)
        return fail("a reshape to unknown dims");
      tensor.dims.push_back(*dim);
    }
  }
  mustHaveSizes(result, tensor.dims);
  if (!isCollapse)
    for (auto [group, dim] : llvm::zip(groups, from->dims)) {
      IntExpr product = constant(1);
      for (int64_t d : group) {
        must(tensor.dims[d], ComparePredicate::GE, constant(0),
             "a size is not < 0");
        product = product * tensor.dims[d];
      }
      must(product, ComparePredicate::EQ, dim,
           "a reshape keeps the number of elements");
    }
  SmallVector<IntExpr> large = isCollapse ? from->dims : tensor.dims;
  SmallVector<ReassociationIndices> all(groups.begin(), groups.end());
  // Per group: the flat index from its dims, or its dims from the flat index.
  tensor.at = [from = *from, all, large, isCollapse,
               zero = constant(0)](Indices at) {
    SmallVector<IntExpr> indices(isCollapse ? large.size() : all.size(), zero);
    for (auto [g, group] : llvm::enumerate(all)) {
      if (isCollapse) {
        IntExpr flat = at[g];
        for (size_t k = group.size(); k-- > 0;) {
          indices[group[k]] = k ? flat.mod(large[group[k]]) : flat;
          flat = k ? flat.floorDiv(large[group[k]]) : flat;
        }
      } else {
        for (int64_t d : group)
          indices[g] = indices[g] * large[d] + at[d];
      }
    }
    return from.at(indices);
  };
  tensors[result] = tensor;
  return true;
}

bool LinalgReader::readConcat(tensor::ConcatOp op) {
  unsigned axis = op.getDim();
  std::vector<Tensor> parts;
  for (Value input : op.getInputs()) {
    std::optional<Tensor> part = tensorOf(input);
    if (!part)
      return fail("tensor.concat of an unknown tensor");
    parts.push_back(*part);
  }
  Tensor tensor{parts[0].dims, parts[0].elementType, {}, {}};
  for (size_t i = 1; i < parts.size(); ++i) {
    for (size_t d = 0; d < tensor.dims.size(); ++d)
      if (d != axis)
        must(parts[i].dims[d], ComparePredicate::EQ, tensor.dims[d],
             "dims other than the axis are equal");
    tensor.dims[axis] = tensor.dims[axis] + parts[i].dims[axis];
  }
  mustHaveSizes(op.getResult(), tensor.dims);
  tensor.at = [this, parts, axis, total = tensor.dims[axis]](Indices at) {
    SmallVector<IntExpr> index(at);
    IntExpr end = total;
    Expr result;
    for (size_t i = parts.size(); i-- > 0;) {
      IntExpr begin = end - parts[i].dims[axis];
      index[axis] = at[axis] - begin;
      Expr own = parts[i].at(index);
      result = result ? mlc::select(compare(ComparePredicate::LT,
                                            toExpr(at[axis]), toExpr(end)),
                                    own, result)
                      : own;
      end = begin;
    }
    return result;
  };
  tensors[op.getResult()] = tensor;
  return true;
}

bool LinalgReader::readGenerate(tensor::GenerateOp op) {
  Tensor tensor{{}, op.getType().getElementType(), {}, {}};
  unsigned next = 0;
  for (int64_t size : op.getType().getShape()) {
    std::optional<IntExpr> dim = ShapedType::isDynamic(size)
                                     ? integerOf(op.getDynamicExtents()[next++])
                                     : std::optional(constant(size));
    if (!dim)
      return fail("tensor.generate of unknown size");
    must(*dim, ComparePredicate::GE, constant(0), "a size is not < 0");
    tensor.dims.push_back(*dim);
  }
  tensor.at = [this, op, type = tensor.elementType](Indices at) mutable {
    Block &body = op.getBody().front();
    for (auto [argument, index] : llvm::zip(body.getArguments(), at))
      integers[argument] = index;
    if (!readScalars(body))
      return failExpr("tensor.generate", type);
    return scalarOf(body.getTerminator()->getOperand(0));
  };
  tensors[op.getResult()] = tensor;
  return true;
}

} // namespace mlc::verifier
