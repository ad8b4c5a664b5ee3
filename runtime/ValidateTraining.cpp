//===- ValidateTraining.cpp - Whether a trainer may believe it ------------===//

#include "runtime/ValidateTraining.h"

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

/// The inputs of the first entry that samples are given to come first.
static std::string problemOfInputs(const Training &training,
                                   const Program &entry) {
  size_t samples = 0;
  for (const Port &port : entry.inputs) {
    const Buffer &buffer = entry.buffers[port.buffer];
    if (port.role == InputRole::Data) {
      if (samples == training.samples.size() || &port != &entry.inputs[samples])
        return "its inputs are no samples of training";
      const SamplePort &sample = training.samples[samples++];
      if (sample.name != port.name ||
          unsigned(sample.type) != unsigned(buffer.type) ||
          sample.dims.size() != buffer.dims.size())
        return "an input is of other samples than training has";
      continue;
    }
    const bool isNumber =
        port.role == InputRole::BatchNumber
            ? buffer.type == DType::U64
            : buffer.type == DType::F32 || buffer.type == DType::F64;
    if (!buffer.dims.empty() || !isNumber)
      return "an input of training is no number";
  }
  return samples == training.samples.size() ? std::string()
                                            : "samples are no inputs";
}

static std::string problemOfNumbers(const Training &training) {
  constexpr int64_t most = int64_t(1) << 40;
  if (training.batch < 0 || training.batch > most || training.accumulate < 1 ||
      training.accumulate > mostBatchesOfAStep || training.classes < 0)
    return "numbers of training are out of range";
  for (double beta : {training.beta1, training.beta2})
    if (!(beta >= 0 && beta < 1))
      return "numbers of the optimizer are out of range";
  if (!(training.lossScale >= 0) || std::isinf(training.lossScale))
    return "the loss scale is out of range";
  return {};
}

std::string problemOf(const Training &training, const Programs &programs) {
  std::string problem = problemOfNumbers(training);
  for (const SamplePort &sample : training.samples)
    if (problem.empty())
      problem = problemOf(sample);
  if (problem.empty() && training.labels &&
      (*training.labels >= training.samples.size() ||
       training.samples[*training.labels].type != MLC_I64))
    problem = "labels are of no input of int64";
  if (problem.empty())
    problem = problemOfInputs(training, programs.entries.front());
  return problem;
}

} // namespace mlc::runtime
