//===- Reads.cpp - How elementwise kernels read their inputs --------------===//

#include "codegen/cuda/Reads.h"

using namespace mlir;

namespace mlc::cuda {

/// The number of the input at `view`; the number of inputs if there is none.
static unsigned inputAt(const Kernel &kernel, const View &view) {
  unsigned i = 0;
  while (i < kernel.inputs.size() && view.pointer != "in" + std::to_string(i))
    ++i;
  return i;
}

std::optional<Read> readAt(const Kernel &kernel, const View &view,
                           ArrayRef<Index> indices, ArrayRef<Index> places) {
  Read read{inputAt(kernel, view), {}};
  if (read.input == kernel.inputs.size())
    return std::nullopt;
  ArrayRef<IntExpr> shape = kernel.shapeOf(kernel.outputs.front());
  ArrayRef<IntExpr> extents = kernel.shapeOf(kernel.inputs[read.input]);
  for (auto [index, extent] : llvm::zip_equal(indices, extents)) {
    if (extent.isConstant(1)) {
      read.dims.push_back(-1);
      continue;
    }
    auto found = llvm::find_if(places, [&, index = index](const Index &place) {
      return !place.value && place.text == index.text;
    });
    int dim = int(found - places.begin());
    if (found == places.end() || shape[dim] != extent ||
        llvm::is_contained(read.dims, dim))
      return std::nullopt;
    read.dims.push_back(dim);
  }
  return read;
}

SmallVector<Read> findReads(const Kernel &kernel, const EmitOptions &options,
                            bool &areAll) {
  KernelPrinter trial(kernel, options, "");
  trial.printer.isTrial = true;
  ArrayRef<IntExpr> shape = kernel.shapeOf(kernel.outputs.front());
  Indices places;
  for (auto [d, extent] : llvm::enumerate(shape))
    places.push_back(extent.isConstant(1) ? Index(0)
                                          : Index("d" + std::to_string(d)));
  SmallVector<Read> reads;
  areAll = true;
  trial.printer.onLoad = [&](const View &view, ArrayRef<Index> indices) {
    std::optional<Read> read = readAt(kernel, view, indices, places);
    areAll &= read.has_value();
    if (read && !llvm::is_contained(reads, *read))
      reads.push_back(*read);
    return std::string();
  };
  for (Value output : kernel.outputs)
    trial.printer.element(output, places);
  areAll &= !trial.printer.failed;
  return trial.printer.failed ? SmallVector<Read>() : reads;
}

IntExpr product(const Kernel &kernel, ArrayRef<int> dims) {
  ArrayRef<IntExpr> shape = kernel.shapeOf(kernel.outputs.front());
  IntExpr all = IntExpr::constant(kernel.context(), 1);
  for (int d : dims)
    all = all * shape[d];
  return all;
}

} // namespace mlc::cuda
