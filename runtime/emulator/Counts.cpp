//===- Counts.cpp - Figures of a kernel -----------------------------------===//

#include "runtime/emulator/Counts.h"

namespace mlc::emulator {

void Counts::add(const Counts &more) {
  for (size_t kind = 0; kind < kindCount; ++kind) {
    Traffic &to = traffic[kind];
    const Traffic &from = more.traffic[kind];
    to.requests += from.requests;
    to.lanes += from.lanes;
    to.bytes += from.bytes;
    to.units += from.units;
    to.ideal += from.ideal;
    for (size_t i = 0; i < to.widths.size(); ++i)
      to.widths[i] += from.widths[i];
  }
  barriers += more.barriers;
  warpBarriers += more.warpBarriers;
  shuffles += more.shuffles;
  products += more.products;
  multiplyAdds += more.multiplyAdds;
  copies += more.copies;
  copiedBytes += more.copiedBytes;
  atomics += more.atomics;
}

Counts KernelCounts::total() const {
  Counts sum;
  for (const auto &[place, counts] : places)
    sum.add(counts);
  return sum;
}

} // namespace mlc::emulator
