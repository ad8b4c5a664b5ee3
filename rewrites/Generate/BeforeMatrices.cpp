//===- BeforeMatrices.cpp - Products that may be one product --------------===//

#include "dialects/Graph/ContractionOps.h"
#include "dialects/Graph/PointwiseOps.h"
#include "rewrites/Generate/BeforeGraphs.h"

using namespace mlir;
using llvm::SmallVector;
using llvm::StringRef;

namespace mlc::generate {

namespace {

/// Chains of products with known matrices, scales and biases of columns.
std::optional<BeforeGraph> matrixChain(MLIRContext *context, StringRef steps) {
  Sketch s(context, "before");
  Value y = s.argument("x", {s.symbol("m"), s.symbol("k")}, false);
  BeforeGraph result;
  for (auto [i, step] : llvm::enumerate(steps)) {
    Sketch::Dims dims = Sketch::dimsOf(y);
    if (step == 'm') {
      Value w = s.argument("w" + suffixOf(i),
                           {dims[1], s.symbol("n" + suffixOf(i))}, true);
      y = s.op<MatMulOp>({y, w});
      result.steps.push_back("matmul");
    } else {
      Value v = s.argument((step == 's' ? "factor" : "offset") + suffixOf(i),
                           {s.integer(1), dims[1]}, true);
      Value all = s.broadcast(v, dims);
      y = step == 's' ? s.op<MulOp>({y, all}) : s.op<AddOp>({y, all});
      result.steps.push_back(step == 's' ? "scale" : "bias");
    }
  }
  result.contraction = BeforeGraph::Contraction::MatMul;
  result.numOps = steps.size();
  result.arguments = s.getArguments();
  result.function = s.finish({y});
  return result;
}

std::optional<BeforeGraph> matrixBranches(MLIRContext *context, unsigned count,
                                          bool isSum, bool ownInputs) {
  Sketch s(context, "before");
  BeforeGraph result;
  SmallVector<Value> inputs, results;
  for (unsigned i = 0; i < (ownInputs ? count : 1); ++i)
    inputs.push_back(s.argument("x" + suffixOf(i),
                                {s.symbol("m"), s.symbol("k" + suffixOf(i))},
                                false));
  for (unsigned i = 0; i < count; ++i) {
    Value x = inputs[ownInputs ? i : 0];
    Value w = s.argument(
        "w" + suffixOf(i),
        {Sketch::dimsOf(x)[1], s.symbol(isSum ? "n" : "n" + suffixOf(i))},
        true);
    results.push_back(s.op<MatMulOp>({x, w}));
    result.steps.push_back("matmul");
  }
  result.numOps = isSum ? 2 * count - 1 : count;
  if (isSum) {
    Value sum = results[0];
    for (Value y : llvm::drop_begin(results))
      sum = s.op<AddOp>({sum, y});
    results = {sum};
  }
  result.contraction = BeforeGraph::Contraction::MatMul;
  result.shape = isSum ? BeforeGraph::Shape::Sum : BeforeGraph::Shape::Results;
  result.numActivations = inputs.size();
  result.arguments = s.getArguments();
  result.function = s.finish(results);
  return result;
}

} // namespace

void addMatrixGraphs(MLIRContext *context, unsigned maxOps,
                     std::vector<BeforeGraph> &out) {
  auto add = [&](std::optional<BeforeGraph> graph) {
    if (graph && graph->function && graph->numOps <= maxOps)
      out.push_back(std::move(*graph));
  };
  std::vector<std::string> chains{""};
  for (size_t i = 0; i < chains.size(); ++i) {
    if (StringRef(chains[i]).contains('m'))
      add(matrixChain(context, chains[i]));
    if (chains[i].size() == maxOps)
      continue;
    for (char step : {'m', 's', 'a'})
      chains.push_back(chains[i] + step);
  }
  add(matrixBranches(context, 2, false, false));
  add(matrixBranches(context, 3, false, false));
  add(matrixBranches(context, 2, true, false));
  add(matrixBranches(context, 2, true, true));
}

} // namespace mlc::generate
