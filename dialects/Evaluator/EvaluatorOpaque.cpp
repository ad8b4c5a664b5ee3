//===- EvaluatorOpaque.cpp - Values of operators without a definition -----===//

#include "dialects/Definition/ScalarArithmetic.h"
#include "dialects/Evaluator/Evaluator.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

using namespace mlir;
using llvm::ArrayRef;
using llvm::Expected;
using llvm::SmallVector;
using llvm::StringRef;

namespace mlc {

namespace {

/// -1, 0 or 1 for elements of a tensor with a total order (NaN is largest).
int compareElements(const EvalTensor &x, int64_t a, int64_t b) {
  if (x.getStorage() < ElementStorage::F16) {
    int64_t left = x.getInt(a), right = x.getInt(b);
    if (x.getStorage() == ElementStorage::U64)
      return uint64_t(left) < uint64_t(right) ? -1 : left != right;
    return left < right ? -1 : left != right;
  }
  if (x.getStorage() == ElementStorage::Rational) {
    auto *data = static_cast<const Rational *>(x.getData());
    bool less = false, same = false;
    int64_t scale = x.isSplat() ? 0 : 1;
    (void)applyCompare(ComparePredicate::LT, data[a * scale], data[b * scale],
                       less);
    (void)applyCompare(ComparePredicate::EQ, data[a * scale], data[b * scale],
                       same);
    return less ? -1 : !same;
  }
  double left = x.getDouble(a), right = x.getDouble(b);
  if (std::isnan(left) || std::isnan(right))
    return int(std::isnan(left)) - int(std::isnan(right));
  return left < right ? -1 : left > right;
}

/// ONNX TopK: sorted, equal elements by index.
Expected<std::vector<EvalTensor>>
topK(Operation *op, ArrayRef<EvalTensor> inputs, const EvalOptions &options) {
  auto axisAttr = op->getAttrOfType<IntegerAttr>("axis");
  auto kAttr = op->getAttrOfType<IntExpr>("k");
  auto largest = op->getAttrOfType<BoolAttr>("largest");
  if (!axisAttr || !kAttr || !largest || inputs.size() != 1)
    return evalError(EvalFailure::Input, "topk without its attributes");
  if (options.domain == EvalDomain::Modular ||
      options.domain == EvalDomain::Interval)
    return evalError(EvalFailure::Unsupported, "topk needs an order");
  Expected<SmallVector<int64_t>> k = evaluateDims({kAttr}, options.symbols);
  if (!k)
    return k.takeError();
  Expected<EvalTensor> x = inputs[0].expanded();
  if (!x)
    return x.takeError();
  int64_t axis = axisAttr.getInt(), count = k->front();
  SmallVector<int64_t> dims(x->getDims());
  if (axis < 0 || axis >= x->getRank() || count < 0 || count > dims[axis])
    return evalError(EvalFailure::Requirement, "topk with k out of range");
  int64_t extent = dims[axis], inner = 1;
  for (int64_t d = axis + 1; d < x->getRank(); ++d)
    inner *= dims[d];
  dims[axis] = count;
  Expected<EvalTensor> values =
      EvalTensor::allocate(dims, x->getElementType(), options.domain);
  if (!values)
    return values.takeError();
  Expected<EvalTensor> indices = EvalTensor::allocate(
      dims, IntegerType::get(op->getContext(), 64), options.domain);
  if (!indices)
    return indices.takeError();
  unsigned size = bytesOf(x->getStorage());
  auto *from = static_cast<const char *>(x->getData());
  auto *to = static_cast<char *>(values->getMutableData());
  auto *places = static_cast<int64_t *>(indices->getMutableData());
  int64_t rows = extent ? x->getNumElements() / extent : 0;
  std::vector<int64_t> order(extent);
  for (int64_t row = 0; row < rows; ++row) {
    int64_t first = row / inner * extent * inner + row % inner;
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      int sign = compareElements(*x, first + a * inner, first + b * inner);
      return largest.getValue() ? sign > 0 : sign < 0;
    });
    for (int64_t j = 0; j < count; ++j) {
      int64_t out = row / inner * count * inner + j * inner + row % inner;
      memcpy(to + out * size, from + (first + order[j] * inner) * size, size);
      places[out] = order[j];
    }
  }
  return std::vector<EvalTensor>{std::move(*values), std::move(*indices)};
}

struct Entry {
  StringRef kernel;
  OpaqueEvaluator evaluator;
};

constexpr Entry entries[] = {{"topk", topK}};

} // namespace

OpaqueEvaluator lookupOpaqueEvaluator(StringRef libraryKernel) {
  for (const Entry &entry : entries)
    if (entry.kernel == libraryKernel)
      return entry.evaluator;
  return nullptr;
}

} // namespace mlc
