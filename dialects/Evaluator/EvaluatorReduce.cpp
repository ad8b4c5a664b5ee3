//===- EvaluatorReduce.cpp - Combining lanes ------------------------------===//

#include "dialects/Evaluator/EvaluatorKernels.h"
#include "dialects/Evaluator/EvaluatorLanes.h"
#include <limits>

namespace mlc::evaluator {

namespace {

Instruction combination(const Reduction &r) {
  static constexpr BinaryFn functions[] = {BinaryFn::Add, BinaryFn::Mul,
                                           BinaryFn::Max, BinaryFn::Min,
                                           BinaryFn::Or,  BinaryFn::And};
  Instruction i;
  i.code = Code::Binary;
  i.rep = r.rep;
  i.fit = r.fit;
  i.function = static_cast<uint8_t>(functions[static_cast<unsigned>(r.kind)]);
  return i;
}

int64_t extremeInt(Fit fit, bool largest) {
  switch (fit) {
  case Fit::Bool:
    return largest;
  case Fit::S8:
    return largest ? 127 : -128;
  case Fit::S16:
    return largest ? 32767 : -32768;
  case Fit::S32:
    return largest ? std::numeric_limits<int32_t>::max()
                   : std::numeric_limits<int32_t>::min();
  case Fit::U8:
    return largest ? 255 : 0;
  case Fit::U16:
    return largest ? 65535 : 0;
  case Fit::U32:
    return largest ? int64_t(std::numeric_limits<uint32_t>::max()) : 0;
  case Fit::U64:
    return largest ? -1 : 0;
  default:
    return largest ? std::numeric_limits<int64_t>::max()
                   : std::numeric_limits<int64_t>::min();
  }
}

template <typename T, typename F>
void fold(T *accumulator, const T *value, int64_t lanes, F f) {
  T result = *accumulator;
  for (int64_t j = 0; j < lanes; ++j)
    result = f(result, value[j]);
  *accumulator = result;
}

template <typename T>
bool foldFloats(const Reduction &r, T *accumulator, const T *value,
                int64_t lanes) {
  if (r.fit != Fit::None)
    return false;
  switch (r.kind) {
  case ReduceKind::Sum:
    fold(accumulator, value, lanes, [](T x, T y) { return x + y; });
    return true;
  case ReduceKind::Prod:
    fold(accumulator, value, lanes, [](T x, T y) { return x * y; });
    return true;
  case ReduceKind::Max:
    fold(accumulator, value, lanes, larger<T>);
    return true;
  case ReduceKind::Min:
    fold(accumulator, value, lanes, smaller<T>);
    return true;
  default:
    return false;
  }
}

} // namespace

std::optional<int64_t> decidingTruth(const Instruction &i) {
  if (i.code != Code::Binary || i.rep != Rep::I64 || i.fit != Fit::Bool)
    return std::nullopt;
  switch (static_cast<BinaryFn>(i.function)) {
  case BinaryFn::And:
  case BinaryFn::Min:
  case BinaryFn::Mul:
    return 0;
  case BinaryFn::Or:
  case BinaryFn::Max:
    return 1;
  default:
    return std::nullopt;
  }
}

std::optional<int64_t> decidingTruth(const Reduction &r) {
  return decidingTruth(combination(r));
}

void accumulateLanes(const Reduction &r, void *accumulator, const void *value,
                     int64_t lanes, Poison &p) {
  applyBinary(combination(r), accumulator, value, accumulator, lanes, p);
}

void accumulateAll(const Reduction &r, void *accumulator, const void *value,
                   int64_t lanes, Poison &p) {
  if (r.rep == Rep::F32 &&
      foldFloats(r, as<float>(accumulator), as<float>(value), lanes))
    return;
  if (r.rep == Rep::F64 &&
      foldFloats(r, as<double>(accumulator), as<double>(value), lanes))
    return;
  Instruction i = combination(r);
  const char *next = as<char>(value);
  for (int64_t j = 0; j < lanes; ++j, next += bytesOf(r.rep)) {
    Poison one{p.bytes, 1};
    applyBinary(i, accumulator, next, accumulator, 1, one);
    p.any |= one.any;
    if (one.any)
      return;
  }
}

void fillIdentity(const Reduction &r, void *out, int64_t lanes) {
  bool isExtreme = r.kind == ReduceKind::Max || r.kind == ReduceKind::Min;
  Instruction i;
  i.code = Code::Constant;
  i.rep = r.rep;
  i.integer = r.kind == ReduceKind::Prod || r.kind == ReduceKind::All;
  if (r.rep == Rep::I64 && isExtreme)
    i.integer = extremeInt(r.fit, r.kind == ReduceKind::Min);
  i.number = r.kind == ReduceKind::Prod;
  // The modular domain has no order, and reports that when combining.
  if (isExtreme && r.rep != Rep::Modular)
    i.number = (r.kind == ReduceKind::Min ? 1 : -1) *
               std::numeric_limits<double>::infinity();
  uint8_t scratch[chunkLanes];
  Poison none{scratch, lanes};
  fillConstant(i, out, lanes, none);
}

} // namespace mlc::evaluator
