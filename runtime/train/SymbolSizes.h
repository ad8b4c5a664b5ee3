//===- SymbolSizes.h - Dims of what entries carry ---------------*- C++ -*-===//

#ifndef MLC_RUNTIME_TRAIN_SYMBOLSIZES_H
#define MLC_RUNTIME_TRAIN_SYMBOLSIZES_H

#include "runtime/Artifact.h"

#include <map>

namespace mlc::runtime::train {

/// Values of symbols by their names, which mean the same in all entries.
using SymbolSizes = std::map<std::string, int64_t>;

/// The dims of a buffer on a rank, whose coordinates in the artifact's mesh
/// follow from its number, with `sizes` for all symbols but coordinates.
/// `isKnown` is false, and `dims` are not set, if a symbol is not among them.
Status findDims(const Artifact &artifact, const Program &program,
                const Buffer &buffer, int rank, const SymbolSizes &sizes,
                bool &isKnown, std::vector<int64_t> &dims);

} // namespace mlc::runtime::train

#endif // MLC_RUNTIME_TRAIN_SYMBOLSIZES_H
