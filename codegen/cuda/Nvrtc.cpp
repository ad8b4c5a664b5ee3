//===- Nvrtc.cpp - CUDA C++ to machine code -------------------------------===//

#include "codegen/cuda/Nvrtc.h"
#include "codegen/cuda/DeviceHeader.h"
#include "codegen/cuda/KernelCache.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"
#include <cstdlib>
#include <dlfcn.h>
#include <vector>

namespace mlc::cuda {
namespace {

// NVRTC's interface, as documented for CUDA toolkit 13.0.
using Program = void *;
using Result = int;
/// For messages. The option -lineinfo is not used because it would put the
/// current folder into the code.
constexpr const char *sourceName = "kernel.cu";
constexpr Result success = 0, compilationFailed = 6;

struct Nvrtc {
  Result (*nvrtcVersion)(int *major, int *minor);
  const char *(*nvrtcGetErrorString)(Result);
  Result (*nvrtcCreateProgram)(Program *, const char *source, const char *name,
                               int numHeaders, const char *const *headers,
                               const char *const *includeNames);
  Result (*nvrtcDestroyProgram)(Program *);
  Result (*nvrtcCompileProgram)(Program, int numOptions,
                                const char *const *options);
  Result (*nvrtcGetProgramLogSize)(Program, size_t *);
  Result (*nvrtcGetProgramLog)(Program, char *);
  Result (*nvrtcGetCUBINSize)(Program, size_t *);
  Result (*nvrtcGetCUBIN)(Program, char *);
  Result (*nvrtcGetPTXSize)(Program, size_t *);
  Result (*nvrtcGetPTX)(Program, char *);

