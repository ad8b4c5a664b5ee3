//===- TrainingRanks.cpp - The ranks that train together ------------------===//

#include "tools/mlc/TrainingRanks.h"
#include "passes/Distribute/DistributePlan.h"
#include "runtime/Blake3.h"
#include "runtime/RunRanks.h"
#include "tools/mlc/Failure.h"
#include <cstring>

using namespace mlc::cli;
namespace runtime = mlc::runtime;

llvm::Error mlc::cli::statusFailure(const runtime::Status &status) {
  return fail(static_cast<Exit>(status.code), status.message);
}

std::vector<runtime::PartRange>
TrainingRanks::partOf(llvm::ArrayRef<int64_t> whole, unsigned dim) const {
  std::vector<runtime::PartRange> ranges;
  for (int64_t extent : whole)
    ranges.push_back({0, extent});
  ranges[dim] = partOf(whole[dim]);
  return ranges;
}

static std::vector<int64_t> sizesOf(llvm::ArrayRef<runtime::PartRange> ranges) {
  std::vector<int64_t> dims;
  for (const runtime::PartRange &range : ranges)
    dims.push_back(range.size());
  return dims;
}

static uint8_t *bytesOf(const HostTensor &tensor) {
  return reinterpret_cast<uint8_t *>(tensor.data.get());
}

llvm::Expected<HostTensor> TrainingRanks::split(const HostTensor &whole,
                                                unsigned dim) const {
  auto ranges = partOf(whole.dims, dim);
  auto part = HostTensor::zeros(whole.type, sizesOf(ranges));
  if (part)
    runtime::copyPart(whole.dims, ranges, mlc_dtype_size(whole.type),
                      bytesOf(whole), bytesOf(*part), /*join=*/false);
  return part;
}

std::vector<runtime::MeshAxis> TrainingRanks::mesh() const {
  return {{mlc::kDataAxis.str(), static_cast<uint32_t>(size())}};
}

llvm::Expected<HostTensor> TrainingRanks::join(llvm::StringRef name,
                                               const HostTensor &part,
                                               unsigned dim) const {
  mlc_tensor own = {};
  own.type = part.type;
  own.rank = part.dims.size();
  llvm::copy(part.dims, own.dims);
  own.data = part.data.get();
  own.bytes = part.bytes;
  auto whole = std::make_shared<runtime::NpyArray>();
  if (auto status = runtime::joinParts(
          *ranks, mesh(), {name.str(), 0, {{dim, /*axis=*/0, /*unit=*/1}}}, own,
          *whole);
      !status.ok())
    return statusFailure(status);
  if (!isFirst())
    return part;
  return HostTensor{part.type, whole->dims,
                    std::shared_ptr<char>(
                        whole, reinterpret_cast<char *>(whole->data.data())),
                    size_t(whole->bytes)};
}

llvm::Expected<std::vector<int64_t>>
TrainingRanks::gather(llvm::ArrayRef<int64_t> numbers) const {
  if (!ranks)
    return numbers.vec();
  runtime::CollectiveCall call;
  call.kind = runtime::CollectiveKind::AllGather;
  call.type = runtime::DType::I64;
  call.messages.push_back({size(), 1, static_cast<int64_t>(numbers.size())});
  std::vector<int64_t> all(numbers.size() * size());
  std::unique_ptr<runtime::Ranks::Prepared> prepared;
  auto status = ranks->prepare(mesh(), call, prepared);
  if (status.ok()) {
    const void *input = numbers.data();
    void *output = all.data();
    ranks->start(*prepared, &input, &output);
    status = ranks->wait(*prepared);
  }
  if (!status.ok())
    return statusFailure(status);
  return all;
}

llvm::Error TrainingRanks::agree(llvm::StringRef text, const llvm::Twine &what,
                                 const llvm::Twine &remedy) const {
  runtime::Blake3 hash;
  hash.update(text.data(), text.size());
  auto digest = hash.finish();
  int64_t number;
  std::memcpy(&number, digest.data(), sizeof(number));
  auto all = gather(number);
  if (!all)
    return all.takeError();
  for (auto [r, other] : llvm::enumerate(*all))
    if (other != all->front())
      return fail(Exit::Usage, "rank " + llvm::Twine(r) + " has " + what +
                                   " than rank 0; " + remedy);
  return llvm::Error::success();
}
