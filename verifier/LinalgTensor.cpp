//===- LinalgTensor.cpp - Structured operations and slices ----------------===//

#include "mlir/IR/Matchers.h"
#include "verifier/LinalgReader.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace mlc::verifier {

static bool hasVariables(IntExpr expr) {
  bool found = false;
  expr.walkSymbols([&](StringRef name) { found |= name.starts_with("%"); });
  return found;
}

bool LinalgReader::readTensor(Operation *op) {
  StringRef opName = op->getName().getStringRef();
  auto beyond = [&] { return fail("'" + opName + "' is beyond the verifier"); };
  ElementsAttr constantValue;
  if (op->getNumResults() == 1 &&
      matchPattern(op, m_Constant(&constantValue)) &&
      isa<RankedTensorType>(constantValue.getType())) {
    builder.set(op->getResult(0), builder.appendConstant(constantValue));
    return true;
  }
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([&](tensor::EmptyOp o) {
        Tensor tensor{{}, o.getType().getElementType(), {}, {}};
        for (OpFoldResult size : o.getMixedSizes()) {
          std::optional<IntExpr> dim = integerOf(size);
          if (!dim)
            return beyond();
          tensor.dims.push_back(*dim);
        }
        // Never equal to anything of the other function.
        std::string unknown = "uninitialized_" + builder.uniquePrefix() +
                              std::to_string(numUninitialized++);
        tensor.at = [type = tensor.elementType, unknown](Indices) {
          ExprNode node(Expr::Kind::Param, type);
          node.parameter = unknown;
          return Expr(std::make_shared<const ExprNode>(std::move(node)));
        };
        tensors[o.getResult()] = tensor;
        return true;
      })
      .Case([&](tensor::CastOp o) {
        std::optional<Tensor> source = tensorOf(o.getSource());
        if (!source)
          return beyond();
        tensors[o.getResult()] = *source;
        return true;
      })
      .Case([&](tensor::SplatOp o) {
        if (!o.getDynamicSizes().empty())
          return beyond();
        Expr value = scalarOf(o.getInput());
        Tensor tensor{{}, o.getType().getElementType(), {}, {}};
        for (int64_t size : o.getType().getShape())
          tensor.dims.push_back(constant(size));
        tensor.at = [value](Indices) { return value; };
        tensors[o.getResult()] = tensor;
        return true;
      })
      .Case([&](linalg::LinalgOp o) { return readStructured(o); })
      .Case([&](tensor::ExtractSliceOp o) { return readSlice(o); })
      .Case([&](tensor::InsertSliceOp o) {
        return readInsert(o.getResult(), o.getSource(), o.getDest(), o,
                          o.getSourceType());
      })
      .Case([&](tensor::PadOp o) { return readPad(o); })
      .Case([&](tensor::CollapseShapeOp o) {
        return readReshape(o.getSrc(), o.getResult(),
                           o.getReassociationIndices(), true);
      })
      .Case([&](tensor::ExpandShapeOp o) {
        return readReshape(o.getSrc(), o.getResult(),
                           o.getReassociationIndices(), false);
      })
      .Case([&](tensor::ConcatOp o) { return readConcat(o); })
      .Case([&](tensor::GenerateOp o) { return readGenerate(o); })
      .Default([&](Operation *) { return beyond(); });
}

//===----------------------------------------------------------------------===//
// Structured operations
//===----------------------------------------------------------------------===//

bool LinalgReader::loopExtents(linalg::LinalgOp op,
                               llvm::SmallVectorImpl<IntExpr> &extents) {
  extents.assign(op.getNumLoops(), IntExpr());
  for (OpOperand &operand : op->getOpOperands()) {
    std::optional<Tensor> tensor = tensorOf(operand.get());
    if (!tensor)
      continue;
    AffineMap map = op.getMatchingIndexingMap(&operand);
    for (auto [d, expr] : llvm::enumerate(map.getResults()))
      if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
        IntExpr &extent = extents[dim.getPosition()], own = tensor->dims[d];
        if (extent && !hasVariables(extent) && !hasVariables(own))
          builder.require({extent, ComparePredicate::EQ, own,
                           "operands of '" +
                               op->getName().getStringRef().str() +
                               "' must agree in size"});
        if (!extent || hasVariables(extent))
          extent = own;
      }
  }
  return llvm::all_of(extents, [](IntExpr e) { return bool(e); }) ||
         fail("a loop of '" + op->getName().getStringRef() +
              "' has no size of its own");
}

