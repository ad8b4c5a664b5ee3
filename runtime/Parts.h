//===- Parts.h - Shards of tensors ------------------------------*- C++ -*-===//

#ifndef MLC_RUNTIME_PARTS_H
#define MLC_RUNTIME_PARTS_H

#include "runtime/Npy.h"
#include "runtime/Ranks.h"

namespace mlc::runtime {

/// Cuts the shard of the rank with these coordinates from `whole`, a port's
/// tensor. `where` begins messages.
Status cutPart(const std::string &where, const Port &port,
               const std::vector<MeshAxis> &mesh,
               const std::vector<int64_t> &coordinates, NpyArray &whole);

/// Joins the shards `part` of the output `port` into `whole` on rank 0; other
/// ranks leave `whole` unchanged. All ranks call it together.
Status joinParts(Ranks &ranks, const std::vector<MeshAxis> &mesh,
                 const Port &port, const mlc_tensor &part, NpyArray &whole);

} // namespace mlc::runtime

#endif // MLC_RUNTIME_PARTS_H
