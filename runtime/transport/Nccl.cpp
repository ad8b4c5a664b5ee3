//===- Nccl.cpp - The functions of NCCL, at run time ----------------------===//

#include "runtime/transport/Nccl.h"

#include <dlfcn.h>

namespace mlc::runtime::nccl {

std::string Library::load() {
  static const char *const file = "libnccl.so.2";
  // Never closed, since it leaves threads behind.
  void *handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char *text = dlerror();
    return "cannot load " + std::string(text ? text : file) +
           "; install NCCL (libnccl2), or add its folder to LD_LIBRARY_PATH";
  }
  std::string missing;
  auto take = [&](auto &function, const char *name) {
    function =
        reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(handle, name));
    if (!function && missing.empty())
      missing = name;
  };
#define MLC_NCCL_LOOKUP(result, name, parameters) take(name, #name);
  MLC_NCCL_FUNCTIONS(MLC_NCCL_LOOKUP)
#undef MLC_NCCL_LOOKUP
  return missing.empty() ? ""
                         : std::string(file) + " has no function " + missing +
                               "; install NCCL 2.8 or later";
}

} // namespace mlc::runtime::nccl
