//===- ProgramTypes.cpp - Element types of the runtime --------------------===//

#include "passes/Program.h"

using namespace mlir;

namespace rt = mlc::runtime;

namespace mlc {

std::optional<rt::DType> getDType(Type element) {
  if (element.isF32())
    return rt::DType::F32;
  if (element.isF16())
    return rt::DType::F16;
  if (element.isBF16())
    return rt::DType::BF16;
  if (element.isF64())
    return rt::DType::F64;
  auto integer = dyn_cast<IntegerType>(element);
  if (!integer)
    return std::nullopt;
  bool isUnsigned = integer.isUnsigned();
  switch (integer.getWidth()) {
  case 1:
    return rt::DType::Bool;
  case 8:
    return isUnsigned ? rt::DType::U8 : rt::DType::I8;
  case 16:
    return isUnsigned ? rt::DType::U16 : rt::DType::I16;
  case 32:
    return isUnsigned ? rt::DType::U32 : rt::DType::I32;
  case 64:
    return isUnsigned ? rt::DType::U64 : rt::DType::I64;
  default:
    return std::nullopt;
  }
}

} // namespace mlc
