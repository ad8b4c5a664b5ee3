//===- CudaDeviceTest.cpp - Finding GPUs, and code for them ---------------===//

#include "CudaSample.h"
#include "runtime/CpuDevice.h"
#include "runtime/CudaDevices.h"
#include "runtime/Devices.h"

#include <cstdlib>

using namespace mlc::test;
using Catch::Contains;

TEST_CASE("a GPU takes the code that is for it", "[cuda]") {
  freshFake();
  CudaSample sample;
  auto reason = [&](int major, int minor, ImageKind kind,
                    const std::string &target) {
    fake->major = major;
    fake->minor = minor;
    return gpu()->reasonAgainst(sample.imageOf(kind, target));
  };
  ImageKind cubin = ImageKind::Cubin, ptx = ImageKind::Ptx;
  CHECK(reason(9, 0, cubin, "sm_90") == "");
  CHECK(reason(9, 0, cubin, "sm_90a") == "");
  CHECK(reason(8, 6, cubin, "sm_80") == "");
  CHECK(reason(10, 3, cubin, "sm_100") == "");
  CHECK(reason(8, 0, cubin, "sm_86") == "this GPU (Fake GPU, sm_80) is older");
  CHECK(reason(8, 0, cubin, "sm_90") == "this GPU (Fake GPU, sm_80) is older");
  CHECK(reason(9, 0, cubin, "sm_80") ==
        "this GPU (Fake GPU, sm_90) has another architecture");
  CHECK(reason(9, 1, cubin, "sm_90a") ==
        "this GPU (Fake GPU, sm_91) has another architecture");
  CHECK(reason(9, 0, ptx, "compute_80") == "");
  CHECK(reason(12, 0, ptx, "compute_90") == "");
  CHECK(reason(12, 0, ptx, "compute_90a") ==
        "this GPU (Fake GPU, sm_120) has another architecture");
  CHECK(reason(7, 5, ptx, "compute_80") ==
        "this GPU (Fake GPU, sm_75) is older");
  for (const char *odd : {"", "sm_", "sm_9", "sm_9000", "sm_90f", "sm_90aa",
                          "sm_a", "compute_90", "90", "sm_-90"})
    CHECK(reason(9, 0, cubin, odd) ==
          "which is no GPU that this runtime knows");
  for (ImageKind kind :
       {ImageKind::Elf, ImageKind::Source, ImageKind::Functions, ImageKind(9)})
    CHECK(reason(9, 0, kind, "sm_90") ==
          "which this device (cuda:0) does not run");
  auto emulator = gpu(DeviceKind::Emulator);
  CHECK(emulator->reasonAgainst(sample.imageOf(ImageKind::Source, "cuda")) ==
        "");
  for (ImageKind kind : {cubin, ptx, ImageKind::Elf})
    CHECK(emulator->reasonAgainst(sample.imageOf(kind, "sm_90")) ==
          "which this device (emulator) does not run");
  fake->major = 8;
  fake->minor = 9;
  CHECK(gpu()->targetName() == "cuda:sm_89");
}

TEST_CASE("code that does not load is an error with its kernel", "[cuda]") {
  freshFake();
  auto device = gpu();
  auto load = [&](const std::string &bundle, size_t at = 0) {
    std::vector<char> bytes(bundle.size() + 16);
    std::copy(bundle.begin(), bundle.end(), bytes.begin() + at);
    CodeImage image;
    image.kind = ImageKind::Ptx;
    image.data = bytes.data() + at;
    image.size = bundle.size();
    std::unique_ptr<LoadedCode> code;
    Status status = device->load(image, code);
    CHECK(status.ok() == bool(code));
    if (code) {
      CHECK(code->find("scale"));
      CHECK_FALSE(code->find("scal"));
    }
    return status;
  };
  std::string good = writeBundle({{"scale", "scale"}});
  CHECK(load(good).ok());
  CHECK(load(good, 1).ok()); // a caller's memory may lie anywhere
  CHECK(load(good.substr(1)).code == MLC_BAD_FILE);
  CHECK(load("").code == MLC_BAD_FILE);
  Status status = load(writeBundle({{"scale", "scale"}, {"k2", "bad"}}));
  CHECK(status.code == MLC_DEVICE);
  CHECK(status.message ==
        "kernel k2 cannot be loaded: CUDA error 200 "
        "(CUDA_ERROR_FAKE): made to fail (cuda:0, driver "
        "12.4); compile the model again for target cuda:sm_90a");
  CHECK_THAT(load(writeBundle({{"other", "scale"}})).message,
             Contains("kernel other is not in its code"));
  device.reset();
  checkClean();
}

