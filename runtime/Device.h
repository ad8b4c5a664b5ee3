//===- Device.h - What runs programs ----------------------------*- C++ -*-===//
//
// The seam between sessions and machines (seam 4 of docs/Architecture.md). A
// session knows memory, copies, code and launches by these classes alone; what
// it keeps itself are symbols, plans and epochs.
//
// A Device is a machine's memory and code, shared by all sessions. A Queue is
// one session's place there: what is handed to it is done in order, maybe after
// the function has returned. Addresses on a device are `void *` that only the
// device may follow, unless its memory is the host's.
//
// A new device derives from Device, Queue and LoadedCode and is added to the
// list in Devices.cpp; CpuDevice.cpp is one, runtime/cuda another,
// test/unit/runtime/FarDevice.h a small one with memory of its own.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_DEVICE_H
#define MLC_RUNTIME_DEVICE_H

#include "runtime/CodeImage.h"
#include "runtime/Library.h"

#include <memory>

namespace mlc::runtime {

/// A kernel of loaded code; only the device knows what it points to.
using KernelHandle = void *;

/// A code image on a device; the destructor unloads it.
class LoadedCode {
public:
  virtual ~LoadedCode();
  /// The kernel called `name`, or null.
  virtual KernelHandle find(const std::string &name) const = 0;
};

/// Memory for what a launch's workers need while they run: worker i has the
/// `stride` bytes from `base` + i * `stride` on.
struct Scratch {
  void *base = nullptr; ///< on the device
  uint64_t stride = 0;
};

/// For Launch::work.
constexpr int64_t unknownWork = INT64_MAX;

/// A tensor map that a kernel takes as a parameter (TensorMap.h), and its form
/// for the device, which the queue makes when the operand's address is new.
struct LaunchMap {
  SizedTensorMap map;
  /// Set by the queue: the words, and the address that they were made for.
  bool isMade = false;
  const void *madeFor = nullptr;
  struct alignas(64) Words {
    uint64_t words[16];
  } made = {};
};

/// Tasks [0, grid) of a kernel. The arrays are the host's and are read before
/// Queue::launch returns.
///
/// With a `block`, that many threads share a task and `shared` bytes of fast
/// memory, and scratch memory is per block. Devices without blocks (cpu) ignore
/// both fields: one thread does a task.
///
/// A launch with `workspace` memory, which all blocks share, has no scratch
/// memory.
struct Launch {
  KernelHandle kernel = nullptr;
  /// Addresses on the device: inputs, then outputs.
  void *const *buffers = nullptr;
  size_t numBuffers = 0;
  const int64_t *symbols = nullptr;
  size_t numSymbols = 0;
  int64_t grid = 0;
  int64_t block = 0, shared = 0;
  /// Rough scalar operations of all tasks together.
  int64_t work = unknownWork;
  Scratch scratch;
  void *workspace = nullptr;
  /// The tensor maps; only GPUs have kernels that take some. They must not move
  /// between launches.
  LaunchMap *maps = nullptr;
  size_t numMaps = 0;
  /// The step of the launch, for messages; may be null.
  const Step *step = nullptr;
};

/// Tasks [0, grid) of a library kernel; the operands' `data` are addresses on
/// the device.
struct LibraryLaunch {
  const LibraryKernel *kernel = nullptr;
  LibraryCall call;
  int64_t grid = 0;
  Scratch scratch;
};

class Device;

/// Launches that a queue has recorded, with their addresses and sizes.
class Recording {
public:
  virtual ~Recording();
};

/// A point in a queue's work that other queues can wait for.
class Event {
public:
  virtual ~Event();
  /// The device's own handle; for CUDA a CUevent.
  virtual void *handle() const = 0;
};

/// One session's work on a device. Used by one thread at a time.
class Queue {
public:
  explicit Queue(Device &device) : device(device) {}
  virtual ~Queue();
  Queue(const Queue &) = delete;
  Queue &operator=(const Queue &) = delete;

  /// How many tasks may run at a time, each with its own scratch memory.
  virtual unsigned workers() const = 0;

  /// Enclose the steps of a run, on one thread. finish() waits for all queued
  /// work and returns its failure; it must be called after an error too.
  virtual void begin() = 0;
  virtual Status finish() = 0;
  /// As finish(), but may return while the queue still works. The next finish()
  /// or download() reports later failures.
  virtual Status flush() { return finish(); }

  /// The device's own stream handle; null if it has none.
  virtual void *stream() const { return nullptr; }

  /// Events order concurrent work on the device without a wait of the host.
  /// record() marks the point when all work queued so far is done. Work queued
  /// after waitFor() begins after the event, which must have been recorded.
  virtual bool hasEvents() const { return false; }
  virtual Status makeEvent(std::unique_ptr<Event> &event);
  virtual Status record(Event &event);
  virtual Status waitFor(Event &event);

