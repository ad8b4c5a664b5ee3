//===- Ranks.cpp - The other ranks, as a session sees them ----------------===//

#include "runtime/Ranks.h"
#include "runtime/Devices.h"

#include <algorithm>
#include <cstring>

namespace mlc::runtime {

PartRange partRange(int64_t things, int64_t parts, int64_t part) {
  int64_t each = things / parts, larger = things % parts;
  int64_t begin = part * each + std::min(part, larger);
  return {begin, begin + each + (part < larger)};
}

std::vector<PartRange> partOfTensor(const std::vector<int64_t> &whole,
                                    const std::vector<Split> &splits,
                                    const std::vector<MeshAxis> &mesh,
                                    const std::vector<int64_t> &coordinates) {
  std::vector<PartRange> ranges;
  for (int64_t dim : whole)
    ranges.push_back({0, dim});
  for (const Split &split : splits) {
    auto unit = static_cast<int64_t>(split.unit);
    PartRange &own = ranges[split.dim];
    PartRange part = partRange(own.size() / unit, mesh[split.axis].size,
                               coordinates[split.axis]);
    own = {own.begin + part.begin * unit, own.begin + part.end * unit};
  }
  return ranges;
}

void copyPart(const std::vector<int64_t> &dims,
              const std::vector<PartRange> &ranges, uint64_t elementBytes,
              uint8_t *whole, uint8_t *part, bool join) {
  // Inside the last dim that is cut, elements are contiguous.
  size_t cut = 0;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (ranges[d].size() == 0)
      return;
    if (ranges[d].size() != dims[d])
      cut = d;
  }
  uint64_t run = elementBytes, stride = elementBytes, offset = 0;
  for (size_t d = dims.size(); d-- > cut;) {
    offset += ranges[d].begin * stride;
    run *= ranges[d].size();
    stride *= dims[d];
  }
  std::vector<uint64_t> strides(cut);
  for (size_t d = cut; d-- > 0; stride *= dims[d])
    strides[d] = stride;
  std::vector<int64_t> at(cut);
  for (size_t d = 0; d < cut; ++d)
    at[d] = ranges[d].begin;
  for (;;) {
    uint8_t *there = whole + offset;
    for (size_t d = 0; d < cut; ++d)
      there += at[d] * strides[d];
    std::memcpy(join ? there : part, join ? part : there, run);
    part += run;
    size_t d = cut;
    while (d > 0 && ++at[d - 1] == ranges[d - 1].end)
      at[d - 1] = ranges[d - 1].begin, --d;
    if (d == 0)
      return;
  }
}

bool messageSize(CollectiveKind kind, const CollectiveCall::Message &message,
                 int64_t ranks, int64_t coordinate, MessageSize &size) {
  int64_t whole, all;
  if (message.extent < 0 || message.join < 0 || message.unit < 0 ||
      __builtin_mul_overflow(message.extent, message.unit, &whole) ||
      __builtin_mul_overflow(whole, message.join, &all))
    return false;
  auto countOf = [&](rows::Share share) {
    auto part = [&](int64_t units) {
      return partRange(units, ranks, coordinate).size();
    };
    switch (share) {
    case rows::Whole:
      return whole;
    case rows::Part:
      return part(message.extent) * message.unit;
    case rows::Split:
      return whole * part(message.join);
    case rows::Joined:
      return part(message.extent) * message.unit * message.join;
    }
    return int64_t(0);
  };
  size = {countOf(rowOf(kind).input), countOf(rowOf(kind).output)};
  return true;
}

uint64_t countRanks(const std::vector<MeshAxis> &mesh) {
  uint64_t ranks = 1;
  for (const MeshAxis &axis : mesh)
    ranks *= axis.size;
  return ranks;
}

std::vector<int64_t> coordinatesOf(const std::vector<MeshAxis> &mesh,
                                   uint64_t rank) {
  std::vector<int64_t> coordinates(mesh.size());
  for (size_t a = mesh.size(); a-- > 0; rank /= mesh[a].size)
    coordinates[a] = static_cast<int64_t>(rank % mesh[a].size);
  return coordinates;
}

Status Ranks::openGroups(const std::vector<MeshAxis> & /*mesh*/,
                         uint32_t /*axis*/) {
  return Status::success();
}

Status Ranks::openChannels(const std::vector<Channel> &channels) {
  return Status::error(MLC_UNSUPPORTED, "these ranks send no messages");
}

uint64_t Ranks::beginMessage(size_t channel, const std::string &name,
                             void *data, uint64_t bytes) {
  return 0;
}

Status Ranks::waitForMessage(uint64_t message) { return openChannels({}); }

bool Ranks::isMessageOver(uint64_t message) { return true; }

void Ranks::startOnGpu(Prepared &, const void *const *, void *const *, void *,
                       void *) {}
Status Ranks::waitUntilQueued(Prepared &prepared) { return wait(prepared); }

Status findDevice(const char *name, const Ranks *ranks, Device *&device) {
  const int gpu = ranks ? ranks->gpu() : -1;
  std::string own = "cuda:" + std::to_string(gpu);
  const bool isOpen = gpu >= 0 && name && !std::strcmp(name, "cuda");
  Status status = findDevice(isOpen ? own.c_str() : name, device);
  if (!status.ok() || gpu < 0 || device->gpu() < 0 || device->gpu() == gpu)
    return status;
  return Status::error(MLC_USAGE, "the session is on " +
                                      std::string(device->name()) +
                                      ", and what its ranks exchange is on " +
                                      own + "; give both the same device");
}

Status checkRanks(const std::vector<MeshAxis> &mesh, const Ranks *ranks) {
  uint64_t needed = countRanks(mesh);
  uint64_t there = ranks ? ranks->size() : 1;
  if (there == needed)
    return Status::success();
  std::string shape;
  for (const MeshAxis &axis : mesh)
    shape += (shape.empty() ? "" : " x ") + std::to_string(axis.size) + " '" +
             axis.name + "'";
  std::string text = "needs " + std::to_string(needed) +
                     (needed == 1 ? " rank" : " ranks") +
                     (shape.empty() ? "" : " (" + shape + ")");
  text += ranks ? ", and there are " + std::to_string(there)
                : ", and the session has no others";
  return Status::error(MLC_USAGE, text + "; start it with mlc launch -n " +
                                      std::to_string(needed) +
                                      ", or its ranks as threads by "
                                      "engine inproc");
}

} // namespace mlc::runtime
