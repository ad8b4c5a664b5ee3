//===- StatesTest.cpp - States, written in place and beside ---------------===//

#include "States.h"

#include <random>

using namespace mlc;
using namespace mlc::test;
using Catch::Contains;

namespace {

Status bindAndRun(Session &session, const Four &x) {
  alignas(64) static Four bound;
  bound = x;
  int64_t dims[] = {4};
  Status status = session.bindInput(0, DType::F32, 1, dims, bound.data());
  return status.ok() ? session.run() : status;
}

Four stateOf(Session &session, size_t index) {
  mlc_tensor tensor;
  Status status = session.states()->read(index, tensor);
  INFO(status.message);
  REQUIRE(status.ok());
  return four(tensor);
}

/// Runs it three times on the device and by its meaning. Returns its steps.
std::vector<Step> compare(Builder &builder, Device &device) {
  Meaning meaning(builder);
  std::shared_ptr<const Artifact> artifact = builder.make();
  Session session(artifact, queueOn(device, 1), 0);
  for (size_t s = 0; s < builder.states.size(); ++s) {
    Four first = {float(s), 2, -1, float(10 * s)};
    int64_t dims[] = {4};
    REQUIRE(session.states()
                ->set(s, DType::F32, 1, dims, first.data(), MLC_SPACE_HOST)
                .ok());
    meaning.memory[builder.states[s]] = first;
  }
  uint64_t allocations = 0;
  for (int run = 0; run < 3; ++run) {
    Four x = {1, float(run), 3, 0.5};
    std::vector<Four> expected = meaning.run(x);
    Status status = bindAndRun(session, x);
    INFO(status.message);
    REQUIRE(status.ok());
    for (size_t o = 0; o < expected.size(); ++o) {
      mlc_tensor tensor;
      REQUIRE(session.output(o, tensor).ok());
      CHECK(four(tensor) == expected[o]);
    }
    for (size_t s = 0; s < builder.states.size(); ++s)
      CHECK(stateOf(session, s) == meaning.memory[builder.states[s]]);
    if (run == 1)
      allocations = session.allocations();
  }
  CHECK(session.allocations() == allocations);
  return artifact->program().steps;
}

size_t copiesIn(const std::vector<Step> &steps) {
  return std::count_if(steps.begin(), steps.end(), [](const Step &step) {
    return std::holds_alternative<AssignStep>(step.detail);
  });
}

} // namespace

TEST_CASE("an update takes the place of the old value", "[states]") {
  ON_EACH_DEVICE;
  Builder b(1);
  b.writes = {{b.states[0], b.binary(b.states[0], b.values[1])}};
  std::vector<Step> steps = compare(b, device);
  CHECK(copiesIn(steps) == 0);
}

TEST_CASE("an update that reads other elements is computed beside",
          "[states]") {
  ON_EACH_DEVICE;
  Builder b(1);
  b.writes = {{b.states[0], b.reversed(b.states[0])}};
  CHECK(copiesIn(compare(b, device)) == 1);
}

TEST_CASE("an old value that is read later stays until then", "[states]") {
  ON_EACH_DEVICE;
  Builder b(2);
  BufferId next = b.binary(b.states[0], b.values[2]);
  BufferId later = b.reversed(b.states[0]);
  b.writes = {{b.states[0], next}, {b.states[1], later}};
  b.p.outputs = {{"later", later}, {"next", next}};
  std::vector<Step> steps = compare(b, device);
  CHECK(copiesIn(steps) == 1); // of state 0; nothing reads state 1
}

TEST_CASE("states are swapped and turned in a circle", "[states]") {
  ON_EACH_DEVICE;
  Builder swap(2);
  swap.writes = {{swap.states[0], swap.states[1]},
                 {swap.states[1], swap.states[0]}};
  CHECK(copiesIn(compare(swap, device)) == 3);
  Builder circle(3);
  for (int s = 0; s < 3; ++s)
    circle.writes.push_back({circle.states[s], circle.states[(s + 1) % 3]});
  circle.p.outputs = {{"old", circle.states[0]}};
  compare(circle, device);
}

TEST_CASE("outputs that are states have the old or the new value", "[states]") {
  ON_EACH_DEVICE;
  Builder b(1);
  BufferId next = b.binary(b.states[0], b.values[1]);
  b.writes = {{b.states[0], next}};
  b.p.outputs = {
      {"old", b.states[0]}, {"new", next}, {"shaped", b.reshaped(next)}};
  compare(b, device);
}

