//===- ProgramsTest.cpp - Collectives in programs of several ranks --------===//

#include "runtime/Devices.h"
#include "runtime/Session.h"
#include "runtime/transport/Exchange.h"
#include "runtime/transport/RankThread.h"
#include "test/unit/runtime/FarDevice.h"

#include <catch2/catch.hpp>

#include <numeric>
#include <thread>

using namespace mlc::runtime;
namespace transport = mlc::runtime::transport;
using Catch::Contains;
using mlc::test::queueOn;

namespace {

// Each reads its elements' number from the only symbol.
void twice(void *const *b, const int64_t *n, int64_t, int64_t, void *) {
  for (int64_t i = 0; i < n[0]; ++i)
    static_cast<float *>(b[1])[i] = 2 * static_cast<const float *>(b[0])[i];
}

/// y = 2 x; r = the sum of all ranks' y, in place; z = 2 x again, meanwhile;
/// out = 2 r.
Programs sumProgram(uint32_t ranks) {
  Programs all;
  all.mesh = {{"data", ranks}};
  Program &p = all.entries.emplace_back();
  ExprId one = p.addConstant(1), four = p.addConstant(4);
  ExprId sixteen = p.addConstant(16);
  BufferId x = p.addBuffer(Buffer::input(0, DType::F32, {four}, "x"));
  auto arena = [&] {
    return p.addBuffer(Buffer::arena(sixteen, DType::F32, {four}));
  };
  BufferId y = arena(), z = arena(), out = arena();
  p.inputs = {{"x", x}};
  p.outputs = {{"out", out}, {"z", z}};
  KernelId kernel = p.addKernel("twice");
  StartStep start;
  start.collective = uint8_t(CollectiveKind::AllReduce);
  p.steps = {Step::launch(kernel, {x}, {y}, {four}, one),
             Step::start(start, {y}, {y}, {four}),
             Step::launch(kernel, {x}, {z}, {four}, one),
             Step::wait(0, {y}, {y}),
             Step::launch(kernel, {y}, {out}, {four}, one)};
  p.steps[1].name = "all_reduce";
  return all;
}

std::shared_ptr<const Artifact> make(Programs programs,
                                     std::vector<mlc_kernel> kernels,
                                     const void *weights = nullptr,
                                     uint64_t weightsSize = 0) {
  std::shared_ptr<const Artifact> artifact;
  Status status = Artifact::create(std::move(programs),
                                   static_cast<const uint8_t *>(weights),
                                   weightsSize, std::move(kernels), artifact);
  INFO(status.message);
  REQUIRE(status.ok());
  return artifact;
}

std::vector<std::shared_ptr<Ranks>>
ranksOf(int count, std::chrono::milliseconds timeout = std::chrono::minutes(1),
        unsigned groups = 1) {
  transport::RankOptions options;
  options.communication.timeout = timeout;
  options.groups = groups;
  std::vector<std::shared_ptr<Ranks>> ranks;
  REQUIRE(transport::openThreads(count, options, ranks).ok());
  return ranks;
}

/// Does `rank` on a thread for each, the first on `device` and the others on
/// the CPU. Assertions are the caller's: Catch is for one thread.
template <typename Fn>
void onAll(const std::shared_ptr<const Artifact> &artifact,
           std::vector<std::shared_ptr<Ranks>> &ranks, Device &device,
           Fn rank) {
  std::vector<std::thread> threads;
  for (size_t r = 0; r < ranks.size(); ++r)
    threads.emplace_back([&, r] {
      Device &own = r ? *devices().front() : device;
      Session session(
          artifact, 0,
          std::make_shared<SharedStates>(artifact, queueOn(own), ranks[r]), 0);
      rank(session, r);
    });
  for (std::thread &thread : threads)
    thread.join();
}

} // namespace

