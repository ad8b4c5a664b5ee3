//===- TrainerTest.cpp - The trainer over a program of its own ------------===//
//
// loss = mean over two samples of sum((w - x)^2), w -= rate * (w - mean x) * 2.
//
//===----------------------------------------------------------------------===//

#include "Folder.h"
#include "codegen/StateWrites.h"
#include "runtime/ApiCall.h"
#include "runtime/ValidateTraining.h"
#include "runtime/mlc_train.h"
#include "runtime/train/Loop.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>

using namespace mlc;
using namespace mlc::runtime;
using namespace mlc::runtime::train;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

namespace {

float *at(void *const *buffers, int i) {
  return static_cast<float *>(buffers[i]);
}

/// x, rate, w to loss, w.
void step(void *const *b, const int64_t *, int64_t, int64_t, void *) {
  float loss = 0;
  for (int i = 0; i < 4; ++i) {
    float x = at(b, 0)[i], y = at(b, 0)[4 + i], w = at(b, 2)[i];
    loss += ((w - x) * (w - x) + (w - y) * (w - y)) / 2;
    at(b, 4)[i] = w - at(b, 1)[0] * ((w - x) + (w - y));
  }
  *at(b, 3) = loss;
}

Programs makePrograms() {
  Programs programs;
  Program p;
  p.name = "step";
  ExprId one = p.addConstant(1), two = p.addConstant(2),
         four = p.addConstant(4), sixteen = p.addConstant(16);
  p.addKernel("step");
  BufferId x = p.addBuffer(Buffer::input(0, DType::F32, {two, four}, "x"));
  BufferId rate = p.addBuffer(Buffer::input(1, DType::F32, {}, "rate"));
  p.inputs = {{"x", x}, {"rate", rate, {}, InputRole::LearningRate}};
  BufferId w = p.addBuffer(Buffer::state(0, DType::F32, {four}, "weight/w"));
  BufferId loss = p.addBuffer(Buffer::arena(four, DType::F32, {}, "loss"));
  BufferId after = p.addBuffer(Buffer::arena(sixteen, DType::F32, {four}));
  p.steps.push_back(Step::launch(0, {x, rate, w}, {loss, after}, {}, one));
  p.outputs = {{"loss", loss}};
  addStateWrites(p, {{w, after}});
  programs.entries = {p};
  programs.states = {{"weight/w",
                      DType::F32,
                      {4},
                      State::Zeros,
                      0,
                      16,
                      {},
                      StateRole::Weight,
                      "w"}};
  Training &training = programs.training.emplace();
  training.batch = 2;
  training.samples = {{"x", MLC_F32, {2, 4}, {"2", "4"}}};
  training.model = "hash";
  training.loss = "loss squares\n";
  training.optimizer = "optimizer sgd\n";
  return programs;
}

struct Opened {
  mlc_artifact artifact;

  Opened() {
    REQUIRE(Artifact::create(makePrograms(), nullptr, 0, {step}, artifact.impl)
                .ok());
  }
};

/// The loss of step t, from 0, with this rate for samples of -1 and 3 alone.
double lossAt(int t, double rate) {
  double w = 1 - std::pow(1 - 2 * rate, t); // from 0 to the mean
  return 4 * ((w + 1) * (w + 1) + (w - 3) * (w - 3)) / 2;
}

mlc_tensor tensorOf(const float *data) {
  return {MLC_F32, 2, {2, 4}, data, 32};
}
const float values[8] = {-1, -1, -1, -1, 3, 3, 3, 3};

} // namespace

