//===- PipelineTest.cpp - Models in stages, by hand -----------------------===//

#include "runtime/ApiCall.h"
#include "runtime/ValidateTraining.h"
#include "runtime/mlc_pipeline.h"
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <thread>

using namespace mlc::runtime;
using Catch::Matchers::Contains;

namespace {

const float *in(void *const *b) { return static_cast<const float *>(b[0]); }
float *out(void *const *b) { return static_cast<float *>(b[1]); }

/// y = 2 x, and y = x + 1, for rows of four.
void twice(void *const *b, const int64_t *, int64_t begin, int64_t end,
           void *) {
  for (int64_t i = 4 * begin; i < 4 * end; ++i)
    out(b)[i] = 2 * in(b)[i];
}
void next(void *const *b, const int64_t *, int64_t begin, int64_t end, void *) {
  for (int64_t i = 4 * begin; i < 4 * end; ++i)
    out(b)[i] = in(b)[i] + 1;
}

Program makeStage(const char *name, const char *kernel, Port input,
                  const char *output) {
  Program p;
  p.name = name;
  SymbolId n = p.addSymbol({"N", Symbol::FromInput, 0, 0});
  ExprId rows = p.addExpr(Expr::symbol(n)), four = p.addConstant(4),
         bytes = p.addExpr(Expr::symbol(n) * Expr::constant(16));
  input.buffer =
      p.addBuffer(Buffer::input(0, DType::F32, {rows, four}, input.name));
  BufferId y =
      p.addBuffer(Buffer::arena(bytes, DType::F32, {rows, four}, output));
  p.steps = {Step::launch(p.addKernel(kernel), {input.buffer}, {y}, {}, rows)};
  p.inputs = {input};
  p.outputs = {{output, y}};
  return p;
}

/// y = 2 x + 1 in two stages and three micro-batches.
Programs makePipeline() {
  Programs all;
  all.entries = {
      makeStage("0F", "twice", {"x", 0}, "0F/twice"),
      makeStage("1F", "next", {"0F/twice", 0, {}, InputRole::Carried}, "y")};
  Pipeline &pipeline = all.pipeline.emplace();
  pipeline.stages = 2;
  pipeline.microBatches = 3;
  pipeline.ranks = 2;
  pipeline.schedule = "0F0,0F1,0F2\n1F0,1F1,1F2\n";
  pipeline.inputs = {{"x", MLC_F32, {-1, 4}, {"3 * N", "4"}, true}};
  pipeline.outputs = {{"y", MLC_F32, {-1, 4}, {"3 * N", "4"}, true}};
  return all;
}

std::shared_ptr<const Artifact> open(const Programs &programs) {
  std::shared_ptr<const Artifact> artifact;
  Status status =
      Artifact::create(programs, nullptr, 0, {twice, next}, artifact);
  INFO(status.message);
  REQUIRE(status.ok());
  return artifact;
}

std::vector<float> run(mlc_pipeline *pipeline, int64_t rows) {
  std::vector<float> x(static_cast<size_t>(rows) * 4);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = static_cast<float>(i);
  const int64_t dims[] = {rows, 4};
  if (mlc_pipeline_bind_input(pipeline, 0, MLC_F32, 2, dims, x.data()) ||
      mlc_pipeline_run(pipeline))
    return {};
  mlc_tensor y;
  if (mlc_pipeline_output(pipeline, 0, &y) || y.rank != 2 || y.dims[0] != rows)
    return {};
  const auto *data = static_cast<const float *>(y.data);
  return {data, data + x.size()};
}

std::vector<float> expected(int64_t rows) {
  std::vector<float> y(static_cast<size_t>(rows) * 4);
  for (size_t i = 0; i < y.size(); ++i)
    y[i] = static_cast<float>(2 * i + 1);
  return y;
}

} // namespace

TEST_CASE("a pipeline runs in turn on one rank", "[pipeline]") {
  mlc_artifact artifact{open(makePipeline())};
  mlc_pipeline_sizes sizes;
  REQUIRE(mlc_artifact_pipeline(&artifact, &sizes) == MLC_OK);
  CHECK((sizes.stages == 2 && sizes.micro_batches == 3 && sizes.ranks == 2));
  mlc_port port;
  REQUIRE(mlc_artifact_input(&artifact, 0, &port) == MLC_OK);
  CHECK(std::string(port.dim_texts[0]) == "3 * N");
  CHECK(mlc_artifact_input(&artifact, 1, &port) == MLC_USAGE);
  mlc_session *session = nullptr;
  CHECK(mlc_session_create(&artifact, nullptr, &session) == MLC_USAGE);
  CHECK_THAT(mlc_last_error(), Contains("is a pipeline of 2 stages"));

  mlc_pipeline *pipeline = nullptr;
  REQUIRE(mlc_pipeline_create(&artifact, nullptr, &pipeline) == MLC_OK);
  mlc_tensor y;
  CHECK(mlc_pipeline_run(pipeline) == MLC_USAGE);
  CHECK_THAT(mlc_last_error(), Contains("input 'x' is not bound"));
  CHECK(mlc_pipeline_output(pipeline, 0, &y) == MLC_USAGE);
  for (int64_t rows : {3, 9, 6, 0, 6})
    CHECK(run(pipeline, rows) == expected(rows));
  const uint64_t before = mlc_pipeline_allocation_count(pipeline);
  CHECK(run(pipeline, 6) == expected(6));
  CHECK(mlc_pipeline_allocation_count(pipeline) == before);
  CHECK(run(pipeline, 4).empty());
  CHECK_THAT(mlc_last_error(),
             Contains("input 'x' has 4 samples, which 3 micro-batches do not "
                      "divide; give a multiple of 3"));
  // After a failure it runs again.
  CHECK(run(pipeline, 6) == expected(6));
  const int64_t large[] = {INT64_MAX, INT64_MAX}, three[] = {3, 5};
  CHECK(mlc_pipeline_bind_input(pipeline, 0, MLC_F32, 2, large, &y) ==
        MLC_USAGE);
  CHECK(mlc_pipeline_bind_input(pipeline, 0, MLC_F64, 2, three, &y) ==
        MLC_USAGE);
  CHECK(mlc_pipeline_bind_input(pipeline, 1, MLC_F32, 2, three, &y) ==
        MLC_USAGE);
  CHECK(mlc_pipeline_bind_input(pipeline, 0, MLC_F32, 2, three, &y) == MLC_OK);
  CHECK(mlc_pipeline_run(pipeline) == MLC_USAGE);
  CHECK_THAT(mlc_last_error(), Contains("the model takes 4"));
  mlc_pipeline_destroy(pipeline);
}

