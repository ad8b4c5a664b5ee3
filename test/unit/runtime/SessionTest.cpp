//===- SessionTest.cpp - Programs by hand, kernels in this process --------===//

#include "runtime/Session.h"
#include "FarDevice.h"
#include "Programs.h"
#include "runtime/ProgramPlan.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <numeric>

using namespace mlc::runtime;
using Catch::Contains;
using mlc::test::queueOn;

namespace {

alignas(64) const float bias[16] = {1, 2, 3, 4};

void scale(void *const *buffers, const int64_t *, int64_t begin, int64_t end,
           void *) {
  auto *x = static_cast<const float *>(buffers[0]);
  auto *c = static_cast<const float *>(buffers[1]);
  auto *y = static_cast<float *>(buffers[2]);
  for (int64_t i = begin * 4; i < end * 4; ++i)
    y[i] = 2 * x[i] + c[i % 4];
}

std::shared_ptr<const Artifact> make(Program p, std::vector<mlc_kernel> kernels,
                                     const void *weights = nullptr,
                                     uint64_t weightsSize = 0) {
  std::shared_ptr<const Artifact> artifact;
  Status status =
      Artifact::create(std::move(p), static_cast<const uint8_t *>(weights),
                       weightsSize, std::move(kernels), artifact);
  INFO(status.message);
  REQUIRE(status.ok());
  return artifact;
}

std::vector<float> floats(Session &session, size_t index,
                          std::vector<int64_t> dims) {
  mlc_tensor t;
  Status status = session.output(index, t);
  INFO(status.message);
  REQUIRE(status.ok());
  REQUIRE(std::vector<int64_t>(t.dims, t.dims + t.rank) == dims);
  auto *data = static_cast<const float *>(t.data);
  return std::vector<float>(data, data + t.bytes / 4);
}

void bind(Session &session, size_t index, std::vector<int64_t> dims,
          const float *data) {
  REQUIRE(session.bindInput(index, DType::F32, dims.size(), dims.data(), data)
              .ok());
}

void run(Session &session) {
  Status status = session.run();
  INFO(status.message);
  REQUIRE(status.ok());
}

} // namespace

TEST_CASE("open dims, aliases and constants", "[session]") {
  ON_EACH_DEVICE;
  auto artifact = make(scaleProgram(), {scale}, bias, 16);
  for (unsigned threads : {1, 2, 4}) {
    Session session(artifact, queueOn(device, threads), 0);
    std::vector<float> x(4 * 1000 + 1);
    std::iota(x.begin(), x.end(), 0);
    for (int64_t n : {1, 1000, 3, 0, 1000, 3}) {
      // The second time at an odd address, which is copied.
      for (int shift : {0, 1}) {
        bind(session, 0, {n, 4}, x.data() + shift);
        run(session);
        std::vector<float> y = floats(session, 0, {n, 4});
        for (int64_t i = 0; i < n * 4; ++i)
          REQUIRE(y[i] == 2 * (i + shift) + bias[i % 4]);
        CHECK(floats(session, 1, {4 * n}) == y);
      }
    }
    // Steady state: no allocation, no planning.
    uint64_t before = session.allocations();
    for (int64_t n : {1000, 3, 1000, 0, 1}) {
      bind(session, 0, {n, 4}, x.data());
      run(session);
    }
    CHECK(session.allocations() == before);
  }
}

TEST_CASE("wrong inputs are refused by name", "[session]") {
  ON_EACH_DEVICE;
  auto artifact = make(scaleProgram(), {scale}, bias, 16);
  Session session(artifact, queueOn(device, 1), 0);
  alignas(64) float x[64] = {};
  CHECK_THAT(session.run().message, Contains("'X' is not bound"));
  int64_t dims[] = {2, 5};
  CHECK_THAT(session.bindInput(0, DType::I32, 2, dims, x).message,
             Contains("has type i32, the model takes f32"));
  CHECK_THAT(session.bindInput(0, DType::F32, 1, dims, x).message,
             Contains("has 1 dims, the model takes 2"));
  CHECK(session.bindInput(1, DType::F32, 2, dims, x).code == MLC_USAGE);
  CHECK_THAT(session.bindInput(0, DType::F32, 2, dims, nullptr).message,
             Contains("no data"));
  REQUIRE(session.bindInput(0, DType::F32, 2, dims, x).ok());
  CHECK_THAT(session.run().message,
             Contains("input 'X': dim 1 is 5, the model needs 4"));
  mlc_tensor t;
  CHECK(session.output(0, t).code == MLC_USAGE);
  int64_t large[] = {1 << 21, 4};
  REQUIRE(session.bindInput(0, DType::F32, 2, large, x).ok());
  CHECK_THAT(session.run().message, Contains("dim 'N' is 2097152"));
  int64_t huge[] = {INT64_MAX, INT64_MAX};
  CHECK_THAT(session.bindInput(0, DType::F32, 2, huge, x).message,
             Contains("overflows"));
}