TEST_CASE("parts are those of the schedules", "[ranks]") {
  for (int64_t things : {0, 1, 7, 12, 1000})
    for (int parts : {1, 2, 3, 8})
      for (int part = 0; part < parts; ++part) {
        PartRange range = partRange(things, parts, part);
        transport::Part known = transport::partOf(things, parts, part);
        CHECK(range.begin == known.begin);
        CHECK(range.end == known.end);
      }
}

TEST_CASE("parts of a tensor are cut and joined", "[ranks]") {
  const std::vector<MeshAxis> mesh = {{"a", 2}, {"b", 3}};
  const std::vector<int64_t> dims = {5, 3, 8};
  const std::vector<std::vector<Split>> all = {{},
                                               {{0, 0, 1}},
                                               {{2, 1, 1}},
                                               {{2, 1, 4}},
                                               {{0, 1, 1}, {2, 0, 2}},
                                               {{0, 0, 1}, {0, 1, 1}},
                                               {{2, 0, 2}, {2, 1, 2}}};
  std::vector<int16_t> whole(120);
  std::iota(whole.begin(), whole.end(), 1);
  for (const std::vector<Split> &splits : all) {
    std::vector<int16_t> joined(whole.size(), 0);
    for (int rank = 0; rank < 6; ++rank) {
      std::vector<PartRange> part =
          partOfTensor(dims, splits, mesh, coordinatesOf(mesh, rank));
      std::vector<int16_t> expected, got;
      for (int64_t i = part[0].begin; i < part[0].end; ++i)
        for (int64_t j = part[1].begin; j < part[1].end; ++j)
          for (int64_t k = part[2].begin; k < part[2].end; ++k)
            expected.push_back(whole[(i * 3 + j) * 8 + k]);
      got.resize(expected.size());
      auto bytes = [](std::vector<int16_t> &v) {
        return reinterpret_cast<uint8_t *>(v.data());
      };
      copyPart(dims, part, 2, bytes(whole), bytes(got), /*join=*/false);
      CHECK(got == expected);
      copyPart(dims, part, 2, bytes(joined), bytes(got), /*join=*/true);
    }
    CHECK(joined == whole);
  }
}

TEST_CASE("the second axis of a dim splits the first one's parts", "[ranks]") {
  const std::vector<MeshAxis> mesh = {{"a", 2}, {"b", 2}};
  std::vector<std::pair<int64_t, int64_t>> found;
  for (int rank = 0; rank < 4; ++rank) {
    PartRange part = partOfTensor({7}, {{0, 0, 1}, {0, 1, 1}}, mesh,
                                  coordinatesOf(mesh, rank))[0];
    found.emplace_back(part.begin, part.end);
  }
  CHECK(found == std::vector<std::pair<int64_t, int64_t>>{
                     {0, 2}, {2, 4}, {4, 6}, {6, 7}});
}

TEST_CASE("a program sums over ranks while kernels run", "[ranks]") {
  ON_EACH_DEVICE;
  const int count = GENERATE(2, 3, 4);
  auto artifact = make(sumProgram(count), {twice});
  auto ranks = ranksOf(count);
  std::vector<Status> statuses(count);
  std::vector<std::vector<float>> sums(count);
  std::vector<uint64_t> allocations(count);
  onAll(artifact, ranks, device, [&](Session &session, size_t r) {
    alignas(64) float x[4];
    const int64_t four = 4;
    for (int run = 0; run < 5 && statuses[r].ok(); ++run) {
      for (int i = 0; i < 4; ++i)
        x[i] = float(r + run * i);
      statuses[r] = session.bindInput(0, DType::F32, 1, &four, x);
      if (statuses[r].ok())
        statuses[r] = session.run();
      mlc_tensor t;
      if (statuses[r].ok())
        statuses[r] = session.output(0, t);
      if (statuses[r].ok())
        sums[r].assign(static_cast<const float *>(t.data),
                       static_cast<const float *>(t.data) + 4);
      if (run == 1)
        allocations[r] = session.allocations();
    }
    allocations[r] = session.allocations() - allocations[r];
  });
  for (int r = 0; r < count; ++r) {
    INFO(statuses[r].message);
    CHECK(statuses[r].ok());
    CHECK(allocations[r] == 0);
    std::vector<float> expected;
    for (int i = 0; i < 4; ++i)
      expected.push_back(float(4 * (count * (count - 1) / 2 + count * 4 * i)));
    CHECK(sums[r] == expected);
  }
}

