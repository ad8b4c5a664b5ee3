//===- BindTest.cpp - The caller's memory for outputs, and parameters -----===//

#include "FarDevice.h"
#include "Programs.h"
#include "runtime/Session.h"

#include <catch2/catch.hpp>

#include <atomic>
#include <cstring>
#include <numeric>

using namespace mlc::runtime;
using Catch::Contains;
using mlc::test::queueOn;

namespace {

alignas(64) const float bias[16] = {1, 2, 3, 4};
int packs = 0;
std::atomic<const void *> written{nullptr}; // by all threads

void scale(void *const *buffers, const int64_t *, int64_t begin, int64_t end,
           void *) {
  auto *x = static_cast<const float *>(buffers[0]);
  auto *c = static_cast<const float *>(buffers[1]);
  auto *y = static_cast<float *>(buffers[2]);
  written = y;
  for (int64_t i = begin * 4; i < end * 4; ++i)
    y[i] = 2 * x[i] + c[i % 4];
}

/// y = -x of four numbers; counts its calls.
void pack(void *const *buffers, const int64_t *, int64_t, int64_t, void *) {
  auto *x = static_cast<const float *>(buffers[0]);
  auto *y = static_cast<float *>(buffers[1]);
  for (int i = 0; i < 4; ++i)
    y[i] = -x[i];
  ++packs;
}

std::shared_ptr<const Artifact> make(Program p,
                                     std::vector<mlc_kernel> kernels) {
  std::shared_ptr<const Artifact> artifact;
  Status status =
      Artifact::create(std::move(p), reinterpret_cast<const uint8_t *>(bias),
                       16, std::move(kernels), artifact);
  INFO(status.message);
  REQUIRE(status.ok());
  return artifact;
}

void bind(Session &session, int64_t n, const float *data) {
  int64_t dims[] = {n, 4};
  REQUIRE(session.bindInput(0, DType::F32, 2, dims, data).ok());
}

void run(Session &session) {
  Status status = session.run();
  INFO(status.message);
  REQUIRE(status.ok());
}

/// As scaleProgram, with the negative of the parameter P for C.
Program parameterProgram() {
  Program p = scaleProgram();
  ExprId four = p.addConstant(4), sixteen = p.addConstant(16);
  BufferId weight =
      p.addBuffer(Buffer::parameter(0, 16, DType::F32, {four}, "P"));
  BufferId packed =
      p.addBuffer(Buffer::arena(sixteen, DType::F32, {four}, "packed"));
  p.parameters = {{"P", weight}};
  p.steps.insert(p.steps.begin(), Step::launch(p.addKernel("pack"), {weight},
                                               {packed}, {}, p.addConstant(1)));
  p.steps[1].inputs[1] = packed;
  return p;
}

struct Numbers {
  alignas(64) float in[64], out[72];
  Numbers() {
    std::iota(in, in + 64, 0.f);
    std::fill(out, out + 72, -7.f);
  }
};

} // namespace

TEST_CASE("outputs are left in the caller's memory", "[session]") {
  ON_EACH_DEVICE;
  auto artifact = make(scaleProgram(), {scale});
  Session session(artifact, queueOn(device, 1), 0);
  for (int shift : {0, 1}) { // in place, and copied
    Numbers n;
    bind(session, 3, n.in);
    REQUIRE(session.bindOutput(0, n.out + shift, 4 * 12).ok());
    run(session);
    CHECK((written == n.out) == (shift == 0 && device.usesHostMemory()));
    for (int i = 0; i < 12; ++i)
      CHECK(n.out[i + shift] == 2 * n.in[i] + bias[i % 4]);
    CHECK(n.out[12 + shift] == -7);
    mlc_tensor t;
    REQUIRE(session.output(0, t).ok());
    CHECK(t.data == n.out + shift);
    // Z is a view of Y.
    REQUIRE(session.output(1, t).ok());
    CHECK(static_cast<const float *>(t.data)[11] == n.out[11 + shift]);
  }
  // The same program on its own memory again.
  Numbers n;
  bind(session, 3, n.in);
  REQUIRE(session.bindOutput(0, nullptr, 0).ok());
  run(session);
  mlc_tensor t;
  REQUIRE(session.output(0, t).ok());
  CHECK(static_cast<const float *>(t.data)[1] == 4);
  CHECK(n.out[0] == -7);
}

TEST_CASE("a view can be left in the caller's memory too", "[session]") {
  ON_EACH_DEVICE;
  auto artifact = make(scaleProgram(), {scale});
  Session session(artifact, queueOn(device, 1), 0);
  Numbers n;
  bind(session, 2, n.in);
  REQUIRE(session.bindOutput(1, n.out, sizeof(n.out)).ok());
  run(session);
  for (int i = 0; i < 8; ++i)
    CHECK(n.out[i] == 2 * n.in[i] + bias[i % 4]);
  CHECK(n.out[8] == -7);
}