/// The monoid by which a region joins its output argument with a value; sets
/// `value`.
static std::optional<ReduceKind> combinerOf(Value yielded, Value output,
                                            Value &value) {
  Operation *op = yielded.getDefiningOp();
  if (!op || op->getNumOperands() != 2)
    return std::nullopt;
  bool isFirst = op->getOperand(0) == output;
  if (!isFirst && op->getOperand(1) != output)
    return std::nullopt;
  value = op->getOperand(isFirst ? 1 : 0);
  if (isa<arith::AddFOp, arith::AddIOp>(op))
    return ReduceKind::Sum;
  if (isa<arith::MulFOp, arith::MulIOp>(op))
    return ReduceKind::Prod;
  if (isa<arith::MaximumFOp, arith::MaxNumFOp, arith::MaxSIOp>(op))
    return ReduceKind::Max;
  if (isa<arith::MinimumFOp, arith::MinNumFOp, arith::MinSIOp>(op))
    return ReduceKind::Min;
  return std::nullopt;
}

/// A size without variables of loops around that is at least `extent`.
static std::optional<IntExpr> boundOf(IntExpr extent) {
  if (!hasVariables(extent))
    return extent;
  if (extent.getKind() == IntExpr::Kind::Min)
    for (IntExpr operand : extent.getOperands())
      if (!hasVariables(operand))
        return operand;
  return std::nullopt;
}

static Expr combine(ReduceKind kind, Expr a, Expr b) {
  switch (kind) {
  case ReduceKind::Sum:
    return a + b;
  case ReduceKind::Prod:
    return a * b;
  case ReduceKind::Max:
    return binary(BinaryFn::Max, a, b);
  case ReduceKind::Min:
    return binary(BinaryFn::Min, a, b);
  case ReduceKind::Any:
  case ReduceKind::All:
    break;
  }
  llvm_unreachable("not a combiner");
}

Expr LinalgReader::structuredElement(linalg::LinalgOp op, unsigned result,
                                     Indices extents, Indices at) {
  OpOperand *init = op.getDpsInitOperand(result);
  AffineMap outputMap = op.getMatchingIndexingMap(init);
  SmallVector<IntExpr> loops(op.getNumLoops());
  for (auto [d, expr] : llvm::enumerate(outputMap.getResults()))
    loops[cast<AffineDimExpr>(expr).getPosition()] = at[d];
  SmallVector<Loop> reduced;
  SmallVector<IntExpr> conditions;
  for (auto [d, loop] : llvm::enumerate(loops)) {
    if (loop)
      continue;
    std::optional<IntExpr> bound = boundOf(extents[d]);
    if (!bound)
      return failExpr("a reduction's size depends on a loop");
    unsigned id = 0;
    loop = freshLoop(id);
    reduced.push_back({id, *bound});
    if (*bound != extents[d])
      conditions.push_back(extents[d] - loop - 1);
  }
  Block *body = op.getBlock();
  // Operands first: evaluating them may enter other regions.
  SmallVector<Expr> elements;
  for (OpOperand &operand : op->getOpOperands()) {
    std::optional<Tensor> tensor = tensorOf(operand.get());
    if (!tensor) {
      elements.push_back(scalarOf(operand.get()));
      continue;
    }
    SmallVector<IntExpr> indices;
    for (AffineExpr expr : op.getMatchingIndexingMap(&operand).getResults()) {
      std::optional<IntExpr> index = affine(expr, loops, {});
      if (!index)
        return failExpr("an indexing map is not affine");
      indices.push_back(*index);
    }
    bool isInit = operand.getOperandNumber() >= op.getNumDpsInputs();
    elements.push_back(isInit && &operand != init ? Expr()
                                                  : tensor->at(indices));
  }
  for (auto [argument, element] : llvm::zip(body->getArguments(), elements)) {
    integers.erase(argument);
    if (element)
      scalars[argument] = element;
    else
      scalars.erase(argument);
  }
  for (auto index : body->getOps<linalg::IndexOp>())
    integers[index.getResult()] = loops[index.getDim()];
  for (Operation &inner : body->without_terminator())
    if (!isa<linalg::IndexOp>(inner) && !readInteger(&inner) &&
        !readScalar(&inner))
      return failExpr("'" + inner.getName().getStringRef() +
                      "' in a region is beyond the verifier");
  Value yielded = body->getTerminator()->getOperand(result);
  if (reduced.empty())
    return scalarOf(yielded);
  BlockArgument output = op.getMatchingBlockArgument(init);
  Value joined;
  std::optional<ReduceKind> kind = combinerOf(yielded, output, joined);
  if (!kind || !output.hasOneUse())
    return failExpr("a reduction that is no sum, product, maximum or minimum");
  Expr value = scalarOf(joined);
  if (Expr condition = allNonNegative(conditions)) {
    if (*kind != ReduceKind::Sum)
      return failExpr("a partial tile of a reduction that is no sum");
    value = mlc::select(
        condition, value,
        numberOf(value->type,
                 isa<FloatType>(value->type)
                     ? Attribute(FloatAttr::get(value->type, 0.0))
                     : Attribute(IntegerAttr::get(value->type, 0))));
  }
  ExprNode node(Expr::Kind::Reduce, value->type);
  node.reduce = *kind;
  node.loops.assign(reduced.begin(), reduced.end());
  node.operands.push_back(value);
  Expr reduction(std::make_shared<const ExprNode>(std::move(node)));
  return combine(*kind, scalars[output], reduction);
}

