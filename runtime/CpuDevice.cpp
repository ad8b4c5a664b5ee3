//===- CpuDevice.cpp - This machine's processor as a device ---------------===//

#include "runtime/CpuDevice.h"
#include "runtime/Cpu.h"
#include "runtime/Memory.h"
#include "runtime/ThreadPool.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <dlfcn.h>
#include <new>
#include <optional>
#include <sys/mman.h>
#include <system_error>
#include <unistd.h>

namespace mlc::runtime {

namespace {

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

/// A shared object loaded from memory.
class SharedObject final : public LoadedCode {
public:
  ~SharedObject() override {
    if (library)
      dlclose(library);
    if (file >= 0)
      close(file);
  }
  KernelHandle find(const std::string &name) const override {
    return dlsym(library, name.c_str());
  }
  Status load(const CodeImage &image);

private:
  Status write(const CodeImage &image);

  void *library = nullptr;
  /// Open while the code is loaded: dlopen identifies libraries by name, so the
  /// next image must not reuse this one's descriptor number.
  int file = -1;
};

Status SharedObject::write(const CodeImage &image) {
  auto failed = [] {
    return Status::error(MLC_RESOURCES, std::string("cannot load code: ") +
                                            std::strerror(errno));
  };
  file = memfd_create("mlc-code", MFD_CLOEXEC);
  if (file < 0)
    return failed();
  auto *bytes = static_cast<const char *>(image.data);
  for (uint64_t done = 0; done < image.size;) {
    ssize_t n = ::write(file, bytes + done, image.size - done);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return failed();
    done += n;
  }
  return Status::success();
}

Status SharedObject::load(const CodeImage &image) {
  Status status = write(image);
  if (!status.ok())
    return status;
  std::string path = "/proc/self/fd/" + std::to_string(file);
  if (access(path.c_str(), R_OK) != 0)
    return Status::error(MLC_DEVICE, "code is loaded by way of /proc/self/fd, "
                                     "which is not there (" +
                                         std::string(std::strerror(errno)) +
                                         "); mount /proc");
  library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library)
    return Status::success();
  const char *text = dlerror();
  std::string reason = text ? text : "unknown reason";
  // A lack of resources does not mean a bad file; dlerror gives only text.
  for (int lack : {EMFILE, ENFILE, ENOMEM})
    if (reason.find(std::strerror(lack)) != std::string::npos)
      return Status::error(MLC_RESOURCES,
                           "the code cannot be loaded: " + reason);
  return Status::badFile("the code cannot be loaded: " + reason);
}

/// Functions of this process.
class FunctionTable final : public LoadedCode {
public:
  explicit FunctionTable(const CodeImage &image)
      : begin(static_cast<const NamedFunction *>(image.data)),
        end(begin + image.size / sizeof(NamedFunction)) {}
  KernelHandle find(const std::string &name) const override {
    auto *found = std::find_if(
        begin, end, [&](const NamedFunction &f) { return name == f.name; });
    return found == end ? nullptr
                        : reinterpret_cast<KernelHandle>(found->function);
  }

private:
  const NamedFunction *begin, *end;
};

//===----------------------------------------------------------------------===//
// Work
//===----------------------------------------------------------------------===//

/// Below this much work per thread, waking another costs more than it saves.
constexpr int64_t workPerThread = 16384;

class CpuQueue final : public Queue {
public:
  CpuQueue(Device &device, const QueueOptions &options)
      : Queue(device), pool(options.threads, options.flushDenormals),
        flushDenormals(options.flushDenormals) {}

  unsigned workers() const override { return pool.size(); }

  void begin() override { environment.emplace(flushDenormals); }
  Status finish() override {
    environment.reset();
    return Status::success();
  }

