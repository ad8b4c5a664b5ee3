//===- Module.h - Sources of kernels as loaded code -------------*- C++ -*-===//

#ifndef MLC_RUNTIME_EMULATOR_MODULE_H
#define MLC_RUNTIME_EMULATOR_MODULE_H

#include <cstdint>
#include <string>

namespace mlc::emulator {

/// The texts of include/mlc_device.cuh and mlc_hopper.cuh; CMake puts them
/// here.
extern const char *const deviceHeader;
extern const char *const hopperHeader;

/// Gives the path of a shared object compiled from `source`, possibly cached by
/// another process. Otherwise a CUDA error, with the reason in `message`.
int compileModule(const std::string &source, std::string &path,
                  std::string &message);

/// A shared object in this process.
struct LoadedModule {
  void *library = nullptr;
  std::string path;
  uintptr_t base = 0, end = 0;

  /// False with the reason in `message`.
  bool load(std::string &message);
  void unload();
  /// Null unless the module itself defines it; libraries that it uses do not
  /// count.
  void *find(const char *name) const;
};

} // namespace mlc::emulator

#endif // MLC_RUNTIME_EMULATOR_MODULE_H
