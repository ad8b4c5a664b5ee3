//===- CudaQueue.cpp - A session's work on a GPU --------------------------===//

#include "runtime/cuda/CudaQueue.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>

namespace mlc::runtime::cuda {

namespace {

/// The least and the most pinned memory of a queue. Larger copies go directly;
/// the driver splits them itself.
constexpr uint64_t leastPinned = uint64_t(1) << 20, mostPinned = uint64_t(64)
                                                                 << 20;

/// Shared memory that a kernel may use by default.
constexpr int64_t sharedOfAll = 48 * 1024;

CUdeviceptr address(const void *memory) {
  return reinterpret_cast<uintptr_t>(memory);
}

uint64_t roundUp(uint64_t bytes) { return (bytes + 63) / 64 * 64; }

std::string describe(const Launch &launch, const CudaKernel &kernel) {
  return LaunchName{&kernel, launch.step}.text();
}

} // namespace

std::string LaunchName::text() const {
  constexpr size_t shown = 3;
  std::string text = "kernel " + kernel->name;
  if (!step || step->nodes.empty())
    return text;
  const std::vector<std::string> &nodes = step->nodes;
  text += nodes.size() == 1 ? " (node " : " (nodes ";
  for (size_t i = 0; i < std::min(nodes.size(), shown); ++i)
    text += (i ? ", " : "") + nodes[i];
  return text + (nodes.size() > shown ? ", ...)" : ")");
}

Status CudaQueue::open(void *given) {
  const char *blocking = std::getenv("CUDA_LAUNCH_BLOCKING");
  launchesBlock = blocking && !std::strcmp(blocking, "1");
  Status status = gpu.enter();
  if (!status.ok() || given)
    return status.ok() ? take(given) : status;
  status = driver.check(driver.cuStreamCreate(&handle, CU_STREAM_NON_BLOCKING),
                        "cannot make a stream");
  ownsStream = status.ok();
  return status;
}

/// Works on the caller's stream.
Status CudaQueue::take(void *given) {
  // These values are default streams, which cannot be captured.
  if (reinterpret_cast<uintptr_t>(given) <= CU_STREAM_PER_THREAD)
    return Status::error(MLC_USAGE, "the given stream is a default one; make a "
                                    "stream for the session");
  auto theirs = static_cast<CUstream>(given);
  CUcontext context = nullptr;
  Status status = driver.check(driver.cuStreamGetCtx(theirs, &context),
                               "cannot use the given stream");
  if (status.ok() && context != gpu.context)
    status = Status::error(
        MLC_USAGE,
        "the given stream is not of the primary context of " + gpu.name);
  if (status.ok())
    handle = theirs;
  return status;
}

CudaQueue::~CudaQueue() {
  // Ignore errors in the destructor.
  (void)gpu.enter();
  if (handle)
    (void)driver.cuStreamSynchronize(handle);
  for (CUevent event : stamps)
    (void)driver.cuEventDestroy_v2(event);
  if (pinned)
    (void)driver.cuMemFreeHost(pinned);
  if (ownsStream)
    (void)driver.cuStreamDestroy_v2(handle);
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

void CudaQueue::begin() {
  isRunning = true;
  pinnedWanted = 0;
  lateCopies.clear();
  failure = gpu.enter();
}

Status CudaQueue::finish() {
  isRunning = false;
  if (!failure.ok())
    lateCopies.clear();
  Status status = wait();
  return failure.ok() ? std::move(status) : std::exchange(failure, Status());
}

/// With late copies to the host it waits, since no later call would.
Status CudaQueue::flush() {
  if (!failure.ok() || !lateCopies.empty())
    return finish();
  isRunning = false;
  return Status::success();
}

/// Call before handing work to the stream.
Status CudaQueue::ready() {
  isBusy = true;
  return failure.ok() ? gpu.enter() : failure;
}

/// Waits until the stream is idle; returns its failure.
Status CudaQueue::wait() {
  if (!isBusy)
    return Status::success();
  CUresult result = driver.cuStreamSynchronize(handle);
  uint64_t launches = std::exchange(numLaunches, 0);
  if (result == CUDA_SUCCESS) {
    isBusy = false;
    pinnedUsed = 0;
    for (const LateCopy &copy : lateCopies)
      std::memcpy(copy.to, copy.from, copy.bytes);
    lateCopies.clear();
    return Status::success();
  }
  lateCopies.clear();
  return failed(result, launches);
}

/// The error if the wait after that many launches fails.
Status CudaQueue::failed(CUresult result, uint64_t launches) const {
  const std::string &name = gpu.name;
  if (launches == 0)
    return driver.error(result, "work on " + name + " has failed");
  Status status = driver.error(
      result, launches == 1
                  ? lastLaunch.text() + " has failed on " + name
                  : "one of " + std::to_string(launches) + " launches on " +
                        name + " has failed, the last of them of " +
                        lastLaunch.text());
  if (launches > 1)
    status.message += "; run it with CUDA_LAUNCH_BLOCKING=1 to learn which";
  bool isOfKernel = result == CUDA_ERROR_ILLEGAL_ADDRESS ||
                    result == CUDA_ERROR_MISALIGNED_ADDRESS ||
                    result == CUDA_ERROR_LAUNCH_FAILED;
  if (isOfKernel && !gpu.isEmulator())
    status.message += "; device emulator says where in the kernel";
  return status;
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

/// Takes a free piece of pinned memory.
Status CudaQueue::takePinned(uint64_t bytes, uint8_t *&piece) {
  pinnedWanted += roundUp(bytes);
  if (bytes > pinnedSize - pinnedUsed) {
    // After this, the next run of this kind has enough room.
    Status status = pinned ? wait() : Status::success();
    if (status.ok())
      status = growPinned();
    if (!status.ok())
      return status;
    isBusy = true; // again, since the caller will use the piece
  }
  piece = pinned + pinnedUsed;
  pinnedUsed = std::min(pinnedSize, pinnedUsed + roundUp(bytes));
  return Status::success();
}

/// Grows pinned memory to what the run has asked for. None may be in use.
Status CudaQueue::growPinned() {
  uint64_t wanted = leastPinned;
  while (wanted < mostPinned && wanted < pinnedWanted)
    wanted *= 2;
  if (wanted <= pinnedSize)
    return Status::success();
  if (pinned)
    (void)driver.cuMemFreeHost(pinned);
  pinned = nullptr;
  pinnedSize = 0;
  void *memory = nullptr;
  if (CUresult result = driver.cuMemAllocHost_v2(&memory, wanted))
    return driver.error(result, "cannot allocate pinned memory");
  pinned = static_cast<uint8_t *>(memory);
  pinnedSize = wanted;
  return Status::success();
}

/// Whether that many bytes are copied through pinned memory. Outside of a run
/// each copy waits, so it gains little.
bool CudaQueue::usesPinned(uint64_t bytes) const {
  return bytes <= (isRunning ? mostPinned : leastPinned);
}

Status CudaQueue::upload(void *to, const void *from, uint64_t bytes) {
  Status status = ready();
  if (!status.ok() || bytes == 0)
    return status;
  const void *source = from;
  bool isSmall = usesPinned(bytes);
  if (isSmall) {
    uint8_t *piece = nullptr;
    status = takePinned(bytes, piece);
    if (!status.ok())
      return status;
    source = std::memcpy(piece, from, bytes);
  }
  status = driver.check(
      driver.cuMemcpyHtoDAsync_v2(address(to), source, bytes, handle),
      "cannot copy to the GPU");
  // Outside of a run no later call waits.
  return status.ok() && !(isSmall && isRunning) ? wait() : status;
}

Status CudaQueue::downloadLater(void *to, const void *from, uint64_t bytes) {
  Status status = ready();
  if (!status.ok() || bytes == 0)
    return status;
  void *target = to;
  if (usesPinned(bytes)) {
    uint8_t *piece = nullptr;
    status = takePinned(bytes, piece);
    if (!status.ok())
      return status;
    target = piece;
  }
  status = driver.check(
      driver.cuMemcpyDtoHAsync_v2(target, address(from), bytes, handle),
      "cannot copy from the GPU");
  if (status.ok() && target != to)
    lateCopies.push_back({to, target, bytes});
  return status;
}

Status CudaQueue::download(void *to, const void *from, uint64_t bytes) {
  Status status = downloadLater(to, from, bytes);
  return status.ok() ? wait() : status;
}

Status CudaQueue::copy(void *to, const void *from, uint64_t bytes) {
  Status status = ready();
  if (!status.ok() || bytes == 0)
    return status;
  return driver.check(
      driver.cuMemcpyDtoDAsync_v2(address(to), address(from), bytes, handle),
      "cannot copy on the GPU");
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

void CudaQueue::launch(const Launch &launch) {
  isBusy = true;
  if (failure.ok() && launch.grid > 0)
    failure = tryLaunch(launch, *static_cast<CudaKernel *>(launch.kernel));
}

/// Sets the kernel's parameters as documented in docs/Cuda.md. The driver reads
/// each from where its pointer says: only it knows where the compiler lays them
/// out (tensor maps do not begin at the first byte).
void CudaQueue::setParameters(const Launch &launch) {
  words.clear();
  for (size_t i = 0; i < launch.numBuffers; ++i)
    words.push_back(address(launch.buffers[i]));
  for (size_t i = 0; i < launch.numSymbols; ++i)
    words.push_back(launch.symbols[i]);
  words.push_back(launch.grid);
  words.push_back(
      address(launch.workspace ? launch.workspace : launch.scratch.base));
  words.push_back(launch.scratch.stride);
  parameters.clear();
  for (size_t i = 0; i < launch.numMaps; ++i)
    parameters.push_back(&launch.maps[i].made);
  for (uint64_t &word : words)
    parameters.push_back(&word);
}

Status CudaQueue::allowShared(const Launch &launch, const CudaKernel &kernel) {
  if (launch.shared <= sharedOfAll || kernel.hasMuchShared)
    return Status::success();
  // Harmless if sessions on other threads do the same.
  CUresult result = driver.cuFuncSetAttribute(
      kernel.function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
      gpu.maxShared);
  if (result != CUDA_SUCCESS)
    return driver.error(result, describe(launch, kernel) +
                                    " cannot have so much shared memory");
  kernel.hasMuchShared = true;
  return Status::success();
}

/// Launches a kernel that waits for the launch in front by itself.
CUresult CudaQueue::launchOverlapped(const Launch &launch,
                                     const CudaKernel &kernel,
                                     unsigned blocks) {
  CUlaunchAttribute overlap = {};
  overlap.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
  overlap.value.isSerializationProgrammatic = 1;
  CUlaunchConfig config = {};
  config.gridX = blocks;
  config.blockX = unsigned(launch.block);
  config.gridY = config.gridZ = config.blockY = config.blockZ = 1;
  config.sharedBytes = unsigned(launch.shared);
  config.stream = handle;
  config.attributes = &overlap;
  config.attributeCount = 1;
  return driver.cuLaunchKernelEx(&config, kernel.function, parameters.data(),
                                 nullptr);
}

Status CudaQueue::tryLaunch(const Launch &launch, const CudaKernel &kernel) {
  if (launch.block < 1)
    return Status::error(MLC_DEVICE, describe(launch, kernel) +
                                         " is launched without blocks, which " +
                                         gpu.name + " cannot do");
  if (launch.shared > std::max(sharedOfAll, gpu.maxShared))
    return Status::error(MLC_DEVICE,
                         describe(launch, kernel) + " needs " +
                             std::to_string(launch.shared) +
                             " bytes of shared memory in a block, " + gpu.name +
                             " has " + std::to_string(gpu.maxShared));
  Status status = allowShared(launch, kernel);
  if (status.ok())
    status = setMaps(launch, kernel);
  if (!status.ok())
    return status;
  setParameters(launch);
  // If there are more tasks than blocks, a block does several.
  int64_t blocks = std::min<int64_t>(launch.grid, INT32_MAX);
  if (launch.scratch.base)
    blocks = std::min<int64_t>(blocks, workers());
  CUresult result =
      kernel.waits && gpu.overlapsLaunches
          ? launchOverlapped(launch, kernel, unsigned(blocks))
          : driver.cuLaunchKernel(kernel.function, blocks, 1, 1, launch.block,
                                  1, 1, launch.shared, handle,
                                  parameters.data(), nullptr);
  if (result != CUDA_SUCCESS)
    return driver.error(result, describe(launch, kernel));
  ++(isRecording ? numRecorded : numLaunches);
  lastLaunch = {&kernel, launch.step};
  return status;
}

void CudaQueue::launch(const LibraryLaunch &launch) {
  if (failure.ok())
    failure = runOnHost(launch);
}

Status CudaQueue::runOnHost(const LibraryLaunch &launch) {
  LibraryCall call = launch.call;
  const size_t numOperands = call.numInputs + call.numOutputs;
  hostOperands.assign(call.inputs, call.inputs + call.numInputs);
  hostOperands.insert(hostOperands.end(), call.outputs,
                      call.outputs + call.numOutputs);
  auto bytesOf = [&](size_t i) {
    uint64_t bytes = byteSize(hostOperands[i].type);
    for (size_t d = 0; d < hostOperands[i].rank; ++d)
      bytes *= hostOperands[i].dims[d];
    return bytes;
  };
  uint64_t room = roundUp(launch.kernel->scratch(call));
  for (size_t i = 0; i < numOperands; ++i)
    room += roundUp(bytesOf(i));
  bool grown;
  Status status = hostMemory.reserve(room, grown);
  if (!status.ok())
    return status;
  // Scratch memory is what remains after the operands.
  uint8_t *at = hostMemory.data();
  for (size_t i = 0; i < numOperands; ++i) {
    void *there = std::exchange(hostOperands[i].data, at);
    if (status.ok() && i < call.numInputs)
      status = download(at, there, bytesOf(i));
    at += roundUp(bytesOf(i));
  }
  if (!status.ok())
    return status;
  const LibraryOperand *outputs = call.outputs;
  call.inputs = hostOperands.data();
  call.outputs = hostOperands.data() + call.numInputs;
  launch.kernel->run(call, 0, launch.grid, at);
  for (size_t i = 0; status.ok() && i < call.numOutputs; ++i)
    status = upload(outputs[i].data, call.outputs[i].data,
                    bytesOf(call.numInputs + i));
  return status;
}

//===----------------------------------------------------------------------===//
// Time
//===----------------------------------------------------------------------===//

Status CudaQueue::reserveStamps(size_t count) {
  Status status = gpu.enter();
  stamps.reserve(count);
  while (status.ok() && stamps.size() < count) {
    CUevent event = nullptr;
    status = driver.check(driver.cuEventCreate(&event, CU_EVENT_DEFAULT),
                          "cannot make an event");
    if (status.ok())
      stamps.push_back(event);
  }
  return status;
}

void CudaQueue::stamp(size_t index) {
  isBusy = true;
  if (failure.ok())
    failure = driver.check(driver.cuEventRecord(stamps[index], handle),
                           "cannot take the time");
}

Status CudaQueue::elapsed(size_t from, size_t to, uint64_t &ns) const {
  float milliseconds = 0;
  Status status = driver.check(
      driver.cuEventElapsedTime(&milliseconds, stamps[from], stamps[to]),
      "cannot take the time");
  ns = milliseconds > 0 ? uint64_t(double(milliseconds) * 1e6) : 0;
  return status;
}

} // namespace mlc::runtime::cuda
