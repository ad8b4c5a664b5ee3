//===- Npy.cpp - numpy's array files for the evaluator --------------------===//

#include "tools/mlc-eval/Npy.h"
#include "runtime/Npy.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;

namespace mlc {

namespace {

/// The array type of a storage; none for fractions.
std::optional<runtime::DType> dtypeOf(ElementStorage storage) {
  using runtime::DType;
  switch (storage) {
  case ElementStorage::Bool:
    return DType::Bool;
  case ElementStorage::I8:
    return DType::I8;
  case ElementStorage::I16:
    return DType::I16;
  case ElementStorage::I32:
    return DType::I32;
  case ElementStorage::I64:
    return DType::I64;
  case ElementStorage::U8:
    return DType::U8;
  case ElementStorage::U16:
    return DType::U16;
  case ElementStorage::U32:
    return DType::U32;
  case ElementStorage::U64:
  case ElementStorage::Modular:
    return DType::U64;
  case ElementStorage::F16:
    return DType::F16;
  case ElementStorage::BF16:
    return DType::BF16;
  case ElementStorage::F32:
    return DType::F32;
  case ElementStorage::F64:
  case ElementStorage::Interval:
    return DType::F64;
  case ElementStorage::Rational:
  case ElementStorage::Guided:
    return std::nullopt;
  }
  llvm_unreachable("unknown storage");
}

} // namespace

Expected<EvalTensor> readNpy(StringRef path, Type elementType) {
  runtime::NpyArray array;
  runtime::Status status = runtime::readNpy(path.str(), array);
  if (!status.ok())
    return evalError(EvalFailure::Input, status.message);
  Expected<EvalTensor> tensor =
      EvalTensor::allocate(array.dims, elementType, EvalDomain::Native);
  if (!tensor)
    return tensor.takeError();
  std::optional<runtime::DType> expected = dtypeOf(tensor->getStorage());
  if (array.type != expected)
    return evalError(EvalFailure::Input,
                     path + ": holds " + runtime::name(array.type) +
                         ", expected " + runtime::name(*expected));
  memcpy(tensor->getMutableData(), array.data.data(), tensor->getNumBytes());
  return tensor;
}

Error writeNpy(StringRef path, const EvalTensor &tensor) {
  std::optional<runtime::DType> type = dtypeOf(tensor.getStorage());
  if (!type)
    return evalError(EvalFailure::Unsupported,
                     "fractions have no .npy format - use --print");
  Expected<EvalTensor> full = tensor.expanded();
  if (!full)
    return full.takeError();
  std::vector<int64_t> dims(full->getDims().begin(), full->getDims().end());
  if (full->getStorage() == ElementStorage::Interval)
    dims.push_back(2);
  std::error_code failure;
  llvm::raw_fd_ostream os(path, failure);
  if (failure)
    return evalError(EvalFailure::Input, path + ": " + failure.message());
  os << runtime::npyHeader(*type, dims)
     << StringRef(static_cast<const char *>(full->getData()),
                  full->getNumBytes());
  os.close();
  if (os.has_error())
    return evalError(EvalFailure::Input, path + ": " + os.error().message());
  return Error::success();
}

} // namespace mlc