TEST_CASE("a state that is split is a part on each rank", "[ranks]") {
  ON_EACH_DEVICE;
  alignas(64) static const float stored[5] = {1, 2, 3, 4, 5};
  Programs all;
  all.mesh = {{"data", 3}};
  all.states.push_back(
      {"w", DType::F32, {5}, State::Stored, 0, 20, {{0, 0, 1}}});
  Program &p = all.entries.emplace_back();
  SymbolId rank = p.addSymbol({"rank.data", Symbol::FromRank, 0, 0, 0, 2});
  Expr part =
      Expr::binary(Expr::FloorDiv,
                   Expr::constant(7) + Expr::constant(-1) * Expr::symbol(rank),
                   Expr::constant(3));
  ExprId size = p.addExpr(part), five = p.addConstant(5);
  ExprId one = p.addConstant(1), twenty = p.addConstant(20);
  BufferId w = p.addBuffer(Buffer::state(0, DType::F32, {size}, "w"));
  BufferId whole = p.addBuffer(Buffer::arena(twenty, DType::F32, {five}));
  p.outputs = {{"whole", whole}};
  StartStep start;
  start.collective = uint8_t(CollectiveKind::AllGather);
  p.steps = {Step::start(start, {w}, {whole}, {five, one}),
             Step::wait(0, {w}, {whole})};
  auto artifact = make(std::move(all), {}, stored, sizeof(stored));
  auto ranks = ranksOf(3);
  std::vector<Status> statuses(3);
  std::vector<std::vector<float>> parts(3), wholes(3);
  onAll(artifact, ranks, device, [&](Session &session, size_t r) {
    mlc_tensor t;
    statuses[r] = session.states()->read(0, t);
    if (!statuses[r].ok())
      return;
    auto take = [&] {
      auto *data = static_cast<const float *>(t.data);
      return std::vector<float>(data, data + t.dims[0]);
    };
    parts[r] = take();
    // Twice what it held, of this rank's part alone.
    std::vector<float> changed = parts[r];
    for (float &each : changed)
      each *= 2;
    const int64_t n = t.dims[0], wrong = 5;
    Status refused =
        session.states()->set(0, DType::F32, 1, &wrong, stored, MLC_SPACE_HOST);
    if (refused.ok())
      statuses[r] = Status::error(MLC_INTERNAL, "the whole was taken");
    if (statuses[r].ok())
      statuses[r] = session.states()->set(0, DType::F32, 1, &n, changed.data(),
                                          MLC_SPACE_HOST);
    if (statuses[r].ok())
      statuses[r] = session.run();
    if (statuses[r].ok())
      statuses[r] = session.output(0, t);
    if (statuses[r].ok())
      wholes[r] = take();
  });
  const std::vector<std::vector<float>> expected = {{1, 2}, {3, 4}, {5}};
  for (int r = 0; r < 3; ++r) {
    INFO(statuses[r].message);
    CHECK(statuses[r].ok());
    CHECK(parts[r] == expected[r]);
    CHECK(wholes[r] == std::vector<float>{2, 4, 6, 8, 10});
  }
}

