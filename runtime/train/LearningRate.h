//===- LearningRate.h - The learning rate of each step ----------*- C++ -*-===//

#ifndef MLC_RUNTIME_TRAIN_LEARNINGRATE_H
#define MLC_RUNTIME_TRAIN_LEARNINGRATE_H

#include <cstdint>

namespace mlc::runtime::train {

enum class RateSchedule : uint8_t { Constant, Linear, Cosine };

struct LearningRate {
  double rate = 0;
  RateSchedule schedule = RateSchedule::Constant;
  /// Steps in which the rate grows linearly from 0.
  int64_t warmup = 0;
  /// Linear and cosine schedules reach 0 after this many steps.
  int64_t steps = 0;

  /// The rate of step `step`, counted from 0.
  double at(int64_t step) const;
};

} // namespace mlc::runtime::train

#endif // MLC_RUNTIME_TRAIN_LEARNINGRATE_H
