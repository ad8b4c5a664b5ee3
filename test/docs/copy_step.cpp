//===- copy_step.cpp - Runs the step that docs/AddAStep.md adds -----------===//

#include "runtime/CpuDevice.h"
#include "runtime/Session.h"

#include <cstdio>

using namespace mlc::runtime;

namespace {

/// y = x of four numbers.
Program copyProgram() {
  Program p;
  ExprId four = p.addConstant(4), bytes = p.addConstant(16);
  BufferId x = p.addBuffer(Buffer::input(0, DType::F32, {four}, "x"));
  BufferId y = p.addBuffer(Buffer::arena(bytes, DType::F32, {four}, "y"));
  p.inputs = {{"x", x}};
  p.outputs = {{"y", y}};
  Step step;
  step.inputs = {x};
  step.outputs = {y};
  step.detail = CopyStep{p.addConstant(2)};
  p.steps = {step};
  return p;
}

Status run(const Program &program) {
  std::vector<uint8_t> bytes = serialize(program);
  Program read;
  std::shared_ptr<const Artifact> artifact;
  std::unique_ptr<Queue> queue;
  Status status = deserialize(bytes.data(), bytes.size(), read);
  if (status.ok())
    status = Artifact::create(read, nullptr, 0, {}, artifact);
  if (status.ok())
    status = cpuDevice().open({}, queue);
  if (!status.ok())
    return status;
  Session session(artifact, std::move(queue), 0);
  alignas(64) float x[4] = {1, 2, 3, 4};
  int64_t dims[] = {4};
  mlc_tensor y;
  status = session.bindInput(0, DType::F32, 1, dims, x);
  if (status.ok())
    status = session.run();
  if (status.ok())
    status = session.output(0, y);
  if (status.ok())
    std::printf("%s (%s): %g %g\n", kindName(read.steps[0]),
                artifact->stepText(0).c_str(),
                static_cast<const float *>(y.data)[0],
                static_cast<const float *>(y.data)[3]);
  return status;
}

} // namespace

int main() {
  Program program = copyProgram();
  Status status = run(program);
  if (!status.ok())
    std::puts(status.message.c_str());
  Program broken = program;
  broken.steps[0].inputs.push_back(0);
  std::puts(validate(broken, 0).message.c_str());
  broken = program;
  broken.steps[0].as<CopyStep>().rounds = 99;
  std::puts(validate(broken, 0).message.c_str());
  return !status.ok();
}