TEST_CASE("steps, and a checkpoint to go on from", "[trainer]") {
  Opened opened, other;
  test::Folder folder;
  mlc_trainer *trainer = nullptr, *resumed = nullptr;
  REQUIRE(mlc_trainer_create(&opened.artifact, nullptr, &trainer) == MLC_OK);
  REQUIRE(mlc_trainer_create(&other.artifact, nullptr, &resumed) == MLC_OK);
  CHECK(mlc_trainer_input_count(trainer) == 1);
  CHECK(mlc_trainer_batches_of_step(trainer) == 1);
  mlc_port port;
  REQUIRE(mlc_trainer_input(trainer, 0, &port) == MLC_OK);
  CHECK(std::string(port.name) == "x");
  CHECK((port.dims[0] == 2 && port.dims[1] == 4));
  mlc_tensor batch = tensorOf(values);
  double loss = 0;
  for (int t = 0; t < 5; ++t) {
    REQUIRE(mlc_trainer_step(trainer, &batch, 0.1, &loss) == MLC_OK);
    CHECK(loss == Approx(lossAt(t, 0.1)));
  }
  const std::string file = folder / "c.npz";
  REQUIRE(mlc_trainer_save(trainer, nullptr, 0, file.c_str()) == MLC_OK);
  REQUIRE(mlc_trainer_load(resumed, nullptr, 0, file.c_str()) == MLC_OK);
  CHECK(mlc_trainer_steps(resumed) == 5);
  REQUIRE(mlc_trainer_step(resumed, &batch, 0.1, &loss) == MLC_OK);
  CHECK(loss == Approx(lossAt(5, 0.1)));
  CHECK(mlc_trainer_load(resumed, nullptr, 1, file.c_str()) == MLC_USAGE);
  CHECK_THAT(mlc_last_error(), Contains("with seed 0, not seed 1"));
  // A damaged file is refused, and changes nothing.
  std::ofstream(file, std::ios::app) << "x";
  std::filesystem::resize_file(file, 100);
  CHECK(mlc_trainer_load(resumed, nullptr, 0, file.c_str()) == MLC_BAD_FILE);
  CHECK(mlc_trainer_steps(resumed) == 6);
  mlc_trainer_destroy(trainer);
  mlc_trainer_destroy(resumed);
}

TEST_CASE("states come and go", "[trainer]") {
  Opened opened;
  mlc_trainer *trainer = nullptr;
  REQUIRE(mlc_trainer_create(&opened.artifact, nullptr, &trainer) == MLC_OK);
  REQUIRE(mlc_trainer_state_count(trainer) == 1);
  mlc_trained_state state;
  REQUIRE(mlc_trainer_state(trainer, 0, &state) == MLC_OK);
  CHECK(std::string(state.owner) == "w");
  CHECK(std::string(state.role) == "weight");
  mlc_tensor tensor = {MLC_F32, 1, {4}, values, 16};
  REQUIRE(mlc_trainer_set_state(trainer, 0, &tensor) == MLC_OK);
  mlc_tensor found;
  REQUIRE(mlc_trainer_get_state(trainer, 0, &found) == MLC_OK);
  CHECK((found.bytes == 16 && !std::memcmp(found.data, values, 16)));
  tensor.dims[0] = 3;
  CHECK(mlc_trainer_set_state(trainer, 0, &tensor) == MLC_USAGE);
  CHECK(mlc_trainer_state(trainer, 1, &state) == MLC_USAGE);
  CHECK(mlc_trainer_get_state(trainer, 7, &found) == MLC_USAGE);
  mlc_trainer_destroy(trainer);
}

TEST_CASE("what training ends with", "[trainer]") {
  Opened opened;
  mlc_trainer *trainer = nullptr;
  REQUIRE(mlc_trainer_create(&opened.artifact, nullptr, &trainer) == MLC_OK);
  float odd[8] = {-1, 1, 1, 1, 3, NAN, 3, 3};
  mlc_tensor batch = tensorOf(odd);
  double loss = 0, count = 0;
  CHECK(mlc_trainer_step(trainer, &batch, 0.1, &loss) == MLC_DIFFERS);
  CHECK_THAT(mlc_last_error(),
             Contains("'x' of sample 1 of the batch is not finite"));
  CHECK(mlc_trainer_evaluate(trainer, &batch, &loss, &count) == MLC_USAGE);
  // The weight is as before.
  CHECK(mlc_trainer_steps(trainer) == 0);
  test::Folder folder;
  const std::string file = folder / "c.npz";
  CHECK(mlc_trainer_save(trainer, nullptr, 0, file.c_str()) == MLC_OK);
  CHECK(std::filesystem::exists(file));
  mlc_trainer_destroy(trainer);
}