TEST_CASE("a driver that is not there is an error with a remedy", "[cuda]") {
  Driver driver;
  Status status = driver.load("libnone.so.7", "install it");
  CHECK(status.code == MLC_DEVICE);
  CHECK_THAT(status.message,
             Contains("cannot load libnone.so.7") && Contains("; install it"));
  status = driver.load("libm.so.6", "install it");
  CHECK(status.code == MLC_DEVICE);
  CHECK(status.message == "libm.so.6 has no function cuInit; install it");
  freshFake();
  std::unique_ptr<CudaDevice> device;
  status = CudaDevice::open(fakeTable(), 3, "cuda:3", DeviceKind::Gpu, device);
  CHECK(status.code == MLC_DEVICE);
  CHECK(status.message ==
        "there is no device 'cuda:3'; this machine has 1 GPU");
  checkClean();
}

TEST_CASE("devices of CUDA have names", "[cuda]") {
  for (const char *name :
       {"cuda", "cuda:0", "cuda:15", "emulator", "emulator:0", "emulator:3"})
    CHECK(isCudaName(name));
  for (const char *name :
       {"", "cpu", "cuda0", "cuda:", "cuda:1x", "cuda: 1", "cuda:12345", "CUDA",
        "emulator:", "emulator:x", "emulators"})
    CHECK_FALSE(isCudaName(name));
  const char *before = std::getenv("MLC_EMULATOR");
  std::string kept = before ? before : "";
  setenv("MLC_EMULATOR", "/nowhere/emulator.so", 1);
  Device *device = nullptr;
  Status status = findDevice("emulator", device);
  CHECK(status.code == MLC_DEVICE);
  CHECK_THAT(status.message, Contains("there is no device 'emulator': ") &&
                                 Contains("/nowhere/emulator.so") &&
                                 Contains("set MLC_EMULATOR to"));
  before ? setenv("MLC_EMULATOR", kept.c_str(), 1) : unsetenv("MLC_EMULATOR");
}

TEST_CASE("an artifact for GPUs alone says how it is run", "[cuda]") {
  freshFake();
  CudaSample sample;
  const LoadedProgram *loaded = nullptr;
  Status status = sample.artifact()->load(cpuDevice(), loaded);
  CHECK(status.code == MLC_DEVICE);
  CHECK_THAT(status.message,
             Contains("was compiled for compute_80 (ptx), which this device "
                      "(cpu) does not run; run it with device cuda, or "
                      "compile it for target cpu:"));
  sample.images = {sample.imageOf(ImageKind::Source, "cuda")};
  status = sample.artifact()->load(cpuDevice(), loaded);
  CHECK_THAT(status.message, Contains("run it with device emulator, or"));
  auto device = gpu();
  status = sample.artifact()->load(*device, loaded);
  CHECK(status.code == MLC_DEVICE);
  CHECK_THAT(status.message,
             Contains("was compiled for cuda (source), which this device "
                      "(cuda:0) does not run; compile it for target "
                      "cuda:sm_90"));
  // Code of one architecture alone names it and the GPU's.
  sample.images = {sample.imageOf(ImageKind::Ptx, "compute_90a")};
  fake->major = 10;
  auto newer = gpu();
  status = sample.artifact()->load(*newer, loaded);
  CHECK_THAT(status.message,
             Contains("was compiled for compute_90a (ptx), this GPU (Fake GPU, "
                      "sm_100) has another architecture; compile it for target "
                      "cuda:sm_100"));
}
