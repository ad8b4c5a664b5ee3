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

/// The number in "cuda:N", 0 of "cuda"; -1 of other names.
int ordinalOf(const char *name) {
  if (std::strncmp(name, "cuda", 4) != 0)
    return -1;
  if (!name[4])
    return 0;
  const char *digits = name + 5;
  size_t length = strnlen(digits, 5);
  if (name[4] != ':' || length < 1 || length > 4 ||
      std::strspn(digits, "0123456789") != length)
    return -1;
  return int(std::strtol(digits, nullptr, 10));
}

std::string folderOf(const std::string &path) {
  size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

/// Where the running code is: this library's folder and the program's.
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
  return kind == DeviceKind::Emulator
             ? driver.load(findEmulator().c_str(),
                           "set MLC_EMULATOR to the path of "
                           "libmlc_emulator.so, which mlc's build makes")
             : driver.load("libcuda.so.1",
                           "a run on a GPU needs NVIDIA's driver; without one, "
                           "use the device emulator or cpu");
}

/// What has been found, to the process's end: whoever still holds a device's
/// memory may end after us.
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
      std::unique_ptr<CudaDevice> opened;
      Status status = CudaDevice::open(*driver, ordinal, name, kind, opened);
      if (!status.ok())
        return status;
      known = opened.release();
    }
    device = known;
    return Status::success();
  }
};

} // namespace

bool isCudaName(const char *name) {
  return !std::strcmp(name, "emulator") || ordinalOf(name) >= 0;
}

Status findCudaDevice(const char *name, Device *&device) {
  static Found *found = new Found;
  int ordinal = ordinalOf(name);
  if (ordinal < 0)
    return found->find(DeviceKind::Emulator, 0, "emulator", device);
  return found->find(DeviceKind::Gpu, ordinal,
                     "cuda:" + std::to_string(ordinal), device);
}

} // namespace mlc::runtime
