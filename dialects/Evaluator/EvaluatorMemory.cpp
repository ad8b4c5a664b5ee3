//===- EvaluatorMemory.cpp - Lanes from and to tensors --------------------===//

#include "dialects/Evaluator/EvaluatorKernels.h"

using namespace mlir;

namespace mlc::evaluator {

Rep repOf(Type type, EvalDomain domain) {
  if (!isa<FloatType>(type))
    return Rep::I64;
  switch (domain) {
  case EvalDomain::Native:
    return type.isF64() ? Rep::F64 : Rep::F32;
  case EvalDomain::Float64:
    return Rep::F64;
  case EvalDomain::Interval:
    return Rep::Interval;
  case EvalDomain::Modular:
    return Rep::Modular;
  case EvalDomain::Rational:
    return Rep::Rational;
  case EvalDomain::Guided:
    return Rep::Guided;
  }
  llvm_unreachable("unknown domain");
}

Fit fitOf(Type type, EvalDomain domain) {
  if (type.isF16() || type.isBF16())
    return domain != EvalDomain::Native ? Fit::None
           : type.isF16()               ? Fit::Half
                                        : Fit::BFloat;
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer)
    return Fit::None;
  bool isUnsigned = integer.isUnsigned();
  switch (integer.getWidth()) {
  case 1:
    return Fit::Bool;
  case 8:
    return isUnsigned ? Fit::U8 : Fit::S8;
  case 16:
    return isUnsigned ? Fit::U16 : Fit::S16;
  case 32:
    return isUnsigned ? Fit::U32 : Fit::S32;
  default:
    return isUnsigned ? Fit::U64 : Fit::None;
  }
}

Rep repOf(ElementStorage storage) {
  switch (storage) {
  case ElementStorage::F16:
  case ElementStorage::BF16:
  case ElementStorage::F32:
    return Rep::F32;
  case ElementStorage::F64:
    return Rep::F64;
  case ElementStorage::Interval:
    return Rep::Interval;
  case ElementStorage::Modular:
    return Rep::Modular;
  case ElementStorage::Rational:
    return Rep::Rational;
  case ElementStorage::Guided:
    return Rep::Guided;
  default:
    return Rep::I64;
  }
}

namespace {

template <typename Stored, typename Lane, typename F>
void loadAs(const void *memory, Addressing at, void *out, int64_t lanes,
            F convert) {
  const Stored *from = static_cast<const Stored *>(memory) + at.base;
  Lane *to = static_cast<Lane *>(out);
  if (at.offsets)
    for (int64_t j = 0; j < lanes; ++j)
      to[j] = convert(from[at.offsets[j]]);
  else if (at.stride == 1)
    for (int64_t j = 0; j < lanes; ++j)
      to[j] = convert(from[j]);
  else if (at.stride == 0)
    std::fill_n(to, lanes, Lane(convert(from[0])));
  else
    for (int64_t j = 0; j < lanes; ++j)
      to[j] = convert(from[j * at.stride]);
}

template <typename Stored, typename Lane = Stored>
void load(const void *memory, Addressing at, void *out, int64_t lanes) {
  loadAs<Stored, Lane>(memory, at, out, lanes,
                       [](Stored x) { return static_cast<Lane>(x); });
}

template <typename Lane, typename Stored, typename F>
void storeAs(const void *in, Addressing at, void *memory, int64_t lanes,
             F convert) {
  const Lane *from = static_cast<const Lane *>(in);
  Stored *to = static_cast<Stored *>(memory) + at.base;
  if (at.offsets)
    for (int64_t j = 0; j < lanes; ++j)
      to[at.offsets[j]] = convert(from[j]);
  else if (at.stride == 1)
    for (int64_t j = 0; j < lanes; ++j)
      to[j] = convert(from[j]);
  else
    for (int64_t j = 0; j < lanes; ++j)
      to[j * at.stride] = convert(from[j]);
}

template <typename Stored, typename Lane = Stored>
void store(const void *in, Addressing at, void *memory, int64_t lanes) {
  storeAs<Lane, Stored>(in, at, memory, lanes,
                        [](Lane x) { return static_cast<Stored>(x); });
}

} // namespace

void loadLanes(ElementStorage storage, const void *memory, Addressing at,
               void *out, int64_t lanes) {
  switch (storage) {
  case ElementStorage::Bool:
    return loadAs<uint8_t, int64_t>(memory, at, out, lanes,
                                    [](uint8_t x) { return int64_t(x != 0); });
  case ElementStorage::I8:
    return load<int8_t, int64_t>(memory, at, out, lanes);
  case ElementStorage::U8:
    return load<uint8_t, int64_t>(memory, at, out, lanes);
  case ElementStorage::I16:
    return load<int16_t, int64_t>(memory, at, out, lanes);
  case ElementStorage::U16:
    return load<uint16_t, int64_t>(memory, at, out, lanes);
  case ElementStorage::I32:
    return load<int32_t, int64_t>(memory, at, out, lanes);
  case ElementStorage::U32:
    return load<uint32_t, int64_t>(memory, at, out, lanes);
  case ElementStorage::I64:
  case ElementStorage::U64:
    return load<int64_t>(memory, at, out, lanes);
  case ElementStorage::F16:
    return loadAs<uint16_t, float>(memory, at, out, lanes, halfValue);
  case ElementStorage::BF16:
    return loadAs<uint16_t, float>(memory, at, out, lanes, bfloatValue);
  case ElementStorage::F32:
    return load<float>(memory, at, out, lanes);
  case ElementStorage::F64:
    return load<double>(memory, at, out, lanes);
  case ElementStorage::Interval:
    return load<Interval>(memory, at, out, lanes);
  case ElementStorage::Modular:
    return load<Residue>(memory, at, out, lanes);
  case ElementStorage::Rational:
    return load<Rational>(memory, at, out, lanes);
  case ElementStorage::Guided:
    return load<Guided>(memory, at, out, lanes);
  }
}

void storeLanes(ElementStorage storage, const void *in, Addressing at,
                void *memory, int64_t lanes) {
  switch (storage) {
  case ElementStorage::Bool:
  case ElementStorage::I8:
  case ElementStorage::U8:
    return store<int8_t, int64_t>(in, at, memory, lanes);
  case ElementStorage::I16:
  case ElementStorage::U16:
    return store<int16_t, int64_t>(in, at, memory, lanes);
  case ElementStorage::I32:
  case ElementStorage::U32:
    return store<int32_t, int64_t>(in, at, memory, lanes);
  case ElementStorage::I64:
  case ElementStorage::U64:
    return store<int64_t>(in, at, memory, lanes);
  case ElementStorage::F16:
    return storeAs<float, uint16_t>(in, at, memory, lanes, halfBits);
  case ElementStorage::BF16:
    return storeAs<float, uint16_t>(in, at, memory, lanes, bfloatBits);
  case ElementStorage::F32:
    return store<float>(in, at, memory, lanes);
  case ElementStorage::F64:
    return store<double>(in, at, memory, lanes);
  case ElementStorage::Interval:
    return store<Interval>(in, at, memory, lanes);
  case ElementStorage::Modular:
    return store<Residue>(in, at, memory, lanes);
  case ElementStorage::Rational:
    return store<Rational>(in, at, memory, lanes);
  case ElementStorage::Guided:
    return store<Guided>(in, at, memory, lanes);
  }
}

} // namespace mlc::evaluator