TEST_CASE("batches that are none", "[trainer]") {
  Opened opened;
  mlc_trainer *trainer = nullptr;
  REQUIRE(mlc_trainer_create(&opened.artifact, nullptr, &trainer) == MLC_OK);
  double loss = 0;
  auto refused = [&](auto change) {
    mlc_tensor batch = tensorOf(values);
    change(batch);
    return mlc_trainer_step(trainer, &batch, 0.1, &loss) == MLC_USAGE &&
           mlc_trainer_steps(trainer) == 0;
  };
  CHECK(refused([](mlc_tensor &t) { t.type = MLC_F64; }));
  CHECK(refused([](mlc_tensor &t) { t.type = mlc_dtype(77); }));
  CHECK(refused([](mlc_tensor &t) { t.rank = 1; }));
  CHECK(refused([](mlc_tensor &t) { t.rank = 99; }));
  CHECK(refused([](mlc_tensor &t) { t.dims[0] = 3; }));
  CHECK(refused([](mlc_tensor &t) { t.dims[1] = -4; }));
  CHECK(refused([](mlc_tensor &t) { t.dims[1] = INT64_MAX; }));
  CHECK(refused([](mlc_tensor &t) { t.bytes = 31; }));
  CHECK(refused([](mlc_tensor &t) { t.data = nullptr; }));
  mlc_trainer_destroy(trainer);
}

TEST_CASE("nothing is refused by name", "[trainer]") {
  Opened opened;
  mlc_trainer *trainer = nullptr;
  CHECK(mlc_trainer_create(nullptr, nullptr, &trainer) == MLC_USAGE);
  CHECK(mlc_trainer_create(&opened.artifact, nullptr, nullptr) == MLC_USAGE);
  mlc_trainer_options options = MLC_TRAINER_OPTIONS_INIT;
  options.size = 3;
  CHECK(mlc_trainer_create(&opened.artifact, &options, &trainer) == MLC_USAGE);
  CHECK_THAT(mlc_last_error(), Contains("MLC_TRAINER_OPTIONS_INIT"));
  double loss;
  mlc_tensor tensor;
  CHECK(mlc_trainer_step(nullptr, &tensor, 1, &loss) == MLC_USAGE);
  CHECK(mlc_trainer_save(nullptr, nullptr, 0, "x") == MLC_USAGE);
  CHECK(mlc_trainer_steps(nullptr) == 0);
  CHECK(mlc_trainer_loss_scale(nullptr) == 1);
  CHECK(mlc_samples_count(nullptr) == 0);
  mlc_trainer_destroy(nullptr);
  mlc_samples_close(nullptr);
  CHECK(mlc_learning_rate(3, 1, 0, 1, 0) == 0);
  Programs plain = makePrograms();
  plain.training.reset();
  mlc_artifact artifact;
  REQUIRE(Artifact::create(plain, nullptr, 0, {step}, artifact.impl).ok());
  CHECK(mlc_trainer_create(&artifact, nullptr, &trainer) == MLC_USAGE);
  CHECK_THAT(mlc_last_error(), Contains("the artifact does not train"));
}