TEST_CASE("checks relate dims of several inputs", "[session]") {
  ON_EACH_DEVICE;
  Program p;
  SymbolId a = p.addSymbol({"A", Symbol::FromInput, 0, 0});
  SymbolId b = p.addSymbol({"B", Symbol::FromInput, 1, 0});
  ExprId ea = p.addExpr(Expr::symbol(a)), eb = p.addExpr(Expr::symbol(b));
  BufferId x = p.addBuffer(Buffer::input(0, DType::F32, {ea}));
  BufferId y = p.addBuffer(Buffer::input(1, DType::F32, {eb}));
  p.inputs = {{"x", x}, {"y", y}};
  p.outputs = {{"x", x}};
  p.checks = {{Check::Equal, ea, p.addExpr(Expr::symbol(b) * Expr::constant(2)),
               "node 'Add_3': A must be 2*B"}};
  Session session(make(p, {}), queueOn(device, 1), 0);
  alignas(64) float data[16] = {7};
  bind(session, 0, {4}, data);
  bind(session, 1, {2}, data);
  run(session);
  CHECK(floats(session, 0, {4})[0] == 7);
  bind(session, 1, {3}, data);
  CHECK_THAT(session.run().message,
             Contains("node 'Add_3': A must be 2*B (4 and 6)"));
}

namespace {

void addInto(void *const *buffers, const int64_t *symbols, int64_t begin,
             int64_t end, void *) {
  auto *a = static_cast<const float *>(buffers[0]);
  auto *b = static_cast<const float *>(buffers[1]);
  auto *c = static_cast<float *>(buffers[2]);
  for (int64_t i = begin; i < end; ++i)
    c[i] = a[i] + b[i] * symbols[0];
}

} // namespace

TEST_CASE("a chain of sums runs in the memory of two", "[session]") {
  ON_EACH_DEVICE;
  Program p;
  ExprId n = p.addConstant(1024), bytes = p.addConstant(4096);
  BufferId x = p.addBuffer(Buffer::input(0, DType::F32, {n}));
  p.inputs = {{"x", x}};
  KernelId k = p.addKernel("add");
  BufferId last = x;
  float expected = 1;
  for (int i = 1; i <= 10; ++i) {
    BufferId next = p.addBuffer(Buffer::arena(bytes, DType::F32, {n}));
    Step step = Step::launch(k, {last, x}, {next}, {p.addConstant(i)}, n);
    step.inPlace = {{0, 0}};
    p.steps.push_back(step);
    expected += i;
    last = next;
  }
  p.outputs = {{"sum", last}};
  ArenaPlan plan;
  REQUIRE(planArena(p, liveRanges(p), nullptr, {}, plan).ok());
  CHECK(plan.buffers.size() == 10);
  CHECK(plan.memory.peak == 4096);
  auto artifact = make(p, {addInto});
  std::vector<float> ones(1024, 1);
  for (uint32_t flags : {0u, uint32_t(MLC_SESSION_KEEP_BUFFERS)}) {
    Session session(artifact, queueOn(device, 2), flags);
    bind(session, 0, {1024}, ones.data());
    run(session);
    CHECK(floats(session, 0, {1024}) == std::vector<float>(1024, expected));
    mlc_memory memory;
    REQUIRE(session.memory(memory).ok());
    CHECK(memory.arena_bytes == (flags ? 40960 : 4096));
    CHECK(memory.lower_bound_bytes == memory.arena_bytes);
    mlc_tensor t;
    CHECK(session.buffer(1, t).ok() == bool(flags));
    if (flags)
      CHECK(static_cast<const float *>(t.data)[5] == 2);
  }
}