/// The thread of a rank looks at its groups when the first collective is over,
/// which is when the second's group is being made: half of the ranks come late
/// to the first. The thread sanitizer tells.
TEST_CASE("a collective is prepared while another is under way", "[ranks]") {
  using std::chrono::milliseconds;
  const std::vector<MeshAxis> mesh = {{"a", 2}, {"b", 2}};
  auto ranks = ranksOf(4);
  std::vector<Status> statuses(4);
  std::vector<std::vector<float>> sums(4);
  std::vector<std::thread> threads;
  for (int r = 0; r < 4; ++r)
    threads.emplace_back([&, r] {
      std::vector<float> data(1000, float(1 << r));
      const void *input = data.data();
      void *output = data.data();
      std::unique_ptr<Ranks::Prepared> along[2];
      for (uint32_t axis = 0; axis < 2 && statuses[r].ok(); ++axis) {
        CollectiveCall call;
        call.axis = axis;
        call.messages.push_back({1000});
        statuses[r] = ranks[r]->prepare(mesh, call, along[axis]);
        if (axis && statuses[r].ok())
          statuses[r] = ranks[r]->wait(*along[0]);
        std::this_thread::sleep_for(milliseconds(axis || r < 2 ? 0 : 100));
        if (statuses[r].ok())
          ranks[r]->start(*along[axis], &input, &output);
        std::this_thread::sleep_for(milliseconds(axis || r >= 2 ? 0 : 20));
      }
      if (statuses[r].ok())
        statuses[r] = ranks[r]->wait(*along[1]);
      sums[r] = data;
    });
  for (std::thread &thread : threads)
    thread.join();
  for (int r = 0; r < 4; ++r) {
    INFO(statuses[r].message);
    REQUIRE(statuses[r].ok());
    CHECK(sums[r] == std::vector<float>(1000, 1 + 2 + 4 + 8));
    CHECK(ranks[r]->sentBytes() > 0);
  }
}

TEST_CASE("a program of ranks does not run alone", "[ranks]") {
  auto artifact = make(sumProgram(4), {twice});
  Session session(artifact, queueOn(*devices().front()), 0);
  alignas(64) float x[4] = {};
  const int64_t four = 4;
  REQUIRE(session.bindInput(0, DType::F32, 1, &four, x).ok());
  Status status = session.run();
  CHECK(status.code == MLC_USAGE);
  CHECK_THAT(status.message, Contains("needs 4 ranks (4 'data')") &&
                                 Contains("start it with mlc launch -n 4"));
  auto two = ranksOf(2);
  CHECK_THAT(checkRanks(artifact->mesh(), two[0].get()).message,
             Contains("there are 2"));
  // What memory it takes can be said.
  mlc_memory memory;
  CHECK(session.plan(memory).ok());
  CHECK(memory.arena_bytes >= 48);
}

TEST_CASE("a rank that does not come to a program is named", "[ranks]") {
  auto artifact = make(sumProgram(3), {twice});
  auto ranks = ranksOf(3, std::chrono::milliseconds(300));
  auto last = std::move(ranks.back());
  ranks.pop_back();
  std::vector<Status> statuses(2), again(2);
  onAll(artifact, ranks, *devices().front(), [&](Session &session, size_t r) {
    alignas(64) float x[4] = {};
    const int64_t four = 4;
    statuses[r] = session.bindInput(0, DType::F32, 1, &four, x);
    if (statuses[r].ok())
      statuses[r] = session.run();
    // Nothing succeeds behind it, and nothing waits.
    again[r] = session.run();
  });
  for (int r = 0; r < 2; ++r) {
    INFO(statuses[r].message);
    CHECK(statuses[r].code == MLC_RESOURCES);
    CHECK_THAT(statuses[r].message, Contains("rank " + std::to_string(r)) &&
                                        Contains("all-reduce") &&
                                        Contains("rank 2"));
    CHECK(again[r].code == MLC_RESOURCES);
  }
}

