//===- CodeImage.h - The kernels' code for one kind of device ---*- C++ -*-===//
//
// An artifact holds its kernels as images, each for one kind of device and one
// architecture of it. A device takes the first that it can run (Device.h) and
// skips images of unknown kinds. CodeBundle.h describes bundles.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_CODEIMAGE_H
#define MLC_RUNTIME_CODEIMAGE_H

#include "runtime/Blake3.h"
#include "runtime/Kernel.h"
#include "runtime/Status.h"

#include <string>
#include <vector>

namespace mlc::runtime {

/// The numbers are part of the file format. A file may have unknown ones.
enum class ImageKind : uint32_t {
  Functions = 0, ///< NamedFunctions of this process; never in a file
  Elf = 1,       ///< a shared object that exports the kernels
  Cubin = 2,     ///< a bundle of machine code for one CUDA architecture
  Ptx = 3,       ///< a bundle of PTX texts, CUDA's assembly
  Source = 4,    ///< a bundle of source texts that a device compiles
};

/// "elf", "cubin", ...; "?" for a kind that this runtime does not know.
const char *name(ImageKind kind);

struct CodeImage {
  ImageKind kind = ImageKind::Elf;
  /// The architecture ("x86-64-v3"; "sm_90" of a cubin, "compute_80" of PTX,
  /// "cuda" of source), and the features that it needs besides: for a CPU by
  /// their LLVM names ("avx2", "fma"; see Cpu.h).
  std::string target;
  std::vector<std::string> features;
  /// Its place in the file; the hash is of its bytes.
  uint64_t offset = 0, size = 0;
  Digest hash = {};
  /// Its bytes, if they are in memory; not part of the table.
  const void *data = nullptr;
};

/// An entry of an image of kind Functions; the image's size is that of all its
/// entries.
struct NamedFunction {
  const char *name;
  mlc_kernel function;
};

/// The table of the images, without their bytes.
std::vector<uint8_t> serialize(const std::vector<CodeImage> &images);

/// Reads what `serialize` wrote, with the guarantees of the program's
/// deserialize.
Status deserialize(const uint8_t *data, size_t size,
                   std::vector<CodeImage> &images);

/// Checks that each image lies inside a file of `fileSize` bytes, after the
/// first `headerSize` bytes, at a multiple of `alignment`.
Status validate(const std::vector<CodeImage> &images, uint64_t headerSize,
                uint64_t fileSize, uint64_t alignment);

} // namespace mlc::runtime

#endif // MLC_RUNTIME_CODEIMAGE_H
