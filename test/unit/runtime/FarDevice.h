//===- FarDevice.h - A device with memory of its own ------------*- C++ -*-===//
//
// What a session may take for granted of a device is no more than Device.h
// says. This one has memory that no host pointer reaches (an address of its own
// crashes on the host, an address of the host is refused), does nothing before
// it has to, runs one task at a time on one of several workers, and counts. Its
// kernels are the cpu's; in files they are images of kind cubin.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_TEST_UNIT_RUNTIME_FARDEVICE_H
#define MLC_TEST_UNIT_RUNTIME_FARDEVICE_H

#include "runtime/CpuDevice.h"

#include <functional>
#include <map>

namespace mlc::test {

class FarDevice final : public runtime::Device {
public:
  static constexpr unsigned workers = 3;

  /// What has been done, and the buffers of the last launch.
  struct Counts {
    unsigned uploads = 0, downloads = 0, copies = 0, launches = 0, loads = 0;
    uint64_t uploadedBytes = 0;
    std::vector<void *> lastBuffers;
  } counts;
  /// Allocations beyond this fail.
  uint64_t limit = uint64_t(1) << 40;
  /// Launches until one fails; 0: none does.
  unsigned failingLaunch = 0;

  uint64_t allocatedBytes() const;

  const char *name() const override { return "far"; }
  bool usesHostMemory() const override { return false; }
  runtime::Status allocate(uint64_t bytes, void *&memory,
                           uint64_t &capacity) override;
  void free(void *memory, uint64_t capacity) override;
  std::string reasonAgainst(const runtime::CodeImage &image) const override;
  std::string targetName() const override { return "far"; }
  runtime::Status load(const runtime::CodeImage &image,
                       std::unique_ptr<runtime::LoadedCode> &code) override;
  runtime::Status open(const runtime::QueueOptions &options,
                       std::unique_ptr<runtime::Queue> &queue) override;

  /// The host's address of `bytes` at `address`; null where they are not within
  /// one block of this device.
  uint8_t *translate(const void *address, uint64_t bytes = 0) const;

private:
  std::map<const uint8_t *, uint64_t> blocks;
};

/// One of the runtime's devices from the first call on.
FarDevice &farDevice();

/// A queue for a session.
std::unique_ptr<runtime::Queue> queueOn(runtime::Device &device,
                                        unsigned threads = 1);

/// "cpu" and "far", for GENERATE.
runtime::Device *eachDevice(int index);

} // namespace mlc::test

/// Runs the rest of a test case once on each device, which is `device`.
#define ON_EACH_DEVICE                                                         \
  mlc::runtime::Device &device = *mlc::test::eachDevice(GENERATE(0, 1));       \
  INFO("on " << device.name())

#endif // MLC_TEST_UNIT_RUNTIME_FARDEVICE_H
