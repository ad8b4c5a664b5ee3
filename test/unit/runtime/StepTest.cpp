//===- StepTest.cpp - Every kind of step, by its row ----------------------===//
//
// Nothing here names a kind: a new row of Step.h is tested as it stands.
//
//===----------------------------------------------------------------------===//

#include "Programs.h"
#include "runtime/StepTexts.h"

#include <catch2/catch.hpp>

#include <set>

using namespace mlc::runtime;
using Catch::Contains;

namespace {

constexpr size_t numKinds = std::variant_size_v<StepDetail>;

/// What the sample program has for a field of each role.
struct Samples {
  ExprId size = 0;
  SymbolId symbol = 0;
  std::string sizeText, symbolText, kernelText;
};

/// Gives every field a valid value.
struct Fill {
  const Samples &samples;
  void kernel(const char *, KernelId &id) { id = 0; }
  void size(const char *, ExprId &id) { id = samples.size; }
  void size(const char *, std::optional<ExprId> &id) { id = samples.size; }
  void binds(const char *, SymbolId &id) { id = samples.symbol; }
  void number(const char *, uint64_t &value) { value = 3; }
  void word(const char *, uint8_t &index, Words) { index = 1; }
  void text(const char *, std::string &value) { value = "sample"; }
  void axis(const char *, uint32_t &index) { index = 0; }
  void starts(const char *, uint32_t &ticket) { ticket = 0; }
  void waits(const char *, uint32_t &ticket) { ticket = 0; }
  void maps(const char *, std::vector<TensorMap> &maps) {
    TensorMap map;
    map.element = MapElement::BF16;
    map.offset = map.dims.emplace_back() = samples.size;
    map.box = {64};
    map.steps = {2};
    map.swizzle = 128;
    maps = {map, map};
    maps[1].operand = 1;
    maps[1].dims.assign(3, samples.size);
    maps[1].strides.assign(2, samples.size);
    maps[1].box.clear();
    maps[1].steps.assign(3, 1);
    maps[1].swizzle = 0;
    maps[1].pixels = 9;
    maps[1].channels = 8;
    maps[1].lower = {-7};
    maps[1].upper = {5};
  }
};

/// Names and values, as numbers and as `mlc inspect` must show them.
struct Collect {
  const Samples &samples;
  std::vector<std::pair<std::string, uint64_t>> values;
  std::vector<std::string> texts;

  void add(const char *name, uint64_t value, const std::string &text) {
    values.push_back({name, value});
    texts.push_back(std::string(name) + " " + text);
  }
  void kernel(const char *n, KernelId v) { add(n, v, samples.kernelText); }
  void size(const char *n, std::optional<ExprId> v) {
    add(n, v.value_or(UINT32_MAX), samples.sizeText);
  }
  void binds(const char *n, SymbolId v) { add(n, v, samples.symbolText); }
  void number(const char *n, uint64_t v) { add(n, v, std::to_string(v)); }
  void word(const char *n, uint8_t v, Words words) { add(n, v, words.all[v]); }
  void text(const char *n, const std::string &v) { add(n, v.size(), v); }
  void axis(const char *n, uint32_t v) { add(n, v, "data"); }
  void starts(const char *n, uint32_t v) { number(n, v); }
  void waits(const char *n, uint32_t v) { number(n, v); }
  void maps(const char *n, const std::vector<TensorMap> &v) {
    add(n, v.at(0).operand,
        "(bf16 of operand 0 at N*7, dims [N*7], box [64], steps [2], swizzle "
        "128; bf16 of operand 1 at N*7, dims [N*7, N*7, N*7], strides [N*7, "
        "N*7], 9 pixels of 8 channels from [-7] to [5])");
  }
};

/// Sets the field with number `left` to `bad`. `name` stays empty where every
/// value is valid, or where there is no such field.
struct Damage {
  int left;
  uint32_t bad;
  std::string name;
  bool isSize = false;

