//===- LearnedCosts.cpp - Times of operators from trees -------------------===//

#include "rewrites/Cost/LearnedCosts.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"
#include <cmath>

using namespace mlir;
using namespace mlc;
namespace json = llvm::json;

float RegressionTree::at(llvm::ArrayRef<float> features) const {
  size_t node = 0;
  while (nodes[node].feature >= 0)
    node = features[nodes[node].feature] < nodes[node].value
               ? nodes[node].left
               : nodes[node].right;
  return nodes[node].value;
}

static constexpr const char *featureNames[] = {"analytic_seconds",
                                               "arithmetic_seconds",
                                               "bytes_seconds",
                                               "scalar_seconds",
                                               "bytes_read",
                                               "bytes_written",
                                               "batch",
                                               "rows",
                                               "columns",
                                               "depth",
                                               "contractions",
                                               "element_bytes",
                                               "kernel_height",
                                               "kernel_width",
                                               "stride",
                                               "group_inputs",
                                               "group_outputs",
                                               "last_dim",
                                               "operand_last_dim",
                                               "elements",
                                               "operations_each",
                                               "read_each",
                                               "pointwise",
                                               "part",
                                               "operands"};

llvm::ArrayRef<const char *> CostFeatures::names() { return featureNames; }

/// Sizes and times span orders of magnitude.
static float magnitude(double value) {
  return float(std::log2(std::max(value, 1e-15)));
}

/// The last dim of a tensor, and its elements.
static std::pair<double, double> sizesOf(Type type,
                                         const SymbolSizes &symbols) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  double last = 1, elements = 1;
  if (tensor)
    for (int64_t dim : tensor.getShape()) {
      last = ShapedType::isDynamic(dim) ? double(symbols.others) : double(dim);
      elements *= last;
    }
  return {last, elements};
}

static double elementBytesOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getElementType().isIntOrFloat()
             ? tensor.getElementTypeBitWidth() / 8.0
             : 4;
}

/// Those of the largest contraction.
static void addContraction(const Work &work, std::vector<float> &values) {
  ContractionWork largest;
  largest.batch = largest.rows = largest.columns = largest.depth = 0;
  for (const ContractionWork &one : work.contractions)
    if (one.flops() > largest.flops())
      largest = one;
  for (double size :
       {largest.batch, largest.rows, largest.columns, largest.depth})
    values.push_back(magnitude(std::max(1.0, size)));
  values.push_back(float(work.contractions.size()));
}

static void addConvolution(const Work &work, std::vector<float> &values) {
  ConvolutionShape shape;
  for (const ContractionWork &one : work.contractions)
    if (one.convolution)
      shape = *one.convolution;
  const double groups = double(std::max<int64_t>(1, shape.groups));
  values.push_back(float(shape.kernelHeight));
  values.push_back(float(shape.kernelWidth));
  values.push_back(float(shape.strideHeight));
  values.push_back(magnitude(double(shape.inputChannels) / groups));
  values.push_back(magnitude(double(shape.outputChannels) / groups));
}

CostFeatures CostFeatures::of(Operation *op, const Work &work,
                              double arithmeticSeconds, double bytesSeconds,
                              const CostParameters &parameters,
                              const SymbolSizes &symbols,
                              llvm::ArrayRef<std::string> operators) {
  const double scalar = work.operations / parameters.scalarFlopsPerSecond;
  CostFeatures features;
  features.analyticSeconds =
      std::max(arithmeticSeconds + scalar, bytesSeconds) +
      parameters.secondsPerKernel;
  std::vector<float> &values = features.values;
  for (double one : {features.analyticSeconds, arithmeticSeconds, bytesSeconds,
                     scalar, work.bytesRead, work.bytesWritten})
    values.push_back(magnitude(one));
  addContraction(work, values);
  const Type result = op->getNumResults() ? op->getResult(0).getType() : Type();
  const Type operand =
      op->getNumOperands() ? op->getOperand(0).getType() : Type();
  values.push_back(result ? float(elementBytesOf(result)) : 0);
  addConvolution(work, values);
  const auto [last, elements] =
      result ? sizesOf(result, symbols) : std::pair(1.0, 1.0);
  values.push_back(magnitude(last));
  values.push_back(magnitude(operand ? sizesOf(operand, symbols).first : 1));
  values.push_back(magnitude(elements));
  values.push_back(magnitude((1 + work.operations) / std::max(1.0, elements)));
  values.push_back(magnitude((1 + work.bytesRead) / (1 + work.bytesWritten)));
  values.push_back(float(work.isPointwise));
  values.push_back(float(work.isBox));
  values.push_back(float(op->getNumOperands()));
  assert(values.size() == std::size(featureNames));
  const llvm::StringRef name = op->getName().getStringRef();
  for (const std::string &one : operators)
    values.push_back(float(name == one));
  return features;
}

