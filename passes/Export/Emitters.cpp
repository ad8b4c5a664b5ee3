//===- Emitters.cpp - One ONNX form per mlc operator ----------------------===//

#include "dialects/Graph/Graph.h"
#include "passes/Export/Exporter.h"
#include "passes/Import/TensorData.h"
#include "llvm/ADT/StringSwitch.h"
#include <cmath>

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

namespace mlc {

//===----------------------------------------------------------------------===//
// Pointwise
//===----------------------------------------------------------------------===//

/// ONNX's name of an operator with the same meaning.
static StringRef onnxName(Operation *op) {
  StringRef name = op->getName().stripDialect();
  if (const ScalarFunction *f = findByMnemonic(name))
    return f->onnx.name;
  return llvm::StringSwitch<StringRef>(name)
      .Case("sigmoid", "Sigmoid")
      .Case("relu", "Relu")
      .Case("sign", "Sign")
      .Case("add", "Add")
      .Case("sub", "Sub")
      .Case("mul", "Mul")
      .Case("div", "Div")
      .Case("pow", "Pow")
      .Case("min", "Min")
      .Case("max", "Max")
      .Case("mod", "Mod")
      .Case("and", "And")
      .Case("or", "Or")
      .Case("xor", "Xor")
      .Case("arg_max", "ArgMax")
      .Case("arg_min", "ArgMin")
      .Case("softmax", "Softmax")
      .Case("log_softmax", "LogSoftmax")
      .Default("");
}

static SmallVector<std::string> broadcastOperands(Exporter &e, Operation *op) {
  return e.implicitBroadcast(SmallVector<Value>(op->getOperands()),
                             dimsOf(op->getResult(0)));
}

static void emitPointwise(Exporter &e, Operation *op) {
  e.result(op, onnxName(op), broadcastOperands(e, op));
}

/// A wider type for `type`'s numbers if ONNX Runtime's CPU kernels do not
/// support it (Where, Max and Min of version 1.31, tried type by type); null if
/// they do.
static Type carrierOf(StringRef onnxType, Type type) {
  MLIRContext *context = type.getContext();
  if (type.isBF16())
    return Float32Type::get(context);
  if (type.isInteger(16))
    return IntegerType::get(context, 32);
  // Where only moves bits, whatever they mean.
  if (onnxType == "Where" && type.isUnsignedInteger(64))
    return IntegerType::get(context, 64);
  return {};
}

/// The node on operands cast to carrierOf, except for those before
/// `firstNumber`.
static void emitCarried(Exporter &e, Operation *op, StringRef onnxType,
                        SmallVector<std::string> operands, size_t firstNumber) {
  Type type =
      cast<RankedTensorType>(op->getResult(0).getType()).getElementType();
  Type carrier = carrierOf(onnxType, type);
  if (!carrier) {
    e.result(op, onnxType, operands);
    return;
  }
  for (std::string &operand : llvm::drop_begin(operands, firstNumber))
    operand = e.node(op, "Cast", {operand})
                  .set("to", int64_t(getOnnxType(carrier)))
                  .output();
  std::string made = e.node(op, onnxType, operands).output();
  e.result(op, "Cast", {made}).set("to", int64_t(getOnnxType(type)));
}

static void emitExtremum(Exporter &e, Operation *op) {
  emitCarried(e, op, onnxName(op), broadcastOperands(e, op), 0);
}

static void emitSelect(Exporter &e, Operation *op) {
  SmallVector<std::string> operands = broadcastOperands(e, op);
  if (!cast<RankedTensorType>(op->getResult(0).getType())
           .getElementType()
           .isInteger(1)) {
    emitCarried(e, op, "Where", operands, 1);
    return;
  }
  // For bools: (c and x) or (not c and y).
  std::string yes = e.node(op, "And", {operands[0], operands[1]}).output();
  std::string isNot = e.node(op, "Not", {operands[0]}).output();
  std::string no = e.node(op, "And", {isNot, operands[2]}).output();
  e.result(op, "Or", {yes, no});
}

/// The exponential linear unit, the logistic function and others with reals.
static void emitLeakyRelu(Exporter &e, Operation *op) {
  auto leaky = cast<LeakyReluOp>(op);
  e.result(op, "LeakyRelu", {e.nameOf(leaky.getX())})
      .set("alpha", leaky.getAlpha().getDouble());
}

static void emitElu(Exporter &e, Operation *op) {
  auto elu = cast<EluOp>(op);
  e.result(op, "Elu", {e.nameOf(elu.getX())})
      .set("alpha", elu.getAlpha().getDouble());
}

static void emitHardSigmoid(Exporter &e, Operation *op) {
  auto hard = cast<HardSigmoidOp>(op);
  e.result(op, "HardSigmoid", {e.nameOf(hard.getX())})
      .set("alpha", hard.getAlpha().getDouble())
      .set("beta", hard.getBeta().getDouble());
}

static void emitClip(Exporter &e, Operation *op) {
  auto clip = cast<ClipOp>(op);
  Type type = clip.getX().getType().getElementType();
  auto bound = [&](RealAttr value) {
    return std::isinf(value.getDouble()) ? std::string()
                                         : e.number(type, value.getDouble());
  };
  e.result(op, "Clip",
           {e.nameOf(clip.getX()), bound(clip.getMin()), bound(clip.getMax())});
}

static void emitCast(Exporter &e, Operation *op) {
  auto convert = cast<CastOp>(op);
  e.result(op, "Cast", {e.nameOf(convert.getX())})
      .set("to", int64_t(getOnnxType(convert.getTo())));
}

/// ONNX's comparison for `predicate`; none for NE, which is not Equal.
static StringRef onnxComparison(ComparePredicate predicate) {
  switch (predicate) {
  case ComparePredicate::EQ:
  case ComparePredicate::NE:
    return "Equal";
  case ComparePredicate::LT:
    return "Less";
  case ComparePredicate::LE:
    return "LessOrEqual";
  case ComparePredicate::GT:
    return "Greater";
  case ComparePredicate::GE:
    return "GreaterOrEqual";
  }
  llvm_unreachable("unknown predicate");
}

static void emitCompare(Exporter &e, Operation *op) {
  ComparePredicate predicate = cast<CompareOp>(op).getPredicate();
  StringRef type = onnxComparison(predicate);
  SmallVector<std::string> operands = broadcastOperands(e, op);
  if (predicate == ComparePredicate::NE)
    e.result(op, "Not", {e.node(op, type, operands).output()});
  else
    e.result(op, type, operands);
}

/// A square that is averaged is the variance of a normalization; runtimes
/// recognize it by its Pow.
static void emitMul(Exporter &e, Operation *op) {
  auto mul = cast<MulOp>(op);
  bool isVariance = mul.getLhs() == mul.getRhs() && op->hasOneUse() &&
                    isa<ReduceOp>(*op->getUsers().begin());
  Type type = mul.getLhs().getType().getElementType();
  if (isVariance && type.isF32())
    e.result(op, "Pow", {e.nameOf(mul.getLhs()), e.number(type, 2.0)});
  else
    emitPointwise(e, op);
}

/// The product of two matrices to which `add` adds a row, if its result has no
/// other use; `bias` is then the row, repeated unless the product is a row.
static MatMulOp biasedProduct(AddOp add, Value &bias) {
  for (unsigned i = 0; i < 2; ++i) {
    auto product = add->getOperand(i).getDefiningOp<MatMulOp>();
    Value row = add->getOperand(1 - i);
    auto broadcast = row.getDefiningOp<BroadcastOp>();
    if (!product || !product->hasOneUse() ||
        !(broadcast || row.getDefiningOp<ConstantOp>()))
      continue;
    Dims from = dimsOf(broadcast ? broadcast.getX() : row);
    Dims to = dimsOf(product->getResult(0));
    if (to.size() != 2 || !from[0].isConstant(1) || from[1] != to[1] ||
        !isa<FloatType>(add.getLhs().getType().getElementType()))
      continue;
    bias = row;
    return product;
  }
  return nullptr;
}

/// Whether the product is emitted with the add after it.
static bool waitsForRow(Exporter &e, MatMulOp product) {
  if (!product->hasOneUse())
    return false;
  auto add = dyn_cast<AddOp>(*product->getUsers().begin());
  Value bias;
  return add && e.isEmitted(add) && biasedProduct(add, bias) == product;
}

static void emitAdd(Exporter &e, Operation *op) {
  Value bias;
  if (Operation *convolution = biasedConvolution(op, bias))
    emitConvolution(e, convolution, bias, op);
  else if (MatMulOp product = biasedProduct(cast<AddOp>(op), bias))
    e.result(op, "Gemm",
             {e.nameOf(product.getLhs()), e.nameOf(product.getRhs()),
              e.nameOf(e.unbroadcast(bias))});
  else
    emitPointwise(e, op);
}

//===----------------------------------------------------------------------===//
// Contraction, reduction, normalization
//===----------------------------------------------------------------------===//

static void emitMatMul(Exporter &e, Operation *op) {
  auto matmul = cast<MatMulOp>(op);
  if (waitsForPixelProduct(e, op) || waitsForRow(e, matmul))
    return;
  Dims result = dimsOf(op->getResult(0));
  ArrayRef<IntExpr> batch = ArrayRef<IntExpr>(result).drop_back(2);
  SmallVector<Exporter::Unbroadcast> sources;
  for (Value operand : {matmul.getLhs(), matmul.getRhs()}) {
    Exporter::Unbroadcast source = e.unbroadcast(operand);
    // The matrix itself may be broadcast, or have lost a leading 1.
    Dims full = dimsOf(operand);
    bool same = source.dims.size() >= 2 &&
                ArrayRef<IntExpr>(source.dims).take_back(2) ==
                    ArrayRef<IntExpr>(full).take_back(2);
    sources.push_back(same ? source : Exporter::Unbroadcast{operand, full});
  }
  for (size_t i = 0; i < 2; ++i)
    for (size_t d = 0; d < batch.size(); ++d) {
      bool covered = batch[d].isConstant(1);
      for (const Exporter::Unbroadcast &source : sources) {
        size_t have = source.dims.size() - 2, missing = batch.size() - have;
        covered |= d >= missing && source.dims[d - missing] == batch[d];
      }
      if (!covered) {
        Value operand = op->getOperand(i);
        sources[i] = {operand, dimsOf(operand)};
        break;
      }
    }
  // Both may lack leading dims of 1 that the result has.
  if (std::max(sources[0].dims.size(), sources[1].dims.size()) < result.size())
    sources[0] = {matmul.getLhs(), dimsOf(matmul.getLhs())};
  e.result(op, "MatMul", {e.nameOf(sources[0]), e.nameOf(sources[1])});
}

static void emitReduce(Exporter &e, Operation *op) {
  auto reduce = cast<ReduceOp>(op);
  int64_t rank = reduce.getX().getType().getRank();
  ArrayRef<int64_t> axes = reduce.getAxes();
  bool spatial = rank >= 3 && int64_t(axes.size()) == rank - 2;
  for (auto [i, axis] : llvm::enumerate(axes))
    spatial &= axis == int64_t(i) + 2;
  // Runtimes support pools only for float32 and narrower.
  Type element = reduce.getX().getType().getElementType();
  bool isPooled = isa<FloatType>(element) && !element.isF64();
  std::string x = e.nameOf(reduce.getX());
  Reduction kind = reduce.getKind();
  if (spatial && isPooled &&
      (kind == Reduction::Mean || kind == Reduction::Max)) {
    e.result(op,
             kind == Reduction::Mean ? "GlobalAveragePool" : "GlobalMaxPool",
             {x});
    return;
  }
  if (axes.empty()) {
    e.result(op, "Identity", {x});
    return;
  }
  if (kind == Reduction::Sum) { // its axes are an input in this opset
    e.result(op, "ReduceSum", {x, e.integers(axes)})
        .set("keepdims", int64_t(1));
    return;
  }
  StringRef type = kind == Reduction::Prod  ? "ReduceProd"
                   : kind == Reduction::Max ? "ReduceMax"
                   : kind == Reduction::Min ? "ReduceMin"
                                            : "ReduceMean";
  e.result(op, type, {x}).set("axes", axes).set("keepdims", int64_t(1));
}

static void emitAlongAxis(Exporter &e, Operation *op) {
  OnnxNode made = e.result(op, onnxName(op), {e.nameOf(op->getOperand(0))});
  made.set("axis", op->getAttrOfType<IntegerAttr>("axis").getInt());
  if (isa<ArgMaxOp, ArgMinOp>(op))
    made.set("keepdims", int64_t(1));
}

static void emitBatchNorm(Exporter &e, Operation *op) {
  auto norm = cast<BatchNormOp>(op);
  SmallVector<std::string> operands;
  for (Value operand : op->getOperands())
    operands.push_back(e.nameOf(operand));
  e.result(op, "BatchNormalization", operands)
      .set("epsilon", norm.getEpsilon().getDouble());
}

static void emitLayerNorm(Exporter &e, Operation *op) {
  auto norm = cast<LayerNormOp>(op);
  e.result(op, "LayerNormalization",
           {e.nameOf(norm.getX()), e.nameOf(norm.getScale()),
            e.nameOf(norm.getBias())})
      .set("axis", int64_t(norm.getAxis()))
      .set("epsilon", norm.getEpsilon().getDouble());
}

static void emitLrn(Exporter &e, Operation *op) {
  auto lrn = cast<LrnOp>(op);
  if (!lrn.getSize().isConstant())
    return e.fail(op, "its size must be constant");
  e.result(op, "LRN", {e.nameOf(lrn.getX())})
      .set("size", lrn.getSize().getConstant())
      .set("alpha", lrn.getAlpha().getDouble())
      .set("beta", lrn.getBeta().getDouble())
      .set("bias", lrn.getBias().getDouble());
}

static void emitCumSum(Exporter &e, Operation *op) {
  auto sum = cast<CumSumOp>(op);
  e.result(op, "CumSum",
           {e.nameOf(sum.getX()), e.integers({int64_t(sum.getAxis())})})
      .set("exclusive", int64_t(sum.getExclusive()))
      .set("reverse", int64_t(sum.getReverse()));
}

static void emitTopK(Exporter &e, Operation *op) {
  auto top = cast<TopKOp>(op);
  e.result(op, "TopK", {e.nameOf(top.getX()), e.integer(top.getK())})
      .set("axis", int64_t(top.getAxis()))
      .set("largest", int64_t(top.getLargest()))
      .set("sorted", int64_t(top.getSorted()));
}

ArrayRef<EmitterEntry> plainEmitters() {
  static const EmitterEntry others[] = {
      {"add", emitAdd},
      {"and", emitPointwise},
      {"arg_max", emitAlongAxis},
      {"arg_min", emitAlongAxis},
      {"batch_norm", emitBatchNorm},
      {"cast", emitCast},
      {"clip", emitClip},
      {"compare", emitCompare},
      {"cumsum", emitCumSum},
      {"div", emitPointwise},
      {"elu", emitElu},
      {"hard_sigmoid", emitHardSigmoid},
      {"layer_norm", emitLayerNorm},
      {"leaky_relu", emitLeakyRelu},
      {"log_softmax", emitAlongAxis},
      {"lrn", emitLrn},
      {"matmul", emitMatMul},
      {"max", emitExtremum},
      {"min", emitExtremum},
      {"mod", emitPointwise},
      {"mul", emitMul},
      {"or", emitPointwise},
      {"pow", emitPointwise},
      {"reduce", emitReduce},
      {"relu", emitPointwise},
      {"select", emitSelect},
      {"sigmoid", emitPointwise},
      {"sign", emitPointwise},
      {"softmax", emitAlongAxis},
      {"sub", emitPointwise},
      {"top_k", emitTopK},
      {"xor", emitPointwise},
  };
  static const std::vector<EmitterEntry> entries = [] {
    std::vector<EmitterEntry> all(std::begin(others), std::end(others));
    for (const ScalarFunction &f : scalarFunctions())
      all.push_back({f.mnemonic, emitPointwise});
    return all;
  }();
  return entries;
}

Emitter findEmitter(Operation *op, bool &known) {
  known = false;
  if (op->getName().getDialectNamespace() != "mlc")
    return nullptr;
  for (ArrayRef<EmitterEntry> entries :
       {plainEmitters(), movementEmitters(), windowEmitters()})
    for (const EmitterEntry &entry : entries)
      if (entry.name == op->getName().stripDialect()) {
        known = true;
        return entry.emit;
      }
  return nullptr;
}

} // namespace mlc
