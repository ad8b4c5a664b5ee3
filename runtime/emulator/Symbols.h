//===- Symbols.h - Source lines of places in a module -----------*- C++ -*-===//

#ifndef MLC_RUNTIME_EMULATOR_SYMBOLS_H
#define MLC_RUNTIME_EMULATOR_SYMBOLS_H

#include <cstdint>
#include <map>
#include <set>
#include <string>

namespace mlc::emulator {

/// Where a place is in the kernel's own source, without the device header.
struct SourceLine {
  std::string path;         ///< empty if no symbolizer is available
  unsigned long number = 0; ///< the innermost line, of an inlined function too
  unsigned long from = 0;   ///< the outermost line that leads there
  std::string text;         ///< the innermost line, trimmed
};

/// Finds the lines of all `places`, which are offsets of return addresses in
/// the module, with one run of a symbolizer.
std::map<uint32_t, SourceLine> findLines(const std::string &modulePath,
                                         const std::set<uint32_t> &places);

/// The offset of the instruction before the place, as text.
std::string offsetOf(uint32_t place);

} // namespace mlc::emulator

#endif // MLC_RUNTIME_EMULATOR_SYMBOLS_H