  bool isIt() { return left-- == 0; }
  void kernel(const char *n, KernelId &id) {
    if (isIt())
      name = n, id = bad;
  }
  template <typename T> void size(const char *n, T &id) {
    if (isIt())
      name = n, id = bad, isSize = true;
  }
  void binds(const char *n, SymbolId &id) {
    if (isIt())
      name = n, id = bad;
  }
  void number(const char *, uint64_t &) { isIt(); }
  void word(const char *n, uint8_t &index, Words words) {
    if (isIt())
      name = n, index = words.count + bad % 100;
  }
  void text(const char *n, std::string &value) {
    if (isIt())
      name = n, value.assign(1000, 'x');
  }
  void axis(const char *n, uint32_t &index) {
    if (isIt())
      name = n, index = bad;
  }
  void starts(const char *n, uint32_t &ticket) {
    if (isIt())
      name = n, ticket = bad;
  }
  void waits(const char *n, uint32_t &ticket) { starts(n, ticket); }
  void maps(const char *n, std::vector<TensorMap> &maps) {
    if (isIt())
      name = n, maps[0].operand = bad;
  }
};

const std::vector<MeshAxis> mesh = {{"data", 4}};

Status check(const Program &program) { return validate(program, 16, {}, mesh); }

struct Sample {
  Program program;
  Samples samples;
  size_t at = 0; ///< of the step

  /// A program with a step of the kind with this number, the last one unless
  /// another has to wait for it.
  explicit Sample(size_t kind) {
    program = scaleProgram();
    Program &p = program;
    samples.symbol = p.addSymbol({"K", Symbol::FromTensor});
    samples.size = p.addExpr(Expr::symbol(0) * Expr::constant(7));
    samples.sizeText = "N*7";
    samples.symbolText = "K";
    samples.kernelText = "scale";
    ExprId four = p.addConstant(4);
    BufferId counts =
        p.addBuffer(Buffer::input(1, DType::I64, {four}, "counts"));
    p.inputs.push_back({"counts", counts});
    Step step;
    REQUIRE(makeDetail(kind, step.detail));
    Arity arity = arityOf(step);
    step.name = "sample";
    step.nodes = {"Node_0"};
    step.inputs.assign(arity.inputs == anyNumber ? 2 : arity.inputs, counts);
    step.outputs.assign(arity.outputs == anyNumber ? 1 : arity.outputs, 2);
    step.args = {four, samples.size};
    Fill fill{samples};
    visitFields(step, fill);
    pair(std::move(step));
  }

  /// With the start of what it waits for, or a wait for what it starts.
  void pair(Step step) {
    TicketUse tickets = ticketsOf(step);
    if (tickets.started || tickets.awaited) {
      // The second word is a reduce-scatter: of its own memory, to other.
      step.inputs = {
          program.addBuffer(Buffer::arena(step.args[0], DType::F32, {}))};
      step.outputs = {
          program.addBuffer(Buffer::arena(step.args[0], DType::F32, {}))};
      program.steps.push_back(
          Step::launch(0, {0, 1}, step.inputs, {}, samples.size));
    }
    if (tickets.awaited)
      program.steps.push_back(
          Step::start({1, 0, "", 0, 0}, step.inputs, step.outputs, step.args));
    at = program.steps.size();
    program.steps.push_back(step);
    if (tickets.started)
      program.steps.push_back(Step::wait(0, step.inputs, step.outputs));
  }
  Step &step() { return program.steps[at]; }
  Collect collect() {
    Collect visitor{samples, {}, {}};
    visitFields(std::as_const(program).steps[at], visitor);
    return visitor;
  }
};

} // namespace

TEST_CASE("kinds of steps have names of their own", "[step]") {
  std::set<std::string> names;
  for (size_t kind = 0; kind < numKinds; ++kind)
    names.insert(kindName(Sample(kind).step()));
  CHECK(names.size() == numKinds);
  CHECK_FALSE(names.count(""));
  StepDetail detail;
  for (size_t kind = 0; kind < numKinds; ++kind) {
    REQUIRE(makeDetail(kindName(Sample(kind).step()), detail));
    CHECK(detail.index() == kind);
  }
  CHECK_FALSE(makeDetail("", detail));
  CHECK_FALSE(makeDetail("launch ", detail));
  CHECK_FALSE(makeDetail(numKinds, detail));
  CHECK_FALSE(makeDetail(UINT64_MAX, detail));
}

TEST_CASE("every kind of step is read as it was written", "[step]") {
  for (size_t kind = 0; kind < numKinds; ++kind) {
    Sample sample(kind), again(kind);
    INFO(kindName(sample.step()));
    Status status = check(sample.program);
    INFO(status.message);
    REQUIRE(status.ok());
    std::vector<uint8_t> bytes = serialize(sample.program);
    REQUIRE(deserialize(bytes.data(), bytes.size(), again.program).ok());
    CHECK(serialize(again.program) == bytes);
    CHECK(again.step().detail.index() == kind);
    CHECK(again.collect().values == sample.collect().values);
    CHECK(again.step().args == sample.step().args);
    // Another value of any field is written otherwise.
    for (size_t f = 0; f < sample.collect().values.size(); ++f) {
      Sample other(kind);
      Damage change{int(f), 777, {}};
      visitFields(other.step(), change);
      if (!change.name.empty())
        CHECK(serialize(other.program) != bytes);
    }
  }
}