TEST_CASE("what a trainer may not believe is refused", "[trainer]") {
  auto problem = [](auto change) {
    Programs programs = makePrograms();
    REQUIRE(validate(programs, 0).ok());
    change(*programs.training, programs);
    return validate(programs, 0).message;
  };
  using T = Training;
  using P = Programs;
  CHECK_THAT(problem([](T &t, P &) { t.accumulate = 0; }),
             Contains("numbers of training are out of range"));
  CHECK_THAT(problem([](T &t, P &) { t.accumulate = mostBatchesOfAStep + 1; }),
             Contains("range"));
  CHECK_THAT(problem([](T &t, P &) { t.batch = -1; }), Contains("range"));
  CHECK_THAT(problem([](T &t, P &) { t.beta1 = NAN; }), Contains("optimizer"));
  CHECK_THAT(problem([](T &t, P &) { t.beta2 = 1; }), Contains("optimizer"));
  CHECK_THAT(problem([](T &t, P &) { t.lossScale = INFINITY; }),
             Contains("loss scale"));
  CHECK_THAT(problem([](T &t, P &) { t.labels = 0; }),
             Contains("labels are of no input of int64"));
  CHECK_THAT(problem([](T &t, P &) { t.labels = 5; }), Contains("labels"));
  CHECK_THAT(problem([](T &t, P &) { t.samples.clear(); }),
             Contains("its inputs are no samples"));
  CHECK_THAT(problem([](T &t, P &) { t.samples[0].name = "y"; }),
             Contains("other samples"));
  CHECK_THAT(problem([](T &t, P &) { t.samples[0].dims = {}; }),
             Contains("no dims"));
  CHECK_THAT(problem([](T &t, P &) { t.samples[0].dims[1] = -7; }),
             Contains("negative dim"));
  CHECK_THAT(problem([](T &t, P &) { t.samples.push_back(t.samples[0]); }),
             Contains("samples are no inputs"));
  CHECK_THAT(
      problem([](T &, P &p) { p.entries[0].inputs[0].role = InputRole::Keep; }),
      Contains("is no number"));
}

TEST_CASE("entries of stages are checked", "[trainer]") {
  using T = Training;
  using P = Programs;
  // Stage 0 reads samples and gives what stage 1 reads.
  auto problem = [](const std::function<void(T &, P &)> &change) {
    P p = makePrograms();
    p.training->stages = 2;
    Program second = p.entries[0];
    second.name = "1F";
    p.entries[0].name = "0F";
    p.entries[0].outputs[0].name = "0F/h";
    second.inputs[0].name = "0F/h";
    second.inputs[0].role = InputRole::Carried;
    // As what it reads, whose place in the programs does not matter.
    second.buffers[second.inputs[0].buffer].dims =
        p.entries[0].buffers[p.entries[0].outputs[0].buffer].dims;
    p.entries.push_back(second);
    change(*p.training, p);
    return problemOfUse(p);
  };
  CHECK(problem([](T &, P &) {}) == "");
  CHECK_THAT(problem([](T &t, P &) { t.stages = 0; }), Contains("range"));
  CHECK_THAT(problem([](T &t, P &) { t.stages = int64_t(1) << 40; }),
             Contains("range"));
  CHECK_THAT(
      problem([](T &, P &p) { p.entries[1].inputs[0].name = "0F/other"; }),
      Contains("not one entry makes"));
  CHECK_THAT(problem([](T &, P &p) { p.entries[1].outputs[0].name = "0F/h"; }),
             Contains("reads of itself"));
  CHECK_THAT(problem([](T &, P &p) {
               Program third = p.entries[0];
               p.entries.push_back(third);
             }),
             Contains("not one entry makes"));
  CHECK_THAT(problem([](T &, P &p) {
               p.entries[1].buffers[p.entries[1].inputs[0].buffer].type =
                   DType::I64;
             }),
             Contains("another tensor than is made"));
  CHECK_THAT(
      problem([](T &, P &p) { p.entries[1].inputs[0].role = InputRole::Data; }),
      Contains("other samples"));
  CHECK_THAT(problem([](T &, P &p) {
               p.entries[1].inputs[0].role = InputRole::BatchNumber;
             }),
             Contains("no number"));
}

