//===- Bytes.h - Numbers of bytes in flags and plans ------------*- C++ -*-===//

#ifndef MLC_RUNTIME_PLAN_BYTES_H
#define MLC_RUNTIME_PLAN_BYTES_H

#include <cstdint>
#include <string_view>

namespace mlc::runtime {

/// Reads a number of bytes: `N`, or a number with one of B, kB, MB, GB, TB
/// (powers of 1000), KiB, MiB, GiB, TiB (powers of 1024). Returns false, and
/// leaves `bytes`, for anything else and for numbers outside of 1 to 2^62.
bool parseBytes(std::string_view text, uint64_t &bytes);

} // namespace mlc::runtime

#endif // MLC_RUNTIME_PLAN_BYTES_H
