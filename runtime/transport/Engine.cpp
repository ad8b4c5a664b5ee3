//===- Engine.cpp - Engines by name ---------------------------------------===//

#include "runtime/transport/Engine.h"
#include "runtime/Engines.h"
#include "runtime/Text.h"

#include <dlfcn.h>
#include <unistd.h>

namespace mlc::runtime::transport {

static std::string remedy(const std::string &name) {
  const engines::Row *row = engines::find(name);
  return row && row->ranks == engines::Processes
             ? row->remedy
             : "there are " + engines::names() +
                   ", and shared objects of your own by path";
}

std::string engineFolder() {
  Dl_info info;
  if (!dladdr(reinterpret_cast<void *>(&engineFolder), &info) ||
      !info.dli_fname)
    return "";
  std::string folder = info.dli_fname;
  size_t slash = folder.rfind('/');
  // The name of a program found in PATH has no slash.
  if (slash == std::string::npos) {
    char path[4096];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof(path));
    folder = length > 0 ? std::string(path, length) : "./";
    slash = folder.rfind('/');
  }
  folder.resize(slash);
  const std::string beside = folder + "/../lib";
  return access(beside.c_str(), R_OK) == 0 ? beside : folder;
}

Status loadEngine(const std::string &name, const std::string &folder,
                  const mlc_engine *&engine) {
  const bool isPath = name.find('/') != std::string::npos;
  auto lacks = [&](mlc_status code, const std::string &what) {
    return Status::error(code, "engine " + printable(name) + ": " + what);
  };
  std::string file = isPath ? name : "libmlc_engine_" + name + ".so";
  if (!isPath && !folder.empty() &&
      access((folder + "/" + file).c_str(), R_OK) == 0)
    file = folder + "/" + file;
  // Never closed, since MPI leaves handlers and threads behind.
  void *handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char *text = dlerror();
    return lacks(MLC_DEVICE, "cannot be loaded (" +
                                 printable(text ? text : file) + "); " +
                                 remedy(name));
  }
  auto entry =
      reinterpret_cast<mlc_engine_entry>(dlsym(handle, MLC_ENGINE_ENTRY));
  if (!entry)
    return lacks(MLC_USAGE,
                 "the shared object has no " MLC_ENGINE_ENTRY
                 "; give one that is built for runtime/transport/mlc_engine.h");
  engine = entry();
  if (!engine || engine->version != MLC_ENGINE_VERSION)
    return lacks(MLC_USAGE, "it is for version " +
                                std::to_string(engine ? engine->version : 0) +
                                " of the interface, not " +
                                std::to_string(MLC_ENGINE_VERSION) +
                                "; build it again");
  return Status::success();
}

} // namespace mlc::runtime::transport
