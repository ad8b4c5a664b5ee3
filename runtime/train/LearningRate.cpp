//===- LearningRate.cpp - The learning rate of each step ------------------===//

#include "runtime/train/LearningRate.h"

#include <algorithm>
#include <cmath>

using namespace mlc::runtime::train;

double LearningRate::at(int64_t step) const {
  constexpr double pi = 3.141592653589793;
  if (step < warmup)
    return rate * double(step + 1) / double(warmup);
  double done = steps > warmup
                    ? std::min(1.0, double(step - warmup) / (steps - warmup))
                    : 0;
  switch (schedule) {
  case RateSchedule::Constant:
    return rate;
  case RateSchedule::Linear:
    return rate * (1 - done);
  case RateSchedule::Cosine:
    return rate * (1 + std::cos(pi * done)) / 2;
  }
  return rate;
}