  /// Why NVRTC could not be loaded; "" if it was.
  std::string error;
  Nvrtc();

private:
  void loadBuiltins() const;
};

/// NVRTC loads its second library by name only, so the loader finds it only on
/// its search path. This loads the one next to NVRTC first; if there is none,
/// NVRTC's own search decides.
void Nvrtc::loadBuiltins() const {
  Dl_info place = {};
  int major = 0, minor = 0;
  if (nvrtcVersion(&major, &minor) != success ||
      !dladdr(reinterpret_cast<void *>(nvrtcVersion), &place) ||
      !place.dli_fname)
    return;
  llvm::StringRef folder = llvm::sys::path::parent_path(place.dli_fname);
  std::string name = "libnvrtc-builtins.so." + std::to_string(major) + "." +
                     std::to_string(minor);
  dlopen((folder + "/" + name).str().c_str(), RTLD_NOW | RTLD_GLOBAL);
}

Nvrtc::Nvrtc() {
  // Versions of one major number are compatible (NVRTC's user guide).
  const char *given = std::getenv("MLC_NVRTC");
  std::vector<const char *> names = {"libnvrtc.so.13", "libnvrtc.so"};
  if (given && *given)
    names = {given};
  void *library = nullptr;
  for (const char *name : names)
    if (!library)
      library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  constexpr const char *remedy =
      "; install it (pip package nvidia-cuda-nvrtc, or the CUDA toolkit 13) "
      "and give its path in MLC_NVRTC where the linker does not find it";
  if (!library) {
    const char *text = dlerror();
    error = std::string("code for CUDA is made by NVRTC, which is not here: ") +
            (text ? text : "unknown reason") + remedy;
    return;
  }
  auto find = [&](auto *&function, const char *name) {
    void *address = dlsym(library, name);
    if (!address && error.empty())
      error = std::string("NVRTC lacks ") + name + remedy;
    function =
        reinterpret_cast<std::remove_reference_t<decltype(function)>>(address);
  };
#define MLC_FIND(name) find(name, #name)
  MLC_FIND(nvrtcVersion);
  MLC_FIND(nvrtcGetErrorString);
  MLC_FIND(nvrtcCreateProgram);
  MLC_FIND(nvrtcDestroyProgram);
  MLC_FIND(nvrtcCompileProgram);
  MLC_FIND(nvrtcGetProgramLogSize);
  MLC_FIND(nvrtcGetProgramLog);
  MLC_FIND(nvrtcGetCUBINSize);
  MLC_FIND(nvrtcGetCUBIN);
  MLC_FIND(nvrtcGetPTXSize);
  MLC_FIND(nvrtcGetPTX);
#undef MLC_FIND
  if (error.empty())
    loadBuiltins();
}

const Nvrtc &nvrtc() {
  static const Nvrtc library;
  return library;
}

llvm::Error failed(Result result, const char *what) {
  return llvm::createStringError(llvm::Twine("NVRTC cannot ") + what + ": " +
                                 nvrtc().nvrtcGetErrorString(result));
}

/// Fetches bytes through one of NVRTC's pairs of functions (size, bytes).
template <typename Size, typename Get>
llvm::Error fetch(Program program, Size size, Get get, std::string &bytes) {
  size_t count = 0;
  Result result = size(program, &count);
  bytes.resize(count);
  if (result == success && count)
    result = get(program, bytes.data());
  if (result != success)
    return failed(result, "give what it made");
  return llvm::Error::success();
}

} // namespace

/// The number before `words` in `text`, or 0.
static int64_t numberBefore(llvm::StringRef text, llvm::StringRef words) {
  auto [before, after] = text.split(words);
  if (before.size() == text.size())
    return 0;
  int64_t number = 0;
  before = before.rtrim();
  before.substr(before.find_last_not_of("0123456789") + 1)
      .getAsInteger(10, number);
  return number;
}

Resources readResources(llvm::StringRef log) {
  return {numberBefore(log, " registers"),
          numberBefore(log, " bytes stack frame"),
          numberBefore(log, " bytes spill stores"),
          numberBefore(log, " bytes spill loads")};
}

llvm::Expected<std::string> nvrtcVersion() {
  if (!nvrtc().error.empty())
    return llvm::createStringError(nvrtc().error);
  int major = 0, minor = 0;
  nvrtc().nvrtcVersion(&major, &minor);
  return std::to_string(major) + "." + std::to_string(minor);
}

/// Compiles without asking the cache.
static llvm::Expected<CompiledSource> compile(llvm::StringRef source,
                                              llvm::StringRef arch) {
  const Nvrtc &library = nvrtc();
  if (!library.error.empty())
    return llvm::createStringError(library.error);
  Program program = nullptr;
  std::vector<const char *> headers;
  for (const char *name : deviceHeaderNames)
    headers.push_back(skeletonText(name).data());
  Result result = library.nvrtcCreateProgram(&program, source.str().c_str(),
                                             sourceName, int(headers.size()),
                                             headers.data(), deviceHeaderNames);
  if (result != success)
    return failed(result, "begin");
  auto destroy =
      llvm::make_scope_exit([&] { library.nvrtcDestroyProgram(&program); });
  std::string archOption = "-arch=" + arch.str();
  const char *options[] = {archOption.c_str(), "-std=c++17",
                           "--ptxas-options=-v"};
  result = library.nvrtcCompileProgram(program, std::size(options), options);
  CompiledSource made;
  if (llvm::Error error = fetch(program, library.nvrtcGetProgramLogSize,
                                library.nvrtcGetProgramLog, made.log))
    return error;
  if (result == compilationFailed)
    return llvm::createStringError(
        "NVRTC refuses a kernel; this is a bug in mlc:\n" +
        llvm::StringRef(made.log).rtrim('\0').str());
  if (result != success)
    return failed(result, ("compile for " + arch.str()).c_str());
  if (llvm::Error error = fetch(program, library.nvrtcGetCUBINSize,
                                library.nvrtcGetCUBIN, made.cubin))
    return error;
  if (llvm::Error error = fetch(program, library.nvrtcGetPTXSize,
                                library.nvrtcGetPTX, made.ptx))
    return error;
  // NVRTC's texts include the terminating zero.
  made.ptx = llvm::StringRef(made.ptx).rtrim('\0').str();
  made.log = llvm::StringRef(made.log).rtrim('\0').str();
  return made;
}

llvm::Expected<CompiledSource> compileSource(llvm::StringRef source,
                                             llvm::StringRef arch) {
  llvm::Expected<std::string> version = nvrtcVersion();
  if (!version)
    return version.takeError();
  std::vector<llvm::StringRef> parts = {source, arch, *version, "3"};
  for (const char *name : deviceHeaderNames)
    if (includesHeader(source, name))
      parts.push_back(skeletonText(name));
  KernelCache cache(parts);
  CompiledSource made;
  if (cache.read(made))
    return made;
  llvm::Expected<CompiledSource> compiled = compile(source, arch);
  if (compiled)
    cache.write(*compiled);
  return compiled;
}

} // namespace mlc::cuda
