//===- Node.cpp - One ONNX node while it is imported ----------------------===//

#include "passes/Import/Node.h"
#include "dialects/Graph/ModelOps.h"
#include "dialects/Graph/MovementOps.h"
#include "dialects/Graph/PointwiseOps.h"
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

LogicalResult Node::unsupported(const Twine &text) {
  if (reason.empty())
    reason = text.str();
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
  if (tensor.value)
    return tensor.value;
  if (tensor.constant)
    tensor.value = constant(tensor.constant);
  else if (tensor.numbers)
    tensor.value = materializeNumbers(tensor);
  return tensor.value;
}

Value Node::materializeNumbers(Tensor &tensor) {
  Dims values;
  bool isFraction = false;
  for (const Number &number : *tensor.numbers) {
    values.push_back(number.numerator);
    isFraction |= !number.isInteger();
  }
  // The operator makes scalars and vectors.
  Dims vector = tensor.dims;
  if (vector.size() > 1)
    vector = {integer(values.size())};
  Value result = op<IntTensorOp>(dimsAttr(values), dimsAttr(vector));
  result = cast(reshape(result, tensor.dims), tensor.elementType);
  if (!isFraction)
    return result;
  // Only tensors of floats hold fractions.
  SmallVector<int64_t> shape;
  for (IntExpr dim : tensor.dims)
    shape.push_back(dim.getConstant());
  SmallVector<Attribute> denominators;
  for (const Number &number : *tensor.numbers)
    denominators.push_back(
        builder().getFloatAttr(tensor.elementType, number.denominator));
  auto type = RankedTensorType::get(shape, tensor.elementType);
  return op<DivOp>(
      {result, constant(DenseElementsAttr::get(type, denominators))});
}

std::optional<Dims> Node::ints(unsigned i, StringRef what) {
  if (!in(i).numbers) {
    (void)unsupported(Twine(what) +
                      " depends on data, or on dims through floats, so the "
                      "shape of the output is not known before the model runs");
    return std::nullopt;
  }
  Dims result;
  for (const Number &number : *in(i).numbers) {
    if (!number.isInteger()) {
      (void)invalid(Twine(what) + " is not an integer");
      return std::nullopt;
    }
    result.push_back(number.numerator);
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
      (void)unsupported(Twine(what) + " must be constant, got " + expr.str() +
                        "; fix the dims it uses with --dim NAME=N");
      return std::nullopt;
    }
    result.push_back(expr.getConstant());
  }
  return result;
}

std::optional<double> Node::scalar(unsigned i, StringRef what) {
  Tensor &tensor = in(i);
  ElementsAttr constant = tensor.constant;
  if (!constant || constant.getNumElements() != 1) {
    std::optional<int64_t> number;
    if (tensor.numbers && tensor.numbers->size() == 1)
      number = tensor.numbers->front().asConstant();
    if (!number)
      (void)unsupported(Twine(what) + " must be a constant of one element");
    return number ? std::optional<double>(*number) : std::nullopt;
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

bool Node::wants(unsigned i) const {
  return int(i) < proto.output_size() && !proto.output(i).empty();
}

LogicalResult Node::result(unsigned i, Value value) {
  // Without a reason, the importer has the operator's diagnostic.
  if (!value || failed())
    return failure();
  Tensor tensor;
  tensor.dims = dimsOf(value);
  tensor.elementType = elementTypeOf(value);
  tensor.value = value;
  if (auto literal = value.getDefiningOp<ConstantOp>()) {
    tensor.constant = literal.getValue();
    trackNumbers(tensor);
  }
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
  SmallVector<int64_t> known;
  for (IntExpr dim : tensor.dims)
    known.push_back(dim.asConstant().value_or(1));
  if (!countElements(known))
    return invalid("makes a tensor with negative or too large dims");
  deriveConstant(tensor);
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
  // Files of IR version 1 leave the type out.
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
  recordRequirements(made);
  return true;
}

/// Conditions of the operator that are not decided yet become run-time checks.
void Node::recordRequirements(Operation *op) {
  auto defined = dyn_cast<DefinitionOpInterface>(op);
  // Reshapes state their conditions dim by dim, and slices are clamped.
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
