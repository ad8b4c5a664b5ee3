//===- Module.cpp - Sources of kernels as loaded code ---------------------===//

#include "runtime/emulator/Module.h"
#include "runtime/Blake3.h"
#include "runtime/emulator/Cuda.h"
#include "runtime/emulator/Options.h"
#include "runtime/emulator/Process.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fstream>
#include <iterator>
#include <link.h>
#include <regex>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace mlc::emulator {

namespace {

/// Raised when modules compiled earlier no longer fit the library.
constexpr const char *revision = "2";

/// The cache folder of compiled modules; empty if none.
std::string cacheFolder() {
  std::string folder;
  const char *cache = std::getenv("XDG_CACHE_HOME");
  const char *home = std::getenv("HOME");
  if (cache && *cache == '/')
    folder = cache;
  else if (home && *home == '/')
    folder = std::string(home) + "/.cache";
  if (folder.empty())
    return "";
  folder += "/mlc/emulator";
  return makeFolders(folder) ? folder : "";
}

std::string findCompiler() {
  const char *wanted = std::getenv("MLC_EMULATOR_CXX");
  if (wanted && *wanted)
    return findProgram({wanted});
  return findProgram({"clang++-22", "clang++"});
}

/// This library's path; modules link with it to resolve their calls. Determined
/// at load time, since a relative path is only valid in the folder of that
/// time.
std::string findOwnPath() {
  Dl_info info = {};
  dladdr(reinterpret_cast<const void *>(&mlcEmulatorReport), &info);
  char *real = info.dli_fname ? realpath(info.dli_fname, nullptr) : nullptr;
  std::string path = real ? real : "";
  std::free(real);
  return path;
}
const std::string ownPath = findOwnPath();

std::vector<std::string> compilerFlags() {
  std::vector<std::string> flags = {"-D__CUDA_ARCH__=" +
                                    std::to_string(architecture() * 10)};
  for (const char *flag :
       {"-x", "c++", "-std=c++20", "-O1", "-g1", "-fPIC", "-shared", "-w",
        "-nostdinc", "-fno-exceptions", "-fno-rtti", "-fno-math-errno",
        "-ffp-contract=off", "-fvisibility=hidden",
        // Errors must stay visible and not be optimized away.
        "-fno-delete-null-pointer-checks", "-fno-strict-aliasing",
        // Otherwise tail calls would lose their place.
        "-fno-optimize-sibling-calls"})
    flags.push_back(flag);
  if (checksOn())
    for (const char *flag :
         {"-fsanitize=thread", "-mllvm", "-tsan-instrument-func-entry-exit=0",
          // `x += 1` reads, which matters if x is unwritten.
          "-mllvm", "-tsan-instrument-read-before-write=1",
          "-Wl,--wrap=memcpy,--wrap=memmove,--wrap=memset"})
      flags.push_back(flag);
  return flags;
}

std::string keyOf(const std::string &source, const std::string &compiler,
                  const std::vector<std::string> &flags) {
  std::string all = std::string(revision) + '\0' + compiler + '\0';
  struct stat file = {};
  if (stat(compiler.c_str(), &file) == 0)
    all += std::to_string(file.st_size) + " " +
           std::to_string(file.st_mtim.tv_sec) + '\0';
  for (const std::string &flag : flags)
    all += flag + '\0';
  all += deviceHeader;
  if (source.find("mlc_hopper.cuh") != std::string::npos)
    all += hopperHeader;
  all += '\0' + source;
  return runtime::toHex(runtime::blake3(all.data(), all.size())).substr(0, 32);
}

/// The hash of a file's bytes as text; "" if it cannot be read.
std::string hashOf(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return "";
  std::string bytes((std::istreambuf_iterator<char>(file)),
                    std::istreambuf_iterator<char>());
  return runtime::toHex(runtime::blake3(bytes.data(), bytes.size()));
}

/// Whether the cached module is intact. Loading one that a full disk or a crash
/// truncated would end the process.
bool isWhole(const std::string &kept) {
  std::ifstream file(kept + ".sum");
  std::string sum;
  return file >> sum && sum == hashOf(kept + ".so");
}

/// A private folder for one compilation, removed by the destructor.
struct WorkFolder {
  std::string path;
  std::vector<std::string> files;