TEST_CASE("no takeover while another operand shares the memory", "[session]") {
  ON_EACH_DEVICE;
  // b = a + 1*a' with a' an alias of a: in place would be wrong for kernels
  // that read a' elsewhere, so the runtime must not do it.
  Program p;
  ExprId n = p.addConstant(64), bytes = p.addConstant(256),
         z = p.addConstant(0);
  BufferId x = p.addBuffer(Buffer::input(0, DType::F32, {n}));
  BufferId a = p.addBuffer(Buffer::arena(bytes, DType::F32, {n}));
  BufferId same = p.addBuffer(Buffer::alias(a, z, bytes, DType::F32, {n}));
  BufferId b = p.addBuffer(Buffer::arena(bytes, DType::F32, {n}));
  p.inputs = {{"x", x}};
  p.outputs = {{"b", b}};
  KernelId k = p.addKernel("add");
  ExprId one = p.addConstant(1);
  p.steps = {Step::launch(k, {x, x}, {a}, {one}, n),
             Step::launch(k, {a, same}, {b}, {one}, n)};
  p.steps[1].inPlace = {{0, 0}};
  Session session(make(p, {addInto}), queueOn(device, 1), 0);
  std::vector<float> ones(64, 1);
  bind(session, 0, {64}, ones.data());
  run(session);
  mlc_memory memory;
  REQUIRE(session.memory(memory).ok());
  CHECK(memory.arena_bytes == 512);
}

TEST_CASE("producers write into slices of a concatenation", "[session]") {
  ON_EACH_DEVICE;
  Program p;
  SymbolId n = p.addSymbol({"n", Symbol::FromInput, 0, 0});
  ExprId en = p.addExpr(Expr::symbol(n));
  Expr bytes = Expr::symbol(n) * Expr::constant(4);
  ExprId eb = p.addExpr(bytes), z = p.addConstant(0);
  BufferId x = p.addBuffer(Buffer::input(0, DType::F32, {en}));
  ExprId twice = p.addExpr(Expr::symbol(n) * Expr::constant(2));
  BufferId all = p.addBuffer(
      Buffer::arena(p.addExpr(bytes * Expr::constant(2)), DType::F32, {twice}));
  BufferId low = p.addBuffer(Buffer::alias(all, z, eb, DType::F32, {en}));
  BufferId high = p.addBuffer(Buffer::alias(all, eb, eb, DType::F32, {en}));
  p.inputs = {{"x", x}};
  p.outputs = {{"all", all}, {"high", high}};
  KernelId k = p.addKernel("add");
  p.steps = {Step::launch(k, {x, x}, {low}, {p.addConstant(1)}, en),
             Step::launch(k, {low, x}, {high}, {p.addConstant(10)}, en)};
  Session session(make(p, {addInto}), queueOn(device, 1), MLC_SESSION_PROFILE);
  std::vector<float> ones(5, 1);
  bind(session, 0, {5}, ones.data());
  run(session);
  CHECK(floats(session, 0, {10}) ==
        std::vector<float>{2, 2, 2, 2, 2, 12, 12, 12, 12, 12});
  CHECK(floats(session, 1, {5}) == std::vector<float>(5, 12));
  uint64_t ns = 0;
  CHECK(session.stepNanoseconds(1, ns).ok());
  CHECK(ns > 0);
  CHECK_FALSE(session.stepNanoseconds(2, ns).ok());
}

TEST_CASE("an alias outside its memory is refused", "[session]") {
  ON_EACH_DEVICE;
  Program p = scaleProgram();
  p.buffers[3].offsetExpr = p.addConstant(64);
  Session session(make(p, {scale}, bias, 16), queueOn(device, 1), 0);
  std::vector<float> x(40);
  bind(session, 0, {10, 4}, x.data());
  Status status = session.run();
  CHECK(status.code == MLC_BAD_FILE);
  CHECK_THAT(status.message, Contains("'Z' leaves the memory"));
}

//===----------------------------------------------------------------------===//
// Sizes that depend on values
//===----------------------------------------------------------------------===//

