//===- Group.cpp - The ranks that train together --------------------------===//

#include "runtime/train/Group.h"
#include "runtime/Blake3.h"
#include "runtime/Parts.h"

#include <algorithm>
#include <cstring>

using namespace mlc::runtime;
using namespace mlc::runtime::train;

Status Group::split(const std::vector<MeshAxis> &mesh, const State &state,
                    const HostTensor &whole, HostTensor &part) const {
  std::vector<PartRange> ranges =
      partOfTensor(whole.dims, state.splits, mesh, coordinatesOf(mesh, rank()));
  std::vector<int64_t> dims;
  dims.reserve(ranges.size());
  for (const PartRange &range : ranges)
    dims.push_back(range.size());
  Status status = HostTensor::zeros(whole.type, dims, part);
  if (status.ok())
    copyPart(whole.dims, ranges, mlc_dtype_size(whole.type),
             whole.as<uint8_t>(), part.as<uint8_t>(), /*join=*/false);
  return status;
}

Status Group::join(const std::vector<MeshAxis> &mesh, const State &state,
                   const HostTensor &part, HostTensor &whole) const {
  mlc_tensor own = {};
  own.type = part.type;
  own.rank = part.dims.size();
  std::copy(part.dims.begin(), part.dims.end(), own.dims);
  own.data = part.data.get();
  own.bytes = part.bytes;
  NpyArray all;
  Status status =
      joinParts(*ranks, mesh, {state.name, 0, state.splits}, own, all);
  if (!status.ok())
    return status;
  if (isFirst())
    whole = HostTensor::of(std::move(all));
  else
    whole = part;
  return status;
}

Status Group::run(const CollectiveCall &call, const void *input,
                  void *output) const {
  const std::vector<MeshAxis> everyone = {
      {"all", static_cast<uint32_t>(size())}};
  std::unique_ptr<Ranks::Prepared> prepared;
  Status status = ranks->prepare(everyone, call, prepared);
  if (!status.ok())
    return status;
  ranks->start(*prepared, &input, &output);
  return ranks->wait(*prepared);
}

Status Group::broadcast(HostTensor &tensor, int root) const {
  if (!ranks)
    return Status::success();
  CollectiveCall call;
  call.kind = CollectiveKind::Broadcast;
  call.type = DType::U8;
  call.number = root;
  call.messages.push_back({static_cast<int64_t>(tensor.bytes), 1, 1});
  return run(call, tensor.data.get(), tensor.data.get());
}

Status Group::gather(const std::vector<int64_t> &numbers,
                     std::vector<int64_t> &all) const {
  all = numbers;
  if (!ranks)
    return Status::success();
  all.resize(numbers.size() * size());
  CollectiveCall call;
  call.kind = CollectiveKind::AllGather;
  call.type = DType::I64;
  call.messages.push_back({size(), 1, static_cast<int64_t>(numbers.size())});
  return run(call, numbers.data(), all.data());
}

Status Group::agree(const std::string &text, const std::string &what,
                    const std::string &remedy) const {
  Digest digest = blake3(text.data(), text.size());
  int64_t number;
  std::memcpy(&number, digest.data(), sizeof(number));
  std::vector<int64_t> all;
  Status status = gather({number}, all);
  for (size_t r = 0; status.ok() && r < all.size(); ++r)
    if (all[r] != all.front())
      return Status::error(MLC_USAGE, "rank " + std::to_string(r) + " has " +
                                          what + " than rank 0; " + remedy);
  return status;
}
