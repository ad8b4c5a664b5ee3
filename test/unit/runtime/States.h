//===- States.h - Programs over states, and what they mean ------*- C++ -*-===//

#ifndef MLC_TEST_UNIT_RUNTIME_STATES_H
#define MLC_TEST_UNIT_RUNTIME_STATES_H

#include "FarDevice.h"
#include "codegen/StateWrites.h"
#include "runtime/Session.h"

#include <catch2/catch.hpp>

#include <array>
#include <cstring>

namespace mlc::test {

using namespace runtime;

using Four = std::array<float, 4>;

inline float *at(void *const *buffers, int i) {
  return static_cast<float *>(buffers[i]);
}

/// y = a + b, element by element.
inline void add(void *const *b, const int64_t *, int64_t, int64_t, void *) {
  for (int i = 0; i < 4; ++i)
    at(b, 2)[i] = at(b, 0)[i] + at(b, 1)[i];
}
/// y = a, the other way round.
inline void reverse(void *const *b, const int64_t *, int64_t, int64_t, void *) {
  for (int i = 0; i < 4; ++i)
    at(b, 1)[i] = at(b, 0)[3 - i];
}
/// y = a + 1, and when that is written z = a / 2 + b.
inline void both(void *const *b, const int64_t *, int64_t, int64_t, void *) {
  for (int i = 0; i < 4; ++i)
    at(b, 2)[i] = at(b, 0)[i] + 1;
  for (int i = 0; i < 4; ++i)
    at(b, 3)[i] = at(b, 0)[i] / 2 + at(b, 1)[i];
}
/// Two elements of y are those of a, plus 3.
inline void half(void *const *b, const int64_t *, int64_t, int64_t, void *) {
  for (int i = 0; i < 2; ++i)
    at(b, 1)[i] = at(b, 0)[i] + 3;
}
inline const std::vector<mlc_kernel> kernels = {add, reverse, both, half};

/// Builds a program over states and knows what it means.
struct Builder {
  Programs programs;
  Program p;
  std::vector<BufferId> states, values; ///< of four elements each
  std::vector<StateWrite> writes;
  ExprId one, two, four, zero, eight, sixteen;

  explicit Builder(int numStates) {
    one = p.addConstant(1), two = p.addConstant(2), four = p.addConstant(4);
    zero = p.addConstant(0), eight = p.addConstant(8);
    sixteen = p.addConstant(16);
    for (const char *name : {"add", "reverse", "both", "half"})
      p.addKernel(name);
    BufferId x = p.addBuffer(Buffer::input(0, DType::F32, {four}, "x"));
    p.inputs = {{"x", x}};
    for (int s = 0; s < numStates; ++s) {
      std::string name = "s" + std::to_string(s);
      programs.states.push_back({name, DType::F32, {4}, State::Zeros, 0, 16});
      states.push_back(p.addBuffer(Buffer::state(s, DType::F32, {four}, name)));
    }
    values = states;
    values.push_back(x);
  }

  BufferId arena() {
    return p.addBuffer(Buffer::arena(sixteen, DType::F32, {four}));
  }
  BufferId binary(BufferId a, BufferId b) {
    Step step = Step::launch(0, {a, b}, {arena()}, {}, one);
    step.inPlace = {{0, 0}, {0, 1}};
    return done(std::move(step));
  }
  BufferId reversed(BufferId a) {
    return done(Step::launch(1, {a}, {arena()}, {}, one));
  }
  BufferId twice(BufferId a, BufferId b) {
    Step step = Step::launch(2, {a, b}, {arena(), arena()}, {}, one);
    step.inPlace = {{1, 0}, {1, 1}};
    values.push_back(step.outputs[1]);
    return done(std::move(step));
  }
  /// Two steps that write half of it each.
  BufferId halves(BufferId a) {
    BufferId whole = arena();
    for (ExprId offset : {zero, eight}) {
      auto part = [&](BufferId of) {
        return p.addBuffer(Buffer::alias(of, offset, eight, DType::F32, {two}));
      };
      BufferId from = part(a), to = part(whole);
      p.steps.push_back(Step::launch(3, {from}, {to}, {}, one));
    }
    values.push_back(whole);
    return whole;
  }
  BufferId reshaped(BufferId a) {
    values.push_back(
        p.addBuffer(Buffer::alias(a, zero, sixteen, DType::F32, {two, two})));
    return values.back();
  }
  BufferId done(Step step) {
    p.steps.push_back(std::move(step));
    values.push_back(p.steps.back().outputs[0]);
    return values.back();
  }

  std::shared_ptr<const Artifact> make() {
    addStateWrites(p, writes);
    programs.entries = {p};
    std::shared_ptr<const Artifact> artifact;
    Status status = Artifact::create(programs, nullptr, 0, kernels, artifact);
    INFO(status.message);
    REQUIRE(status.ok());
    return artifact;
  }
};

/// What a program without writes computes, and its states from run to run.
struct Meaning {
  Program p;
  std::vector<StateWrite> writes;
  std::vector<Four> memory;

  explicit Meaning(const Builder &b)
      : p(b.p), writes(b.writes), memory(p.buffers.size(), Four{}) {}

  float *address(BufferId id) {
    size_t extra = 0;
    for (; p.buffers[id].kind == Buffer::Alias; id = p.buffers[id].source)
      extra += p.exprs[p.buffers[id].offsetExpr].code[0].operand / 4;
    return memory[id].data() + extra;
  }
  Four read(BufferId id) {
    Four value;
    std::memcpy(value.data(), address(id), 16);
    return value;
  }
  std::vector<Four> run(const Four &x) {
    memory[p.inputs[0].buffer] = x;
    for (const Step &step : p.steps) {
      std::vector<void *> operands;
      for (const auto *list : {&step.inputs, &step.outputs})
        for (BufferId id : *list)
          operands.push_back(address(id));
      kernels[step.as<LaunchStep>().kernel](operands.data(), nullptr, 0, 1,
                                            nullptr);
    }
    std::vector<Four> outputs, next;
    for (const Port &port : p.outputs)
      outputs.push_back(read(port.buffer));
    for (const StateWrite &write : writes)
      next.push_back(read(write.value));
    for (size_t i = 0; i < writes.size(); ++i)
      memory[writes[i].state] = next[i];
    return outputs;
  }
};

inline Four four(const mlc_tensor &tensor) {
  Four value;
  REQUIRE(tensor.bytes == 16);
  std::memcpy(value.data(), tensor.data, 16);
  return value;
}

} // namespace mlc::test

#endif // MLC_TEST_UNIT_RUNTIME_STATES_H