TEST_CASE("a value of two states, of an input, of the state itself",
          "[states]") {
  ON_EACH_DEVICE;
  Builder b(4);
  BufferId next = b.binary(b.states[0], b.states[1]);
  b.writes = {{b.states[0], next},
              {b.states[1], next},
              {b.states[2], b.p.inputs[0].buffer},
              {b.states[3], b.reshaped(b.states[3])}};
  compare(b, device);
}

TEST_CASE("programs at random mean what they mean without memory", "[states]") {
  ON_EACH_DEVICE;
  std::mt19937 random(7);
  auto draw = [&](size_t count) { return size_t(random() % count); };
  size_t inPlace = 0, copied = 0;
  for (int round = 0; round < 400; ++round) {
    Builder b(1 + draw(3));
    auto value = [&] { return b.values[draw(b.values.size())]; };
    for (size_t steps = draw(6); steps-- > 0;)
      switch (draw(5)) {
      case 0:
        b.binary(value(), value());
        break;
      case 1:
        b.reversed(value());
        break;
      case 2:
        b.twice(value(), value());
        break;
      case 3:
        b.halves(value());
        break;
      case 4:
        b.reshaped(value());
        break;
      }
    for (BufferId state : b.states)
      if (draw(5))
        b.writes.push_back({state, value()});
    for (size_t outputs = draw(3); outputs-- > 0;)
      b.p.outputs.push_back({"y" + std::to_string(outputs), value()});
    INFO("round " << round);
    size_t writes = b.writes.size();
    size_t copies = copiesIn(compare(b, device));
    copied += copies;
    inPlace += copies < writes;
  }
  // Both happen often enough to be worth the name of a test.
  CHECK(copied > 200);
  CHECK(inPlace > 100);
}

TEST_CASE("entries share states, each with its own inputs and outputs",
          "[states]") {
  ON_EACH_DEVICE;
  Builder b(1);
  b.p.name = "step";
  b.writes = {{b.states[0], b.binary(b.states[0], b.values[1])}};
  addStateWrites(b.p, b.writes);
  Builder look(1);
  look.p.name = "look";
  look.p.kernels = {"add2", "reverse2", "both2", "half2"};
  BufferId y = look.reversed(look.states[0]);
  look.p.outputs = {{"y", y}};
  b.programs.entries = {b.p, look.p};
  std::vector<mlc_kernel> all(kernels);
  all.insert(all.end(), kernels.begin(), kernels.end());
  std::shared_ptr<const Artifact> artifact;
  REQUIRE(Artifact::create(b.programs, nullptr, 0, all, artifact).ok());
  auto shared = std::make_shared<SharedStates>(artifact, queueOn(device, 1));
  Session step(artifact, 0, shared, 0), other(artifact, 1, shared, 0);
  REQUIRE(bindAndRun(step, {1, 2, 3, 4}).ok());
  REQUIRE(bindAndRun(step, {1, 2, 3, 4}).ok());
  REQUIRE(bindAndRun(other, {}).ok());
  mlc_tensor tensor;
  REQUIRE(other.output(0, tensor).ok());
  CHECK(four(tensor) == Four{8, 6, 4, 2});
  CHECK(stateOf(other, 0) == Four{2, 4, 6, 8});
  REQUIRE(shared->reset().ok());
  CHECK(stateOf(step, 0) == Four{});
}

TEST_CASE("a state without a value is refused until it has one", "[states]") {
  ON_EACH_DEVICE;
  Builder b(2);
  b.programs.states[0].initial = State::None;
  b.programs.states[1].initial = State::None;
  b.writes = {{b.states[0], b.binary(b.states[0], b.values[2])},
              {b.states[1], b.values[2]}};
  Session session(b.make(), queueOn(device, 1), 0);
  CHECK_THAT(bindAndRun(session, {}).message,
             Contains("state 's0' has no value yet; set or load it"));
  Four first = {1, 1, 1, 1};
  int64_t dims[] = {4}, wrong[] = {5};
  SharedStates &states = *session.states();
  auto set = [&](size_t index, DType type, size_t rank, const int64_t *dims,
                 const void *data) {
    return states.set(index, type, rank, dims, data, MLC_SPACE_HOST).message;
  };
  CHECK_THAT(set(0, DType::F64, 1, dims, first.data()),
             Contains("'s0': has type f64, the model takes f32"));
  CHECK_THAT(set(0, DType::F32, 0, dims, first.data()),
             Contains("has 0 dims, the model takes 1"));
  CHECK_THAT(set(0, DType::F32, 1, wrong, first.data()),
             Contains("dim 0 is 5, the model needs 4"));
  CHECK_THAT(set(0, DType::F32, 1, dims, nullptr), Contains("has no data"));
  CHECK_THAT(set(2, DType::F32, 1, dims, first.data()),
             Contains("there is no state 2; the model has 2"));
  CHECK(set(0, DType::F32, 1, dims, first.data()) == "");
  // What a run writes without a look at it needs none.
  REQUIRE(bindAndRun(session, {4, 3, 2, 1}).ok());
  CHECK(stateOf(session, 0) == Four{5, 4, 3, 2});
  CHECK(stateOf(session, 1) == Four{4, 3, 2, 1});
}

