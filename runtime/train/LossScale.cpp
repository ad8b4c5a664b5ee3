//===- LossScale.cpp - Loss scaling ---------------------------------------===//

#include "runtime/train/LossScale.h"
#include <algorithm>
#include <cmath>

using namespace mlc::runtime::train;

void LossScale::update(bool isFinite) {
  // The limit keeps the scale itself from becoming infinite.
  constexpr double largest = 0x1p100;
  if (!isFinite) {
    finite = 0;
    ++failed;
    ++skipped;
    if (kind == Kind::Dynamic)
      scale /= 2;
    return;
  }
  failed = 0;
  if (++finite < growthInterval || kind != Kind::Dynamic)
    return;
  finite = 0;
  scale = std::min(2 * scale, largest);
}

void LossScale::save(double (&numbers)[numNumbers]) const {
  numbers[0] = scale;
  numbers[1] = finite;
  numbers[2] = failed;
  numbers[3] = skipped;
}

bool LossScale::load(const double (&numbers)[numNumbers]) {
  auto isCount = [](double count) {
    return count >= 0 && count < 0x1p53 && count == std::floor(count);
  };
  if (!(numbers[0] > 0) || std::isinf(numbers[0]) ||
      !std::all_of(numbers + 1, numbers + numNumbers, isCount))
    return false;
  scale = numbers[0];
  finite = numbers[1];
  failed = numbers[2];
  skipped = numbers[3];
  return true;
}
