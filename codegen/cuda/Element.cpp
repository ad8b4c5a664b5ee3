//===- Element.cpp - One element of a tensor as CUDA C++ ------------------===//

#include "codegen/cuda/Element.h"
#include "codegen/kernel/LoopGroup.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace mlc::cuda {

static Type elementOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getElementType();
}

ElementPrinter::ElementPrinter(const Kernel &kernel, Code &code)
    : kernel(kernel), code(code) {}

void ElementPrinter::fail(Operation *op, const Twine &why) {
  if (!failed && !isTrial)
    op->emitError(why);
  failed = true;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static std::string place(ElementPrinter &printer, const View &view,
                         ArrayRef<Index> indices) {
  Index at = view.offset;
  for (auto [index, stride] : llvm::zip_equal(indices, view.strides))
    at = printer.add(at, printer.mul(index, stride));
  return view.pointer + "[" + at.text + "]";
}

std::string ElementPrinter::load(const View &view, ArrayRef<Index> indices) {
  std::string stored = onLoad ? onLoad(view, indices) : "";
  if (stored.empty())
    stored = place(*this, view, indices);
  std::string name = code.define(computeType(view.element), "x",
                                 fromStorage(view.element, stored));
  if (uniform && uniform->count(stored))
    uniform->insert(name);
  return name;
}

void ElementPrinter::store(const View &view, ArrayRef<Index> indices,
                           const std::string &value) {
  std::string stored = place(*this, view, indices);
  code.line(stored + " = " + toStorage(view.element, value) + ";");
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

std::string ElementPrinter::scalar(Value value) {
  if (value.getType().isIndex())
    if (IntExpr expr = kernel.asExpr(value))
      return size(expr).text;
  Operation *op = value.getDefiningOp();
  if (!op || op->getNumRegions() != 0 || op->getNumResults() != 1) {
    fail(kernel.ops.front(), "a scalar that is not computed in the kernel");
    return "0";
  }
  SmallVector<std::string> operands;
  for (Value operand : op->getOperands())
    operands.push_back(scalar(operand));
  return compute(op, operands);
}

/// The other operand if one is the literal 1; otherwise empty.
static std::string besideOne(Type type, ArrayRef<std::string> operands) {
  std::string one =
      literal(type, APFloat(cast<FloatType>(type).getFloatSemantics(), 1));
  if (operands[1] == one)
    return operands[0];
  return operands[0] == one ? operands[1] : "";
}

/// Whether all that is made of a float32 value, or of the elements of a tensor,
/// is rounded to 16 bits. Products on the way keep its relative error; a sum
/// may cancel all but the error.
static bool endsInHalf(Value value, unsigned depth = 16) {
  if (getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth() == 16)
    return true;
  return depth && !value.use_empty() &&
         llvm::all_of(value.getUses(), [&](OpOperand &use) {
           Operation *user = use.getOwner();
           if (isa<linalg::YieldOp>(user))
             return endsInHalf(
                 user->getParentOp()->getResult(use.getOperandNumber()),
                 depth - 1);
           if (auto op = dyn_cast<linalg::LinalgOp>(user))
             return endsInHalf(op.getMatchingBlockArgument(&use), depth - 1);
           return isa<arith::TruncFOp, arith::MulFOp>(user) &&
                  endsInHalf(user->getResult(0), depth - 1);
         });
}

/// CUDA has functions for sums and differences with 1 that lose digits:
/// exp(x) - 1 near zero, log(1 + x) near zero, 1 + erf(x) below zero. Empty
/// for other ops.
std::string
ElementPrinter::withoutCancellation(Operation *op,
                                    ArrayRef<std::string> operands) {
  Type type = op->getResult(0).getType();
  if (!isa<FloatType>(type))
    return "";
  std::string f = type.isF64() ? "(" : "f(";
  auto madeBy = [](const std::map<std::string, std::string> &values,
                   const std::string &name) -> std::string {
    auto found = values.find(name);
    return found == values.end() ? "" : found->second;
  };
  if (isa<arith::SubFOp>(op) && besideOne(type, operands) == operands[0])
    if (std::string x = madeBy(exponentials, operands[0]); !x.empty())
      return "expm1" + f + x + ")";
  if (isa<arith::AddFOp>(op))
    if (std::string x = madeBy(errorFunctions, besideOne(type, operands));
        !x.empty()) {
      // CUDA's takes three times as many instructions.
      if (!type.isF64() && endsInHalf(op->getResult(0))) {
        helpers.need("erfcToHalf");
        return "erfcToHalf(-" + x + ")";
      }
      return "erfc" + f + "-" + x + ")";
    }
  if (isa<math::LogOp>(op))
    if (std::string x = madeBy(onePlus, operands[0]); !x.empty())
      return "log1p" + f + x + ")";
  return "";
}

/// Casts between float32 and 16-bit floats, which are computed as float32.
static bool isRoundingOfHalf(Operation *op) {
  if (!isa<arith::ExtFOp, arith::TruncFOp>(op))
    return false;
  Type from = op->getOperand(0).getType(), to = op->getResult(0).getType();
  return computeType(from) == "float" && computeType(to) == "float";
}

/// Whether an operand is a literal or one of the values in `uniform`.
bool ElementPrinter::isUniform(StringRef operand) const {
  return uniform && (StringRef("(-0123456789").contains(operand.front()) ||
                     uniform->count(operand.str()));
}

std::string ElementPrinter::compute(Operation *op,
                                    ArrayRef<std::string> operands) {
  if (!keepsRoundings && isRoundingOfHalf(op))
    return operands[0];
  std::optional<std::string> text = expression(op, operands, helpers);
  if (text && isa<arith::ConstantOp>(op))
    return *text;
  if (text) {
    if (std::string better = withoutCancellation(op, operands); !better.empty())
      text = better;
    Type type = op->getResult(0).getType();
    // In float32 a quotient off by its last bit would show in what other
    // kernels make of it.
    if (isa<arith::DivFOp>(op) && computeType(type) == "float" &&
        isUniform(operands[1]) && !isUniform(operands[0]) &&
        endsInHalf(op->getResult(0))) {
      helpers.need("divided");
      text = "divided(" + operands[0] + ", " + operands[1] + ")";
    }
    std::string name = code.define(computeType(type), "t", *text);
    if (uniform &&
        llvm::all_of(operands, [&](StringRef x) { return isUniform(x); }))
      uniform->insert(name);
    if (isa<math::ExpOp>(op))
      exponentials[name] = operands[0];
    else if (isa<math::ErfOp>(op))
      errorFunctions[name] = operands[0];
    else if (isa<arith::AddFOp>(op))
      if (std::string x = besideOne(type, operands); !x.empty())
        onePlus[name] = x;
    return name;
  }
  fail(op, "code generation for CUDA does not know this operation");
  return "0";
}

std::string ElementPrinter::element(Value tensor, ArrayRef<Index> indices) {
  if (!isa<RankedTensorType>(tensor.getType()))
    return scalar(tensor);
  if (auto found = views.find(tensor); found != views.end())
    return load(found->second, indices);
  if (auto found = known.find(tensor); found != known.end()) {
    if (onKnown)
      onKnown(tensor, indices);
    return found->second;
  }
  Operation *op = tensor.getDefiningOp();
  if (!op) {
    fail(kernel.ops.front(), "an argument without memory");
    return "0";
  }
  return llvm::TypeSwitch<Operation *, std::string>(op)
      .Case([&](linalg::LinalgOp linalg) {
        return linalgElement(linalg, cast<OpResult>(tensor).getResultNumber(),
                             indices);
      })
      .Case([&](tensor::EmptyOp) {
        return computeType(elementOf(tensor)) + "(0)";
      })
      .Case([&](arith::ConstantOp c) { return constant(c, indices); })
      .Case([&](tensor::PadOp p) { return pad(p, indices); })
      .Case([&](tensor::InsertSliceOp i) { return insert(i, indices); })
      .Case([&](tensor::ConcatOp c) { return concat(c, indices); })
      .Default([&](Operation *other) { return view(other, indices); });
}

std::string ElementPrinter::linalgElement(linalg::LinalgOp op, unsigned result,
                                          ArrayRef<Index> indices) {
  Indices loops(op.getNumLoops(), Index(0));
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(result));
  for (auto [expr, index] : llvm::zip_equal(map.getResults(), indices))
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      loops[dim.getPosition()] = index;
  if (op.getNumReductionLoops() > 0)
    return reduce(op, loops)[result];
  return body(op, loops, {})[result];
}

/// A tensor constant: its single value, or an array defined before the kernel.
std::string ElementPrinter::constant(arith::ConstantOp op,
                                     ArrayRef<Index> indices) {
  auto dense = cast<DenseElementsAttr>(op.getValue());
  Type type = dense.getElementType();
  auto text = [&](Attribute value) { return literal(cast<TypedAttr>(value)); };
  if (dense.isSplat())
    return text(dense.getSplatValue<Attribute>());
  auto [it, isNew] = sizes.try_emplace(
      "constant " + std::to_string(size_t(op.getOperation())));
  if (isNew) {
    it->second = "constant" + std::to_string(sizes.size());
    // In the computed type, not the stored one: only this kernel reads them.
    constants += "__device__ const " + computeType(type) + " " + it->second +
                 "[" + std::to_string(dense.getNumElements()) + "] = {";
    for (auto [i, value] : llvm::enumerate(dense.getValues<Attribute>()))
      constants += (i ? i % 8 ? ", " : ",\n    " : "") + text(value);
    constants += "};\n";
  }
  Index at(0);
  for (auto [index, stride] :
       llvm::zip_equal(indices, rowMajorStrides(kernel.shapeOf(op.getResult()),
                                                kernel.context())))
    at = add(at, mul(index, size(stride)));
  return code.define(computeType(type), "x", it->second + "[" + at.text + "]");
}

std::string ElementPrinter::guarded(Type element, const std::string &condition,
                                    function_ref<std::string()> inside,
                                    function_ref<std::string()> otherwise) {
  if (condition.empty())
    return inside();
  std::string name = code.fresh("x");
  code.line(computeType(element) + " " + name + ";");
  code.block("if (" + condition + ")",
             [&] { code.line(name + " = " + inside() + ";"); });
  code.block("else", [&] { code.line(name + " = " + otherwise() + ";"); });
  return name;
}

void ElementPrinter::require(std::string &condition, const Index &index,
                             const Index &low, const Index &high) {
  auto demand = [&](const std::string &text) {
    condition += (condition.empty() ? "" : " && ") + text;
  };
  if (index.value && low.value && high.value) {
    if (*index.value < *low.value || *index.value >= *high.value)
      demand("false");
    return;
  }
  demand(index.text + " >= " + low.text);
  demand(index.text + " < " + high.text);
}

std::string ElementPrinter::pad(tensor::PadOp op, ArrayRef<Index> indices) {
  Value constant = op.getConstantPaddingValue();
  if (!constant) {
    fail(op, "padding with a value that depends on the position");
    return "0";
  }
  Indices source;
  std::string condition;
  ArrayRef<IntExpr> shape = kernel.shapeOf(op.getSource());
  for (auto [i, index] : llvm::enumerate(indices)) {
    IntExpr low = kernel.asExpr(op.getMixedLowPad()[i]);
    IntExpr high = kernel.asExpr(op.getMixedHighPad()[i]);
    source.push_back(sub(index, size(low)));
    if (!low.isConstant(0) || !high.isConstant(0))
      require(condition, source.back(), Index(0), size(shape[i]));
  }
  return guarded(
      elementOf(op.getResult()), condition,
      [&] { return element(op.getSource(), source); },
      [&] { return scalar(constant); });
}

std::string ElementPrinter::insert(tensor::InsertSliceOp op,
                                   ArrayRef<Index> indices) {
  ArrayRef<IntExpr> shape = kernel.shapeOf(op.getDest());
  llvm::SmallBitVector dropped = op.getDroppedDims();
  Indices source;
  std::string condition;
  for (unsigned i = 0; i < shape.size(); ++i) {
    IntExpr offset = kernel.asExpr(op.getMixedOffsets()[i]);
    IntExpr step = kernel.asExpr(op.getMixedStrides()[i]);
    IntExpr extent = kernel.asExpr(op.getMixedSizes()[i]);
    if (!offset || !step || !extent) {
      fail(op, "an offset is no expression of the symbols");
      return "0";
    }
    Index distance = sub(indices[i], size(offset));
    Index inner = distance;
    if (!offset.isConstant(0) || !step.isConstant(1) || extent != shape[i])
      require(condition, distance, Index(0), size(extent * step));
    if (!step.isConstant(1)) {
      require(condition, mod(distance, size(step)), Index(0), Index(1));
      inner = div(distance, size(step));
    }
    if (!dropped.test(i))
      source.push_back(inner);
  }
  return guarded(
      elementOf(op.getResult()), condition,
      [&] { return element(op.getSource(), source); },
      [&] { return element(op.getDest(), indices); });
}

std::string ElementPrinter::concat(tensor::ConcatOp op,
                                   ArrayRef<Index> indices) {
  std::string name = code.fresh("x");
  code.line(computeType(elementOf(op.getResult())) + " " + name + ";");
  IntExpr end = IntExpr::constant(kernel.context(), 0);
  Indices source(indices);
  unsigned dim = op.getDim();
  for (auto [i, input] : llvm::enumerate(op.getInputs())) {
    IntExpr begin = end;
    end = end + kernel.shapeOf(input)[dim];
    bool isLast = i + 1 == op.getInputs().size();
    auto inside = [&, input = input] {
      source[dim] = sub(indices[dim], size(begin));
      code.line(name + " = " + element(input, source) + ";");
    };
    std::string word = i ? "else " : "";
    if (isLast)
      code.block(i ? "else" : "", inside);
    else
      code.block(word + "if (" + indices[dim].text + " < " + size(end).text +
                     ")",
                 inside);
  }
  return name;
}

std::string ElementPrinter::view(Operation *op, ArrayRef<Index> indices) {
  if (auto cast = dyn_cast<tensor::CastOp>(op))
    return element(cast.getSource(), indices);
  Indices source;
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    llvm::SmallBitVector dropped = slice.getDroppedDims();
    unsigned next = 0;
    for (unsigned i = 0; i < dropped.size(); ++i) {
      IntExpr offset = kernel.asExpr(slice.getMixedOffsets()[i]);
      IntExpr step = kernel.asExpr(slice.getMixedStrides()[i]);
      if (!offset || !step) {
        fail(op, "an offset is no expression of the symbols");
        return "0";
      }
      Index at = size(offset);
      if (!dropped.test(i))
        at = add(mul(indices[next++], size(step)), at);
      source.push_back(at);
    }
    return element(slice.getSource(), source);
  }
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op)) {
    ArrayRef<IntExpr> shape = kernel.shapeOf(expand.getResult());
    for (const ReassociationIndices &group : expand.getReassociationIndices()) {
      Index at(0);
      for (int64_t dim : group)
        at = add(mul(at, size(shape[dim])), indices[dim]);
      source.push_back(at);
    }
    return element(expand.getSrc(), source);
  }
  auto collapse = dyn_cast<tensor::CollapseShapeOp>(op);
  if (!collapse) {
    fail(op, "code generation for CUDA cannot compute elements of this "
             "operation");
    return "0";
  }
  ArrayRef<IntExpr> shape = kernel.shapeOf(collapse.getSrc());
  // A scalar has no groups; all dims of its source are 1.
  if (collapse.getReassociationIndices().empty())
    source.assign(shape.size(), Index(0));
  for (auto [narrow, group] :
       llvm::enumerate(collapse.getReassociationIndices())) {
    SmallVector<IntExpr> extents;
    for (int64_t dim : group)
      extents.push_back(shape[dim]);
    source.append(unflatten(indices[narrow], extents));
  }
  return element(collapse.getSrc(), source);
}

/// An element at computed indices. Indices are data, so each is clamped to the
/// tensor's range unless it is known to be in range, and an empty tensor gives
/// zero: no byte outside the buffer is read.
std::string ElementPrinter::extract(Value tensor, ArrayRef<Index> indices,
                                    ArrayRef<bool> inBounds) {
  Indices safe;
  std::string nonEmpty;
  for (auto [index, extent, fine] :
       llvm::zip_equal(indices, kernel.shapeOf(tensor), inBounds)) {
    Index clamped = index;
    if (!fine) {
      helpers.need("minimum");
      helpers.need("maximum");
      Index last = size(extent - 1);
      clamped =
          Index(code.define("Index", "i",
                            "Index(maximum<long long>(minimum<long long>(" +
                                index.text + ", " + last.text + "), 0))"));
    }
    safe.push_back(clamped);
    if (!extent.isKnownPositive())
      require(nonEmpty, Index(0), Index(0), size(extent));
  }
  return guarded(
      elementOf(tensor), nonEmpty, [&] { return element(tensor, safe); },
      [&] { return computeType(elementOf(tensor)) + "(0)"; });
}

} // namespace mlc::cuda
