//===- NamePattern.h - Several names as one ---------------------*- C++ -*-===//

#ifndef MLC_PASSES_BASE_NAMEPATTERN_H
#define MLC_PASSES_BASE_NAMEPATTERN_H

#include "llvm/ADT/StringRef.h"

namespace mlc {

/// Whether `pattern` is `name`, or NAME* and the beginning of it.
inline bool matchesName(llvm::StringRef pattern, llvm::StringRef name) {
  return pattern == name ||
         (pattern.consume_back("*") && name.starts_with(pattern));
}

} // namespace mlc

#endif // MLC_PASSES_BASE_NAMEPATTERN_H