  Status upload(void *to, const void *from, uint64_t bytes) override {
    return copy(to, from, bytes);
  }
  Status download(void *to, const void *from, uint64_t bytes) override {
    return copy(to, from, bytes);
  }
  Status copy(void *to, const void *from, uint64_t bytes) override {
    if (bytes)
      std::memcpy(to, from, bytes);
    return Status::success();
  }

  void launch(const Launch &launch) override {
    unsigned threads =
        std::clamp<int64_t>(1 + launch.work / workPerThread, 1, pool.size());
    pool.run(
        launch.grid, threads,
        [](void *p, unsigned thread, int64_t begin, int64_t end) {
          auto &l = *static_cast<const Launch *>(p);
          reinterpret_cast<mlc_kernel>(l.kernel)(
              l.buffers, l.symbols, begin, end, scratchOf(l.scratch, thread));
        },
        const_cast<Launch *>(&launch));
  }

  void launch(const LibraryLaunch &launch) override {
    pool.run(
        launch.grid, pool.size(),
        [](void *p, unsigned thread, int64_t begin, int64_t end) {
          auto &l = *static_cast<const LibraryLaunch *>(p);
          l.kernel->run(l.call, begin, end, scratchOf(l.scratch, thread));
        },
        const_cast<LibraryLaunch *>(&launch));
  }

  Status reserveStamps(size_t count) override {
    stamps.resize(count);
    return Status::success();
  }
  void stamp(size_t index) override {
    stamps[index] = std::chrono::steady_clock::now();
  }
  Status elapsed(size_t from, size_t to, uint64_t &ns) const override {
    ns = std::chrono::duration_cast<std::chrono::nanoseconds>(stamps[to] -
                                                              stamps[from])
             .count();
    return Status::success();
  }

private:
  static void *scratchOf(const Scratch &scratch, unsigned thread) {
    return static_cast<uint8_t *>(scratch.base) + thread * scratch.stride;
  }

  ThreadPool pool;
  bool flushDenormals;
  /// For the thread that runs, between begin() and finish().
  std::optional<FloatEnvironment> environment;
  std::vector<std::chrono::steady_clock::time_point> stamps;
};

//===----------------------------------------------------------------------===//
// The device
//===----------------------------------------------------------------------===//

class CpuDevice final : public Device {
public:
  const char *name() const override { return "cpu"; }
  bool usesHostMemory() const override { return true; }

  Status allocate(uint64_t bytes, void *&memory, uint64_t &capacity) override {
    return mapPages(bytes, memory, capacity);
  }
  void free(void *memory, uint64_t capacity) override {
    unmapPages(memory, capacity);
  }

  std::string reasonAgainst(const CodeImage &image) const override {
    if (image.kind == ImageKind::Functions)
      return "";
    if (image.kind != ImageKind::Elf)
      return "which this device (cpu) does not run";
    std::string list;
    for (const std::string &feature : missingFeatures(image.features))
      list += (list.empty() ? "" : ", ") + feature;
    return list.empty() ? "" : "this CPU (" + cpuLevel() + ") lacks " + list;
  }
  std::string targetName() const override { return "cpu:" + cpuLevel(); }

  Status load(const CodeImage &image,
              std::unique_ptr<LoadedCode> &code) override {
    if (image.kind == ImageKind::Functions) {
      code = std::make_unique<FunctionTable>(image);
      return Status::success();
    }
    auto object = std::make_unique<SharedObject>();
    Status status = object->load(image);
    if (status.ok())
      code = std::move(object);
    return status;
  }

  Status open(const QueueOptions &options,
              std::unique_ptr<Queue> &queue) override {
    try {
      queue = std::make_unique<CpuQueue>(*this, options);
    } catch (const std::system_error &e) {
      return Status::error(MLC_RESOURCES, e.what());
    }
    return Status::success();
  }
};

} // namespace

Device &cpuDevice() {
  // Never destroyed, since owners of its memory may outlive static objects.
  static CpuDevice *device = new CpuDevice;
  return *device;
}

} // namespace mlc::runtime