namespace {

void countPositive(void *const *buffers, const int64_t *symbols, int64_t,
                   int64_t, void *) {
  auto *x = static_cast<const float *>(buffers[0]);
  auto *n = static_cast<int64_t *>(buffers[1]);
  *n = 0;
  for (int64_t i = 0; i < symbols[0]; ++i)
    *n += x[i] > 0;
}

void compact(void *const *buffers, const int64_t *symbols, int64_t, int64_t,
             void *scratch) {
  auto *x = static_cast<const float *>(buffers[0]);
  auto *y = static_cast<float *>(buffers[1]);
  auto *place = static_cast<int64_t *>(scratch);
  *place = 0;
  for (int64_t i = 0; i < symbols[0]; ++i)
    if (x[i] > 0)
      y[(*place)++] = x[i];
}

Program positives() {
  Program p;
  SymbolId n = p.addSymbol({"n", Symbol::FromInput, 0, 0});
  SymbolId k = p.addSymbol({"k", Symbol::FromTensor, 0, 0, 0, 100});
  ExprId en = p.addExpr(Expr::symbol(n)), ek = p.addExpr(Expr::symbol(k));
  ExprId one = p.addConstant(1), eight = p.addConstant(8);
  BufferId x = p.addBuffer(Buffer::input(0, DType::F32, {en}));
  BufferId count = p.addBuffer(Buffer::arena(eight, DType::I64, {one}));
  BufferId y =
      p.addBuffer(Buffer::arena(p.addExpr(Expr::symbol(k) * Expr::constant(4)),
                                DType::F32, {ek}, "positive"));
  p.inputs = {{"x", x}};
  p.outputs = {{"positive", y}};
  p.steps = {Step::launch(p.addKernel("count"), {x}, {count}, {en}, one),
             Step::bindSymbol(k, count, 0),
             Step::launch(p.addKernel("compact"), {x}, {y}, {en}, one)};
  p.steps[2].as<LaunchStep>().scratch = eight;
  p.checks = {{Check::LessEqual, one, ek, "node 'NonZero_1': nothing found"}};
  return p;
}

} // namespace

TEST_CASE("launches of blocks", "[session]") {
  ON_EACH_DEVICE;
  Program p = scaleProgram();
  ExprId rows = p.steps[0].as<LaunchStep>().tasks;
  p.steps[0].detail = GridLaunchStep{0, rows, p.addConstant(128),
                                     p.addConstant(227 * 1024), rows};
  p.steps[0].name = "scale";
  {
    Session session(make(p, {scale}, bias, 16), queueOn(device), 0);
    std::vector<float> x(4 * 5, 3);
    for (int64_t n : {5, 0, 5}) {
      bind(session, 0, {n, 4}, x.data());
      run(session);
      std::vector<float> y = floats(session, 0, {n, 4});
      for (size_t i = 0; i < y.size(); ++i)
        REQUIRE(y[i] == 6 + bias[i % 4]);
    }
  }
  struct Wrong {
    int64_t tasks, block, shared;
    mlc_status code;
    const char *message;
  };
  for (const Wrong &wrong :
       {Wrong{-1, 1, 0, MLC_USAGE, "the number of tasks of 'scale' is -1"},
        Wrong{1, -1, 0, MLC_USAGE, "the block size of 'scale' is -1"},
        Wrong{1, 0, 0, MLC_BAD_FILE, "'scale' has 0 threads in a block"},
        Wrong{1, 1025, 0, MLC_BAD_FILE, "'scale' has 1025 threads in a block"},
        Wrong{1, 1, -1, MLC_USAGE, "the shared memory of 'scale' is -1"},
        Wrong{1, 1, 227 * 1024 + 1, MLC_BAD_FILE,
              "'scale' has 232449 bytes of shared memory"}}) {
    Program q = p;
    q.steps[0].detail =
        GridLaunchStep{0, q.addConstant(wrong.tasks),
                       q.addConstant(wrong.block), q.addConstant(wrong.shared)};
    Session session(make(q, {scale}, bias, 16), queueOn(device), 0);
    float x[4] = {};
    bind(session, 0, {1, 4}, x);
    Status status = session.run();
    CHECK(status.code == wrong.code);
    CHECK_THAT(status.message, Contains(wrong.message));
  }
}

TEST_CASE("what a step costs follows the sizes", "[session]") {
  Program p = scaleProgram();
  ExprId rows = p.steps[0].as<LaunchStep>().tasks;
  GridLaunchStep launch{0, rows, p.addConstant(128)};
  launch.work = p.addExpr(Expr::symbol(0) * Expr::constant(8));
  launch.products =
      p.addExpr(Expr::symbol(0) * Expr::constant(int64_t(1) << 60));
  p.steps[0].detail = launch;
  // Read twice, counted once.
  p.steps[0].inputs.push_back(p.steps[0].inputs[0]);
  Session session(make(p, {scale}, bias, 16), queueOn(cpuDevice()), 0);
  mlc_step_cost cost = {};
  CHECK(session.stepCost(0, cost).code == MLC_USAGE);
  std::vector<float> x(4 * 9, 3);
  for (uint64_t n : {5, 0, 2}) {
    bind(session, 0, {int64_t(n), 4}, x.data());
    run(session);
    REQUIRE(session.stepCost(0, cost).ok());
    CHECK(cost.bytes_read == n * 16 + 16);
    CHECK(cost.bytes_written == n * 16);
    CHECK(cost.operations == n * 8);
    CHECK(cost.contraction_operations == n << 60);
  }
  CHECK(session.stepCost(1, cost).code == MLC_USAGE);
  bind(session, 0, {9, 4}, x.data());
  run(session);
  CHECK_THAT(session.stepCost(0, cost).message, Contains("overflow"));
}

