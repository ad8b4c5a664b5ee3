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
  Status status = result->opened.open(ordinal);
  if (!status.ok())
    return status;
  device = std::move(result);
  return status;
}

Status CudaDevice::open(const QueueOptions &options,
                        std::unique_ptr<Queue> &queue) {
  auto result = std::make_unique<CudaQueue>(*this, opened);
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
    return "out of memory on " + opened.name + ": cannot allocate " +
           std::to_string(wanted) + " bytes";
  };
  if (bytes > uint64_t(INT64_MAX))
    return Status::error(MLC_RESOURCES, lacks(bytes));
  // Never 0 bytes; the driver aligns to 256.
  uint64_t size = (bytes / 64 + 1) * 64;
  CUdeviceptr address = 0;
  if (CUresult result = opened.driver.cuMemAlloc_v2(&address, size)) {
    status = opened.driver.error(result, lacks(bytes ? bytes : size));
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
  // Ignore failures: after an earlier error the GPU may refuse it.
  (void)enter();
  (void)opened.driver.cuMemFree_v2(reinterpret_cast<uintptr_t>(memory));
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

namespace {

struct Architecture {
  unsigned major, minor;
  /// Whether the code uses features of exactly this architecture.
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

/// Whether kernels of an image wait for the launch in front by themselves:
/// those that were compiled for 9.0 and later (docs/Cuda.md).
bool waitsForPriorLaunch(const CodeImage &image, const BundleEntry &entry) {
  if (image.kind == ImageKind::Source) {
    std::string_view text(reinterpret_cast<const char *>(entry.data),
                          entry.size);
    return text.find("waitForPriorLaunch();") != text.npos;
  }
  auto code =
      parse(image.target, image.kind == ImageKind::Cubin ? "sm_" : "compute_");
  return code && code->major >= 9;
}

/// A module for each kernel.
class CudaCode final : public LoadedCode {
public:
  explicit CudaCode(const Gpu &gpu) : gpu(gpu) {}
  ~CudaCode() override {
    (void)gpu.enter();
    for (CUmodule module : modules)
      (void)gpu.driver.cuModuleUnload(module);
  }

  KernelHandle find(const std::string &name) const override {
    for (const CudaKernel &kernel : kernels)
      if (kernel.name == name)
        return const_cast<CudaKernel *>(&kernel);
    return nullptr;
  }

  Status add(const CodeImage &image, const BundleEntry &entry) {
    const Driver &driver = gpu.driver;
    auto failed = [&](CUresult result, const char *what) {
      Status status = driver.error(result, "kernel " + entry.name + what);
      status.message += " (" + gpu.name + ", " + gpu.driverText + ")";
      if (result == CUDA_ERROR_UNSUPPORTED_PTX_VERSION)
        status.message += "; the NVRTC that made the code is newer than the "
                          "driver: update the driver, or compile the model "
                          "again with an older one (MLC_NVRTC)";
      else if (result == CUDA_ERROR_NO_BINARY_FOR_GPU ||
               result == CUDA_ERROR_INVALID_PTX ||
               result == CUDA_ERROR_INVALID_IMAGE)
        status.message +=
            "; compile the model again for target " + gpu.targetName();
      return status;
    };
    CUmodule module = nullptr;
    if (CUresult result = driver.cuModuleLoadData(&module, entry.data))
      return failed(result, " cannot be loaded");
    modules.push_back(module);
    CudaKernel &kernel = kernels.emplace_back();
    kernel.name = entry.name;
    kernel.waits = waitsForPriorLaunch(image, entry);
    if (CUresult result = driver.cuModuleGetFunction(&kernel.function, module,
                                                     entry.name.c_str()))
      return failed(result, " is not in its code");
    return Status::success();
  }

private:
  const Gpu &gpu;
  std::vector<CUmodule> modules;
  std::deque<CudaKernel> kernels; // do not move
};

} // namespace

std::string CudaDevice::targetName() const { return opened.targetName(); }

std::string CudaDevice::reasonAgainst(const CodeImage &image) const {
  bool isCubin = image.kind == ImageKind::Cubin;
  bool isEmulator = opened.isEmulator();
  unsigned major = opened.major, minor = opened.minor;
  if (image.kind == ImageKind::Source && isEmulator)
    return "";
  if (isEmulator || (!isCubin && image.kind != ImageKind::Ptx))
    return "which this device (" + opened.name + ") does not run";
  auto code = parse(image.target, isCubin ? "sm_" : "compute_");
  if (!code)
    return "which is no GPU that this runtime knows";
  std::string gpu = "this GPU (" + opened.describe() + ") ";
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
  auto result = std::make_unique<CudaCode>(opened);
  for (const BundleEntry &entry : entries)
    if (status.ok())
      status = result->add(image, entry);
  if (status.ok())
    code = std::move(result);
  return status;
}

} // namespace mlc::runtime::cuda
