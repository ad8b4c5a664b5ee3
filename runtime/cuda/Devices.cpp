//===- Devices.cpp - GPUs and their emulator by name ----------------------===//

#include "runtime/CudaDevices.h"
#include "runtime/cuda/CudaDevice.h"

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <map>
#include <mutex>
#include <unistd.h>

namespace mlc::runtime {

using namespace cuda;

namespace {

constexpr const char *emulatorLibrary = "libmlc_emulator.so";

/// The number in "cuda:N" or "emulator:N", 0 without one; -1 for other names.
/// `family` is the part before the colon.
int ordinalOf(const char *name, const char *family) {
  size_t front = std::strlen(family);
  if (std::strncmp(name, family, front) != 0)
    return -1;
  if (!name[front])
    return 0;
  const char *digits = name + front + 1;
  if (name[front] != ':')
    return -1;
  size_t length = strnlen(digits, 5);
  if (length < 1 || length > 4 || std::strspn(digits, "0123456789") != length)
    return -1;
  return int(std::strtol(digits, nullptr, 10));
}

constexpr const char *gpuFamily = "cuda", *emulatorFamily = "emulator";

std::string folderOf(const std::string &path) {
  size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

/// The folders of the running code: this library's and the program's.
std::vector<std::string> ownFolders() {
  std::vector<std::string> folders;
  Dl_info info;
  if (dladdr(reinterpret_cast<void *>(&findCudaDevice), &info) &&
      info.dli_fname)
    folders.push_back(folderOf(info.dli_fname));
  char path[4096];
  ssize_t length = readlink("/proc/self/exe", path, sizeof(path));
  if (length > 0)
    folders.push_back(folderOf(std::string(path, length)));
  return folders;
}

std::string findEmulator() {
  const char *given = std::getenv("MLC_EMULATOR");
  if (given && *given)
    return given;
  for (const std::string &folder : ownFolders())
    for (const char *inside : {"/", "/../lib/", "/../bin/"}) {
      std::string path = folder + inside + emulatorLibrary;
      if (access(path.c_str(), R_OK) == 0)
        return path;
    }
  return emulatorLibrary;
}

Status loadDriver(DeviceKind kind, Driver &driver) {
  if (kind == DeviceKind::Emulator) {
    Status status = driver.load(findEmulator().c_str(),
                                "set MLC_EMULATOR to the path of "
                                "libmlc_emulator.so, which mlc's build makes");
    // Its own message already says what is wrong in the environment.
    return status.ok() ? driver.initialize("") : status;
  }
  const char *remedy = "a run on a GPU needs NVIDIA's driver; without one, use "
                       "the device emulator or cpu";
  Status status = driver.load("libcuda.so.1", remedy);
  return status.ok() ? driver.initialize(remedy) : status;
}

/// The devices found so far. Never destroyed, since owners of device memory may
/// outlive static objects.
struct Found {
  std::mutex mutex;
  std::map<std::string, CudaDevice *> devices;
  std::map<DeviceKind, Driver *> drivers;

  Status find(DeviceKind kind, int ordinal, const std::string &name,
              Device *&device) {
    std::lock_guard<std::mutex> lock(mutex);
    CudaDevice *&known = devices[name];
    if (!known) {
      Driver *&driver = drivers[kind];
      if (!driver) {
        auto loaded = std::make_unique<Driver>();
        Status status = loadDriver(kind, *loaded);
        if (!status.ok()) {
          status.message =
              "there is no device '" + name + "': " + status.message;
          return status;
        }
        driver = loaded.release();
      }
      // The emulator may be installed as libcuda.so.1.
      if (driver->isEmulator)
        kind = DeviceKind::Emulator;
      std::unique_ptr<CudaDevice> opened;
      Status status = CudaDevice::open(*driver, ordinal, name, kind, opened);
      if (!status.ok()) {
        if (status.message.find(name) == std::string::npos)
          status.message =
              "device '" + name + "' cannot be used: " + status.message;
        return status;
      }
      known = opened.release();
    }
    device = known;
    return Status::success();
  }
};

} // namespace

bool isCudaName(const char *name) {
  return ordinalOf(name, gpuFamily) >= 0 ||
         ordinalOf(name, emulatorFamily) >= 0;
}

Status findCudaDevice(const char *name, Device *&device) {
  static Found *found = new Found;
  int ordinal = ordinalOf(name, gpuFamily);
  if (ordinal >= 0)
    return found->find(DeviceKind::Gpu, ordinal,
                       "cuda:" + std::to_string(ordinal), device);
  ordinal = ordinalOf(name, emulatorFamily);
  return found->find(
      DeviceKind::Emulator, ordinal,
      ordinal ? "emulator:" + std::to_string(ordinal) : "emulator", device);
}

} // namespace mlc::runtime
