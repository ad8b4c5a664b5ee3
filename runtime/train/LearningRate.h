//===- LearningRate.h - The learning rate of each step ----------*- C++ -*-===//

#ifndef MLC_RUNTIME_TRAIN_LEARNINGRATE_H
#define MLC_RUNTIME_TRAIN_LEARNINGRATE_H

#include <cstdint>

namespace mlc::runtime::train {

enum class RateSchedule : uint8_t { Constant, Linear, Cosine };

struct LearningRate {
  double rate = 0;
  RateSchedule schedule = RateSchedule::Constant;
  /// Steps in which the rate grows from nothing, linearly.
  int64_t warmup = 0;
  /// The schedule ends at 0 behind the last of these.
  int64_t steps = 0;

  /// Of step `step`, from 0.
  double at(int64_t step) const;
};

} // namespace mlc::runtime::train

#endif // MLC_RUNTIME_TRAIN_LEARNINGRATE_H
