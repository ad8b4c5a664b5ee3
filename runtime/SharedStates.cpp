//===- SharedStates.cpp - States that live across runs --------------------===//

#include "runtime/SharedStates.h"

#include <algorithm>

namespace mlc::runtime {

namespace {

std::string quoted(const std::string &name) { return "'" + name + "'"; }

} // namespace

SharedStates::SharedStates(std::shared_ptr<const Artifact> a,
                           std::unique_ptr<Queue> queue,
                           std::shared_ptr<Ranks> ranks)
    : artifact(std::move(a)), work(std::move(queue)), others(std::move(ranks)),
      position(coordinatesOf(artifact->mesh(), others ? others->rank() : 0)),
      memory(artifact->states().size()), addresses(memory.size(), nullptr),
      placed(memory.size(), 0), held(memory.size(), 0), lost(memory.size(), 0),
      pending(memory.size(), 0) {
  for (const State &whole : artifact->states()) {
    Part part{
        partOfTensor(whole.dims, whole.splits, artifact->mesh(), position),
        {},
        byteSize(whole.type)};
    for (const PartRange &range : part.ranges) {
      part.dims.push_back(range.size());
      part.size *= range.size();
    }
    parts.push_back(std::move(part));
  }
}

// Memory is freed before the queue.
SharedStates::~SharedStates() {
  (void)wait();
  abandonRanks();
  slots.clear();
  memory.clear();
}

void SharedStates::abandonRanks() {
  if (others && others->hasFailed())
    others->abort(MLC_RESOURCES);
}

uint64_t SharedStates::bytes() const {
  uint64_t sum = 0;
  for (const DeviceMemory &block : memory)
    sum += block.capacity();
  for (const auto &[index, blocks] : slots)
    for (const DeviceMemory &block : blocks)
      sum += block.capacity();
  for (const auto &[index, mirror] : mirrors)
    sum += mirror.capacity();
  return sum;
}

//===----------------------------------------------------------------------===//
// First values
//===----------------------------------------------------------------------===//

Status SharedStates::fillZeros(size_t index) {
  constexpr uint64_t piece = 1 << 16;
  static constexpr uint8_t zeros[piece] = {};
  Status status;
  for (uint64_t at = 0; status.ok() && at < size(index); at += piece)
    status = work->upload(address(index) + at, zeros,
                          std::min(piece, size(index) - at));
  return status;
}

/// Stores the rank's shard of the artifact's value.
Status SharedStates::storePart(size_t index) {
  const State &whole = state(index);
  const uint8_t *value = artifact->weights() + whole.offset;
  if (whole.splits.empty())
    return work->upload(address(index), value, whole.size);
  Memory cut;
  bool grown;
  Status status = cut.reserve(size(index), grown);
  if (!status.ok())
    return status;
  copyPart(whole.dims, parts[index].ranges, byteSize(whole.type),
           const_cast<uint8_t *>(value), cut.data(), /*join=*/false);
  QueuedWork all(*work);
  status = work->upload(address(index), cut.data(), size(index));
  // Finish before `cut` is freed.
  Status finished = all.finish();
  return status.ok() ? finished : status;
}

Status SharedStates::initialize(size_t index) {
  const State &what = state(index);
  Status status;
  if (what.initial == State::Zeros)
    status = fillZeros(index);
  else if (what.initial == State::Stored && size(index))
    status = storePart(index);
  held[index] = status.ok() && what.initial != State::None;
  lost[index] = 0;
  return status;
}

Status SharedStates::place(size_t index) {
  if (placed[index])
    return Status::success();
  bool grown;
  Status status = memory[index].reserve(work->device, size(index), grown);
  if (!status.ok())
    return status;
  addresses[index] = memory[index].data();
  ++addressStamp;
  QueuedWork all(*work);
  status = initialize(index);
  Status finished = all.finish();
  if (status.ok())
    status = std::move(finished);
  placed[index] = status.ok();
  return status;
}

Status SharedStates::place(const StateUse &use) {
  Status status;
  for (size_t i = 0; status.ok() && i < memory.size(); ++i)
    if (use.reads[i] || use.writes[i])
      status = place(i);
  return status;
}

Status SharedStates::placeAll() {
  Status status;
  for (size_t i = 0; status.ok() && i < memory.size(); ++i)
    status = place(i);
  return status;
}

Status SharedStates::reset() {
  Status status = wait();
  if (!status.ok())
    return status;
  QueuedWork all(*work);
  for (size_t i = 0; status.ok() && i < memory.size(); ++i)
    if (placed[i])
      status = initialize(i);
  Status finished = all.finish();
  return status.ok() ? finished : status;
}

//===----------------------------------------------------------------------===//
// Slots
//===----------------------------------------------------------------------===//

Status SharedStates::addSlots(size_t index, size_t next, size_t count) {
  Status status = place(index);
  std::vector<DeviceMemory> &own = slots[index];
  own.resize(count - 1);
  bool grown;
  for (DeviceMemory &block : own)
    if (status.ok())
      status = block.reserve(work->device, size(index), grown);
  placed[next] = status.ok();
  if (status.ok())
    chooseSlot(next, index, 1);
  return status;
}

void SharedStates::chooseSlot(size_t state, size_t index, size_t slot) {
  uint8_t *address = slotAddress(index, slot);
  addressStamp += addresses[state] != address;
  addresses[state] = address;
}

void SharedStates::exchangeSlots(size_t index, size_t a, size_t b) {
  auto block = [&](size_t slot) -> DeviceMemory & {
    return slot == 0 ? memory[index] : slots.at(index)[slot - 1];
  };
  if (a != b)
    std::swap(block(a), block(b));
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

Status SharedStates::checkHeld(size_t index) const {
  if (held[index])
    return Status::success();
  return Status::error(
      MLC_USAGE,
      "state " + quoted(state(index).name) +
          (lost[index] ? " was lost when a run failed that writes it; set, "
                         "load or reset it"
                       : " has no value yet; set or load it"));
}

Status SharedStates::checkValues(const StateUse &use) const {
  Status status;
  for (size_t i = 0; status.ok() && i < held.size(); ++i)
    if (use.reads[i])
      status = checkHeld(i);
  return status;
}

void SharedStates::noteEnqueued(const StateUse &use) {
  isEnqueued = true;
  for (size_t i = 0; i < held.size(); ++i)
    pending[i] |= use.writes[i];
  noteWritten(use);
}

void SharedStates::noteWritten(const StateUse &use) {
  for (size_t i = 0; i < held.size(); ++i)
    if (use.writes[i]) {
      held[i] = 1;
      lost[i] = 0;
    }
}

void SharedStates::lose(const StateUse &use) {
  for (size_t i = 0; i < held.size(); ++i)
    if (use.writes[i]) {
      held[i] = 0;
      lost[i] = 1;
    }
}

Status SharedStates::wait() {
  if (!isEnqueued)
    return Status::success();
  Status status;
  {
    QueuedWork all(*work);
    status = all.finish();
  }
  // If a collective failed, report that as the cause.
  if (Status settled = settle(); !settled.ok())
    status = std::move(settled);
  noteFinished(status.ok());
  return status;
}

bool SharedStates::isUnsettled(const Ranks::Prepared &prepared) const {
  return std::find(unsettled.begin(), unsettled.end(), &prepared) !=
         unsettled.end();
}

Status SharedStates::settle() {
  Status first;
  for (Ranks::Prepared *prepared : unsettled)
    if (Status status = others->wait(*prepared); first.ok())
      first = std::move(status);
  unsettled.clear();
  return first;
}

void SharedStates::noteFinished(bool succeeded) {
  if (!isEnqueued)
    return;
  isEnqueued = false;
  if (!succeeded) {
    ++failureCount;
    lose({{}, pending, true});
  }
  std::fill(pending.begin(), pending.end(), 0);
}

//===----------------------------------------------------------------------===//
// The caller
//===----------------------------------------------------------------------===//

Status SharedStates::checkIndex(size_t index) const {
  if (index < memory.size())
    return Status::success();
  return Status::error(MLC_USAGE, "there is no state " + std::to_string(index) +
                                      "; the model has " +
                                      std::to_string(memory.size()));
}

Status SharedStates::set(size_t index, DType type, size_t rank,
                         const int64_t *dims, const void *data,
                         mlc_space space) {
  Status status = checkIndex(index);
  if (!status.ok())
    return status;
  const State &what = state(index);
  std::string where = "state " + quoted(what.name) + ": ";
  if (type != what.type)
    return Status::error(MLC_USAGE, where + "has type " + name(type) +
                                        ", the model takes " + name(what.type));
  const std::vector<int64_t> &wanted = this->dims(index);
  if (rank != wanted.size())
    return Status::error(MLC_USAGE, where + "has " + std::to_string(rank) +
                                        " dims, the model takes " +
                                        std::to_string(wanted.size()));
  for (size_t d = 0; d < rank; ++d)
    if (dims[d] != wanted[d])
      return Status::error(
          MLC_USAGE, where + "dim " + std::to_string(d) + " is " +
                         std::to_string(dims[d]) + ", the model needs " +
                         std::to_string(wanted[d]) +
                         (what.splits.empty() ? "" : ", this rank's part"));
  uint64_t bytes = size(index);
  if (!data && bytes)
    return Status::error(MLC_USAGE, where + "has no data");
  status = wait();
  if (status.ok())
    status = place(index);
  // The caller may pass the pointer that read() returned.
  if (!status.ok() || data == address(index))
    return status;
  QueuedWork all(*work);
  if (bytes)
    status = space == MLC_SPACE_HOST ? work->upload(address(index), data, bytes)
                                     : work->copy(address(index), data, bytes);
  Status finished = all.finish();
  if (status.ok())
    status = std::move(finished);
  held[index] = status.ok();
  lost[index] = !status.ok();
  return status;
}

Status SharedStates::read(size_t index, mlc_tensor &tensor) {
  Status status = checkIndex(index);
  if (status.ok())
    status = wait();
  if (status.ok())
    status = place(index);
  if (status.ok())
    status = checkHeld(index);
  if (!status.ok())
    return status;
  const State &what = state(index);
  const uint8_t *data = address(index);
  if (!work->device.usesHostMemory()) {
    Memory &mirror = mirrors[index];
    bool grown;
    status = mirror.reserve(size(index), grown);
    if (status.ok() && size(index))
      status = work->download(mirror.data(), data, size(index));
    if (!status.ok())
      return status;
    data = mirror.data();
  }
  tensor.type = static_cast<mlc_dtype>(what.type);
  tensor.rank = dims(index).size();
  std::copy(dims(index).begin(), dims(index).end(), tensor.dims);
  tensor.data = data;
  tensor.bytes = size(index);
  return status;
}

} // namespace mlc::runtime
