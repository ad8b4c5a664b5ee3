//===- Node.cpp - The handlers' view of an ONNX node ----------------------===//

#include "passes/Import/Node.h"
#include "dialects/Graph/ConvolutionOps.h"
#include "dialects/Graph/ModelOps.h"
#include "dialects/Graph/MovementOps.h"
#include "dialects/Graph/PointwiseOps.h"
#include "dialects/Graph/PoolingOps.h"
#include <cmath>

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;
using llvm::Twine;
using onnx::AttributeProto;

namespace mlc {

Type elementTypeOf(Value value) {
  return value ? cast<RankedTensorType>(value.getType()).getElementType()
               : Type();
}

static bool spend(IntExpr expr, int &budget) {
  if (--budget < 0)
    return false;
  return llvm::all_of(expr.getOperands(),
                      [&](IntExpr operand) { return spend(operand, budget); });
}

bool isTame(ArrayRef<IntExpr> dims) {
  int budget = 1000;
  return llvm::all_of(dims, [&](IntExpr dim) { return spend(dim, budget); });
}

Node::Node(ImportState &state, const onnx::NodeProto &proto, int64_t opset,
           Location loc)
    : state(state), proto(proto), version(opset), loc(loc) {}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

LogicalResult Node::invalid(const Twine &text) {
  if (reason.empty()) {
    reason = text.str();
    contradiction = true;
  }
  return failure();
}

LogicalResult Node::unsupported(const Twine &text, ArrayRef<Remedy> given) {
  if (reason.empty()) {
    reason = text.str();
    remedies.assign(given.begin(), given.end());
  }
  return failure();
}

int64_t Node::axis(int64_t axis, int64_t rank) {
  if (axis < -rank || axis >= rank) {
    (void)invalid("axis " + Twine(axis) +
                  " is out of range for a tensor of "
                  "rank " +
                  Twine(rank));
    return 0;
  }
  return axis < 0 ? axis + rank : axis;
}

SmallVector<int64_t> Node::axes(ArrayRef<int64_t> list, int64_t rank) {
  SmallVector<int64_t> result;
  for (int64_t a : list) {
    int64_t normal = axis(a, rank);
    if (failed())
      return {};
    if (llvm::is_contained(result, normal)) {
      (void)invalid("names axis " + Twine(normal) + " twice");
      return {};
    }
    result.push_back(normal);
  }
  return result;
}

void Node::requireEqual(IntExpr lhs, IntExpr rhs, const Twine &message) {
  IntExpr difference = lhs - rhs;
  if (difference.isConstant(0))
    return;
  if (difference.isConstant()) {
    (void)invalid(message + " (" + lhs.str() + " is not " + rhs.str() + ")");
    return;
  }
  std::string text = cast<NameLoc>(loc).getName().str() + ": " + message.str();
  state.checks.insert({{lhs, rhs}, text});
}

void Node::requireNonNegative(IntExpr value, const Twine &message) {
  if (value.isKnownNonNegative())
    return;
  requireEqual(IntExpr::max(value, integer(0)), value, message);
}

//===----------------------------------------------------------------------===//
// Inputs and outputs
//===----------------------------------------------------------------------===//

Value Node::materialize(Tensor &tensor) {
  if (!tensor.value && tensor.constant)
    tensor.value = constant(tensor.constant);
  return tensor.value;
}

ElementsAttr Node::literal(unsigned i) {
  if (!in(i).value)
    return in(i).constant;
  return state.known.literalOf(in(i).value);
}

const Elements *Node::elements(unsigned i) {
  return state.known.elementsOf(value(i), [&](IntExpr size) {
    requireNonNegative(size, "a size that is divided must not be negative");
  });
}

std::optional<SmallVector<int64_t>> Node::knownIntegers(unsigned i) {
  const Elements *known = elements(i);
  if (!known)
    return std::nullopt;
  SmallVector<int64_t> result;
  for (const MaybeNumber &number : *known) {
    std::optional<int64_t> value = number ? number->asConstant() : std::nullopt;
    if (!value)
      return std::nullopt;
    result.push_back(*value);
  }
  return result;
}

std::optional<SmallVector<bool>> Node::truths(unsigned i) {
  SmallVector<bool> result;
  if (ElementsAttr constant = literal(i)) {
    llvm::Expected<EvalTensor> tensor = EvalTensor::fromAttr(constant);
    if (tensor && tensor->getNumElements() <= maxLiteral) {
      for (int64_t k = 0; k < tensor->getNumElements(); ++k)
        result.push_back(tensor->getDouble(k) != 0.0);
      return result;
    }
    if (!tensor)
      llvm::consumeError(tensor.takeError());
  } else if (const Elements *known = elements(i)) {
    for (const MaybeNumber &number : *known)
      if (number && number->numerator.isConstant(0))
        result.push_back(false);
      else if (number && (number->numerator.isKnownPositive() ||
                          (-number->numerator).isKnownPositive()))
        result.push_back(true);
    if (result.size() == known->size())
      return result;
  }
  (void)unsupported("the shape of its output depends on data, which is not "
                    "supported");
  return std::nullopt;
}

std::optional<Dims> Node::ints(unsigned i, StringRef what) {
  const Elements *known = elements(i);
  if (!known || llvm::is_contained(*known, std::nullopt)) {
    (void)unsupported(Twine(what) +
                      " depends on data, or on dims through floats, so that "
                      "it is not known before the model runs");
    return std::nullopt;
  }
  Dims result;
  for (const MaybeNumber &number : *known) {
    if (!number->isInteger()) {
      (void)invalid(Twine(what) + " is not an integer");
      return std::nullopt;
    }
    result.push_back(number->numerator);
  }
  return result;
}

std::optional<SmallVector<int64_t>> Node::constants(unsigned i,
                                                    StringRef what) {
  std::optional<Dims> exprs = ints(i, what);
  if (!exprs)
    return std::nullopt;
  SmallVector<int64_t> result;
  for (IntExpr expr : *exprs) {
    if (!expr.isConstant()) {
      (void)unsupported(Twine(what) + " must be constant, got " + expr.str(),
                        {Remedy{Remedy::Kind::FixDim}});
      return std::nullopt;
    }
    result.push_back(expr.getConstant());
  }
  return result;
}

std::optional<double> Node::scalar(unsigned i, StringRef what) {
  ElementsAttr constant = literal(i);
  if (!constant || constant.getNumElements() != 1) {
    std::optional<SmallVector<int64_t>> known = knownIntegers(i);
    if (!known || known->size() != 1) {
      (void)unsupported(
          Twine(what) + " must be a constant of one element",
          {Remedy{Remedy::Kind::GiveConstant}, Remedy{Remedy::Kind::FixDim}});
      return std::nullopt;
    }
    return known->front();
  }
  auto dense = dyn_cast<DenseElementsAttr>(constant);
  if (dense && isa<FloatType>(constant.getElementType()))
    return (*dense.getValues<APFloat>().begin()).convertToDouble();
  if (dense && isa<IntegerType>(constant.getElementType())) {
    APInt value = *dense.getValues<APInt>().begin();
    bool isSigned = !constant.getElementType().isUnsignedInteger() &&
                    value.getBitWidth() > 1;
    return isSigned ? double(value.getSExtValue())
                    : double(value.getZExtValue());
  }
  (void)unsupported(Twine(what) + " must be a number");
  return std::nullopt;
}

/// Refuses tensors beyond any machine's memory, which would only fail later.
LogicalResult Node::checkSize(ArrayRef<IntExpr> dims, Type type) {
  SmallVector<int64_t> least;
  for (IntExpr dim : dims) {
    if (dim.isConstant() && dim.getConstant() < 0)
      return invalid("makes a tensor with a negative dim");
    // Open sizes count as 1; nothing if the dim's numbers are too large.
    std::optional<int64_t> size =
        dim.evaluate([](StringRef) { return std::optional<int64_t>(1); });
    least.push_back(size ? std::max(*size, int64_t(0)) : maxElements + 1);
  }
  constexpr int64_t maxBytes = int64_t(1) << 40;
  std::optional<int64_t> count = countElements(least);
  if (count && *count <= maxBytes / int64_t(getRawElementSize(type)))
    return success();
  std::string shape;
  for (IntExpr dim : dims)
    shape += (shape.empty() ? "" : ", ") + dim.str();
  return unsupported("makes a tensor of [" + shape +
                     "], which needs more than 1024 GB even where open dims "
                     "are 1; lower its sizes, pads or repeats");
}

LogicalResult Node::result(unsigned i, Value value) {
  // Without a reason, the importer reports the operator's diagnostic.
  if (!value || failed())
    return failure();
  Tensor tensor;
  tensor.dims = dimsOf(value);
  tensor.elementType = elementTypeOf(value);
  tensor.value = value;
  return result(i, std::move(tensor));
}

LogicalResult Node::result(unsigned i, Tensor tensor) {
  if (failed())
    return failure();
  if (int64_t(tensor.rank()) > maxRank)
    return unsupported("makes a tensor of " + Twine(tensor.rank()) +
                       " dims, and at most " + Twine(maxRank) +
                       " are supported");
  if (!isTame(tensor.dims))
    return unsupported("makes a tensor of dims that are too complex");
  if (mlir::failed(checkSize(tensor.dims, tensor.elementType)))
    return failure();
  if (i < outputs.size())
    outputs[i] = std::move(tensor);
  return success();
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

const AttributeProto *Node::find(StringRef name) {
  for (const AttributeProto &attribute : proto.attribute())
    if (attribute.name() == name)
      return &attribute;
  return nullptr;
}

const AttributeProto *Node::find(StringRef name,
                                 AttributeProto::AttributeType type) {
  const AttributeProto *attribute = find(name);
  if (!attribute)
    return nullptr;
  if (attribute->has_ref_attr_name() && !attribute->ref_attr_name().empty()) {
    (void)invalid("attribute '" + name +
                  "' refers to a function's attribute "
                  "outside a function");
    return nullptr;
  }
  // Files of IR version 1 have no type.
  if (attribute->type() != type &&
      attribute->type() != AttributeProto::UNDEFINED) {
    (void)invalid("attribute '" + name + "' has type " +
                  AttributeProto::AttributeType_Name(attribute->type()) +
                  ", not " + AttributeProto::AttributeType_Name(type));
    return nullptr;
  }
  return attribute;
}

int64_t Node::intAttr(StringRef name, int64_t otherwise) {
  const AttributeProto *a = find(name, AttributeProto::INT);
  return a ? a->i() : otherwise;
}

double Node::floatAttr(StringRef name, double otherwise) {
  const AttributeProto *a = find(name, AttributeProto::FLOAT);
  // ONNX's attributes are float32, and so are the defaults of its schemas.
  return a ? a->f() : float(otherwise);
}

std::string Node::stringAttr(StringRef name, StringRef otherwise) {
  const AttributeProto *a = find(name, AttributeProto::STRING);
  return a ? a->s() : otherwise.str();
}

SmallVector<int64_t> Node::intsAttr(StringRef name,
                                    ArrayRef<int64_t> otherwise) {
  const AttributeProto *a = find(name, AttributeProto::INTS);
  return a ? SmallVector<int64_t>(a->ints().begin(), a->ints().end())
           : SmallVector<int64_t>(otherwise);
}

SmallVector<double> Node::floatsAttr(StringRef name) {
  const AttributeProto *a = find(name, AttributeProto::FLOATS);
  return a ? SmallVector<double>(a->floats().begin(), a->floats().end())
           : SmallVector<double>();
}

//===----------------------------------------------------------------------===//
// Making operators
//===----------------------------------------------------------------------===//

bool Node::accepts(Operation *made) {
  for (Value result : made->getResults()) {
    if (isTame(dimsOf(result)))
      continue;
    (void)invalid("makes dims that are too complex");
    made->erase();
    return false;
  }
  for (Value result : made->getResults())
    if (mlir::failed(checkSize(dimsOf(result), elementTypeOf(result)))) {
      made->erase();
      return false;
    }
  if (isa<ConvOp, ConvTransposeOp, MaxPoolOp, AvgPoolOp, ResizeOp>(made))
    for (IntExpr dim : dimsOf(made->getResult(0)))
      if (!dim.isConstant() && dim.getKind() != IntExpr::Kind::Symbol)
        state.windowDims.insert(dim);
  recordRequirements(made);
  return true;
}

/// Turns undecided requirements of the operator into run-time checks.
void Node::recordRequirements(Operation *op) {
  auto defined = dyn_cast<DefinitionOpInterface>(op);
  // Reshapes have requirements per dim, and slices are clamped.
  if (!defined || isa<ReshapeOp, SliceOp>(op))
    return;
  FailureOr<Definition> definition = getDefinition(defined);
  if (mlir::failed(definition))
    return;
  for (const Requirement &r : definition->requirements) {
    switch (r.predicate) {
    case ComparePredicate::EQ:
      requireEqual(r.lhs, r.rhs, r.message);
      break;
    case ComparePredicate::GE:
      requireNonNegative(r.lhs - r.rhs, r.message);
      break;
    case ComparePredicate::GT:
      requireNonNegative(r.lhs - r.rhs - 1, r.message);
      break;
    case ComparePredicate::LE:
      requireNonNegative(r.rhs - r.lhs, r.message);
      break;
    case ComparePredicate::LT:
      requireNonNegative(r.rhs - r.lhs - 1, r.message);
      break;
    case ComparePredicate::NE:
      break;
    }
  }
}

} // namespace mlc
