//===- Losses.cpp - ONNX's losses of class labels -------------------------===//

#include "dialects/Graph/ComputeOps.h"
#include "dialects/Graph/PointwiseOps.h"
#include "dialects/Graph/ReductionOps.h"
#include "passes/Import/Handlers.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

namespace mlc {

namespace {
/// Picks logarithms of probabilities x[n, c, d...] by labels t[n, d...], with
/// an optional weight w[c] per class.
struct Picked {
  Value x, labels, weights;
  std::string label;   // t[n, d...] in index notation
  std::string loops;   // n, d...
  std::string ignored; // whether a label is ignored; empty if none is
};
} // namespace

/// "n", "n, d2", "n, d2, d3", ... : the loops of a loss over x of `rank` dims.
static std::string loopsOf(int64_t rank) {
  std::string loops = "n";
  for (int64_t d = 2; d < rank; ++d)
    loops += ", d" + std::to_string(d);
  return loops;
}

/// A tensor defined by `body`, with the labels' dims and x's element type.
static Value overLabels(Node &n, const Picked &p, ArrayRef<Value> operands,
                        StringRef names, const std::string &body) {
  if (llvm::is_contained(operands, Value()))
    return {};
  std::string text = ("(" + names + ") l[" + p.loops + "] = ").str();
  text +=
      p.ignored.empty() ? body : "select(" + p.ignored + ", 0, " + body + ")";
  return n.op<ComputeOp>(ValueRange(operands), StringRef(text),
                         n.dimsAttr(dimsOf(p.labels)),
                         n.dimsAttr(ArrayRef<IntExpr>()),
                         n.builder().getArrayAttr({}), elementTypeOf(p.x));
}

/// -x at the label, times the class's weight. Labels out of range, which ONNX
/// leaves open, have loss and weight 0.
static Value lossesOf(Node &n, const Picked &p) {
  std::string at = "index(" + p.label + ")";
  StringRef spatial = StringRef(p.loops).drop_front(1);
  std::string element = "x<0>[n, " + at + spatial.str() + "]";
  if (!p.weights)
    return overLabels(n, p, {p.x, p.labels}, "x, t", "-" + element);
  return overLabels(n, p, {p.x, p.labels, p.weights}, "x, t, w",
                    "-(" + element + " * w<0>[" + at + "])");
}

/// The labels, with 0 for ignored ones.
static Value takenLabels(Node &n, const Picked &p) {
  if (p.ignored.empty() || !n.getState().checked)
    return p.labels;
  Value zero = n.scalarConstant(elementTypeOf(p.labels), 0);
  Value ignored = n.scalarConstant(elementTypeOf(p.labels),
                                   double(n.intAttr("ignore_index", 0)));
  return n.pointwise<SelectOp>(
      {n.compare(ComparePredicate::EQ, p.labels, ignored), zero, p.labels});
}

/// The weights of the losses in a mean; null if all are 1.
static Value weightsOf(Node &n, const Picked &p) {
  if (p.weights)
    return overLabels(n, p, {p.labels, p.weights}, "t, w",
                      "w<0>[index(" + p.label + ")]");
  return p.ignored.empty() ? Value() : overLabels(n, p, {p.labels}, "t", "1");
}

static Value total(Node &n, Reduction kind, Value value) {
  if (!value)
    return {};
  SmallVector<int64_t> axes;
  for (int64_t d = 0; d < int64_t(dimsOf(value).size()); ++d)
    axes.push_back(d);
  return n.reshape(n.reduce(kind, value, axes), ArrayRef<IntExpr>());
}

/// The loss of logarithms `x`, reduced as the attribute says.
static LogicalResult loss(Node &n, Value x) {
  Picked p;
  p.x = x;
  p.labels = n.value(1);
  if (n.has(2))
    p.weights = n.value(2);
  p.loops = loopsOf(n.rank(0));
  p.label = "t[" + p.loops + "]";
  if (n.hasAttr("ignore_index"))
    p.ignored = "i64(" + p.label +
                ") == " + std::to_string(n.intAttr("ignore_index", 0));
  // Use the same name for each dim in x and in the labels.
  Dims dims(n.dims(0));
  dims.erase(dims.begin() + 1);
  p.labels = n.reshape(p.labels, dims);
  useAsIndices(n, takenLabels(n, p), 1, n.dims(0)[1], IndexKind::FromStart);
  std::string reduction = n.stringAttr("reduction", "mean");
  if (reduction != "none" && reduction != "sum" && reduction != "mean")
    return n.invalid("requires reduction none, sum or mean");
  Value losses = lossesOf(n, p);
  if (reduction == "none" || !losses)
    return n.result(losses);
  bool isWeighted = p.weights || !p.ignored.empty();
  if (reduction == "sum" || !isWeighted)
    return n.result(total(
        n, reduction == "sum" ? Reduction::Sum : Reduction::Mean, losses));
  return n.result(
      n.pointwise<DivOp>({total(n, Reduction::Sum, losses),
                          total(n, Reduction::Sum, weightsOf(n, p))}));
}

static LogicalResult checkInputs(Node &n) {
  int64_t rank = n.rank(0);
  if (rank < 2 || n.rank(1) != rank - 1)
    return n.invalid("requires scores of rank 2 or more, and labels of one "
                     "dim less");
  if (!n.isFloat(0) || !isa<IntegerType>(n.type(1)) || n.type(1).isInteger(1))
    return n.invalid("requires scores of floats and labels of integers");
  for (int64_t d = 0; d < rank - 1; ++d)
    n.requireEqual(n.dims(1)[d], n.dims(0)[d == 0 ? 0 : d + 1],
                   "labels must have the scores' dims but for the classes");
  if (n.has(2)) {
    if (n.rank(2) != 1 || n.type(2) != n.type(0))
      return n.invalid("requires weights of rank 1 and the scores' type");
    n.requireEqual(n.dims(2)[0], n.dims(0)[1],
                   "there must be one weight for each class");
  }
  return failure(n.failed());
}

static LogicalResult importNegativeLogLikelihood(Node &n) {
  return failed(checkInputs(n)) ? failure() : loss(n, n.value(0));
}

static LogicalResult importSoftmaxCrossEntropy(Node &n) {
  if (failed(checkInputs(n)))
    return failure();
  Value logarithms = n.op<LogSoftmaxOp>(n.value(0), int64_t(1));
  if (n.wants(1) && failed(n.result(1, logarithms)))
    return failure();
  return logarithms ? loss(n, logarithms) : failure();
}

ArrayRef<OperatorEntry> lossOperators() {
  static const OperatorEntry entries[] = {
      {"", "NegativeLogLikelihoodLoss", 2, 3, importNegativeLogLikelihood},
      {"", "SoftmaxCrossEntropyLoss", 2, 3, importSoftmaxCrossEntropy},
  };
  return entries;
}

} // namespace mlc
