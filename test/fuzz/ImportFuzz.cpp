//===- ImportFuzz.cpp - Arbitrary bytes as an ONNX model ------------------===//
//
// Importing any bytes ends in an error or in a module; a module is written as
// ONNX again, or refused with a reason.
//
//===----------------------------------------------------------------------===//

#include "passes/Export/Export.h"
#include "passes/Import/Import.h"

#include <cstdint>
#include <cstdlib>

/// LLVM's libraries are built without the sanitizer, while its headers poison
/// the memory of their allocators in our objects.
extern "C" const char *__asan_default_options() {
  return "allow_user_poisoning=0:detect_container_overflow=0";
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::StringRef bytes(reinterpret_cast<const char *>(data), size);
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  mlc::ImportReport report;
  auto module = mlc::importOnnxBytes(bytes, "fuzz.onnx", /*folder=*/"", {},
                                     &context, report);
  if (bool(module) != report.ok() || report.message.empty() != report.ok())
    abort();
  if (!module)
    return 0;
  llvm::Expected<std::string> written = mlc::exportOnnx(*module);
  if (!written)
    llvm::consumeError(written.takeError());
  return 0;
}