TEST_CASE("nothing is written where an output does not fit", "[session]") {
  ON_EACH_DEVICE;
  auto artifact = make(scaleProgram(), {scale});
  Session session(artifact, queueOn(device, 1), 0);
  Numbers n;
  bind(session, 4, n.in);
  REQUIRE(session.bindOutput(0, n.out, 4 * 16 - 1).ok());
  Status status = session.run();
  CHECK(status.code == MLC_USAGE);
  CHECK_THAT(status.message,
             Contains("output 'Y' has 64 bytes, and the memory given for it "
                      "63"));
  CHECK(n.out[0] == -7);
  CHECK(session.bindOutput(2, n.out, 4).code == MLC_USAGE);
  // Smaller inputs fit.
  bind(session, 3, n.in);
  run(session);
  CHECK(n.out[11] == 2 * 11 + 4);
}

TEST_CASE("memory that overlaps is refused", "[session]") {
  ON_EACH_DEVICE;
  auto artifact = make(scaleProgram(), {scale});
  Session session(artifact, queueOn(device, 1), 0);
  Numbers n;
  bind(session, 2, n.in);
  REQUIRE(session.bindOutput(0, n.in + 4, 32).ok());
  CHECK_THAT(session.run().message, Contains("overlaps that of input 'X'"));
  REQUIRE(session.bindOutput(0, n.in + 8, 32).ok());
  CHECK(session.run().ok());
  REQUIRE(session.bindOutput(0, n.out, 36).ok());
  REQUIRE(session.bindOutput(1, n.out + 8, 32).ok());
  CHECK_THAT(session.run().message, Contains("overlaps that of output 'Y'"));
}

TEST_CASE("the caller's memory costs no allocation", "[session]") {
  ON_EACH_DEVICE;
  auto artifact = make(scaleProgram(), {scale});
  Session session(artifact, queueOn(device, 2), 0);
  Numbers n;
  bind(session, 2, n.in);
  auto cycle = [&] {
    for (float *to : {n.out, n.out + 16, n.out + 1, (float *)nullptr}) {
      REQUIRE(session.bindOutput(0, to, 32).ok());
      run(session);
    }
  };
  cycle();
  uint64_t before = session.allocations();
  cycle();
  CHECK(session.allocations() == before);
}

TEST_CASE("a parameter is packed once, and again when it is set", "[session]") {
  ON_EACH_DEVICE;
  auto artifact = make(parameterProgram(), {scale, pack});
  CHECK(artifact->setupSteps().isStep == std::vector<uint8_t>{1, 0});
  Session session(artifact, queueOn(device, 1), 0),
      other(artifact, queueOn(device, 1), 0);
  Numbers n;
  auto check = [&](Session &s, const float *parameter) {
    for (int64_t rows : {3, 1, 16}) {
      bind(s, rows, n.in);
      run(s);
      mlc_tensor t;
      REQUIRE(s.output(0, t).ok());
      for (int64_t i = 0; i < rows * 4; ++i)
        REQUIRE(static_cast<const float *>(t.data)[i] ==
                2 * n.in[i] - parameter[i % 4]);
    }
  };
  packs = 0;
  check(session, bias);
  CHECK(packs == 1);
  int64_t dims[] = {4};
  float changed[] = {9, 8, 7, 6};
  REQUIRE(session.setParameter(0, DType::F32, 1, dims, changed).ok());
  changed[0] = 0; // it was copied
  float was[] = {9, 8, 7, 6};
  check(session, was);
  CHECK(packs == 2);
  mlc_tensor t;
  REQUIRE(session.parameter(0, t).ok());
  CHECK(!std::memcmp(t.data, was, 16));
  check(other, bias);
  uint64_t before = session.allocations();
  REQUIRE(session.setParameter(0, DType::F32, 1, dims, changed).ok());
  check(session, changed);
  CHECK(session.allocations() == before);
}

TEST_CASE("wrong parameters are refused by name", "[session]") {
  ON_EACH_DEVICE;
  auto artifact = make(parameterProgram(), {scale, pack});
  Session session(artifact, queueOn(device, 1), 0);
  float x[4] = {};
  int64_t dims[] = {4}, wrong[] = {5};
  CHECK(session.setParameter(1, DType::F32, 1, dims, x).code == MLC_USAGE);
  CHECK_THAT(session.setParameter(0, DType::F16, 1, dims, x).message,
             Contains("parameter 'P': has type f16, the model takes f32"));
  CHECK_THAT(session.setParameter(0, DType::F32, 1, wrong, x).message,
             Contains("dim 0 is 5, the model needs 4"));
  CHECK_THAT(session.setParameter(0, DType::F32, 1, dims, nullptr).message,
             Contains("has no data"));
}

TEST_CASE("damaged parameters are refused", "[program]") {
  Program good = parameterProgram();
  REQUIRE(validate(good, 16).ok());
  CHECK_FALSE(validate(good, 15).ok());
  Program p = good;
  p.parameters[0].buffer = 0;
  CHECK_THAT(validate(p, 16).message, Contains("a parameter has no buffer"));
  p = good;
  p.buffers[p.parameters[0].buffer].dims = {p.addExpr(Expr::symbol(0))};
  CHECK_THAT(validate(p, 16).message, Contains("dims are not fixed"));
  p = good;
  p.buffers[p.parameters[0].buffer].size = 8;
  CHECK_THAT(validate(p, 16).message, Contains("not that of its dims"));
  // A step that other things decide runs every time.
  p = good;
  p.steps[0].args = {p.addExpr(Expr::symbol(0))};
  REQUIRE(validate(p, 16).ok());
  CHECK(findSetup(p).isStep == std::vector<uint8_t>{0, 0});
}
