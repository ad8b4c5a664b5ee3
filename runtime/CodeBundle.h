//===- CodeBundle.h - Several codes in one image ----------------*- C++ -*-===//
//
// The bytes of images of kinds Cubin, Ptx and Source: an entry for each kernel,
// named by its symbol. Little-endian:
//
//   8 bytes   "mlcbundl"
//   u64       the number of entries
//   4 x u64   for each: offset and size of its name and of its bytes; offsets
//             are from the begin of the bundle
//   the names, one after the other
//   the bytes of each at a multiple of 16, followed by at least one 0, so that
//   texts are C strings in place
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_CODEBUNDLE_H
#define MLC_RUNTIME_CODEBUNDLE_H

#include "runtime/Status.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace mlc::runtime {

struct BundleEntry {
  std::string name;
  const uint8_t *data = nullptr; ///< in the bundle; data[size] is 0
  size_t size = 0;
};

/// Writes a bundle of pairs of name and bytes. Names are distinct and not
/// empty.
std::string
writeBundle(const std::vector<std::pair<std::string, std::string>> &entries);

/// Reads a bundle; any bytes are safe. The entries point into `data`.
Status readBundle(const void *data, size_t size,
                  std::vector<BundleEntry> &entries);

} // namespace mlc::runtime

#endif // MLC_RUNTIME_CODEBUNDLE_H
