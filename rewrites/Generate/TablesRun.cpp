//===- TablesRun.cpp - Runs index tables ----------------------------------===//

#include "rewrites/Generate/Tables.h"
#include <algorithm>

using llvm::ArrayRef;

namespace mlc::generate {

using Kind = TableInstruction::Kind;

static void runDot(const TableInstruction &i, const Guided *a, const Guided *b,
                   const int32_t *left, Guided *out) {
  const int32_t *right = left + size_t(i.count) * i.points;
  for (uint32_t k = 0; k < i.count; ++k) {
    // Products are below 2^122; sums of the folded ones stay below 2^64.
    Guided sum{0, 0, 0.0};
    for (uint32_t r = 0; r < i.points; ++r, ++left, ++right) {
      if (*left < 0 || *right < 0)
        continue;
      const Guided &x = a[*left], &y = b[*right];
      sum.residue =
          detail::addMod(sum.residue, detail::mulMod(x.residue, y.residue));
      sum.exponent += x.exponent * y.exponent % detail::expOrder;
      sum.guide += x.guide * y.guide;
    }
    sum.exponent %= detail::expOrder;
    out[k] = sum;
  }
}

void TableProgram::run(ArrayRef<const Guided *> inputs, Guided *out,
                       std::vector<Guided> &scratch) const {
  if (scratch.size() < scratchSize)
    scratch.resize(scratchSize);
  auto at = [&](Place place) -> const Guided * {
    if (place.space == Place::Scratch)
      return scratch.data() + place.offset;
    if (place.space == Place::Constants)
      return constants.data() + place.offset;
    return inputs[place.space] + place.offset;
  };
  for (const TableInstruction &i : code) {
    Guided *to = scratch.data() + i.destination;
    const Guided *a = at(i.a);
    const int32_t *entries = tables.data() + i.table;
    switch (i.kind) {
    case Kind::Gather: {
      const Guided *otherwise = at(i.b);
      for (uint32_t k = 0; k < i.count; ++k)
        to[k] = entries[k] < 0 ? otherwise[k] : a[entries[k]];
      break;
    }
    case Kind::Unary:
      applyUnary(static_cast<UnaryFn>(i.function), a, to, i.count);
      break;
    case Kind::Binary:
      applyBinary(static_cast<BinaryFn>(i.function), a, at(i.b), to, i.count);
      break;
    case Kind::Compare:
      applyCompare(static_cast<ComparePredicate>(i.function), a, at(i.b), to,
                   i.count);
      break;
    case Kind::Select: {
      const Guided *then = at(i.b), *otherwise = at(i.c);
      for (uint32_t k = 0; k < i.count; ++k)
        to[k] = std::isnan(a[k].guide) ? undefined()
                : a[k].residue != 0    ? then[k]
                                       : otherwise[k];
      break;
    }
    case Kind::Reduce:
      for (uint32_t k = 0; k < i.count; ++k, a += i.points) {
        Guided sum = a[0];
        for (uint32_t r = 1; r < i.points; ++r)
          sum = combine(static_cast<ReduceKind>(i.function), sum, a[r]);
        to[k] = sum;
      }
      break;
    case Kind::Dot:
      runDot(i, a, at(i.b), entries, to);
      break;
    case Kind::Copy:
      for (uint32_t k = 0; k < i.count; ++k)
        to[entries[k]] = a[k];
      break;
    }
  }
  std::copy_n(at(result), resultCount, out);
}

} // namespace mlc::generate
