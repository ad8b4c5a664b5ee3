//===- Parts.h - Tensors that ranks have parts of ---------------*- C++ -*-===//

#ifndef MLC_RUNTIME_PARTS_H
#define MLC_RUNTIME_PARTS_H

#include "runtime/Npy.h"
#include "runtime/Ranks.h"

namespace mlc::runtime {

/// The part of `whole`, a port's tensor, that the rank with these coordinates
/// has. `where` begins messages.
Status cutPart(const std::string &where, const Port &port,
               const std::vector<MeshAxis> &mesh,
               const std::vector<int64_t> &coordinates, NpyArray &whole);

/// All ranks do this together: makes on rank 0 the whole of the tensors
/// `parts`, of the output `port`. Elsewhere `whole` is left as it is.
Status joinParts(Ranks &ranks, const std::vector<MeshAxis> &mesh,
                 const Port &port, const mlc_tensor &part, NpyArray &whole);

} // namespace mlc::runtime

#endif // MLC_RUNTIME_PARTS_H