  /// Copy `bytes` that do not overlap: from the host, to the host, on the
  /// device. When the function returns, the host's source may change and its
  /// destination is filled. upload() and download() are allowed outside of a
  /// run too.
  virtual Status upload(void *to, const void *hostFrom, uint64_t bytes) = 0;
  virtual Status download(void *hostTo, const void *from, uint64_t bytes) = 0;
  virtual Status copy(void *to, const void *from, uint64_t bytes) = 0;
  /// As download(), in a run, but the host's memory holds the copy only after
  /// finish() has returned success.
  virtual Status downloadLater(void *hostTo, const void *from, uint64_t bytes) {
    return download(hostTo, from, bytes);
  }

  /// The next function that returns a Status reports a failed launch, finish()
  /// at the latest.
  virtual void launch(const Launch &launch) = 0;
  virtual void launch(const LibraryLaunch &launch) = 0;

  /// Recording: between beginRecording() and endRecording() launches are
  /// recorded and not run; each replay() runs them. Nothing else may be queued
  /// in between. endRecording() leaves `recording` empty after a failure;
  /// replay() reports failures as launch() does. By default a queue cannot
  /// record.
  virtual bool canRecord() const { return false; }
  virtual void beginRecording() {}
  virtual void endRecording(std::unique_ptr<Recording> &recording) {}
  virtual void replay(Recording &recording) {}

  /// Makes room for the stamps [0, count).
  virtual Status reserveStamps(size_t count) = 0;
  /// Takes the time at which everything queued so far is done.
  virtual void stamp(size_t index) = 0;
  /// Nanoseconds between two stamps of a run that is finished.
  virtual Status elapsed(size_t from, size_t to, uint64_t &ns) const = 0;

  Device &device;
};

/// Calls Queue::begin() and finish(), which must follow in any case.
class QueuedWork {
public:
  explicit QueuedWork(Queue &queue) : queue(queue) { queue.begin(); }
  ~QueuedWork() {
    if (!isFinished)
      (void)queue.finish();
  }
  Status finish() {
    isFinished = true;
    return queue.finish();
  }
  Status flush() {
    isFinished = true;
    return queue.flush();
  }

private:
  Queue &queue;
  bool isFinished = false;
};

struct QueueOptions {
  /// Host threads that compute, including the caller's; for devices that use
  /// them.
  unsigned threads = 1;
  /// Treat denormals as zero.
  bool flushDenormals = false;
  /// The caller's stream to be used as Queue::stream(); null: the queue makes
  /// one.
  void *stream = nullptr;
};

/// Its functions are thread-safe.
class Device {
public:
  virtual ~Device();

  /// The C ABI's name: "cpu", "cuda:0".
  virtual const char *name() const = 0;
  /// The driver's index of the GPU, so that other CUDA libraries can use its
  /// memory; -1: none.
  virtual int gpu() const { return -1; }
  /// Whether host memory is device memory: host pointers are device addresses
  /// and vice versa.
  virtual bool usesHostMemory() const = 0;

  /// Allocates at least `bytes` (may be 0), aligned to 64. Sets `capacity` to
  /// the real size. MLC_RESOURCES if memory is short.
  virtual Status allocate(uint64_t bytes, void *&memory,
                          uint64_t &capacity) = 0;
  /// Frees memory of allocate(); no queue may still use it.
  virtual void free(void *memory, uint64_t capacity) = 0;

  /// Why the device cannot run `image`; "" if it can. It ends a sentence that
  /// begins with the image's target ("this CPU (x86-64-v2) lacks avx2").
  virtual std::string reasonAgainst(const CodeImage &image) const = 0;
  /// The target to compile for, for the --target=... of a remedy.
  virtual std::string targetName() const = 0;
  /// Loads an image whose reasonAgainst() is empty and whose bytes are in
  /// memory.
  virtual Status load(const CodeImage &image,
                      std::unique_ptr<LoadedCode> &code) = 0;

  virtual Status open(const QueueOptions &options,
                      std::unique_ptr<Queue> &queue) = 0;
};

/// A block of a device's memory.
class DeviceMemory {
public:
  DeviceMemory() = default;
  ~DeviceMemory();
  DeviceMemory(DeviceMemory &&other) noexcept;
  DeviceMemory &operator=(DeviceMemory &&other) noexcept;

  /// Makes room for `bytes` at least; the contents are lost if the block must
  /// grow. `grown` tells whether it did. A block stays on the device of its
  /// first call.
  Status reserve(Device &device, uint64_t bytes, bool &grown);
  uint8_t *data() const { return base; }
  uint64_t capacity() const { return size; }

private:
  void release();

  Device *owner = nullptr;
  uint8_t *base = nullptr;
  uint64_t size = 0;
};

} // namespace mlc::runtime

#endif // MLC_RUNTIME_DEVICE_H
