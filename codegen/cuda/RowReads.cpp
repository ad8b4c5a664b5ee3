//===- RowReads.cpp - How rows are read -----------------------------------===//

#include "codegen/cuda/Rows.h"

using namespace mlir;

namespace mlc::cuda {

bool RowRead::dependsOnRow() const {
  return llvm::any_of(
      places, [](const Place &place) { return place.kind == Place::Shared; });
}

std::optional<RowRead> RowPrinter::match(const View &view,
                                         ArrayRef<Index> indices) const {
  RowRead read{0, {}};
  StringRef pointer = view.pointer;
  if (!pointer.consume_front("in") || pointer.getAsInteger(10, read.input))
    return std::nullopt;
  size_t next = 0;
  for (auto [index, extent] :
       llvm::zip_equal(indices, kernel.shapeOf(kernel.inputs[read.input]))) {
    auto isThis = [&, index = index](const Index &other) {
      return !other.value && other.text == index.text;
    };
    if (next < places.size() && isThis(places[next])) {
      if (extent != plan.extents[next])
        return std::nullopt;
      read.places.push_back({RowRead::Place::Row, int64_t(next++)});
      continue;
    }
    // Within a row, nothing else may move.
    if (next > 0 && !extent.isConstant(1))
      return std::nullopt;
    auto found = llvm::find_if(shared, isThis);
    if (index.value)
      read.places.push_back({RowRead::Place::Literal, *index.value});
    else if (found != shared.end())
      read.places.push_back({RowRead::Place::Shared, found - shared.begin()});
    else
      return std::nullopt;
  }
  if (places.empty() || next != places.size())
    return std::nullopt;
  return read;
}

Index RowPrinter::baseOf(const RowRead &read) {
  Index at(0);
  const View &view = printer.views[kernel.inputs[read.input]];
  for (auto [place, stride] : llvm::zip_equal(read.places, view.strides))
    if (place.kind != RowRead::Place::Row)
      at = printer.add(at, printer.mul(place.kind == RowRead::Place::Shared
                                           ? shared[place.number]
                                           : Index(place.number),
                                       stride));
  return at;
}

} // namespace mlc::cuda
