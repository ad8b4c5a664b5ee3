//===- ValidateTraining.cpp - Checks of an artifact's training ------------===//

#include "runtime/ValidateTraining.h"

#include <algorithm>
#include <cmath>

namespace mlc::runtime {

static std::string problemOf(const SamplePort &sample) {
  if (sample.dims.empty() || sample.dims.size() > MLC_MAX_RANK ||
      sample.dims.size() != sample.texts.size())
    return "samples have no dims, or too many";
  for (int64_t dim : sample.dims)
    if (dim < -1)
      return "samples have a negative dim";
  return {};
}

static bool isNumber(const Port &port, const Buffer &buffer) {
  return buffer.dims.empty() &&
         (port.role == InputRole::BatchNumber
              ? buffer.type == DType::U64
              : buffer.type == DType::F32 || buffer.type == DType::F64);
}

static bool isSample(const SamplePort &sample, const Port &port,
                     const Buffer &buffer) {
  return sample.name == port.name &&
         unsigned(sample.type) == unsigned(buffer.type) &&
         sample.dims.size() == buffer.dims.size();
}

/// Checks the inputs of the only entry that reads samples: those come first.
static std::string problemOfInputs(const Training &training,
                                   const Program &entry) {
  size_t samples = 0;
  for (const Port &port : entry.inputs) {
    const Buffer &buffer = entry.buffers[port.buffer];
    if (port.role == InputRole::Data) {
      if (samples == training.samples.size() || &port != &entry.inputs[samples])
        return "its inputs are no samples of training";
      if (!isSample(training.samples[samples++], port, buffer))
        return "an input is of other samples than training has";
    } else if (port.role == InputRole::Carried) {
      return "a whole step has entries of stages";
    } else if (!isNumber(port, buffer)) {
      return "an input of training is no number";
    }
  }
  return samples == training.samples.size() ? std::string()
                                            : "samples are no inputs";
}

/// Checks that exactly one other entry gives what the entry reads of others.
static std::string problemOfCarried(const Port &port, const Buffer &buffer,
                                    const Program &reader,
                                    const Programs &programs) {
  int sources = 0;
  for (const Program &entry : programs.entries)
    for (const Port &output : entry.outputs) {
      if (output.name != port.name)
        continue;
      const Buffer &made = entry.buffers[output.buffer];
      if (&entry == &reader || made.type != buffer.type ||
          made.dims.size() != buffer.dims.size())
        return "an entry reads of itself, or another tensor than is made";
      ++sources;
    }
  return sources == 1 ? std::string()
                      : "not one entry makes what another reads";
}

/// Checks the inputs of all entries of stages.
static std::string problemOfStages(const Training &training,
                                   const Programs &programs) {
  for (const Program &entry : programs.entries)
    for (const Port &port : entry.inputs) {
      const Buffer &buffer = entry.buffers[port.buffer];
      std::string problem;
      if (port.role == InputRole::Carried)
        problem = problemOfCarried(port, buffer, entry, programs);
      else if (port.role != InputRole::Data && !isNumber(port, buffer))
        problem = "an input of training is no number";
      else if (port.role == InputRole::Data &&
               std::none_of(training.samples.begin(), training.samples.end(),
                            [&](const SamplePort &sample) {
                              return isSample(sample, port, buffer);
                            }))
        problem = "an input is of other samples than training has";
      if (!problem.empty())
        return problem;
    }
  return {};
}

static std::string problemOfNumbers(const Training &training) {
  constexpr int64_t most = int64_t(1) << 40;
  if (training.batch < 0 || training.batch > most || training.accumulate < 1 ||
      training.accumulate > mostBatchesOfAStep || training.classes < 0 ||
      training.stages < 1 || training.stages > mostStagesOfAStep)
    return "numbers of training are out of range";
  for (double beta : {training.beta1, training.beta2})
    if (!(beta >= 0 && beta < 1))
      return "numbers of the optimizer are out of range";
  if (!(training.lossScale >= 0) || std::isinf(training.lossScale))
    return "the loss scale is out of range";
  return {};
}

static std::string problemOf(const Training &training,
                             const Programs &programs) {
  std::string problem = problemOfNumbers(training);
  for (const SamplePort &sample : training.samples)
    if (problem.empty())
      problem = problemOf(sample);
  if (problem.empty() && training.labels &&
      (*training.labels >= training.samples.size() ||
       training.samples[*training.labels].type != MLC_I64))
    problem = "labels are of no input of int64";
  if (problem.empty())
    problem = training.stages > 1
                  ? problemOfStages(training, programs)
                  : problemOfInputs(training, programs.entries.front());
  return problem;
}

static std::string problemOf(const PipelinePort &port) {
  if (port.dims.size() > MLC_MAX_RANK || port.dims.size() != port.texts.size())
    return "a pipeline's tensor has too many dims";
  for (int64_t dim : port.dims)
    if (dim < -1)
      return "a pipeline's tensor has a negative dim";
  return port.isDivided && port.dims.empty()
             ? "a pipeline's tensor without dims has a part for micro-batches"
             : std::string();
}

static bool isSame(const PipelinePort &port, const Port &other,
                   const Buffer &buffer) {
  return port.name == other.name &&
         unsigned(port.type) == unsigned(buffer.type) &&
         port.dims.size() == buffer.dims.size();
}

/// Checks the inputs of all entries of a pipeline.
static std::string problemOfReads(const Pipeline &pipeline,
                                  const Programs &programs) {
  for (const Program &entry : programs.entries)
    for (const Port &port : entry.inputs) {
      const Buffer &buffer = entry.buffers[port.buffer];
      std::string problem;
      if (port.role == InputRole::Carried)
        problem = problemOfCarried(port, buffer, entry, programs);
      else if (port.role != InputRole::Data ||
               std::none_of(pipeline.inputs.begin(), pipeline.inputs.end(),
                            [&](const PipelinePort &input) {
                              return isSame(input, port, buffer);
                            }))
        problem = "an entry reads what is no input of its pipeline";
      if (!problem.empty())
        return problem;
    }
  return {};
}

/// Checks that one entry makes each output.
static std::string problemOfResults(const Pipeline &pipeline,
                                    const Programs &programs) {
  for (const PipelinePort &output : pipeline.outputs) {
    int sources = 0;
    for (const Program &entry : programs.entries)
      for (const Port &port : entry.outputs) {
        if (port.name != output.name)
          continue;
        if (!isSame(output, port, entry.buffers[port.buffer]))
          return "an entry makes another tensor than its pipeline gives";
        ++sources;
      }
    if (sources != 1)
      return "not one entry makes an output of a pipeline";
  }
  return {};
}

static std::string problemOf(const Pipeline &pipeline,
                             const Programs &programs) {
  if (pipeline.stages < 2 || pipeline.stages > mostStagesOfAStep ||
      pipeline.microBatches < 1 || pipeline.microBatches > mostBatchesOfAStep ||
      pipeline.ranks < 1 || pipeline.ranks > mostStagesOfAStep ||
      (pipeline.ranks > 1) == pipeline.schedule.empty())
    return "numbers of a pipeline are out of range";
  if (programs.training || !programs.mesh.empty() || !programs.states.empty() ||
      programs.entries.size() != size_t(pipeline.stages))
    return "a pipeline has entries of its stages, and nothing else";
  for (size_t stage = 0; stage < programs.entries.size(); ++stage)
    if (std::none_of(programs.entries.begin(), programs.entries.end(),
                     [&](const Program &entry) {
                       return entry.name == std::to_string(stage) + "F";
                     }))
      return "a stage of a pipeline has no entry";
  std::string problem;
  for (const auto *ports : {&pipeline.inputs, &pipeline.outputs})
    for (const PipelinePort &port : *ports)
      if (problem.empty())
        problem = problemOf(port);
  if (problem.empty())
    problem = problemOfReads(pipeline, programs);
  return problem.empty() ? problemOfResults(pipeline, programs) : problem;
}

std::string problemOfUse(const Programs &programs) {
  std::string problem;
  if (programs.training)
    problem = problemOf(*programs.training, programs);
  if (problem.empty() && programs.pipeline)
    problem = problemOf(*programs.pipeline, programs);
  return problem;
}

} // namespace mlc::runtime