TEST_CASE("ranks run their stages of a pipeline", "[pipeline]") {
  mlc_artifact artifact{open(makePipeline())};
  mlc_ranks *ranks[2];
  REQUIRE(mlc_ranks_open_threads(2, nullptr, ranks) == MLC_OK);
  bool isRight[2] = {};
  auto work = [&](int rank) {
    mlc_session_options how = MLC_SESSION_OPTIONS_INIT;
    how.ranks = ranks[rank];
    how.threads = 1;
    mlc_pipeline *pipeline = nullptr;
    bool right = mlc_pipeline_create(&artifact, &how, &pipeline) == MLC_OK;
    for (int64_t rows : {3, 6, 6, 9})
      right = right && run(pipeline, rows) == expected(rows);
    mlc_pipeline_destroy(pipeline);
    isRight[rank] = right && mlc_ranks_finish(ranks[rank]) == MLC_OK;
  };
  std::thread other(work, 1);
  work(0);
  other.join();
  CHECK((isRight[0] && isRight[1]));
  for (mlc_ranks *one : ranks)
    mlc_ranks_close(one);
}

TEST_CASE("what is wrong with a pipeline is found when it is opened",
          "[pipeline]") {
  using Change = std::function<void(Programs &)>;
  const std::pair<const char *, Change> changes[] = {
      {"out of range", [](Programs &p) { p.pipeline->stages = 1; }},
      {"out of range", [](Programs &p) { p.pipeline->microBatches = 0; }},
      {"out of range", [](Programs &p) { p.pipeline->microBatches = 1 << 30; }},
      {"out of range", [](Programs &p) { p.pipeline->ranks = 1 << 20; }},
      {"out of range", [](Programs &p) { p.pipeline->schedule = ""; }},
      {"of its stages", [](Programs &p) { p.pipeline->stages = 3; }},
      {"of its stages", [](Programs &p) { p.mesh = {{"a", 2}}; }},
      {"has no entry", [](Programs &p) { p.entries[1].name = "2F"; }},
      {"too many dims",
       [](Programs &p) { p.pipeline->inputs[0].texts.pop_back(); }},
      {"a negative dim",
       [](Programs &p) { p.pipeline->inputs[0].dims[1] = -2; }},
      {"without dims",
       [](Programs &p) {
         p.pipeline->inputs[0].dims = {};
         p.pipeline->inputs[0].texts = {};
       }},
      {"no input of its pipeline",
       [](Programs &p) { p.pipeline->inputs[0].name = "z"; }},
      {"no input of its pipeline",
       [](Programs &p) { p.pipeline->inputs[0].type = MLC_F64; }},
      {"not one entry makes what another reads",
       [](Programs &p) { p.entries[0].outputs[0].name = "z"; }},
      {"not one entry makes an output",
       [](Programs &p) { p.pipeline->outputs[0].name = "z"; }},
      {"another tensor than its pipeline gives",
       [](Programs &p) { p.pipeline->outputs[0].type = MLC_F64; }}};
  for (const auto &[message, change] : changes) {
    Programs programs = makePipeline();
    CHECK(validate(programs, 0).ok());
    change(programs);
    CHECK_THAT(validate(programs, 0).message, Contains(message));
  }
  // The table is read by the ranks.
  for (const char *table : {"0F0\n1F0\n", "0F0,0F1\n1F0,1F1,1F2\n", "nothing",
                            "0F0,0F1,0F2\n1F0,1F2,1F1,1F1\n", "0F0,0F1,0F2"}) {
    Programs programs = makePipeline();
    programs.pipeline->schedule = table;
    mlc_artifact artifact{open(programs)};
    mlc_ranks *ranks[2];
    REQUIRE(mlc_ranks_open_threads(2, nullptr, ranks) == MLC_OK);
    mlc_session_options how = MLC_SESSION_OPTIONS_INIT;
    how.ranks = ranks[0];
    mlc_pipeline *pipeline = nullptr;
    CHECK(mlc_pipeline_create(&artifact, &how, &pipeline) != MLC_OK);
    for (mlc_ranks *one : ranks)
      mlc_ranks_close(one);
  }
}

TEST_CASE("a pipeline is written and read again", "[pipeline]") {
  const Programs programs = makePipeline();
  const std::vector<uint8_t> bytes = serialize(programs);
  Programs again;
  REQUIRE(deserialize(bytes.data(), bytes.size(), again).ok());
  CHECK(serialize(again) == bytes);
  REQUIRE(again.pipeline);
  CHECK(again.pipeline->schedule == programs.pipeline->schedule);
  for (size_t size = 0; size < bytes.size(); ++size)
    CHECK(!deserialize(bytes.data(), size, again).ok());
}
