//===- Parts.cpp - Tensors that ranks have parts of -----------------------===//

#include "runtime/Parts.h"

#include <algorithm>
#include <cstring>
#include <optional>

namespace mlc::runtime {

static Status reserve(NpyArray &array) {
  bool grown;
  array.bytes = byteSize(array.type);
  for (int64_t dim : array.dims)
    if (__builtin_mul_overflow(array.bytes, uint64_t(dim), &array.bytes))
      return Status::error(MLC_RESOURCES, "out of memory for a whole tensor");
  return array.data.reserve(array.bytes, grown);
}

Status cutPart(const std::string &where, const Port &port,
               const std::vector<MeshAxis> &mesh,
               const std::vector<int64_t> &coordinates, NpyArray &whole) {
  for (const Split &split : port.splits)
    if (split.dim >= whole.dims.size() ||
        whole.dims[split.dim] % int64_t(split.unit))
      return Status::error(MLC_USAGE,
                           where + ": input '" + port.name + "' has no dim " +
                               std::to_string(split.dim) + " of units of " +
                               std::to_string(split.unit) +
                               ", between which ranks split it");
  if (port.splits.empty())
    return Status::success();
  std::vector<PartRange> ranges =
      partOfTensor(whole.dims, port.splits, mesh, coordinates);
  NpyArray part;
  part.type = whole.type;
  for (const PartRange &range : ranges)
    part.dims.push_back(range.size());
  Status status = reserve(part);
  if (!status.ok())
    return status;
  copyPart(whole.dims, ranges, byteSize(whole.type), whole.data.data(),
           part.data.data(), /*join=*/false);
  whole = std::move(part);
  return status;
}

namespace {

/// All ranks as one axis: what they send each other has nothing to do with the
/// program's mesh.
class Sender {
public:
  explicit Sender(Ranks &ranks)
      : ranks(ranks), all{{"all", uint32_t(ranks.size())}} {}

  /// Every rank's row of `columns` numbers.
  Status gather(std::vector<int64_t> row, std::vector<int64_t> &table) {
    table.resize(row.size() * ranks.size());
    CollectiveCall call;
    call.kind = CollectiveKind::AllGather;
    call.type = DType::I64;
    call.messages = {{ranks.size(), 1, int64_t(row.size())}};
    return exchange(call, row.data(), table.data());
  }
  /// What `root` has in `data`, on all.
  Status broadcast(int root, void *data, uint64_t bytes) {
    CollectiveCall call;
    call.kind = CollectiveKind::Broadcast;
    call.type = DType::U8;
    call.number = root;
    call.messages = {{int64_t(bytes)}};
    return exchange(call, data, data);
  }

private:
  Status exchange(const CollectiveCall &call, const void *input, void *output) {
    std::unique_ptr<Ranks::Prepared> prepared;
    Status status = ranks.prepare(all, call, prepared);
    if (!status.ok())
      return status;
    ranks.start(*prepared, &input, &output);
    return ranks.wait(*prepared);
  }

  Ranks &ranks;
  const std::vector<MeshAxis> all;
};

/// Whether ranks that are different on `axis` have different parts of `dim`, or
/// of any.
bool isSplitOver(const Port &port, size_t axis,
                 std::optional<size_t> dim = std::nullopt) {
  return std::any_of(port.splits.begin(), port.splits.end(),
                     [&](const Split &split) {
                       return split.axis == axis && (!dim || split.dim == *dim);
                     });
}

/// The whole dims from all ranks' (a row each): sums along the axes of splits.
Status findWhole(const std::vector<MeshAxis> &mesh, const Port &port,
                 const std::vector<int64_t> &table, size_t columns,
                 std::vector<int64_t> &whole) {
  whole.assign(table.begin(), table.begin() + columns);
  for (const Split &split : port.splits) {
    whole[split.dim] = 0;
    for (uint64_t rank = 0; rank < countRanks(mesh); ++rank) {
      std::vector<int64_t> at = coordinatesOf(mesh, rank);
      bool isFirst = true; // of those that have the same part
      for (size_t axis = 0; axis < mesh.size(); ++axis)
        isFirst &= at[axis] == 0 || isSplitOver(port, axis, split.dim);
      if (isFirst)
        whole[split.dim] += table[rank * columns + split.dim];
    }
  }
  for (uint64_t rank = 0; rank < countRanks(mesh); ++rank) {
    std::vector<PartRange> part =
        partOfTensor(whole, port.splits, mesh, coordinatesOf(mesh, rank));
    for (size_t d = 0; d < columns; ++d)
      if (part[d].size() != table[rank * columns + d])
        return Status::error(
            MLC_USAGE, "output '" + port.name + "' has " +
                           std::to_string(table[rank * columns + d]) +
                           " in dim " + std::to_string(d) + " on rank " +
                           std::to_string(rank) + ", which is no part of " +
                           std::to_string(whole[d]) +
                           "; let each rank take its own part");
  }
  return Status::success();
}

/// Whether an earlier rank has the same part.
bool isCopy(const std::vector<MeshAxis> &mesh, const Port &port,
            uint64_t rank) {
  std::vector<int64_t> at = coordinatesOf(mesh, rank);
  for (size_t axis = 0; axis < mesh.size(); ++axis)
    if (at[axis] != 0 && !isSplitOver(port, axis))
      return true;
  return false;
}

} // namespace

Status joinParts(Ranks &ranks, const std::vector<MeshAxis> &mesh,
                 const Port &port, const mlc_tensor &part, NpyArray &whole) {
  Sender sender(ranks);
  std::vector<int64_t> table, dims(part.dims, part.dims + part.rank), all;
  const bool isFirst = ranks.rank() == 0;
  Status status;
  // A scalar has no row to send.
  if (part.rank)
    status = sender.gather(dims, table);
  if (status.ok() && part.rank)
    status = findWhole(mesh, port, table, part.rank, all);
  if (!status.ok())
    return status;
  if (isFirst) {
    whole.type = DType(part.type);
    whole.dims = all;
    status = reserve(whole);
  }
  const uint64_t width = byteSize(DType(part.type));
  for (uint64_t rank = 0; status.ok() && rank < countRanks(mesh); ++rank) {
    if (isCopy(mesh, port, rank))
      continue;
    std::vector<PartRange> ranges =
        partOfTensor(all, port.splits, mesh, coordinatesOf(mesh, rank));
    uint64_t bytes = width;
    for (const PartRange &range : ranges)
      bytes *= range.size();
    std::unique_ptr<uint8_t[]> copy(new uint8_t[bytes + 1]);
    if (int(rank) == ranks.rank())
      std::memcpy(copy.get(), part.data, bytes);
    if (rank != 0)
      status = sender.broadcast(int(rank), copy.get(), bytes);
    if (status.ok() && isFirst && bytes)
      copyPart(all, ranges, width, whole.data.data(), copy.get(),
               /*join=*/true);
  }
  return status;
}

} // namespace mlc::runtime