TEST_CASE("what fails before a run leaves states as they are", "[states]") {
  ON_EACH_DEVICE;
  Builder b(1);
  BufferId next = b.binary(b.states[0], b.values[1]);
  b.writes = {{b.states[0], next}};
  b.p.outputs = {{"y", next}};
  Session session(b.make(), queueOn(device, 1), 0);
  Four y;
  REQUIRE(session.bindOutput(0, y.data(), 8).ok());
  CHECK_THAT(
      bindAndRun(session, {1, 2, 3, 4}).message,
      Contains("output 'y' has 16 bytes, and the memory given for it 8"));
  CHECK(stateOf(session, 0) == Four{});
  if (device.usesHostMemory()) {
    mlc_tensor tensor;
    REQUIRE(session.states()->read(0, tensor).ok());
    REQUIRE(session.bindOutput(0, const_cast<void *>(tensor.data), tensor.bytes)
                .ok());
    CHECK_THAT(
        bindAndRun(session, {1, 2, 3, 4}).message,
        Contains("the memory of output 'y' overlaps that of state 's0'"));
  }
  REQUIRE(session.bindOutput(0, y.data(), 16).ok());
  REQUIRE(bindAndRun(session, {1, 2, 3, 4}).ok());
  CHECK(y == Four{1, 2, 3, 4});
}

TEST_CASE("states that a failed run may have written are lost", "[states]") {
  ON_EACH_DEVICE;
  // A symbol that is read from the input when the state is written already.
  Builder b(2);
  b.p.buffers[b.p.inputs[0].buffer].type = DType::I32;
  SymbolId n = b.p.addSymbol({"n", Symbol::FromTensor, 0, 0, 0, 9});
  b.writes = {{b.states[0], b.reversed(b.states[0])}};
  b.p.steps.push_back(Step::bindSymbol(n, b.p.inputs[0].buffer, 0));
  Session session(b.make(), queueOn(device, 1), 0);
  int64_t dims[] = {4};
  alignas(64) int32_t x[4] = {100, 0, 0, 0};
  REQUIRE(session.bindInput(0, DType::I32, 1, dims, x).ok());
  CHECK_THAT(session.run().message, Contains("dim 'n' is 100"));
  mlc_tensor tensor;
  for (int i = 0; i < 2; ++i) {
    CHECK_THAT(
        session.run().message,
        Contains("state 's0' was lost when a run failed that writes it"));
    CHECK(session.states()->read(0, tensor).code == MLC_USAGE);
  }
  CHECK(stateOf(session, 1) == Four{}); // not of those
  REQUIRE(session.states()->reset().ok());
  x[0] = 1;
  REQUIRE(session.bindInput(0, DType::I32, 1, dims, x).ok());
  CHECK(session.run().ok());
}

TEST_CASE("what was enqueued and fails loses what it writes", "[states]") {
  ON_EACH_DEVICE;
  Builder b(2);
  b.writes = {{b.states[0], b.reversed(b.states[0])}};
  std::shared_ptr<const Artifact> artifact = b.make();
  SharedStates states(artifact, queueOn(device, 1));
  REQUIRE(states.place(artifact->stateUse()).ok());
  // A state that no program uses takes no memory until somebody asks for it.
  CHECK(!states.address(1));
  mlc_tensor tensor;
  states.noteEnqueued(artifact->stateUse());
  states.noteFinished(true);
  CHECK(states.read(0, tensor).ok());
  // Whoever waits is told; here it was another's run.
  states.noteEnqueued(artifact->stateUse());
  states.noteFinished(false);
  CHECK(states.failures() == 1);
  CHECK_THAT(states.read(0, tensor).message, Contains("was lost"));
  CHECK(states.read(1, tensor).ok());
  int64_t dims[] = {4};
  Four value = {1, 2, 3, 4};
  REQUIRE(
      states.set(0, DType::F32, 1, dims, value.data(), MLC_SPACE_HOST).ok());
  states.noteFinished(false); // of nothing
  CHECK(states.read(0, tensor).ok());
}
