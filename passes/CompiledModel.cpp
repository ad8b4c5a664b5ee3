//===- CompiledModel.cpp - A model as an artifact in memory ---------------===//

#include "passes/CompiledModel.h"

namespace mlc {

llvm::Error CompiledModel::write(llvm::raw_ostream &os) const {
  std::vector<runtime::CodeImage> all;
  for (const KernelImage &image : images) {
    runtime::CodeImage &entry = all.emplace_back();
    entry.kind = image.kind;
    entry.target = image.target;
    entry.features = image.features;
    entry.data = image.bytes.data();
    entry.size = image.bytes.size();
  }
  return weights.write(os, {manifest, &programs, std::move(all), rebuild});
}

llvm::Error
CompiledModel::writeToMemory(llvm::SmallVectorImpl<char> &out) const {
  out.clear();
  size_t code = 0;
  for (const KernelImage &image : images)
    code += image.bytes.size();
  out.reserve(weights.weightsSize() + code + manifest.size() + (1 << 20));
  llvm::raw_svector_ostream os(out);
  return write(os);
}

} // namespace mlc
