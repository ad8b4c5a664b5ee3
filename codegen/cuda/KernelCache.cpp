//===- KernelCache.cpp - Compiled kernels on disk -------------------------===//

#include "codegen/cuda/KernelCache.h"
#include "runtime/Blake3.h"
#include "runtime/CodeBundle.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>
#include <cstring>

namespace mlc::cuda {

/// Entries begin with a hash of the rest, which detects what a full disk or a
/// crash left incomplete.
constexpr size_t hashSize = sizeof(runtime::Digest);

static std::string cacheFolder() {
  llvm::SmallString<128> folder;
  if (const char *given = std::getenv("MLC_CACHE"); given && *given) {
    if (!std::strcmp(given, "off"))
      return "";
    folder = given;
  } else if (const char *cache = std::getenv("XDG_CACHE_HOME");
             cache && *cache) {
    folder = cache;
    llvm::sys::path::append(folder, "mlc");
  } else if (llvm::sys::path::home_directory(folder)) {
    llvm::sys::path::append(folder, ".cache", "mlc");
  } else {
    return "";
  }
  llvm::sys::path::append(folder, "cuda");
  return folder.str().str();
}

KernelCache::KernelCache(llvm::ArrayRef<llvm::StringRef> parts) {
  std::string folder = cacheFolder();
  if (folder.empty())
    return;
  std::string all;
  for (llvm::StringRef part : parts)
    all += std::to_string(part.size()) + ":" + part.str();
  path = folder + "/" + runtime::toHex(runtime::blake3(all.data(), all.size()));
}

bool KernelCache::read(CompiledSource &made) const {
  if (path.empty())
    return false;
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                          /*RequiresNullTerminator=*/false);
  if (!file || (*file)->getBufferSize() < hashSize)
    return false;
  llvm::StringRef bytes = (*file)->getBuffer();
  llvm::StringRef bundle = bytes.drop_front(hashSize);
  runtime::Digest digest = runtime::blake3(bundle.data(), bundle.size());
  std::vector<runtime::BundleEntry> entries;
  if (std::memcmp(digest.data(), bytes.data(), hashSize) != 0 ||
      !runtime::readBundle(bundle.data(), bundle.size(), entries).ok())
    return false;
  for (const runtime::BundleEntry &entry : entries) {
    std::string text(reinterpret_cast<const char *>(entry.data), entry.size);
    if (entry.name == "cubin")
      made.cubin = std::move(text);
    else if (entry.name == "ptx")
      made.ptx = std::move(text);
    else if (entry.name == "log")
      made.log = std::move(text);
  }
  return !made.cubin.empty() && !made.ptx.empty();
}

void KernelCache::write(const CompiledSource &made) const {
  if (path.empty() ||
      llvm::sys::fs::create_directories(llvm::sys::path::parent_path(path)))
    return;
  std::string bundle = runtime::writeBundle(
      {{"cubin", made.cubin}, {"ptx", made.ptx}, {"log", made.log}});
  runtime::Digest digest = runtime::blake3(bundle.data(), bundle.size());
  int descriptor = -1;
  llvm::SmallString<128> temporary;
  if (llvm::sys::fs::createUniqueFile(path + "-%%%%%%%%", descriptor,
                                      temporary))
    return;
  llvm::raw_fd_ostream os(descriptor, /*shouldClose=*/true);
  os.write(reinterpret_cast<const char *>(digest.data()), hashSize);
  os << bundle;
  os.close();
  bool isWhole = !os.has_error();
  os.clear_error();
  if (!isWhole || llvm::sys::fs::rename(temporary, path))
    llvm::sys::fs::remove(temporary);
}

} // namespace mlc::cuda
