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

/// A kernel of loaded code; what it points at is the device's matter.
using KernelHandle = void *;

/// A code image on a device, unloaded at its end.
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

/// For Launch::work: nobody knows.
constexpr int64_t unknownWork = INT64_MAX;

/// Tasks [0, grid) of a kernel. The arrays are the host's and are read before
/// Queue::launch returns.
///
/// With a `block`, it is that many threads which share a task and `shared`
/// bytes of fast memory, and scratch memory is a block's. Devices that know no
/// blocks (cpu) do not look at the two: one thread does a task.
///
/// With `joint` memory, which all blocks share, there is no scratch memory.
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
  void *joint = nullptr;
  /// What the launch is of, for messages; may be null.
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

/// A moment in a queue's work that others wait for, and the other way round.
class Event {
public:
  virtual ~Event();
  /// The device's own handle: of CUDA a CUevent.
  virtual void *handle() const = 0;
};

/// One session's work on a device. Used by one thread at a time.
class Queue {
public:
  explicit Queue(Device &device) : device(device) {}
  virtual ~Queue();
  Queue(const Queue &) = delete;
  Queue &operator=(const Queue &) = delete;

  /// How many tasks may run at one time, each with scratch memory of its own.
  virtual unsigned workers() const = 0;

  /// Around the steps of a run, on one thread. finish() waits for all that the
  /// queue holds and returns what failed there; it also comes after an error.
  virtual void begin() = 0;
  virtual Status finish() = 0;
  /// As finish(), but may return while the queue still works. What fails later
  /// is told by the next finish() or download().
  virtual Status flush() { return finish(); }

  /// The device's own handle of what it does in order; null if it has none.
  virtual void *stream() const { return nullptr; }

  /// Order among what is done beside each other on the device, without a wait
  /// of the host. Of queues that have events: record() marks the moment when
  /// all that was handed over so far is done; what is handed over behind
  /// waitFor() begins when the event, which somebody has recorded, has
  /// happened.
  virtual bool hasEvents() const { return false; }
  virtual Status makeEvent(std::unique_ptr<Event> &event);
  virtual Status record(Event &event);
  virtual Status waitFor(Event &event);

  /// Copies of `bytes` that do not overlap: from the host, to the host, on the
  /// device. The host's memory may change, and holds its copy, when the
  /// function returns. upload() and download() are allowed outside of a run
  /// too.
  virtual Status upload(void *to, const void *hostFrom, uint64_t bytes) = 0;
  virtual Status download(void *hostTo, const void *from, uint64_t bytes) = 0;
  virtual Status copy(void *to, const void *from, uint64_t bytes) = 0;
  /// As download(), in a run, but the host's memory holds the copy when
  /// finish() has returned success, and not before.
  virtual Status downloadLater(void *hostTo, const void *from, uint64_t bytes) {
    return download(hostTo, from, bytes);
  }

  /// What fails in a launch is told by the next function that returns a Status,
  /// finish() at the latest.
  virtual void launch(const Launch &launch) = 0;
  virtual void launch(const LibraryLaunch &launch) = 0;

  /// Recording: between beginRecording() and endRecording() launches are noted,
  /// not done; replay() does them, as often as it is called. Nothing else is
  /// handed over in between. endRecording() leaves `recording` empty where
  /// something failed; replay() tells of failures as launch() does. A queue
  /// that cannot record says so, as it does by default.
  virtual bool canRecord() const { return false; }
  virtual void beginRecording() {}
  virtual void endRecording(std::unique_ptr<Recording> &recording) {}
  virtual void replay(Recording &recording) {}

  /// Makes room for the stamps [0, count).
  virtual Status reserveStamps(size_t count) = 0;
  /// Takes the time when everything queued so far is done.
  virtual void stamp(size_t index) = 0;
  /// Nanoseconds between two stamps of a run that is finished.
  virtual Status elapsed(size_t from, size_t to, uint64_t &ns) const = 0;

  Device &device;
};

/// Between Queue::begin() and finish(), which must come whatever happens.
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
  /// Threads of the host that work, the caller's among them; for devices that
  /// compute with them.
  unsigned threads = 1;
  /// Treat denormals as zero.
  bool flushDenormals = false;
  /// What Queue::stream() shall be, the caller's; null: one of the queue's own.
  void *stream = nullptr;
};

/// Its functions may run on several threads at a time.
class Device {
public:
  virtual ~Device();

  /// As the C ABI gives it: "cpu", "cuda:0".
  virtual const char *name() const = 0;
  /// Which of the driver's GPUs it is, whose memory CUDA's other libraries work
  /// on too; -1: none.
  virtual int gpu() const { return -1; }
  /// Whether the host's memory is the device's: host pointers are addresses,
  /// and the other way round.
  virtual bool usesHostMemory() const = 0;

  /// Memory of at least `bytes` (also of none) at a multiple of 64. Sets
  /// `capacity` to what is really there. MLC_RESOURCES where there is none.
  virtual Status allocate(uint64_t bytes, void *&memory,
                          uint64_t &capacity) = 0;
  /// Gives back what allocate() gave; no queue may still work on it.
  virtual void free(void *memory, uint64_t capacity) = 0;

  /// Why the device cannot run `image`, for a sentence that begins with what
  /// the image was compiled for ("this CPU (x86-64-v2) lacks avx2"); "" if it
  /// can.
  virtual std::string reasonAgainst(const CodeImage &image) const = 0;
  /// What to compile for, for --target=... of a remedy.
  virtual std::string targetName() const = 0;
  /// Loads an image that there is no reason against, with its bytes at hand.
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
  /// grow. `grown` tells whether it did. A block stays on its first device.
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
