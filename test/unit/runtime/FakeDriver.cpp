//===- FakeDriver.cpp - CUDA's driver without a GPU -----------------------===//

#include "FakeDriver.h"

#include <cstdlib>
#include <cstring>
#include <mutex>

namespace mlc::test {

using namespace runtime::cuda;

namespace {

/// Set in every address of the GPU's memory: none is one of the host.
constexpr uint64_t farBit = uint64_t(1) << 62;

FakeDriver fake;
std::recursive_mutex mutex;
thread_local CUcontext current = nullptr;
int theContexts[2]; // one for each GPU

/// Around each function: counts it, and says whether it shall fail.
struct Call {
  std::lock_guard<std::recursive_mutex> lock{mutex};
  const char *name;
  CUresult result = CUDA_SUCCESS;

  explicit Call(const char *name, bool needsContext = true) : name(name) {
    ++fake.counts[name];
    if (++fake.calls == fake.failAt || name == fake.failName) {
      fake.failName.clear();
      fake.failed = name;
      result = fake.failWith;
    }
    if (needsContext && !current)
      misuse("no context");
  }
  void misuse(const std::string &what) {
    fake.misuses.push_back(std::string(name) + ": " + what);
    if (!result)
      result = CUDA_ERROR_INVALID_HANDLE;
  }
  bool fails() const { return result != CUDA_SUCCESS; }
};

void drain(std::vector<std::function<void()>> &work) {
  for (const std::function<void()> &item : work)
    item();
  work.clear();
}

template <typename Set, typename Key>
void release(Call &call, Set &set, Key key) {
  if (!set.erase(key))
    call.misuse("not there");
}

CUresult enqueue(Call &call, CUstream stream, std::function<void()> work) {
  auto it = fake.streams.find(stream);
  if (it == fake.streams.end())
    call.misuse("no stream");
  else if (fake.streamContexts[stream] != current)
    call.misuse("a stream of another context");
  if (call.fails())
    return call.result;
  auto capture = fake.captures.find(stream);
  auto &to = capture == fake.captures.end() ? it->second : capture->second;
  to.push_back(std::move(work));
  return call.result;
}

//===----------------------------------------------------------------------===//
// Device and memory
//===----------------------------------------------------------------------===//

CUresult init(unsigned) { return Call("cuInit", false).result; }
CUresult version(int *version) {
  *version = fake.version;
  return Call("cuDriverGetVersion", false).result;
}
CUresult deviceCount(int *count) {
  *count = fake.devices;
  return Call("cuDeviceGetCount", false).result;
}
CUresult device(CUdevice *device, int ordinal) {
  *device = ordinal;
  return Call("cuDeviceGet", false).result;
}
CUresult deviceName(char *name, int length, CUdevice) {
  std::strncpy(name, "Fake GPU", length);
  return Call("cuDeviceGetName", false).result;
}
CUresult busId(char *id, int length, CUdevice device) {
  std::strncpy(id, device ? "0000:01:00.0" : "0000:00:00.0", length);
  return Call("cuDeviceGetPCIBusId", false).result;
}
CUresult attribute(int *value, CUdevice_attribute attribute, CUdevice) {
  *value = attribute == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT
               ? fake.multiprocessors
           : attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR
               ? fake.major
           : attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR
               ? fake.minor
               : fake.maxShared;
  return Call("cuDeviceGetAttribute", false).result;
}
CUresult retain(CUcontext *context, CUdevice device) {
  Call call("cuDevicePrimaryCtxRetain", false);
  if (call.fails())
    return call.result;
  ++fake.contexts;
  *context = reinterpret_cast<CUcontext>(&theContexts[device]);
  return call.result;
}
// Functions that give back do so even where they are made to fail, as CUDA's:
// they then tell of what failed before.
CUresult releaseContext(CUdevice) {
  Call call("cuDevicePrimaryCtxRelease_v2", false);
  if (--fake.contexts < 0)
    call.misuse("not there");
  return call.result;
}
CUresult setCurrent(CUcontext context) {
  Call call("cuCtxSetCurrent", false);
  if (fake.contexts < 1)
    call.misuse("no context is retained");
  if (!call.fails())
    current = context;
  return call.result;
}

CUresult allocate(CUdeviceptr *address, size_t bytes) {
  Call call("cuMemAlloc_v2");
  if (bytes > size_t(1) << 40)
    return CUDA_ERROR_OUT_OF_MEMORY;
  if (call.fails())
    return call.result;
  auto *memory = static_cast<uint8_t *>(std::aligned_alloc(64, bytes));
  std::memset(memory, 0xa5, bytes);
  fake.memory[memory] = bytes;
  *address = reinterpret_cast<uintptr_t>(memory) | farBit;
  return call.result;
}
CUresult freeMemory(CUdeviceptr address) {
  Call call("cuMemFree_v2");
  for (auto &stream : fake.streams)
    drain(stream.second);
  auto *memory = reinterpret_cast<uint8_t *>(address & ~farBit);
  if (fake.memory.erase(memory))
    std::free(memory);
  else
    call.misuse("not there");
  return call.result;
}
CUresult allocateHost(void **memory, size_t bytes) {
  Call call("cuMemAllocHost_v2");
  if (call.fails())
    return call.result;
  *memory = std::malloc(bytes);
  fake.pinned[static_cast<uint8_t *>(*memory)] = bytes;
  return call.result;
}
CUresult freeHost(void *memory) {
  Call call("cuMemFreeHost");
  if (fake.pinned.erase(static_cast<uint8_t *>(memory)))
    std::free(memory);
  else
    call.misuse("not there");
  return call.result;
}

CUresult toDevice(CUdeviceptr to, const void *from, size_t bytes,
                  CUstream stream) {
  Call call("cuMemcpyHtoDAsync_v2");
  uint8_t *target = fake.host(to, bytes);
  if (!target)
    call.misuse("no memory of the device");
  return enqueue(call, stream, [=] { std::memcpy(target, from, bytes); });
}
CUresult toHost(void *to, CUdeviceptr from, size_t bytes, CUstream stream) {
  Call call("cuMemcpyDtoHAsync_v2");
  uint8_t *source = fake.host(from, bytes);
  if (!source)
    call.misuse("no memory of the device");
  return enqueue(call, stream, [=] { std::memcpy(to, source, bytes); });
}
CUresult onDevice(CUdeviceptr to, CUdeviceptr from, size_t bytes,
                  CUstream stream) {
  Call call("cuMemcpyDtoDAsync_v2");
  uint8_t *source = fake.host(from, bytes), *target = fake.host(to, bytes);
  if (!source || !target)
    call.misuse("no memory of the device");
  return enqueue(call, stream, [=] { std::memcpy(target, source, bytes); });
}

//===----------------------------------------------------------------------===//
// Streams and events
//===----------------------------------------------------------------------===//

CUresult streamCreate(CUstream *stream, unsigned) {
  Call call("cuStreamCreate");
  if (call.fails())
    return call.result;
  *stream = reinterpret_cast<CUstream>(new char);
  fake.streams[*stream];
  fake.streamContexts[*stream] = current;
  return call.result;
}
CUresult streamDestroy(CUstream stream) {
  Call call("cuStreamDestroy_v2");
  release(call, fake.streams, static_cast<void *>(stream));
  delete reinterpret_cast<char *>(stream);
  return call.result;
}
CUresult streamContext(CUstream stream, CUcontext *context) {
  Call call("cuStreamGetCtx");
  if (!fake.streams.count(stream))
    call.misuse("no stream");
  if (!call.fails())
    *context = fake.streamContexts[stream];
  return call.result;
}
CUresult streamSynchronize(CUstream stream) {
  Call call("cuStreamSynchronize");
  auto it = fake.streams.find(stream);
  if (it == fake.streams.end())
    call.misuse("no stream");
  if (fake.captures.count(stream))
    call.misuse("a wait while launches are captured");
  if (call.fails())
    return call.result;
  drain(it->second);
  return std::exchange(fake.streamResult, CUDA_SUCCESS);
}
CUresult streamWait(CUstream stream, CUevent event, unsigned) {
  Call call("cuStreamWaitEvent");
  auto *time = reinterpret_cast<uint64_t *>(event);
  if (!fake.events.count(time))
    call.misuse("no event");
  // What it waits for is drained first: events know their streams.
  return enqueue(call, stream, [=] {
    if (auto recorded = fake.recorded.find(time);
        recorded != fake.recorded.end() && fake.streams.count(recorded->second))
      drain(fake.streams[recorded->second]);
  });
}
CUresult beginCapture(CUstream stream, int) {
  Call call("cuStreamBeginCapture_v2");
  if (!fake.streams.count(stream) || fake.captures.count(stream))
    call.misuse("no stream, or one that is captured");
  if (!call.fails())
    fake.captures[stream];
  return call.result;
}
CUresult endCapture(CUstream stream, CUgraph *graph) {
  Call call("cuStreamEndCapture");
  auto it = fake.captures.find(stream);
  if (it == fake.captures.end())
    call.misuse("nothing is captured");
  if (call.fails())
    return call.result;
  auto *work = new FakeDriver::Work(std::move(it->second));
  fake.captures.erase(it);
  fake.graphs.insert(work);
  *graph = reinterpret_cast<CUgraph>(work);
  return call.result;
}
CUresult instantiate(CUgraphExec *exec, CUgraph graph, unsigned long long) {
  Call call("cuGraphInstantiateWithFlags");
  auto *work = reinterpret_cast<FakeDriver::Work *>(graph);
  if (!fake.graphs.count(work))
    call.misuse("no graph");
  if (call.fails())
    return call.result;
  auto *copy = new FakeDriver::Work(*work);
  fake.execs.insert(copy);
  *exec = reinterpret_cast<CUgraphExec>(copy);
  return call.result;
}
CUresult graphDestroy(CUgraph graph) {
  Call call("cuGraphDestroy");
  auto *work = reinterpret_cast<FakeDriver::Work *>(graph);
  release(call, fake.graphs, work);
  delete work;
  return call.result;
}
CUresult graphExecDestroy(CUgraphExec exec) {
  Call call("cuGraphExecDestroy");
  auto *work = reinterpret_cast<FakeDriver::Work *>(exec);
  release(call, fake.execs, work);
  delete work;
  return call.result;
}
CUresult graphLaunch(CUgraphExec exec, CUstream stream) {
  Call call("cuGraphLaunch");
  auto *work = reinterpret_cast<FakeDriver::Work *>(exec);
  if (!fake.execs.count(work))
    call.misuse("no graph that can be launched");
  if (call.fails())
    return call.result;
  return enqueue(call, stream, [copy = *work] {
    for (const std::function<void()> &item : copy)
      item();
  });
}
CUresult eventCreate(CUevent *event, unsigned) {
  Call call("cuEventCreate");
  if (call.fails())
    return call.result;
  *event = reinterpret_cast<CUevent>(new uint64_t(0));
  fake.events.insert(reinterpret_cast<uint64_t *>(*event));
  return call.result;
}
CUresult eventDestroy(CUevent event) {
  Call call("cuEventDestroy_v2");
  auto *time = reinterpret_cast<uint64_t *>(event);
  release(call, fake.events, time);
  delete time;
  return call.result;
}
CUresult eventRecord(CUevent event, CUstream stream) {
  Call call("cuEventRecord");
  auto *time = reinterpret_cast<uint64_t *>(event);
  if (!fake.events.count(time))
    call.misuse("no event");
  fake.recorded[time] = stream;
  return enqueue(call, stream, [=] {
    *time = ++fake.clock;
    fake.recorded.erase(time);
  });
}
CUresult eventQuery(CUevent event) {
  Call call("cuEventQuery");
  if (call.fails())
    return call.result;
  return fake.recorded.count(reinterpret_cast<uint64_t *>(event))
             ? CUDA_ERROR_NOT_READY
             : CUDA_SUCCESS;
}
CUresult eventSynchronize(CUevent) { return Call("cuEventSynchronize").result; }
CUresult elapsed(float *milliseconds, CUevent from, CUevent to) {
  *milliseconds =
      *reinterpret_cast<uint64_t *>(to) - *reinterpret_cast<uint64_t *>(from);
  return Call("cuEventElapsedTime").result;
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

CUresult moduleLoad(CUmodule *module, const void *image) {
  Call call("cuModuleLoadData");
  if (reinterpret_cast<uintptr_t>(image) % 16)
    call.misuse("not aligned");
  std::string code = static_cast<const char *>(image);
  if (!call.fails() && !fake.kernels.count(code))
    return CUDA_ERROR_INVALID_IMAGE;
  if (call.fails())
    return call.result;
  auto *loaded = new std::string(code);
  fake.modules.insert(loaded);
  *module = reinterpret_cast<CUmodule>(loaded);
  return call.result;
}
CUresult moduleUnload(CUmodule module) {
  Call call("cuModuleUnload");
  auto *loaded = reinterpret_cast<std::string *>(module);
  release(call, fake.modules, loaded);
  delete loaded;
  return call.result;
}
CUresult getFunction(CUfunction *function, CUmodule module, const char *name) {
  Call call("cuModuleGetFunction");
  auto *loaded = reinterpret_cast<std::string *>(module);
  if (!fake.modules.count(loaded))
    call.misuse("no module");
  else if (*loaded != name)
    return CUDA_ERROR_NOT_FOUND;
  *function = reinterpret_cast<CUfunction>(loaded);
  return call.result;
}
CUresult functionAttribute(CUfunction, CUfunction_attribute, int) {
  return Call("cuFuncSetAttribute").result;
}
CUresult launchAs(const CUlaunchConfig &config, CUfunction function,
                  void **parameters, void **extra, bool isOverlapped) {
  Call call(isOverlapped ? "cuLaunchKernelEx" : "cuLaunchKernel");
  auto *loaded = reinterpret_cast<std::string *>(function);
  if (!fake.modules.count(loaded) || config.gridY != 1 || config.gridZ != 1 ||
      config.blockY != 1 || config.blockZ != 1 || !parameters || extra)
    call.misuse("a wrong launch");
  if (call.fails())
    return call.result;
  FakeLaunch launch{*loaded, config.gridX, config.blockX, config.sharedBytes,
                    {},      isOverlapped};
  const unsigned numMaps = fake.numMaps[*loaded];
  for (unsigned i = 0; i < numMaps + 7; ++i) {
    auto *words = static_cast<uint64_t *>(parameters[i]);
    launch.words.insert(launch.words.end(), words,
                        words + (i < numMaps ? 16 : 1));
  }
  fake.launches.push_back(launch);
  FakeKernel kernel = fake.kernels[*loaded];
  return enqueue(call, config.stream, [=] { kernel(launch); });
}
CUresult launchKernel(CUfunction function, unsigned gridX, unsigned gridY,
                      unsigned gridZ, unsigned blockX, unsigned blockY,
                      unsigned blockZ, unsigned shared, CUstream stream,
                      void **parameters, void **extra) {
  return launchAs(
      {gridX, gridY, gridZ, blockX, blockY, blockZ, shared, stream, nullptr, 0},
      function, parameters, extra, /*isOverlapped=*/false);
}
CUresult launchKernelEx(const CUlaunchConfig *config, CUfunction function,
                        void **parameters, void **extra) {
  const CUlaunchAttribute *attribute = config->attributes;
  if (config->attributeCount != 1 || attribute->id != 6 ||
      attribute->value.isSerializationProgrammatic != 1)
    return CUDA_ERROR_INVALID_VALUE;
  return launchAs(*config, function, parameters, extra, /*isOverlapped=*/true);
}

} // namespace

uint8_t *FakeDriver::host(uint64_t address, uint64_t bytes) const {
  auto *place = reinterpret_cast<uint8_t *>(address & ~farBit);
  auto block = memory.upper_bound(place);
  if (!(address & farBit) || block == memory.begin())
    return nullptr;
  --block;
  uint64_t offset = place - block->first;
  return offset <= block->second && bytes <= block->second - offset ? place
                                                                    : nullptr;
}

CUresult fakeCall(const char *name, bool needsContext) {
  return Call(name, needsContext).result;
}

FakeDriver &freshDriver() {
  fake = FakeDriver();
  current = nullptr;
  return fake;
}

const Driver &fakeTable() {
  // In the order of the table, so that a function which is missing or of
  // another type does not compile.
  static const Driver table{init,
                            version,
                            deviceCount,
                            device,
                            deviceName,
                            busId,
                            attribute,
                            retain,
                            releaseContext,
                            setCurrent,
                            allocate,
                            freeMemory,
                            allocateHost,
                            freeHost,
                            toDevice,
                            toHost,
                            onDevice,
                            streamCreate,
                            streamDestroy,
                            streamContext,
                            streamSynchronize,
                            streamWait,
                            beginCapture,
                            endCapture,
                            instantiate,
                            graphDestroy,
                            graphExecDestroy,
                            graphLaunch,
                            moduleLoad,
                            moduleUnload,
                            getFunction,
                            functionAttribute,
                            launchKernel,
                            eventCreate,
                            eventDestroy,
                            eventRecord,
                            eventSynchronize,
                            eventQuery,
                            elapsed,
                            fakeErrorName,
                            fakeErrorString,
                            fakeEncodeTiled,
                            fakeEncodePixels,
                            launchKernelEx};
  return table;
}

} // namespace mlc::test