  bool make(const std::string &parent) {
    std::string name = parent + "/build.XXXXXX";
    if (!mkdtemp(name.data()))
      return false;
    path = name;
    return true;
  }
  std::string file(const std::string &name) {
    files.push_back(path + "/" + name);
    return files.back();
  }
  ~WorkFolder() {
    for (const std::string &name : files)
      unlink(name.c_str());
    if (!path.empty())
      rmdir(path.c_str());
  }
};

/// For each kernel of a source the line that describes its parameters.
std::string describeKernels(const std::string &source) {
  static const std::regex kernel("\\bMLC_KERNEL\\(\\s*(\\w+)\\s*[,)]");
  std::string text = "\n";
  for (std::sregex_iterator at(source.begin(), source.end(), kernel), end;
       at != end; ++at)
    text += "MLC_PARAMETERS(" + (*at)[1].str() + ")\n";
  return text;
}

int compile(const std::string &source, const std::string &compiler,
            std::vector<std::string> command, const std::string &folder,
            const std::string &key, std::string &message) {
  WorkFolder work;
  if (!work.make(folder)) {
    message = "cannot write into " + folder + ": " + std::strerror(errno);
    return CUDA_ERROR_OPERATING_SYSTEM;
  }
  std::string text = work.file(key + ".cu"), object = work.file(key + ".so");
  if (!writeFile(text, source + describeKernels(source)) ||
      !writeFile(work.file("mlc_device.cuh"), deviceHeader) ||
      !writeFile(work.file("mlc_hopper.cuh"), hopperHeader)) {
    message = "cannot write into " + work.path;
    return CUDA_ERROR_OPERATING_SYSTEM;
  }
  command.insert(command.begin(), compiler);
  // Source lines must refer to the folder where the source stays.
  command.push_back("-ffile-prefix-map=" + work.path + "=" + folder);
  command.insert(command.end(),
                 {"-o", object, text, "-x", "none", ownPath, "-nostdlib++",
                  "-lm", "-Wl,-z,defs", "-Wl,--no-undefined"});
  std::string output;
  int status = runProgram(command, output);
  // Remove the folder, which the user does not know.
  for (size_t at; (at = output.find(work.path + "/")) != std::string::npos;)
    output.erase(at, work.path.size() + 1);
  if (status != 0) {
    message = compiler + " does not accept the kernels' source:\n" + output;
    return CUDA_ERROR_INVALID_SOURCE;
  }
  std::string kept = folder + "/" + key, sum = work.file(key + ".sum");
  if (!writeFile(sum, hashOf(object)) ||
      rename(sum.c_str(), (kept + ".sum").c_str()) != 0 ||
      rename(text.c_str(), (kept + ".cu").c_str()) != 0 ||
      rename(object.c_str(), (kept + ".so").c_str()) != 0) {
    message = "cannot write " + kept + ".so: " + std::strerror(errno);
    return CUDA_ERROR_OPERATING_SYSTEM;
  }
  return CUDA_SUCCESS;
}

} // namespace

int compileModule(const std::string &source, std::string &path,
                  std::string &message) {
  std::string compiler = findCompiler();
  if (compiler.empty()) {
    const char *wanted = std::getenv("MLC_EMULATOR_CXX");
    message = (wanted && *wanted)
                  ? "MLC_EMULATOR_CXX is " + std::string(wanted) +
                        ", which cannot be run"
                  : "no clang++ in PATH; install clang, or set "
                    "MLC_EMULATOR_CXX";
    return CUDA_ERROR_JIT_COMPILER_NOT_FOUND;
  }
  std::string folder = cacheFolder();
  if (folder.empty()) {
    message = "no folder for compiled kernels: neither XDG_CACHE_HOME nor "
              "HOME is a folder that can be written into";
    return CUDA_ERROR_OPERATING_SYSTEM;
  }
  std::vector<std::string> flags = compilerFlags();
  std::string key = keyOf(source, compiler, flags);
  path = folder + "/" + key + ".so";
  if (isWhole(folder + "/" + key))
    return CUDA_SUCCESS;
  return compile(source, compiler, flags, folder, key, message);
}

bool LoadedModule::load(std::string &message) {
  library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char *text = dlerror();
    message = text ? text : "cannot load " + path;
    return false;
  }
  link_map *map = nullptr;
  if (dlinfo(library, RTLD_DI_LINKMAP, static_cast<void *>(&map)) != 0 ||
      !map) {
    message = "cannot find " + path + " in memory";
    return false;
  }
  base = end = map->l_addr;
  auto measure = [](dl_phdr_info *info, size_t, void *data) {
    auto *module = static_cast<LoadedModule *>(data);
    if (info->dlpi_addr != module->base)
      return 0;
    for (int i = 0; i < info->dlpi_phnum; ++i)
      if (info->dlpi_phdr[i].p_type == PT_LOAD)
        module->end = std::max<uintptr_t>(
            module->end, module->base + info->dlpi_phdr[i].p_vaddr +
                             info->dlpi_phdr[i].p_memsz);
    return 1;
  };
  dl_iterate_phdr(measure, this);
  return true;
}

void LoadedModule::unload() {
  if (library)
    dlclose(library);
  library = nullptr;
}

void *LoadedModule::find(const char *name) const {
  void *found = dlsym(library, name);
  auto address = reinterpret_cast<uintptr_t>(found);
  return address >= base && address < end ? found : nullptr;
}

} // namespace mlc::emulator
