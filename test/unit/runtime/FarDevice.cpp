//===- FarDevice.cpp - A device with memory of its own --------------------===//

#include "FarDevice.h"
#include "runtime/Devices.h"

#include <cstdlib>
#include <cstring>

namespace mlc::test {

using namespace runtime;

namespace {

/// Set in every address of the device: none is one of the host.
constexpr uintptr_t farBit = uintptr_t(1) << 62;

Status notMine(const char *what) {
  return Status::error(MLC_INTERNAL,
                       std::string(what) + " is no memory of the far device");
}

class FarQueue final : public Queue {
public:
  explicit FarQueue(FarDevice &far) : Queue(far), far(far) {}
  ~FarQueue() override { drain(); }

  unsigned workers() const override { return FarDevice::workers; }
  void begin() override {}
  Status finish() override {
    drain();
    return std::exchange(failure, Status());
  }

  Status upload(void *to, const void *from, uint64_t bytes) override {
    uint8_t *target = far.translate(to, bytes);
    if (!target)
      return notMine("the target of an upload");
    ++far.counts.uploads;
    far.counts.uploadedBytes += bytes;
    auto *begin = static_cast<const uint8_t *>(from);
    work.push_back([target, data = std::vector<uint8_t>(begin, begin + bytes)] {
      std::copy(data.begin(), data.end(), target);
    });
    return Status::success();
  }
  Status download(void *to, const void *from, uint64_t bytes) override {
    drain();
    if (!failure.ok())
      return failure;
    const uint8_t *source = far.translate(from, bytes);
    if (!source)
      return notMine("the source of a download");
    ++far.counts.downloads;
    std::copy(source, source + bytes, static_cast<uint8_t *>(to));
    return Status::success();
  }
  Status copy(void *to, const void *from, uint64_t bytes) override {
    uint8_t *target = far.translate(to, bytes);
    const uint8_t *source = far.translate(from, bytes);
    if (!target || !source)
      return notMine("an end of a copy");
    ++far.counts.copies;
    work.push_back([=] { std::copy(source, source + bytes, target); });
    return Status::success();
  }

  void launch(const Launch &launch) override {
    std::vector<void *> buffers;
    for (size_t i = 0; i < launch.numBuffers; ++i)
      buffers.push_back(far.translate(launch.buffers[i]));
    // A launch without scratch memory has none.
    const Scratch &given = launch.scratch;
    uint8_t *scratch = given.base
                           ? far.translate(given.base, workers() * given.stride)
                           : nullptr;
    if (std::count(buffers.begin(), buffers.end(), nullptr) ||
        (given.base && !scratch)) {
      failure = notMine("an operand of a launch");
      return;
    }
    ++far.counts.launches;
    far.counts.lastBuffers.assign(launch.buffers,
                                  launch.buffers + launch.numBuffers);
    if (far.failingLaunch && !--far.failingLaunch)
      work.push_back([this] {
        failure = Status::error(MLC_DEVICE, "the far device has failed");
      });
    auto kernel = reinterpret_cast<mlc_kernel>(launch.kernel);
    std::vector<int64_t> symbols(launch.symbols,
                                 launch.symbols + launch.numSymbols);
    work.push_back([=, grid = launch.grid, stride = launch.scratch.stride] {
      for (int64_t task = 0; task < grid; ++task)
        kernel(buffers.data(), symbols.data(), task, task + 1,
               scratch + task % FarDevice::workers * stride);
    });
  }

  void launch(const LibraryLaunch &launch) override {
    const LibraryCall &call = launch.call;
    std::vector<LibraryOperand> operands(
        call.inputs, call.inputs + call.numInputs + call.numOutputs);
    for (LibraryOperand &operand : operands)
      operand.data = far.translate(operand.data);
    ++far.counts.launches;
    work.push_back([=, scratch = far.translate(launch.scratch.base)] {
      LibraryCall here = call;
      here.inputs = operands.data();
      here.outputs = operands.data() + call.numInputs;
      launch.kernel->run(here, 0, launch.grid, scratch);
    });
  }

  Status reserveStamps(size_t count) override {
    stamps.resize(count);
    return Status::success();
  }
  void stamp(size_t index) override {
    work.push_back([this, index] { stamps[index] = ++clock; });
  }
  Status elapsed(size_t from, size_t to, uint64_t &ns) const override {
    ns = stamps[to] - stamps[from];
    return Status::success();
  }

private:
  void drain() {
    for (const std::function<void()> &item : work)
      item();
    work.clear();
  }

  FarDevice &far;
  std::vector<std::function<void()>> work;
  Status failure;
  std::vector<uint64_t> stamps;
  uint64_t clock = 0;
};

} // namespace

uint64_t FarDevice::allocatedBytes() const {
  uint64_t sum = 0;
  for (auto [base, bytes] : blocks)
    sum += bytes;
  return sum;
}

Status FarDevice::allocate(uint64_t bytes, void *&memory, uint64_t &capacity) {
  capacity = (bytes / 64 + 1) * 64;
  if (bytes > limit || allocatedBytes() + capacity > limit)
    return Status::error(MLC_RESOURCES, "the far device is full");
  auto *base = static_cast<uint8_t *>(std::aligned_alloc(64, capacity));
  std::memset(base, 0xa5, capacity);
  blocks[base] = capacity;
  memory = reinterpret_cast<void *>(reinterpret_cast<uintptr_t>(base) | farBit);
  return Status::success();
}

void FarDevice::free(void *memory, uint64_t) {
  uint8_t *base = translate(memory);
  blocks.erase(base);
  std::free(base);
}

uint8_t *FarDevice::translate(const void *address, uint64_t bytes) const {
  auto value = reinterpret_cast<uintptr_t>(address);
  auto *host = reinterpret_cast<uint8_t *>(value & ~farBit);
  auto block = blocks.upper_bound(host);
  if (!(value & farBit) || block == blocks.begin())
    return nullptr;
  --block;
  uint64_t offset = host - block->first;
  return offset <= block->second && bytes <= block->second - offset ? host
                                                                    : nullptr;
}

std::string FarDevice::reasonAgainst(const CodeImage &image) const {
  bool runs =
      image.kind == ImageKind::Cubin || image.kind == ImageKind::Functions;
  return runs ? "" : "which is not for the far device";
}

Status FarDevice::load(const CodeImage &image,
                       std::unique_ptr<LoadedCode> &code) {
  ++counts.loads;
  CodeImage here = image;
  if (here.kind == ImageKind::Cubin)
    here.kind = ImageKind::Elf;
  return cpuDevice().load(here, code);
}

Status FarDevice::open(const QueueOptions &, std::unique_ptr<Queue> &queue) {
  queue = std::make_unique<FarQueue>(*this);
  return Status::success();
}

FarDevice &farDevice() {
  static FarDevice *device = [] {
    auto *far = new FarDevice;
    addDevice(*far);
    return far;
  }();
  return *device;
}

std::unique_ptr<Queue> queueOn(Device &device, unsigned threads) {
  QueueOptions options;
  options.threads = threads;
  std::unique_ptr<Queue> queue;
  if (!device.open(options, queue).ok())
    abort();
  return queue;
}

Device *eachDevice(int index) {
  return index ? static_cast<Device *>(&farDevice()) : &cpuDevice();
}

} // namespace mlc::test