bool LinalgReader::readStructured(linalg::LinalgOp op) {
  SmallVector<IntExpr> extents;
  if (!op.hasPureTensorSemantics() || !loopExtents(op, extents))
    return fail("'" + op->getName().getStringRef() + "' is not on tensors");
  for (unsigned r = 0; r < op->getNumResults(); ++r) {
    OpOperand *init = op.getDpsInitOperand(r);
    if (!op.getMatchingIndexingMap(init).isProjectedPermutation())
      return fail("an output map is no permutation");
    std::optional<Tensor> like = tensorOf(init->get());
    if (!like)
      return fail("an output comes from an operation beyond the verifier");
    Tensor tensor{like->dims, like->elementType, {}, {}};
    tensor.at = [this, op, r, extents](Indices at) {
      return structuredElement(op, r, extents, at);
    };
    tensors[op->getResult(r)] = tensor;
  }
  return true;
}

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

bool LinalgReader::readSlice(tensor::ExtractSliceOp op) {
  std::optional<Tensor> source = tensorOf(op.getSource());
  std::optional<SliceBox> box =
      boxOf(op, op.getDroppedDims(),
            [&](OpFoldResult value) { return integerOf(value); });
  if (!source || !box)
    return fail("a slice with unknown offsets or source");
  Tensor tensor{{}, source->elementType, {}, {}};
  for (size_t d = 0; d < box->sizes.size(); ++d)
    if (!box->dropped[d])
      tensor.dims.push_back(box->sizes[d]);
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
    low.push_back(*below);
    tensor.dims.push_back(*below + dim + *above);
  }
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
  auto type = cast<RankedTensorType>(result.getType());
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
  SmallVector<IntExpr> large = isCollapse ? from->dims : tensor.dims;
  SmallVector<ReassociationIndices> all(groups.begin(), groups.end());
  // Of a group: the flat index of its dims, or its dims of the flat index.
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
  (void)type;
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
  for (size_t i = 1; i < parts.size(); ++i)
    tensor.dims[axis] = tensor.dims[axis] + parts[i].dims[axis];
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
    tensor.dims.push_back(*dim);
  }
  tensor.at = [this, op](Indices at) mutable {
    Block &body = op.getBody().front();
    for (auto [argument, index] : llvm::zip(body.getArguments(), at))
      integers[argument] = index;
    if (!readScalars(body))
      return failExpr("tensor.generate");
    return scalarOf(body.getTerminator()->getOperand(0));
  };
  tensors[op.getResult()] = tensor;
  return true;
}

} // namespace mlc::verifier