TEST_CASE("training is written and read", "[trainer]") {
  Programs p = makePrograms(), q;
  p.training->beta1 = 0.9;
  p.training->lossScale = 65536;
  p.training->isScaleDynamic = true;
  p.training->classes = 7;
  p.training->stages = 3;
  p.training->schedule = "0F0\n1F0\n";
  std::vector<uint8_t> bytes = serialize(p);
  REQUIRE(deserialize(bytes.data(), bytes.size(), q).ok());
  CHECK(serialize(q) == bytes);
  CHECK(q.training->beta1 == 0.9);
  CHECK(q.training->stages == 3);
  CHECK(q.training->schedule == p.training->schedule);
  CHECK(q.training->samples[0].dims == p.training->samples[0].dims);
  CHECK(q.states[0].role == StateRole::Weight);
  CHECK(q.states[0].owner == "w");
  CHECK(q.entries[0].inputs[1].role == InputRole::LearningRate);
  for (size_t cut = 0; cut < bytes.size(); ++cut)
    CHECK_FALSE(deserialize(bytes.data(), cut, q).ok());
}

TEST_CASE("the learning rate of a step", "[trainer]") {
  LearningRate linear{1, RateSchedule::Linear, 2, 6};
  const double wanted[] = {0.5, 1, 1, 0.75, 0.5, 0.25, 0, 0};
  for (int i = 0; i < 8; ++i)
    CHECK(linear.at(i) == Approx(wanted[i]));
  LearningRate cosine{2, RateSchedule::Cosine, 0, 4};
  CHECK(cosine.at(0) == 2);
  CHECK(cosine.at(2) == Approx(1));
  CHECK(cosine.at(4) == Approx(0).margin(1e-15));
  CHECK(LearningRate{3, RateSchedule::Constant, 0, 1}.at(99) == 3);
}

TEST_CASE("a dynamic loss scale", "[trainer]") {
  LossScale scale(LossScale::Kind::Dynamic, LossScale::first);
  scale.update(false);
  CHECK(scale.getScale() == LossScale::first / 2);
  CHECK(scale.getSkipped() == 1);
  for (int i = 0; i < LossScale::growthInterval; ++i)
    scale.update(true);
  CHECK(scale.getScale() == LossScale::first);
  double numbers[LossScale::numNumbers];
  scale.save(numbers);
  LossScale other(LossScale::Kind::Dynamic, 1);
  CHECK(other.load(numbers));
  CHECK(other.getScale() == LossScale::first);
  numbers[1] = 0.5;
  CHECK_FALSE(other.load(numbers));
  for (int i = 0; i < LossScale::mostFailed; ++i)
    other.update(false);
  CHECK(other.isStuck());
}

TEST_CASE("a schedule as text", "[trainer]") {
  auto text = [](const std::vector<std::pair<char, int>> &runs) {
    StepSchedule schedule;
    for (auto [entry, batch] : runs) {
      schedule.push_back({Action::Run, size_t(entry)});
      if (batch >= 0)
        schedule.back().batch = batch;
    }
    schedule.push_back({Action::Transfer, 0, 0, 0, 1});
    return toString(schedule,
                    [](size_t entry) { return std::string(1, char(entry)); });
  };
  CHECK(text({}).empty());
  CHECK(text({{'s', 0}}) == "s(0)");
  CHECK(text({{'a', 0}, {'a', 1}, {'a', 2}, {'u', -1}}) == "a(0 to 2), u");
  // Runs end at other entries, at gaps and at what reads no batch.
  CHECK(text({{'f', 0}, {'f', 1}, {'b', 1}, {'b', 0}, {'f', 2}, {'f', 4}}) ==
        "f(0 to 1), b(1), b(0), f(2), f(4)");
  CHECK(text({{'u', -1}, {'u', -1}}) == "u, u");
}