double LearnedCosts::seconds(const CostFeatures &features) const {
  double sum = base;
  for (const RegressionTree &tree : trees)
    sum += tree.at(features.values);
  // Trees are far off for what resembles nothing that was measured.
  return features.analyticSeconds * std::exp(std::clamp(sum, -7.0, 7.0));
}

static llvm::Error wrong(const llvm::Twine &what) {
  return llvm::createStringError("\"learned\": " + what);
}

/// A leaf is `[value]`, another node `[feature, value, left, right]`.
static std::optional<RegressionTree::Node> readNode(const json::Value &value,
                                                    size_t features,
                                                    size_t index,
                                                    size_t count) {
  const json::Array *numbers = value.getAsArray();
  if (!numbers || (numbers->size() != 1 && numbers->size() != 4))
    return std::nullopt;
  const bool isLeaf = numbers->size() == 1;
  std::optional<double> number = (*numbers)[isLeaf ? 0 : 1].getAsNumber();
  if (!number || !(std::abs(*number) < 1e30))
    return std::nullopt;
  RegressionTree::Node node;
  node.value = float(*number);
  if (isLeaf)
    return node;
  const auto feature = (*numbers)[0].getAsInteger(),
             left = (*numbers)[2].getAsInteger(),
             right = (*numbers)[3].getAsInteger();
  auto isChild = [&](std::optional<int64_t> child) {
    return child && *child > int64_t(index) && *child < int64_t(count);
  };
  if (!feature || *feature < 0 || *feature >= int64_t(features) ||
      !isChild(left) || !isChild(right))
    return std::nullopt;
  node.feature = int32_t(*feature);
  node.left = int32_t(*left);
  node.right = int32_t(*right);
  return node;
}

static llvm::Expected<RegressionTree> readTree(const json::Value &value,
                                               size_t features) {
  const json::Array *nodes = value.getAsArray();
  if (!nodes || nodes->empty())
    return wrong("a tree is an array of nodes");
  RegressionTree tree;
  for (auto [i, node] : llvm::enumerate(*nodes)) {
    auto read = readNode(node, features, i, nodes->size());
    if (!read)
      return wrong("a node of a tree is [value], or [feature, value, left, "
                   "right] with children behind it, not " +
                   llvm::formatv("{0}", node).str());
    tree.nodes.push_back(*read);
  }
  return tree;
}

llvm::Expected<LearnedCosts> LearnedCosts::parse(const json::Object &object) {
  const json::Array *features = object.getArray("features"),
                    *operators = object.getArray("operators"),
                    *trees = object.getArray("trees");
  std::optional<double> base = object.getNumber("base");
  if (!features || !operators || !trees || !base || !(std::abs(*base) < 1e30))
    return wrong("expected \"features\", \"operators\", \"base\" and "
                 "\"trees\"");
  auto isName = [](const json::Value &value, const char *name) {
    return value.getAsString() == llvm::StringRef(name);
  };
  if (!llvm::equal(*features, CostFeatures::names(), isName))
    return wrong("has other features than this version of mlc; learn again");
  LearnedCosts learned;
  learned.base = *base;
  for (const json::Value &name : *operators) {
    auto text = name.getAsString();
    if (!text)
      return wrong("\"operators\" are names");
    learned.operators.push_back(text->str());
  }
  for (const json::Value &tree : *trees) {
    auto read = readTree(tree, features->size() + operators->size());
    if (!read)
      return read.takeError();
    learned.trees.push_back(std::move(*read));
  }
  return learned;
}

json::Object LearnedCosts::write() const {
  json::Array features, names(operators), all;
  for (const char *name : CostFeatures::names())
    features.push_back(name);
  for (const RegressionTree &tree : trees) {
    json::Array nodes;
    for (const RegressionTree::Node &node : tree.nodes)
      nodes.push_back(node.feature < 0 ? json::Array{node.value}
                                       : json::Array{node.feature, node.value,
                                                     node.left, node.right});
    all.push_back(std::move(nodes));
  }
  return json::Object{{"features", std::move(features)},
                      {"operators", std::move(names)},
                      {"base", base},
                      {"trees", std::move(all)}};
}
