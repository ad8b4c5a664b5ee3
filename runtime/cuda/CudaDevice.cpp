//===- CudaDevice.cpp - A GPU as a device ---------------------------------===//

#include "runtime/cuda/CudaDevice.h"
#include "runtime/CodeBundle.h"
#include "runtime/Memory.h"
#include "runtime/cuda/CudaQueue.h"

#include <cstring>
#include <deque>
#include <optional>

namespace mlc::runtime::cuda {

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

Status CudaDevice::open(const Driver &driver, int ordinal,
                        const std::string &name, DeviceKind kind,
                        std::unique_ptr<CudaDevice> &device) {
  std::unique_ptr<CudaDevice> result(new CudaDevice(driver, name, kind));
  Status status = result->initialize(ordinal);
  if (!status.ok())
    return status;
  device = std::move(result);
  return status;
}

Status CudaDevice::initialize(int ordinal) {
  int count = 0, version = 0, blocks = 0, shared = 0, high = 0, low = 0;
  char text[100] = "";
  Status status =
      driver.check(driver.cuDeviceGetCount(&count), "cannot count the GPUs");
  if (status.ok() && ordinal >= count)
    return Status::error(
        MLC_DEVICE,
        "there is no device '" + deviceName +
            (kind == DeviceKind::Emulator ? "'; the emulator has "
                                          : "'; this machine has ") +
            std::to_string(count) + (count == 1 ? " GPU" : " GPUs") +
            (kind == DeviceKind::Emulator ? ", as MLC_EMULATOR_DEVICES says"
                                          : ""));
  auto ask = [&](CUresult (*get)(int *, CUdevice_attribute, CUdevice),
                 CUdevice_attribute attribute, int &value) {
    if (status.ok())
      status = driver.check(get(&value, attribute, device),
                            "cannot ask the GPU for its properties");
  };
  if (status.ok())
    status = driver.check(driver.cuDriverGetVersion(&version),
                          "cannot ask the driver for its version");
  if (status.ok())
    status = driver.check(driver.cuDeviceGet(&device, ordinal),
                          "cannot open the GPU");
  if (status.ok())
    status =
        driver.check(driver.cuDeviceGetName(text, sizeof(text) - 1, device),
                     "cannot ask the GPU for its name");
  ask(driver.cuDeviceGetAttribute, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
      blocks);
  ask(driver.cuDeviceGetAttribute,
      CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, shared);
  ask(driver.cuDeviceGetAttribute, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
      high);
  ask(driver.cuDeviceGetAttribute, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
      low);
  if (status.ok())
    status = driver.check(driver.cuDevicePrimaryCtxRetain(&context, device),
                          "cannot make a context on the GPU");
  multiprocessors = blocks > 0 ? blocks : 1;
  maxShared = shared;
  major = high;
  minor = low;
  product = text;
  driverText = "driver " + std::to_string(version / 1000) + "." +
               std::to_string(version % 1000 / 10);
  return status;
}

CudaDevice::~CudaDevice() {
  if (context)
    (void)driver.cuDevicePrimaryCtxRelease_v2(device);
}

Status CudaDevice::open(const QueueOptions &options,
                        std::unique_ptr<Queue> &queue) {
  auto result = std::make_unique<CudaQueue>(*this);
  Status status = result->open(options.stream);
  if (status.ok())
    queue = std::move(result);
  return status;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Status CudaDevice::allocate(uint64_t bytes, void *&memory, uint64_t &capacity) {
  Status status = enter();
  if (!status.ok())
    return status;
  auto lacks = [&](uint64_t wanted) {
    return "out of memory on " + deviceName + ": cannot allocate " +
           std::to_string(wanted) + " bytes";
  };
  if (bytes > uint64_t(INT64_MAX))
    return Status::error(MLC_RESOURCES, lacks(bytes));
  // Some bytes also for none; the driver aligns to 256.
  uint64_t size = (bytes / 64 + 1) * 64;
  CUdeviceptr address = 0;
  if (CUresult result = driver.cuMemAlloc_v2(&address, size)) {
    status = driver.error(result, lacks(bytes ? bytes : size));
    if (result == CUDA_ERROR_OUT_OF_MEMORY)
      status.message += "; run it on smaller dims, or end what else uses the "
                        "device";
    return status;
  }
  static_assert(sizeof(memory) == sizeof(address));
  std::memcpy(static_cast<void *>(&memory), &address, sizeof(memory));
  capacity = size;
  return status;
}

void CudaDevice::free(void *memory, uint64_t) {
  // What an earlier error has left of the GPU may refuse it.
  (void)enter();
  (void)driver.cuMemFree_v2(reinterpret_cast<uintptr_t>(memory));
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

namespace {

struct Architecture {
  unsigned major, minor;
  /// Whether the code uses what no other architecture has.
  bool isExact;
};

/// "sm_90", "compute_90a".
std::optional<Architecture> parse(const std::string &target,
                                  const std::string &prefix) {
  if (target.compare(0, prefix.size(), prefix) != 0)
    return std::nullopt;
  std::string number = target.substr(prefix.size());
  bool isExact = !number.empty() && number.back() == 'a';
  if (isExact)
    number.pop_back();
  if (number.size() < 2 || number.size() > 3 ||
      number.find_first_not_of("0123456789") != std::string::npos)
    return std::nullopt;
  unsigned value = std::stoul(number);
  return Architecture{value / 10, value % 10, isExact};
}

/// A module for each kernel.
class CudaCode final : public LoadedCode {
public:
  explicit CudaCode(const CudaDevice &device) : device(device) {}
  ~CudaCode() override {
    (void)device.enter();
    for (CUmodule module : modules)
      (void)device.driver.cuModuleUnload(module);
  }

  KernelHandle find(const std::string &name) const override {
    for (const CudaKernel &kernel : kernels)
      if (kernel.name == name)
        return const_cast<CudaKernel *>(&kernel);
    return nullptr;
  }

  Status add(const BundleEntry &entry) {
    const Driver &driver = device.driver;
    auto failed = [&](CUresult result, const char *what) {
      Status status = driver.error(result, "kernel " + entry.name + what);
      status.message +=
          " (" + std::string(device.name()) + ", " + device.driverText + ")";
      if (result == CUDA_ERROR_UNSUPPORTED_PTX_VERSION)
        status.message += "; the NVRTC that made the code is newer than the "
                          "driver: update the driver, or compile the model "
                          "again with an older one (MLC_NVRTC)";
      else if (result == CUDA_ERROR_NO_BINARY_FOR_GPU ||
               result == CUDA_ERROR_INVALID_PTX ||
               result == CUDA_ERROR_INVALID_IMAGE)
        status.message +=
            "; compile the model again for target " + device.targetName();
      return status;
    };
    CUmodule module = nullptr;
    if (CUresult result = driver.cuModuleLoadData(&module, entry.data))
      return failed(result, " cannot be loaded");
    modules.push_back(module);
    CudaKernel &kernel = kernels.emplace_back();
    kernel.name = entry.name;
    if (CUresult result = driver.cuModuleGetFunction(&kernel.function, module,
                                                     entry.name.c_str()))
      return failed(result, " is not in its code");
    return Status::success();
  }

private:
  const CudaDevice &device;
  std::vector<CUmodule> modules;
  std::deque<CudaKernel> kernels; // do not move
};

} // namespace

std::string CudaDevice::describe() const {
  return product + ", sm_" + std::to_string(major) + std::to_string(minor);
}

std::string CudaDevice::targetName() const {
  return "cuda:sm_" + std::to_string(major) + std::to_string(minor);
}

std::string CudaDevice::reasonAgainst(const CodeImage &image) const {
  bool isCubin = image.kind == ImageKind::Cubin;
  bool isEmulator = kind == DeviceKind::Emulator;
  if (image.kind == ImageKind::Source && isEmulator)
    return "";
  if (isEmulator || (!isCubin && image.kind != ImageKind::Ptx))
    return "which this device (" + deviceName + ") does not run";
  auto code = parse(image.target, isCubin ? "sm_" : "compute_");
  if (!code)
    return "which is no GPU that this runtime knows";
  std::string gpu = "this GPU (" + describe() + ") ";
  bool isSame = code->major == major && code->minor == minor;
  bool isOlder =
      major < code->major || (major == code->major && minor < code->minor);
  if (isSame)
    return "";
  if (isOlder)
    return gpu + "is older";
  return code->isExact || (isCubin && code->major != major)
             ? gpu + "has another architecture"
             : "";
}

Status CudaDevice::load(const CodeImage &image,
                        std::unique_ptr<LoadedCode> &code) {
  Status status = enter();
  // The entries are aligned within the bundle, which the caller may have put
  // anywhere.
  Memory aligned;
  const void *bytes = image.data;
  if (status.ok() && reinterpret_cast<uintptr_t>(bytes) % 16 != 0) {
    bool grown;
    status = aligned.reserve(image.size, grown);
    if (status.ok())
      bytes = std::memcpy(aligned.data(), bytes, image.size);
  }
  std::vector<BundleEntry> entries;
  if (status.ok())
    status = readBundle(bytes, image.size, entries);
  auto result = std::make_unique<CudaCode>(*this);
  for (const BundleEntry &entry : entries)
    if (status.ok())
      status = result->add(entry);
  if (status.ok())
    code = std::move(result);
  return status;
}

} // namespace mlc::runtime::cuda
