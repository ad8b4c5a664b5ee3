//===- CudaSample.h - A device of CUDA over the fake driver -----*- C++ -*-===//

#ifndef MLC_TEST_UNIT_RUNTIME_CUDASAMPLE_H
#define MLC_TEST_UNIT_RUNTIME_CUDASAMPLE_H

#include "FakeDriver.h"
#include "Sample.h"
#include "runtime/CodeBundle.h"
#include "runtime/Session.h"
#include "runtime/cuda/CudaDevice.h"

#include <catch2/catch.hpp>

#include <numeric>

namespace mlc::test {

using namespace runtime;
using namespace runtime::cuda;

inline FakeDriver *fake;

template <typename T> T *at(uint64_t address, uint64_t count) {
  return reinterpret_cast<T *>(fake->host(address, count * sizeof(T)));
}

/// The kernel of scaleProgram: x, c, y, N, tasks, scratch, stride.
inline void scaleOnBlocks(const FakeLaunch &launch) {
  const std::vector<uint64_t> &w = launch.words;
  auto *x = at<float>(w[0], w[3] * 4), *c = at<float>(w[1], 4),
       *y = at<float>(w[2], w[3] * 4);
  for (uint64_t block = 0; block < launch.grid; ++block) {
    if (w[5])
      *at<uint8_t>(w[5] + block * w[6], 8) = 1;
    for (uint64_t task = block; task < w[4]; task += launch.grid)
      for (uint64_t i = task * 4; i < task * 4 + 4; ++i)
        y[i] = 2 * x[i] + c[i % 4];
  }
}

inline FakeDriver &freshFake() {
  fake = &freshDriver();
  fake->kernels["scale"] = scaleOnBlocks;
  return *fake;
}

/// scaleProgram on blocks of 64, and the two best of each row of Y as further
/// outputs.
struct CudaSample : Sample {
  std::string bundle = writeBundle({{"scale", "scale"}});

  explicit CudaSample(bool withTopK = true, bool withScratch = true) {
    Program &p = program;
    ExprId rows = p.steps[0].as<LaunchStep>().tasks;
    GridLaunchStep launch{0, rows, p.addConstant(64)};
    launch.shared = p.addConstant(100 * 1024);
    if (withScratch)
      launch.scratch = p.addConstant(100);
    p.steps[0].detail = launch;
    if (withTopK) {
      ExprId two = p.addConstant(2), one = p.addConstant(1);
      ExprId bytes = p.addExpr(Expr::symbol(0) * Expr::constant(8));
      ExprId wide = p.addExpr(Expr::symbol(0) * Expr::constant(16));
      BufferId values =
          p.addBuffer(Buffer::arena(bytes, DType::F32, {rows, two}, "V"));
      BufferId indices =
          p.addBuffer(Buffer::arena(wide, DType::I64, {rows, two}, "I"));
      p.steps.push_back(
          Step::library("topk", {2}, {values, indices}, {one, one}));
      p.outputs.push_back({"V", values});
      p.outputs.push_back({"I", indices});
    }
    images = {imageOf(ImageKind::Ptx, "compute_80")}; // cubins are FarDevice's
  }
  CodeImage imageOf(ImageKind kind, const std::string &target) const {
    CodeImage image;
    image.kind = kind;
    image.target = target;
    image.data = bundle.data();
    image.size = bundle.size();
    return image;
  }
  std::shared_ptr<const Artifact> artifact() const {
    std::vector<char> all = bytes();
    // openMemory() reads where it is told to, so that it must stay.
    static std::vector<std::unique_ptr<std::vector<char>>> kept;
    kept.push_back(std::make_unique<std::vector<char>>(std::move(all)));
    std::shared_ptr<const Artifact> result;
    Status status = Artifact::openMemory(kept.back()->data(),
                                         kept.back()->size(), 0, result);
    INFO(status.message);
    REQUIRE(status.ok());
    return result;
  }
};

inline std::unique_ptr<CudaDevice> gpu(DeviceKind kind = DeviceKind::Gpu,
                                       int ordinal = 0) {
  std::unique_ptr<CudaDevice> device;
  Status status = CudaDevice::open(
      fakeTable(), ordinal,
      kind == DeviceKind::Gpu ? "cuda:" + std::to_string(ordinal) : "emulator",
      kind, device);
  INFO(status.message);
  REQUIRE(status.ok());
  return device;
}

inline std::unique_ptr<Queue> queueOf(Device &device) {
  std::unique_ptr<Queue> queue;
  REQUIRE(device.open({}, queue).ok());
  return queue;
}

struct Numbers {
  std::vector<float> x, y;
  explicit Numbers(size_t rows) : x(rows * 4), y(rows * 4, -7) {
    std::iota(x.begin(), x.end(), 0.f);
  }
  Status bind(Session &session) {
    int64_t dims[] = {int64_t(x.size() / 4), 4};
    Status status = session.bindInput(0, DType::F32, 2, dims, x.data());
    return status.ok() ? session.bindOutput(0, y.data(), y.size() * 4) : status;
  }
  bool isRight() const {
    for (size_t i = 0; i < x.size(); ++i)
      if (y[i] != 2 * x[i] + bias[i % 4])
        return false;
    return true;
  }
};

inline void checkClean() {
  CHECK(fake->held().empty());
  INFO((fake->misuses.empty() ? "" : fake->misuses[0]));
  CHECK(fake->misuses.empty());
}

} // namespace mlc::test

#endif // MLC_TEST_UNIT_RUNTIME_CUDASAMPLE_H
