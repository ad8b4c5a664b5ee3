//===- Driver.h - What the driver's functions share -------------*- C++ -*-===//

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

/// Work that a stream was given while it was captured, in order. A copy that
/// can be launched has the same.
struct CUgraph_st {
  CUcontext context;
  std::vector<std::function<CUresult()>> work;
};
struct CUgraphExec_st : CUgraph_st {};

/// What a stream is given while it is captured; where something was done that
/// a capture does not allow, nothing becomes of it.
struct Capture {
  CUgraph_st graph;
  int mode = 0; ///< 0: of all threads, 1: of this one, 2: nothing is forbidden
  std::thread::id thread = std::this_thread::get_id();
  bool isValid = true;
};

/// Work that is done when somebody waits for it, as late as CUDA may do it: so
/// it shows who forgets to wait.
struct CUstream_st {
  CUcontext context;
  std::deque<std::function<CUresult()>> work;
  CUresult error = 0; ///< of what was done, until a call returns it
  std::unique_ptr<Capture> capture; ///< null unless it is captured
  /// Whether a thread does some of it, which may have given the driver's lock
  /// away: the next comes when it is done.
  bool isBusy = false;

  /// Does all of it; after an error the rest is dropped.
  void run();
  /// Does the next of it, where nobody is at it.
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

/// All handles that are good, so that others are told from them.
struct Driver {
  std::mutex mutex;
  /// Told whenever a stream has done something; waits with `mutex`.
  std::condition_variable_any progress;
  bool initialized = false;
  /// Those that there are come first (deviceCount()).
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

  /// Does what all streams have to do.
  void runAll();
  /// Whether a capture forbids the calling thread what may wait, as making and
  /// giving back memory may; such captures become nothing.
  bool isForbidden();
  /// Does `work`, which `stream` may be null of, in its turn.
  CUresult submit(CUstream stream, std::function<CUresult()> work);
  bool isStream(CUstream stream) const {
    return !stream || streams.count(stream);
  }
  /// Whether `device` is the number of one.
  static bool isDevice(CUdevice device) {
    return device >= 0 && unsigned(device) < deviceCount();
  }
  /// The device's memory with all of these bytes in one allocation; null if
  /// there is none.
  Arena *arenaOf(CUdeviceptr address, size_t bytes);
  /// Forgets everything of a context, and reports what was still there.
  void closeContext(CUcontext context);
};

extern Driver driver;
extern thread_local CUcontext currentContext;

/// A call of a driver's function: it holds the lock, and has an error where
/// the call shall fail at once.
class Call {
public:
  enum Needs { Nothing, Initialized, Context };
  Call(const char *function, Needs needs);
  CUresult error = CUDA_SUCCESS;

private:
  std::unique_lock<std::mutex> lock;
};

/// The first line of a driver's function.
#define MLC_CALL(needs)                                                        \
  Call call(__func__, Call::needs);                                            \
  if (call.error)                                                              \
  return call.error

} // namespace mlc::emulator

#endif // MLC_RUNTIME_EMULATOR_DRIVER_H