TEST_CASE("every field of every kind of step is printed", "[step]") {
  for (size_t kind = 0; kind < numKinds; ++kind) {
    Sample sample(kind);
    std::string text = describeSteps(sample.program, mesh)[sample.at];
    INFO(text);
    for (const std::string &field : sample.collect().texts)
      CHECK_THAT(text, Contains(field));
    CHECK_THAT(text, Contains("args (4; N*7)"));
  }
}

TEST_CASE("a wrong field of any kind of step is named", "[step]") {
  for (size_t kind = 0; kind < numKinds; ++kind) {
    size_t numFields = Sample(kind).collect().values.size();
    for (size_t f = 0; f < numFields; ++f)
      for (uint32_t bad : {UINT32_MAX, 1000u}) {
        Sample sample(kind);
        Damage damage{int(f), bad, {}};
        visitFields(sample.step(), damage);
        if (damage.name.empty())
          continue;
        Status status = check(sample.program);
        CHECK(status.code == MLC_BAD_FILE);
        CHECK_THAT(
            status.message,
            Contains("a " + std::string(kindName(sample.step())) + " step") &&
                Contains("as its " + damage.name));
      }
    // A size may not depend on what nothing has bound.
    for (size_t f = 0; f < numFields; ++f) {
      Sample sample(kind);
      SymbolId unbound = sample.program.addSymbol({"U", Symbol::FromTensor});
      ExprId size = sample.program.addExpr(Expr::symbol(unbound));
      Damage damage{int(f), size, {}};
      visitFields(sample.step(), damage);
      if (damage.isSize)
        CHECK_THAT(check(sample.program).message,
                   Contains("used before it is bound"));
    }
  }
}

TEST_CASE("wrong operands of any kind of step are refused", "[step]") {
  for (size_t kind = 0; kind < numKinds; ++kind) {
    auto broken = [&](auto change) {
      Sample sample(kind);
      INFO(kindName(sample.step()));
      change(sample.step());
      CHECK(check(sample.program).code == MLC_BAD_FILE);
    };
    Arity arity = arityOf(Sample(kind).step());
    if (arity.inputs != anyNumber)
      broken([](Step &s) { s.inputs.push_back(0); });
    if (arity.inputs != anyNumber && arity.inputs > 0)
      broken([](Step &s) { s.inputs.pop_back(); });
    if (arity.outputs != anyNumber)
      broken([](Step &s) { s.outputs.push_back(2); });
    broken([](Step &s) { s.inputs = {99}; });
    broken([](Step &s) { s.outputs = {99}; });
    broken([](Step &s) { s.args = {99}; });
    broken([](Step &s) { s.inPlace = {{99, 0}}; });
    Sample sample(kind);
    if (!boundSymbol(sample.step()))
      continue;
    // It ends an epoch: bound once, from integers only.
    sample.program.steps.push_back(sample.step());
    CHECK_THAT(check(sample.program).message, Contains("bound already"));
    broken([](Step &s) { s.inputs[0] = 0; });
  }
}

TEST_CASE("damaged bytes of any kind of step crash nothing", "[step]") {
  for (size_t kind = 0; kind < numKinds; ++kind) {
    std::vector<uint8_t> bytes = serialize(Sample(kind).program);
    auto tryRead = [](std::vector<uint8_t> damaged) {
      Program p;
      bool isRead = deserialize(damaged.data(), damaged.size(), p).ok();
      if (isRead && check(p).ok()) {
        describeSteps(p, mesh);
        liveRanges(p);
      }
      return isRead;
    };
    for (size_t i = 0; i < bytes.size(); ++i)
      CHECK_FALSE(tryRead({bytes.begin(), bytes.begin() + i}));
    for (size_t i = 0; i < bytes.size(); ++i)
      for (unsigned value = 0; value < 256; ++value) {
        std::vector<uint8_t> damaged = bytes;
        damaged[i] = value;
        tryRead(damaged);
      }
  }
}
