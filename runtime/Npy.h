//===- Npy.h - NumPy's array files ------------------------------*- C++ -*-===//
//
// Reads and writes .npy (format 1 to 3) and .npz (zip of .npy, stored or
// deflated). All element types of the runtime; bfloat16, which NumPy does not
// know, is written and read as two-byte void ("V2"), as ml_dtypes does.
// Little-endian; Fortran order is turned into C order. Files are untrusted:
// damage is an error, never a read out of bounds or an allocation larger than
// the file can fill.
//
// Sources: NumPy's documentation of its format (numpy.lib.format) and PKWARE's
// APPNOTE for zip.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_NPY_H
#define MLC_RUNTIME_NPY_H

#include "runtime/Memory.h"
#include "runtime/Program.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace mlc::runtime {

/// A dense tensor in C order, 64-byte aligned.
struct NpyArray {
  DType type = DType::F32;
  std::vector<int64_t> dims;
  uint64_t bytes = 0;
  Memory data;
};

/// Parses the bytes of a .npy file.
Status parseNpy(const uint8_t *data, size_t size, NpyArray &array);
Status readNpy(const std::string &path, NpyArray &array);

/// The header of a .npy file for a tensor in C order; the data follow it.
std::string npyHeader(DType type, const std::vector<int64_t> &dims);

/// A .npz file, opened for reading single arrays.
class NpzFile {
public:
  Status open(const std::string &path);
  /// The same for a file in memory, which the caller keeps alive.
  Status openMemory(const uint8_t *data, size_t size);
  /// Names of the arrays, without ".npy", in the file's order.
  std::vector<std::string> names() const;
  Status read(const std::string &name, NpyArray &array) const;

private:
  struct Entry {
    std::string name;
    uint16_t method;
    uint32_t crc;
    uint64_t packedSize, size, headerOffset;
  };
  Status parse();
  Status contents(const Entry &entry, Memory &unpacked, const uint8_t *&data,
                  size_t &size) const;

  std::string path;
  std::unique_ptr<Mapping> file;
  const uint8_t *bytes = nullptr;
  uint64_t length = 0;
  std::vector<Entry> entries;
};

/// A tensor to write.
struct NpzItem {
  std::string name;
  DType type;
  std::vector<int64_t> dims;
  const void *data;
  uint64_t bytes;
};

/// Writes a .npz (stored) through calls of `sink`, which returns false to stop.
/// Equal items give equal bytes. Fails for 4 GiB or more.
using ByteSink = std::function<bool(const void *data, size_t size)>;
Status writeNpz(const std::vector<NpzItem> &items, const ByteSink &sink);

} // namespace mlc::runtime

#endif // MLC_RUNTIME_NPY_H
