//===- Kernel.cpp - Modules, functions and launches -----------------------===//

#include "runtime/emulator/Driver.h"
#include "runtime/emulator/Execution.h"
#include "runtime/emulator/Finding.h"
#include "runtime/emulator/Options.h"
#include "runtime/emulator/TensorMap.h"

#include <algorithm>
#include <cstring>
#include <dlfcn.h>
#include <utility>

using namespace mlc::emulator;

CUresult cuModuleLoadData(CUmodule *module, const void *image) {
  std::string source, message;
  {
    MLC_CALL(Context);
    if (!module || !image)
      return CUDA_ERROR_INVALID_VALUE;
    auto *text = static_cast<const char *>(image);
    if (std::strncmp(text, "#include \"mlc_device.cuh\"", 25) != 0) {
      addToReport("mlc emulator: a module must be the source of kernels, which "
                  "begins with #include \"mlc_device.cuh\"\n");
      return CUDA_ERROR_INVALID_IMAGE;
    }
    source = text;
    // A GPU finds no machine code for itself, since that of sm_90a runs on 9.0
    // alone.
    if (architecture() != 90 &&
        source.find("#include \"mlc_hopper.cuh\"") != std::string::npos)
      return CUDA_ERROR_NO_BINARY_FOR_GPU;
  }
  // The compiler runs without the lock, so that modules compile in parallel.
  auto loaded = std::make_unique<CUmod_st>();
  CUresult error = compileModule(source, loaded->code.path, message);
  if (!error && !loaded->code.load(message))
    error = CUDA_ERROR_INVALID_IMAGE;
  if (error) {
    addToReport("mlc emulator: " + message + "\n");
    return error;
  }
  std::lock_guard<std::mutex> lock(driver.mutex);
  loaded->context = currentContext;
  *module = loaded.release();
  driver.modules.insert(*module);
  return CUDA_SUCCESS;
}

CUresult cuModuleUnload(CUmodule module) {
  MLC_CALL(Context);
  if (!driver.modules.count(module))
    return CUDA_ERROR_INVALID_HANDLE;
  driver.runAll();
  for (const auto &function : module->functions)
    driver.functions.erase(function.get());
  driver.modules.erase(module);
  module->code.unload();
  delete module;
  return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module,
                             const char *name) {
  MLC_CALL(Context);
  if (!driver.modules.count(module))
    return CUDA_ERROR_INVALID_HANDLE;
  if (!function || !name)
    return CUDA_ERROR_INVALID_VALUE;
  for (const auto &known : module->functions)
    if (known->name == name) {
      *function = known.get();
      return CUDA_SUCCESS;
    }
  void *code = module->code.find(name);
  if (!code)
    return CUDA_ERROR_NOT_FOUND;
  module->functions.push_back(std::make_unique<CUfunc_st>(
      CUfunc_st{module, name, code, defaultSharedMemory,
                static_cast<const unsigned *>(module->code.find(
                    ("mlcParameters_" + std::string(name)).c_str()))}));
  *function = module->functions.back().get();
  driver.functions.insert(*function);
  return CUDA_SUCCESS;
}

CUresult cuFuncSetAttribute(CUfunction function, int attribute, int value) {
  MLC_CALL(Context);
  if (!driver.functions.count(function))
    return CUDA_ERROR_INVALID_HANDLE;
  constexpr int carveout = 9; // a hint without effect here
  if (attribute == carveout)
    return CUDA_SUCCESS;
  if (attribute != maxDynamicSharedAttribute || value < 0 ||
      unsigned(value) > maxSharedMemory())
    return CUDA_ERROR_INVALID_VALUE;
  function->maxShared = unsigned(value);
  return CUDA_SUCCESS;
}

