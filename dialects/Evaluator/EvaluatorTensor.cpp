//===- EvaluatorTensor.cpp - Concrete tensors for the evaluator -----------===//

#include "dialects/Evaluator/EvaluatorTensor.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/Support/Alignment.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <cstdlib>

using namespace mlir;
using llvm::ArrayRef;
using llvm::Expected;
using llvm::SmallVector;
using llvm::StringRef;

namespace mlc {

char EvalError::ID = 0;

llvm::Error evalError(EvalFailure failure, const llvm::Twine &message) {
  return llvm::make_error<EvalError>(failure, message);
}

StringRef name(EvalDomain domain) {
  static constexpr const char *names[] = {"native",  "float64",  "interval",
                                          "modular", "rational", "guided"};
  return names[static_cast<unsigned>(domain)];
}

std::optional<ElementStorage> storageOf(Type type, EvalDomain domain) {
  if (isa<IndexType>(type))
    return ElementStorage::I64;
  if (auto integer = dyn_cast<IntegerType>(type)) {
    bool isUnsigned = integer.isUnsigned();
    switch (integer.getWidth()) {
    case 1:
      return ElementStorage::Bool;
    case 8:
      return isUnsigned ? ElementStorage::U8 : ElementStorage::I8;
    case 16:
      return isUnsigned ? ElementStorage::U16 : ElementStorage::I16;
    case 32:
      return isUnsigned ? ElementStorage::U32 : ElementStorage::I32;
    case 64:
      return isUnsigned ? ElementStorage::U64 : ElementStorage::I64;
    default:
      return std::nullopt;
    }
  }
  bool isFloat = type.isF16() || type.isBF16() || type.isF32() || type.isF64();
  if (!isFloat)
    return std::nullopt;
  switch (domain) {
  case EvalDomain::Native:
    return type.isF16()    ? ElementStorage::F16
           : type.isBF16() ? ElementStorage::BF16
           : type.isF32()  ? ElementStorage::F32
                           : ElementStorage::F64;
  case EvalDomain::Float64:
    return ElementStorage::F64;
  case EvalDomain::Interval:
    return ElementStorage::Interval;
  case EvalDomain::Modular:
    return ElementStorage::Modular;
  case EvalDomain::Rational:
    return ElementStorage::Rational;
  case EvalDomain::Guided:
    return ElementStorage::Guided;
  }
  llvm_unreachable("unknown domain");
}

unsigned bytesOf(ElementStorage storage) {
  switch (storage) {
  case ElementStorage::Bool:
  case ElementStorage::I8:
  case ElementStorage::U8:
    return 1;
  case ElementStorage::I16:
  case ElementStorage::U16:
  case ElementStorage::F16:
  case ElementStorage::BF16:
    return 2;
  case ElementStorage::I32:
  case ElementStorage::U32:
  case ElementStorage::F32:
    return 4;
  case ElementStorage::I64:
  case ElementStorage::U64:
  case ElementStorage::F64:
  case ElementStorage::Modular:
    return 8;
  case ElementStorage::Interval:
    return sizeof(Interval);
  case ElementStorage::Rational:
    return sizeof(Rational);
  case ElementStorage::Guided:
    return sizeof(Guided);
  }
  llvm_unreachable("unknown storage");
}

std::optional<int64_t> elementCount(ArrayRef<int64_t> dims) {
  int64_t count = 1;
  // A zero makes the product zero, even if other factors overflow.
  if (llvm::is_contained(dims, 0) &&
      llvm::none_of(dims, [](int64_t d) { return d < 0; }))
    return 0;
  for (int64_t dim : dims)
    if (dim < 0 || llvm::MulOverflow(count, dim, count))
      return std::nullopt;
  return count;
}

Expected<EvalTensor> EvalTensor::allocate(ArrayRef<int64_t> dims,
                                          Type elementType, EvalDomain domain,
                                          bool isSplat) {
  std::optional<ElementStorage> storage = storageOf(elementType, domain);
  if (!storage) {
    std::string text;
    llvm::raw_string_ostream(text) << elementType;
    return evalError(EvalFailure::Unsupported,
                     "cannot evaluate elements of type " + text);
  }
  std::optional<int64_t> count = elementCount(dims);
  int64_t bytes;
  if (!count ||
      llvm::MulOverflow(isSplat ? int64_t(1) : *count,
                        int64_t(bytesOf(*storage)), bytes) ||
      bytes > (int64_t(1) << 46))
    return evalError(EvalFailure::Limit, "tensor too large to evaluate");
  EvalTensor tensor;
  tensor.dims.assign(dims.begin(), dims.end());
  tensor.numElements = *count;
  tensor.elementType = elementType;
  tensor.domain = domain;
  tensor.storage = *storage;
  tensor.splat = isSplat;
  void *memory = std::aligned_alloc(64, llvm::alignTo(bytes + 1, 64));
  if (!memory)
    return evalError(EvalFailure::Limit, "out of memory while evaluating");
  tensor.owner = std::shared_ptr<void>(memory, std::free);
  tensor.data = memory;
  return tensor;
}

EvalTensor EvalTensor::withDims(ArrayRef<int64_t> dims) {
  EvalTensor tensor;
  tensor.dims.assign(dims.begin(), dims.end());
  return tensor;
}

namespace {

Expected<EvalTensor> fromBools(DenseElementsAttr attr, EvalTensor tensor) {
  char *out = static_cast<char *>(tensor.getMutableData());
  if (tensor.isSplat()) {
    *out = attr.getSplatValue<bool>();
    return tensor;
  }
  for (bool value : attr.getValues<bool>())
    *out++ = value;
  return tensor;
}

} // namespace

Expected<EvalTensor> EvalTensor::fromAttr(ElementsAttr attr) {
  ShapedType type = attr.getShapedType();
  if (!type.hasStaticShape())
    return evalError(EvalFailure::Input, "constant with a dynamic shape");
  ArrayRef<char> bytes;
  bool isSplat = false;
  auto dense = dyn_cast<DenseElementsAttr>(attr);
  if (dense) {
    isSplat = dense.isSplat();
    bytes = dense.getRawData();
  } else if (auto resource = dyn_cast<DenseResourceElementsAttr>(attr)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    if (!blob)
      return evalError(EvalFailure::Input, "constant without its data");
    bytes = blob->getData();
  } else {
    return evalError(EvalFailure::Unsupported,
                     "constant that is neither dense nor a dense resource");
  }
  bool copies = isSplat || (dense && type.getElementType().isInteger(1));
  Expected<EvalTensor> tensor =
      allocate(copies ? type.getShape() : ArrayRef<int64_t>(),
               type.getElementType(), EvalDomain::Native, isSplat);
  if (!tensor)
    return tensor.takeError();
  if (dense && type.getElementType().isInteger(1))
    return fromBools(dense, std::move(*tensor));
  unsigned size = bytesOf(tensor->storage);
  if (isSplat) {
    memcpy(tensor->getMutableData(), bytes.data(), size);
    return tensor;
  }
  tensor->dims.assign(type.getShape().begin(), type.getShape().end());
  std::optional<int64_t> count = elementCount(type.getShape());
  if (!count || int64_t(bytes.size()) != *count * size)
    return evalError(EvalFailure::Input,
                     "constant's data does not fit its shape");
  tensor->numElements = *count;
  tensor->data = bytes.data();
  tensor->owner.reset();
  return tensor;
}

Expected<ElementsAttr> EvalTensor::toAttr(int64_t resourceBytes) const {
  assert(domain == EvalDomain::Native && "only stored numbers");
  auto type = RankedTensorType::get(dims, elementType);
  const char *bytes = static_cast<const char *>(data);
  if (storage == ElementStorage::Bool &&
      (splat || getNumBytes() <= resourceBytes)) {
    SmallVector<bool> values;
    for (int64_t i = 0, e = splat ? 1 : numElements; i < e; ++i)
      values.push_back(bytes[i] != 0);
    return ElementsAttr(DenseElementsAttr::get(type, ArrayRef<bool>(values)));
  }
  ArrayRef<char> raw(bytes, getNumBytes());
  if (splat || getNumBytes() <= resourceBytes)
    return ElementsAttr(DenseElementsAttr::getFromRawBuffer(type, raw));
  // The blob keeps the storage alive; nothing is copied.
  AsmResourceBlob blob(
      raw, 64, [keep = owner](void *, size_t, size_t) mutable { keep.reset(); },
      /*dataIsMutable=*/false);
  return ElementsAttr(
      DenseResourceElementsAttr::get(type, "folded", std::move(blob)));
}

namespace {

/// splitmix64, so that every platform draws the same numbers.
struct Generator {
  uint64_t state;
  uint64_t next() {
    uint64_t drawn = mix(state);
    state += 0x9e3779b97f4a7c15;
    return drawn;
  }
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  int64_t between(int64_t low, int64_t high) {
    return high <= low ? low : low + int64_t(next() % uint64_t(high - low + 1));
  }
};

void storeInt(void *data, ElementStorage storage, int64_t i, int64_t value) {
  switch (bytesOf(storage)) {
  case 1:
    static_cast<uint8_t *>(data)[i] =
        storage == ElementStorage::Bool ? value != 0 : value;
    return;
  case 2:
    static_cast<uint16_t *>(data)[i] = value;
    return;
  case 4:
    static_cast<uint32_t *>(data)[i] = value;
    return;
  default:
    static_cast<uint64_t *>(data)[i] = value;
  }
}

/// Stores a number that the domain has exactly, or rounds it to its storage.
Undefined storeFloat(void *data, ElementStorage storage, int64_t i, double x) {
  switch (storage) {
  case ElementStorage::F16:
    static_cast<uint16_t *>(data)[i] = halfBits(static_cast<float>(x));
    return Undefined::None;
  case ElementStorage::BF16:
    static_cast<uint16_t *>(data)[i] = bfloatBits(static_cast<float>(x));
    return Undefined::None;
  case ElementStorage::F32:
    static_cast<float *>(data)[i] = static_cast<float>(x);
    return Undefined::None;
  case ElementStorage::F64:
    static_cast<double *>(data)[i] = x;
    return Undefined::None;
  case ElementStorage::Interval:
    return fromDouble(x, static_cast<Interval *>(data)[i]);
  case ElementStorage::Modular:
    return fromDouble(x, static_cast<Residue *>(data)[i]);
  case ElementStorage::Rational:
    return fromDouble(x, static_cast<Rational *>(data)[i]);
  case ElementStorage::Guided:
    return fromDouble(x, static_cast<Guided *>(data)[i]);
  default:
    return Undefined::NoMeaning;
  }
}

bool isFloatStorage(ElementStorage storage) {
  return storage >= ElementStorage::F16;
}

} // namespace

Expected<EvalTensor> EvalTensor::random(ArrayRef<int64_t> dims,
                                        Type elementType, EvalDomain domain,
                                        uint64_t seed, double low,
                                        double high) {
  Expected<EvalTensor> tensor = allocate(dims, elementType, domain);
  if (!tensor)
    return tensor.takeError();
  Generator generator{seed * 0x2545f4914f6cdd1d + 0x1234567};
  void *data = tensor->getMutableData();
  for (int64_t i = 0; i < tensor->numElements; ++i) {
    if (!isFloatStorage(tensor->storage)) {
      bool isBool = tensor->storage == ElementStorage::Bool;
      storeInt(data, tensor->storage, i,
               isBool ? generator.next() & 1
                      : generator.between(static_cast<int64_t>(low),
                                          static_cast<int64_t>(high)));
    } else if (tensor->storage == ElementStorage::Modular) {
      static_cast<uint64_t *>(data)[i] = generator.next() % Residue::prime;
    } else {
      double x = low + (high - low) * generator.unit();
      if (tensor->storage == ElementStorage::Rational)
        x = std::round(x * 8) / 8;
      (void)storeFloat(data, tensor->storage, i, x);
    }
  }
  return tensor;
}

Expected<EvalTensor> EvalTensor::toDomain(EvalDomain to) const {
  if (to == domain)
    return *this;
  assert(domain == EvalDomain::Native && "converts from stored numbers");
  std::optional<ElementStorage> target = storageOf(elementType, to);
  if (target == storage) {
    EvalTensor same = *this;
    same.domain = to;
    return same;
  }
  Expected<EvalTensor> result = allocate(dims, elementType, to, splat);
  if (!result)
    return result.takeError();
  for (int64_t i = 0, e = splat ? 1 : numElements; i < e; ++i)
    if (Undefined u = storeFloat(result->getMutableData(), result->storage, i,
                                 getDouble(i));
        u != Undefined::None)
      return evalError(EvalFailure::Undefined,
                       "element " + llvm::Twine(i) + ": " + describe(u));
  return result;
}

double EvalTensor::getDouble(int64_t i) const {
  const char *at = elementAddress(i);
  switch (storage) {
  case ElementStorage::F16:
    return halfValue(*reinterpret_cast<const uint16_t *>(at));
  case ElementStorage::BF16:
    return bfloatValue(*reinterpret_cast<const uint16_t *>(at));
  case ElementStorage::F32:
    return *reinterpret_cast<const float *>(at);
  case ElementStorage::F64:
    return *reinterpret_cast<const double *>(at);
  case ElementStorage::Interval: {
    Interval x = *reinterpret_cast<const Interval *>(at);
    return x.low == x.high ? x.low : x.low + (x.high - x.low) / 2;
  }
  case ElementStorage::Modular:
    return static_cast<double>(*reinterpret_cast<const uint64_t *>(at));
  case ElementStorage::Rational:
    return toDouble(*reinterpret_cast<const Rational *>(at));
  case ElementStorage::Guided:
    return reinterpret_cast<const Guided *>(at)->guide;
  case ElementStorage::U64:
    return static_cast<double>(static_cast<uint64_t>(getInt(i)));
  default:
    return static_cast<double>(getInt(i));
  }
}

int64_t EvalTensor::getInt(int64_t i) const {
  const char *at = elementAddress(i);
  switch (storage) {
  case ElementStorage::Bool:
    return *at != 0;
  case ElementStorage::I8:
    return *reinterpret_cast<const int8_t *>(at);
  case ElementStorage::U8:
    return *reinterpret_cast<const uint8_t *>(at);
  case ElementStorage::I16:
    return *reinterpret_cast<const int16_t *>(at);
  case ElementStorage::U16:
    return *reinterpret_cast<const uint16_t *>(at);
  case ElementStorage::I32:
    return *reinterpret_cast<const int32_t *>(at);
  case ElementStorage::U32:
    return *reinterpret_cast<const uint32_t *>(at);
  case ElementStorage::I64:
  case ElementStorage::U64:
    return *reinterpret_cast<const int64_t *>(at);
  default:
    llvm_unreachable("not an integer tensor");
  }
}

Interval EvalTensor::getInterval(int64_t i) const {
  if (storage == ElementStorage::Interval)
    return *reinterpret_cast<const Interval *>(elementAddress(i));
  double x = getDouble(i);
  return {x, x};
}

bool EvalTensor::sameElement(const EvalTensor &other, int64_t i) const {
  assert(storage == other.storage && "tensors of one type and domain");
  if (storage == ElementStorage::Interval) {
    Interval a = getInterval(i), b = other.getInterval(i);
    return a.low <= b.high && b.low <= a.high;
  }
  if (storage >= ElementStorage::F16 && storage <= ElementStorage::F64 &&
      std::isnan(getDouble(i)) && std::isnan(other.getDouble(i)))
    return true;
  return memcmp(elementAddress(i), other.elementAddress(i), bytesOf(storage)) ==
         0;
}

namespace {
std::string decimal(__int128 x) {
  bool negative = x < 0;
  unsigned __int128 rest = negative ? -static_cast<unsigned __int128>(x) : x;
  std::string digits;
  do {
    digits.insert(digits.begin(), char('0' + int(rest % 10)));
    rest /= 10;
  } while (rest);
  return negative ? "-" + digits : digits;
}
} // namespace

void EvalTensor::printElement(llvm::raw_ostream &os, int64_t i) const {
  switch (storage) {
  case ElementStorage::Bool:
    os << (getInt(i) ? "true" : "false");
    return;
  case ElementStorage::F16:
  case ElementStorage::BF16:
  case ElementStorage::F32:
    os << llvm::format("%.9g", getDouble(i));
    return;
  case ElementStorage::F64:
    os << llvm::format("%.17g", getDouble(i));
    return;
  case ElementStorage::Interval: {
    Interval x = getInterval(i);
    if (x.low == x.high)
      os << llvm::format("%.17g", x.low);
    else
      os << llvm::format("[%.17g, %.17g]", x.low, x.high);
    return;
  }
  case ElementStorage::Guided: // the residue comes first
  case ElementStorage::Modular:
    os << *reinterpret_cast<const uint64_t *>(elementAddress(i));
    return;
  case ElementStorage::Rational: {
    Rational x = *reinterpret_cast<const Rational *>(elementAddress(i));
    os << decimal(x.numerator);
    if (x.denominator != 1)
      os << '/' << decimal(x.denominator);
    return;
  }
  case ElementStorage::U64:
    os << static_cast<uint64_t>(getInt(i));
    return;
  default:
    os << getInt(i);
  }
}

EvalTensor EvalTensor::reshaped(ArrayRef<int64_t> newDims) const {
  assert(elementCount(newDims) == numElements && "as many elements");
  EvalTensor result = *this;
  result.dims.assign(newDims.begin(), newDims.end());
  return result;
}

Expected<EvalTensor> EvalTensor::expanded() const {
  if (!splat)
    return *this;
  Expected<EvalTensor> result = allocate(dims, elementType, domain);
  if (!result)
    return result.takeError();
  unsigned size = bytesOf(storage);
  char *out = static_cast<char *>(result->getMutableData());
  for (int64_t i = 0; i < numElements; ++i)
    memcpy(out + i * size, data, size);
  return result;
}

} // namespace mlc
