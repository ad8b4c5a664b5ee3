//===- DistinctKernels.cpp - Kernels without duplicates -------------------===//

#include "codegen/kernel/DistinctKernels.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/SHA256.h"

using namespace mlir;

namespace mlc {

/// The text of `function` without its name; equal texts mean equal code.
static std::string content(func::FuncOp function) {
  OwningOpRef<func::FuncOp> copy = function.clone();
  copy->setName("k");
  copy->setPublic();
  for (StringRef kept : {"mlc.origin", "mlc.label"})
    (*copy)->removeAttr(kept);
  std::string text;
  llvm::raw_string_ostream stream(text);
  (*copy)->print(stream, OpPrintingFlags().useLocalScope());
  return text;
}

static std::string symbolFor(StringRef content) {
  auto hash = llvm::SHA256::hash(
      llvm::ArrayRef(content.bytes_begin(), content.bytes_end()));
  return "mlc_" + llvm::toHex(ArrayRef(hash).take_front(10), true);
}

DistinctKernels::DistinctKernels(ModuleOp module) {
  llvm::StringMap<size_t> unitOf;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (!function->hasAttr("mlc.kernel"))
      continue;
    auto [it, isNew] = unitOf.try_emplace(content(function), units.size());
    if (isNew)
      units.push_back({function, symbolFor(it->getKey())});
    kernels.push_back({function, it->second});
  }
}

} // namespace mlc