TEST_CASE("damaged collectives are refused", "[ranks]") {
  auto message = [](auto change) {
    Programs all = sumProgram(4);
    change(all, all.entries[0]);
    Status status = validate(all, 0);
    CHECK(status.code == MLC_BAD_FILE);
    return status.message;
  };
  CHECK(validate(sumProgram(4), 0).ok());
  CHECK_THAT(message([](Programs &all, Program &) { all.mesh.clear(); }),
             Contains("names no axis as its axis"));
  CHECK_THAT(message([](Programs &all, Program &) { all.mesh[0].size = 1; }),
             Contains("an axis that has one"));
  CHECK_THAT(message([](Programs &all, Program &) { all.mesh[0].size = 0; }),
             Contains("the mesh has no ranks"));
  CHECK_THAT(message([](Programs &all, Program &) {
               all.mesh.assign(3, {"", 1 << 16});
             }),
             Contains("no name of its own"));
  CHECK_THAT(message([](Programs &, Program &p) { p.steps.pop_back(); }),
             Contains("an output is never written"));
  CHECK_THAT(message([](Programs &, Program &p) {
               p.steps.erase(p.steps.begin() + 3);
             }),
             Contains("reads what a collective is at work on"));
  CHECK_THAT(message([](Programs &, Program &p) {
               p.steps.erase(p.steps.begin() + 3, p.steps.end());
               p.outputs.clear();
             }),
             Contains("nothing waits for a collective"));
  CHECK_THAT(message([](Programs &, Program &p) {
               p.steps[2].outputs = p.steps[1].outputs;
             }),
             Contains("writes what a collective is at work on"));
  CHECK_THAT(message([](Programs &, Program &p) {
               p.steps[3].inputs = p.steps[3].outputs = {2};
             }),
             Contains("has other buffers than its start"));
  CHECK_THAT(message([](Programs &, Program &p) {
               p.steps[1].as<StartStep>().ticket = 1;
             }),
             Contains("out of turn"));
  CHECK_THAT(message([](Programs &, Program &p) { p.steps[1].args.clear(); }),
             Contains("wrong number of arguments"));
  CHECK_THAT(message([](Programs &, Program &p) { p.steps[1].outputs = {2}; }),
             Contains("works in place, in two buffers"));
  CHECK_THAT(message([](Programs &, Program &p) {
               p.steps[1].as<StartStep>().collective =
                   uint8_t(CollectiveKind::Shift);
               p.steps[1].args.push_back(0);
             }),
             Contains("works in place, where it cannot"));
  CHECK_THAT(
      message([](Programs &, Program &p) { p.inputs[0].splits = {{1, 0, 1}}; }),
      Contains("a split is of no dim"));
  CHECK_THAT(message([](Programs &, Program &p) {
               p.outputs[0].splits = {{0, 3, 1}};
             }),
             Contains("split over no axis"));
  CHECK_THAT(message([](Programs &, Program &p) {
               p.outputs[0].splits = {{0, 0, 1}, {0, 0, 1}};
             }),
             Contains("over one that splits another"));
  CHECK_THAT(message([](Programs &all, Program &p) {
               all.mesh.push_back({"b", 1});
               p.outputs[0].splits = {{0, 0, 1}, {0, 1, 2}};
             }),
             Contains("units of no size, or of several"));
  CHECK_THAT(message([](Programs &, Program &p) {
               p.addSymbol({"r", Symbol::FromRank, 7});
             }),
             Contains("a coordinate on no axis"));
}

TEST_CASE("an artifact's algorithm must be one that does it", "[ranks]") {
  auto message = [](const char *algorithm) {
    CollectiveCall call;
    call.algorithm = algorithm;
    call.messages = {{6, 1, 1}};
    std::vector<transport::Exchange> exchanges;
    Status status = transport::makeExchanges(call, 3, 0, exchanges);
    return status.ok() ? "" : status.message;
  };
  CHECK(message("ring").empty());
  CHECK_THAT(message("nonsense"),
             Contains("there is no algorithm 'nonsense'; there are server"));
  CHECK_THAT(message("server"), Contains("take colocated"));
  CHECK_THAT(message("butterfly"), Contains("a power of two ranks, not 3"));
}
