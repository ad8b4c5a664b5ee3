//===- TensorData.cpp - Types and constants of ONNX -----------------------===//

#include "passes/Import/TensorData.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "runtime/mlc_runtime.h"
#include "llvm/Support/MathExtras.h"
#include <cstring>

using namespace mlir;
using llvm::ArrayRef;
using llvm::Expected;
using llvm::SmallVector;
using llvm::StringRef;
using onnx::TensorProto;

namespace mlc {

static_assert(maxRank == MLC_MAX_RANK);

Dims dimsOf(Value value) {
  if (!value)
    return {};
  return getDims(cast<RankedTensorType>(value.getType())).value_or(Dims());
}

Type getElementType(MLIRContext *context, int32_t onnxType) {
  Builder b(context);
  switch (onnxType) {
  case TensorProto::FLOAT:
    return b.getF32Type();
  case TensorProto::DOUBLE:
    return b.getF64Type();
  case TensorProto::FLOAT16:
    return b.getF16Type();
  case TensorProto::BFLOAT16:
    return b.getBF16Type();
  case TensorProto::BOOL:
    return b.getI1Type();
  case TensorProto::INT8:
    return b.getIntegerType(8);
  case TensorProto::INT16:
    return b.getIntegerType(16);
  case TensorProto::INT32:
    return b.getIntegerType(32);
  case TensorProto::INT64:
    return b.getIntegerType(64);
  case TensorProto::UINT8:
    return b.getIntegerType(8, /*isSigned=*/false);
  case TensorProto::UINT16:
    return b.getIntegerType(16, /*isSigned=*/false);
  case TensorProto::UINT32:
    return b.getIntegerType(32, /*isSigned=*/false);
  case TensorProto::UINT64:
    return b.getIntegerType(64, /*isSigned=*/false);
  default:
    return {};
  }
}

int32_t getOnnxType(Type type) {
  for (int32_t t = TensorProto::FLOAT; t <= TensorProto::BFLOAT16; ++t)
    if (getElementType(type.getContext(), t) == type)
      return t;
  return 0;
}

std::string describeOnnxType(int32_t onnxType) {
  if (onnx::TensorProto_DataType_IsValid(onnxType))
    return onnx::TensorProto_DataType_Name(
        static_cast<onnx::TensorProto_DataType>(onnxType));
  return "type number " + std::to_string(onnxType);
}

unsigned getRawElementSize(Type type) {
  return llvm::divideCeil(type.getIntOrFloatBitWidth(), 8);
}

std::optional<int64_t> countElements(ArrayRef<int64_t> dims) {
  int64_t count = 1;
  bool zero = false;
  for (int64_t dim : dims) {
    if (dim < 0)
      return std::nullopt;
    zero |= dim == 0;
    if (dim != 0 &&
        (llvm::MulOverflow(count, dim, count) || count > maxElements))
      return std::nullopt;
  }
  return zero ? 0 : count;
}

/// A large constant: a resource that references the bytes or a copy of them.
static ElementsAttr makeResource(RankedTensorType type, StringRef bytes,
                                 std::shared_ptr<const void> owner,
                                 StringRef name) {
  unsigned align = getRawElementSize(type.getElementType());
  bool aligned = reinterpret_cast<uintptr_t>(bytes.data()) % align == 0;
  if (owner && aligned) {
    AsmResourceBlob blob(
        ArrayRef<char>(bytes.data(), bytes.size()), align,
        [owner](void *, size_t, size_t) {}, /*dataIsMutable=*/false);
    return DenseResourceElementsAttr::get(type, name, std::move(blob));
  }
  AsmResourceBlob blob = HeapAsmResourceBlob::allocateAndCopyWithAlign(
      ArrayRef<char>(bytes.data(), bytes.size()), 64, /*dataIsMutable=*/false);
  return DenseResourceElementsAttr::get(type, name, std::move(blob));
}

ElementsAttr makeElements(RankedTensorType type, StringRef bytes,
                          std::shared_ptr<const void> owner, StringRef name) {
  Type elementType = type.getElementType();
  size_t size = getRawElementSize(elementType);
  bool isSplat =
      bytes.size() >= size &&
      std::memcmp(bytes.data(), bytes.data() + size, bytes.size() - size) == 0;
  if (elementType.isInteger(1)) {
    SmallVector<bool> values;
    for (char byte : isSplat ? bytes.take_front(1) : bytes)
      values.push_back(byte != 0);
    return DenseElementsAttr::get(type, values);
  }
  if (isSplat || bytes.size() <= 256) {
    StringRef data = isSplat ? bytes.take_front(size) : bytes;
    return DenseElementsAttr::getFromRawBuffer(
        type, ArrayRef<char>(data.data(), data.size()));
  }
  return makeResource(type, bytes, std::move(owner), name);
}

/// Writes a typed field of TensorProto as bytes of `To`.
template <typename To, typename Field>
static void appendAs(const Field &field, std::string &bytes) {
  bytes.reserve(field.size() * sizeof(To));
  for (auto value : field) {
    To narrow = static_cast<To>(value);
    bytes.append(reinterpret_cast<const char *>(&narrow), sizeof(To));
  }
}

/// The typed fields in raw format.
static std::string typedData(const TensorProto &t) {
  std::string bytes;
  switch (t.data_type()) {
  case TensorProto::FLOAT:
    appendAs<float>(t.float_data(), bytes);
    break;
  case TensorProto::DOUBLE:
    appendAs<double>(t.double_data(), bytes);
    break;
  case TensorProto::INT64:
    appendAs<int64_t>(t.int64_data(), bytes);
    break;
  case TensorProto::UINT64:
    appendAs<uint64_t>(t.uint64_data(), bytes);
    break;
  case TensorProto::UINT32:
    appendAs<uint32_t>(t.uint64_data(), bytes);
    break;
  case TensorProto::INT32:
    appendAs<int32_t>(t.int32_data(), bytes);
    break;
  case TensorProto::INT16:
  case TensorProto::UINT16:
  case TensorProto::FLOAT16:
  case TensorProto::BFLOAT16:
    appendAs<uint16_t>(t.int32_data(), bytes);
    break;
  case TensorProto::BOOL:
  case TensorProto::INT8:
  case TensorProto::UINT8:
    appendAs<uint8_t>(t.int32_data(), bytes);
    break;
  default:
    break;
  }
  return bytes;
}

/// A tensor of one number: not 0 or 1, with which operators fold.
static ElementsAttr someOfAll(RankedTensorType type, FloatType element) {
  llvm::APFloat some(0.5);
  bool isInexact;
  some.convert(element.getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven,
               &isInexact);
  return DenseElementsAttr::get(type, some);
}

Expected<ElementsAttr> readTensor(MLIRContext *context,
                                  const TensorProto &tensor, ModelFile &file,
                                  StringRef name) {
  auto fail = [](const llvm::Twine &text) {
    return llvm::createStringError(llvm::inconvertibleErrorCode(), text);
  };
  Type elementType = getElementType(context, tensor.data_type());
  if (!elementType)
    return fail("has elements of " + describeOnnxType(tensor.data_type()) +
                ", which mlc does not support");
  SmallVector<int64_t> dims(tensor.dims().begin(), tensor.dims().end());
  if (int64_t(dims.size()) > maxRank)
    return fail("has more than " + llvm::Twine(maxRank) + " dims");
  std::optional<int64_t> count = countElements(dims);
  if (!count)
    return fail("has dims that are negative or too large");
  if (tensor.has_segment())
    return fail("is stored in segments, which ONNX does not define any more");
  uint64_t size = uint64_t(*count) * getRawElementSize(elementType);
  auto type = RankedTensorType::get(dims, elementType);

  if (auto real = dyn_cast<FloatType>(elementType)) {
    Expected<bool> hasShapeAlone = file.hasShapeAlone(tensor, size);
    if (!hasShapeAlone)
      return hasShapeAlone.takeError();
    if (*hasShapeAlone)
      return someOfAll(type, real);
  }
  if (tensor.data_location() == TensorProto::EXTERNAL) {
    Expected<ModelFile::Bytes> bytes = file.externalData(tensor, size);
    if (!bytes)
      return bytes.takeError();
    return makeElements(type, bytes->data, bytes->owner, name);
  }
  std::string converted;
  StringRef bytes(tensor.raw_data());
  bool isRaw = tensor.has_raw_data();
  if (!isRaw) {
    converted = typedData(tensor);
    bytes = converted;
  }
  if (bytes.size() != size)
    return fail("needs " + llvm::Twine(size) + " bytes by its type, but has " +
                llvm::Twine(bytes.size()) + "; the file is damaged");
  return makeElements(type, bytes, isRaw ? file.keepAlive() : nullptr, name);
}

std::optional<std::vector<char>> getRawBytes(ElementsAttr value) {
  int64_t count = value.getNumElements();
  Type elementType = value.getElementType();
  std::vector<char> bytes;
  if (elementType.isInteger(1)) {
    if (auto dense = dyn_cast<DenseElementsAttr>(value)) {
      for (bool bit : dense.getValues<bool>())
        bytes.push_back(bit);
      return bytes;
    }
  }
  ArrayRef<char> data;
  if (auto dense = dyn_cast<DenseElementsAttr>(value)) {
    data = dense.getRawData();
  } else if (auto resource = dyn_cast<DenseResourceElementsAttr>(value)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    if (!blob)
      return std::nullopt;
    data = blob->getData();
  } else {
    return std::nullopt;
  }
  size_t size = getRawElementSize(elementType);
  if (value.isSplat() && data.size() == size) {
    bytes.reserve(count * size);
    for (int64_t i = 0; i < count; ++i)
      bytes.insert(bytes.end(), data.begin(), data.end());
    return bytes;
  }
  if (data.size() != size * count)
    return std::nullopt;
  return std::vector<char>(data.begin(), data.end());
}

ElementsAttr reshapeElements(ElementsAttr value, ArrayRef<int64_t> dims) {
  auto type = RankedTensorType::get(dims, value.getElementType());
  if (auto dense = dyn_cast<DenseElementsAttr>(value))
    return dense.reshape(type);
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(value))
    return DenseResourceElementsAttr::get(type, resource.getRawHandle());
  return {};
}

} // namespace mlc