TEST_CASE("sizes from computed values", "[session]") {
  ON_EACH_DEVICE;
  Session session(make(positives(), {countPositive, compact}),
                  queueOn(device, 2), 0);
  alignas(64) float x[200];
  for (int period : {2, 3, 2, 5, 3}) {
    std::vector<float> expected;
    for (int i = 0; i < 90; ++i) {
      x[i] = i % period == 0 ? i + 1 : -1;
      if (x[i] > 0)
        expected.push_back(x[i]);
    }
    bind(session, 0, {90}, x);
    run(session);
    CHECK(floats(session, 0, {int64_t(expected.size())}) == expected);
  }
  uint64_t before = session.allocations();
  run(session);
  CHECK(session.allocations() == before);
  std::fill(x, x + 200, -1.f);
  CHECK_THAT(session.run().message, Contains("nothing found (1 and 0)"));
  std::fill(x, x + 200, 1.f);
  bind(session, 0, {150}, x);
  CHECK_THAT(session.run().message, Contains("dim 'k' is 150"));
  bind(session, 0, {90}, x);
  run(session);
  floats(session, 0, {90});
}

//===----------------------------------------------------------------------===//
// Library kernels
//===----------------------------------------------------------------------===//

TEST_CASE("top-k along an inner axis", "[session]") {
  ON_EACH_DEVICE;
  Program p;
  auto c = [&](int64_t v) { return p.addConstant(v); };
  BufferId x = p.addBuffer(Buffer::input(0, DType::F32, {c(2), c(5), c(2)}));
  BufferId v = p.addBuffer(
      Buffer::arena(c(2 * 3 * 2 * 4), DType::F32, {c(2), c(3), c(2)}));
  BufferId i = p.addBuffer(
      Buffer::arena(c(2 * 3 * 2 * 8), DType::I64, {c(2), c(3), c(2)}));
  p.inputs = {{"x", x}};
  p.outputs = {{"values", v}, {"indices", i}};
  float nan = std::numeric_limits<float>::quiet_NaN();
  // Row by row: [outer][axis][inner].
  const float data[20] = {1, -0.f, 5, 0.f, 3, -2, 5, 7,   2, 0.f,
                          9, 1,    8, 1,   7, 1,  6, nan, 5, 1};
  for (int64_t largest : {1, 0}) {
    p.steps = {Step::library("topk", {x}, {v, i}, {c(1), c(largest)})};
    Session session(make(p, {}), queueOn(device, 2), 0);
    bind(session, 0, {2, 5, 2}, data);
    run(session);
    mlc_tensor t;
    REQUIRE(session.output(1, t).ok());
    auto *found = static_cast<const int64_t *>(t.data);
    std::vector<int64_t> indices(found, found + 12);
    if (largest)
      CHECK(indices ==
            std::vector<int64_t>{1, 3, 3, 0, 2, 1, 0, 3, 1, 0, 2, 1});
    else
      CHECK(indices ==
            std::vector<int64_t>{0, 2, 4, 0, 2, 1, 4, 0, 3, 1, 2, 2});
  }
}

TEST_CASE("library calls are checked before they run", "[session]") {
  ON_EACH_DEVICE;
  Program p;
  auto c = [&](int64_t v) { return p.addConstant(v); };
  BufferId x = p.addBuffer(Buffer::input(0, DType::F32, {c(2)}));
  BufferId v = p.addBuffer(Buffer::arena(c(12), DType::F32, {c(3)}));
  BufferId i = p.addBuffer(Buffer::arena(c(24), DType::I64, {c(3)}));
  p.inputs = {{"x", x}};
  p.outputs = {{"v", v}};
  p.steps = {Step::library("topk", {x}, {v, i}, {c(0), c(1)})};
  p.steps[0].nodes = {"TopK_7"};
  Session session(make(p, {}), queueOn(device, 1), 0);
  alignas(64) float data[2] = {};
  bind(session, 0, {2}, data);
  CHECK_THAT(session.run().message,
             Contains("node 'TopK_7': topk: k = 3 is more than the 2"));
  p.steps[0].name = "no-such-kernel";
  std::shared_ptr<const Artifact> artifact;
  CHECK_THAT(Artifact::create(p, nullptr, 0, {}, artifact).message,
             Contains("needs library kernel no-such-kernel"));
}