namespace {

/// Reads the parameters from where their pointers say. Each is a tensor map or
/// at most a word.
CUresult readParameters(const unsigned *described, void **parameters,
                        std::vector<uint64_t> &words) {
  if (!described)
    return CUDA_ERROR_NOT_SUPPORTED; // their number is unknown
  for (unsigned i = 0; i < described[0]; ++i) {
    size_t bytes = described[1 + i], at = words.size();
    if (!parameters[i] || (bytes > 8 && bytes != sizeof(MapWords)) ||
        at + bytes / 8 >= maxWords)
      return CUDA_ERROR_INVALID_VALUE;
    words.resize(at + std::max<size_t>(bytes / 8, 1));
    std::memcpy(&words[at], parameters[i], bytes);
  }
  return CUDA_SUCCESS;
}

/// Whether all parameters are words, which begin at multiples of their size
/// wherever a compiler lays them out.
bool areWords(const unsigned *described) {
  return !described || std::all_of(described + 1, described + 1 + described[0],
                                   [](unsigned bytes) { return bytes <= 8; });
}

/// Reads the parameters from `extra`: pairs of a key and a value, ended by 0.
CUresult readWords(void **extra, std::vector<uint64_t> &words) {
  enum { End = 0, Pointer = 1, Size = 2 };
  const void *buffer = nullptr;
  size_t bytes = 0;
  for (void **pair = extra; pair && pair[0]; pair += 2) {
    switch (reinterpret_cast<uintptr_t>(pair[0])) {
    case Pointer:
      buffer = pair[1];
      break;
    case Size:
      if (!pair[1])
        return CUDA_ERROR_INVALID_VALUE;
      bytes = *static_cast<const size_t *>(pair[1]);
      break;
    default:
      return CUDA_ERROR_INVALID_VALUE;
    }
  }
  if (bytes % 8 || bytes / 8 > maxWords || (bytes && !buffer))
    return CUDA_ERROR_INVALID_VALUE;
  words.resize(bytes / 8);
  if (bytes)
    std::memcpy(words.data(), buffer, bytes);
  return CUDA_SUCCESS;
}

/// Takes the tensor maps from the parameters. They must come first, since
/// nothing else tells where they are.
CUresult takeMaps(Launch &launch) {
  constexpr size_t each = sizeof(MapWords) / 8;
  std::vector<uint64_t> &words = launch.words;
  auto isMap = [&](size_t at) {
    return at + each <= words.size() && words[at] == TensorMap::theMark;
  };
  size_t at = 0;
  for (; isMap(at); at += each) {
    launch.maps.emplace_back();
    std::memcpy(&launch.maps.back(), &words[at], sizeof(MapWords));
  }
  for (size_t i = at; i < words.size(); ++i)
    if (isMap(i)) {
      addToReport("mlc emulator: kernel " + launch.name +
                  ": tensor maps must be its first parameters\n");
      return CUDA_ERROR_INVALID_VALUE;
    }
  words.erase(words.begin(), words.begin() + ptrdiff_t(at));
  // Addresses replace them when the launch runs.
  words.insert(words.begin(), launch.maps.size(), 0);
  return CUDA_SUCCESS;
}

bool fits(const Index &grid, const Index &block) {
  return grid.x && grid.y && grid.z && grid.x <= 0x7fffffff &&
         grid.y <= 65535 && grid.z <= 65535 && block.x && block.y && block.z &&
         block.x <= 1024 && block.y <= 1024 && block.z <= 64 &&
         block.count() <= Fibers::count;
}

CUresult runLaunch(const Launch &launch) {
  execution.run(launch);
  if (execution.findings.empty())
    return CUDA_SUCCESS;
  addToReport(describe(launch, execution.findings));
  return errorOf(execution.findings.front().problem);
}

CUresult launchKernel(const CUlaunchConfig &config, CUfunction function,
                      void **parameters, void **extra, bool isDependent) {
  CUstream stream = config.stream;
  if (!driver.functions.count(function) || !driver.isStream(stream))
    return CUDA_ERROR_INVALID_HANDLE;
  CUcontext context = stream ? stream->context : currentContext;
  if (function->module->context != context)
    return CUDA_ERROR_INVALID_HANDLE;
  if (parameters && extra)
    return CUDA_ERROR_INVALID_VALUE;
  Launch launch;
  launch.arena = &context->arena;
  launch.grid = {config.gridX, config.gridY, config.gridZ};
  launch.block = {config.blockX, config.blockY, config.blockZ};
  if (!fits(launch.grid, launch.block) ||
      config.sharedBytes > function->maxShared)
    return CUDA_ERROR_INVALID_VALUE;
  const LoadedModule &code = function->module->code;
  launch.name = function->name;
  if (!parameters && !areWords(function->parameters)) {
    addToReport("mlc emulator: kernel " + launch.name +
                ": tensor maps cannot be in a buffer of parameters, in which "
                "a compiler's places for them are not known; give pointers\n");
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (CUresult error = parameters ? readParameters(function->parameters,
                                                   parameters, launch.words)
                                  : readWords(extra, launch.words))
    return error;
  if (CUresult error = takeMaps(launch))
    return error;
  launch.function = function->function;
  launch.moduleBase = code.base;
  launch.moduleEnd = code.end;
  launch.modulePath = code.path;
  launch.sharedBytes = config.sharedBytes;
  launch.isOrdered = code.find("mlcEmulatorOrdered") != nullptr;
  launch.isDependent = isDependent;
  launch.stream = stream;
  CUresult result = driver.submit(
      stream, [launch = std::move(launch)] { return runLaunch(launch); });
  if (result != CUDA_SUCCESS || !stream || !launchBlocking())
    return result;
  stream->run();
  return stream->takeError();
}

} // namespace

CUresult cuLaunchKernel(CUfunction function, unsigned gridX, unsigned gridY,
                        unsigned gridZ, unsigned blockX, unsigned blockY,
                        unsigned blockZ, unsigned sharedBytes, CUstream stream,
                        void **parameters, void **extra) {
  MLC_CALL(Context);
  CUlaunchConfig config{gridX,  gridY,       gridZ,  blockX,  blockY,
                        blockZ, sharedBytes, stream, nullptr, 0};
  return launchKernel(config, function, parameters, extra, false);
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function,
                          void **parameters, void **extra) {
  MLC_CALL(Context);
  enum { Ignored = 0, Cluster = 4, ProgrammaticSerialization = 6 };
  if (!config || (config->attributeCount && !config->attributes))
    return CUDA_ERROR_INVALID_VALUE;
  bool isDependent = false;
  for (unsigned i = 0; i < config->attributeCount; ++i) {
    const CUlaunchAttribute &attribute = config->attributes[i];
    const auto &cluster = attribute.value.cluster;
    if (attribute.id == ProgrammaticSerialization)
      isDependent =
          attribute.value.isSerializationProgrammatic && overlapsLaunches();
    else if (attribute.id != Ignored &&
             (attribute.id != Cluster || cluster.x != 1 || cluster.y != 1 ||
              cluster.z != 1))
      return CUDA_ERROR_NOT_SUPPORTED;
  }
  return launchKernel(*config, function, parameters, extra, isDependent);
}

CUresult mlcEmulatorLaunch(const void *kernel, unsigned gridX, unsigned gridY,
                           unsigned gridZ, unsigned blockX, unsigned blockY,
                           unsigned blockZ, unsigned sharedBytes,
                           const uint64_t *words, size_t count) {
  MLC_CALL(Context);
  Launch launch;
  launch.arena = &currentContext->arena;
  launch.grid = {gridX, gridY, gridZ};
  launch.block = {blockX, blockY, blockZ};
  if (!kernel || !fits(launch.grid, launch.block) ||
      sharedBytes > maxSharedMemory() || count > maxWords || (count && !words))
    return CUDA_ERROR_INVALID_VALUE;
  launch.words.assign(words, words + count);
  if (CUresult error = takeMaps(launch))
    return error;
  launch.function = const_cast<void *>(kernel);
  launch.isInstrumented = false;
  launch.isOrdered = true; // without checks that costs nothing
  launch.sharedBytes = sharedBytes;
  Dl_info place = {};
  if (dladdr(kernel, &place)) {
    launch.name = place.dli_sname ? place.dli_sname : "kernel";
    launch.modulePath = place.dli_fname;
    launch.moduleBase = reinterpret_cast<uintptr_t>(place.dli_fbase);
    // Reports give places in the whole program.
    launch.moduleEnd = launch.moduleBase + UINT32_MAX;
  }
  return driver.submit(
      nullptr, [launch = std::move(launch)] { return runLaunch(launch); });
}
