//===- Driver.h - Shared parts of the driver's functions --------*- C++ -*-===//

#ifndef MLC_RUNTIME_EMULATOR_DRIVER_H
#define MLC_RUNTIME_EMULATOR_DRIVER_H

#include "runtime/emulator/Arena.h"
#include "runtime/emulator/Cuda.h"
#include "runtime/emulator/Module.h"
#include "runtime/emulator/Options.h"

#include <array>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

/// The work of a captured stream, in order. An executable graph is a copy.
struct CUgraph_st {
  CUcontext context;
  std::vector<std::function<CUresult()>> work;
};
struct CUgraphExec_st : CUgraph_st {};

/// A capture of a stream's work. A call that a capture does not allow makes it
/// invalid.
struct Capture {
  CUgraph_st graph;
  int mode = 0; ///< 0: global, 1: thread-local, 2: relaxed
  std::thread::id thread = std::this_thread::get_id();
  bool isValid = true;
};

/// Work runs only when a caller waits for it, as late as CUDA may run it, which
/// exposes missing waits.
struct CUstream_st {
  CUcontext context;
  std::deque<std::function<CUresult()>> work;
  CUresult error = 0;               ///< of work done, until a call returns it
  std::unique_ptr<Capture> capture; ///< null unless it is captured
  /// Whether a thread is running work, possibly without the driver's lock; the
  /// next work must wait for it.
  bool isBusy = false;

  /// Runs all work; after an error the rest is dropped.
  void run();
  /// Runs the next piece of work. The stream must not be busy.
  void runNext();
  CUresult takeError();
};

struct CUevent_st {
  struct Record {
    bool done = false;
    std::chrono::steady_clock::time_point time;
    CUstream stream = nullptr;
  };
  CUcontext context;
  std::shared_ptr<Record> last; ///< null until it is recorded
};

struct CUfunc_st {
  CUmodule module;
  std::string name;
  void *function;
  unsigned maxShared;
  /// The number of its parameters and the bytes of each; null if unknown.
  const unsigned *parameters;
};

struct CUmod_st {
  CUcontext context = nullptr;
  mlc::emulator::LoadedModule code;
  std::vector<std::unique_ptr<CUfunc_st>> functions;
};

/// A device's primary context, and its memory.
struct CUctx_st {
  unsigned users = 0;
  mlc::emulator::Arena arena;
  CUstream_st defaultStream{this, {}, 0, nullptr};
};

namespace mlc::emulator {

/// All valid handles, to detect invalid ones.
struct Driver {
  std::mutex mutex;
  /// Notified whenever a stream has done work; waits with `mutex`.
  std::condition_variable_any progress;
  bool initialized = false;
  /// The first deviceCount() of these exist.
  std::array<CUctx_st, maxDevices> devices;
  struct HostMemory {
    size_t bytes;
    CUcontext context;
  };
  std::map<uintptr_t, HostMemory> hostMemory;
  std::set<CUstream> streams;
  std::set<CUevent> events;
  std::set<CUmodule> modules;
  std::set<CUfunction> functions;
  std::set<CUgraph> graphs;
  std::set<CUgraphExec> execs;

  /// Runs the work of all streams.
  void runAll();
  /// Whether a capture forbids the calling thread calls that may wait, such as
  /// allocating and freeing memory. Invalidates such captures.
  bool isForbidden();
  /// Queues `work` on `stream`, which may be null.
  CUresult submit(CUstream stream, std::function<CUresult()> work);
  bool isStream(CUstream stream) const {
    return !stream || streams.count(stream);
  }
  /// Whether there is a device with that number.
  static bool isDevice(CUdevice device) {
    return device >= 0 && unsigned(device) < deviceCount();
  }
  /// The device's memory with all of these bytes in one allocation; null if
  /// there is none.
  Arena *arenaOf(CUdeviceptr address, size_t bytes);
  /// Forgets all objects of a context and reports those that were left.
  void closeContext(CUcontext context);
};

extern Driver driver;
extern thread_local CUcontext currentContext;

/// A call of a driver function: holds the lock, and has an error if the call
/// must fail at once.
class Call {
public:
  enum Needs { Nothing, Initialized, Context };
  Call(const char *function, Needs needs);
  CUresult error = CUDA_SUCCESS;

private:
  std::unique_lock<std::mutex> lock;
};

/// The first line of a driver function.
#define MLC_CALL(needs)                                                        \
  Call call(__func__, Call::needs);                                            \
  if (call.error)                                                              \
  return call.error

} // namespace mlc::emulator

#endif // MLC_RUNTIME_EMULATOR_DRIVER_H
