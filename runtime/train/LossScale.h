//===- LossScale.h - How much larger gradients are made ---------*- C++ -*-===//
//
// Small gradients are nothing in float16, which has none below 6e-8; those of a
// loss times the scale are, until one of them is infinite. Micikevicius et al.
// 2018; the numbers are those of PyTorch's GradScaler.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_TRAIN_LOSSSCALE_H
#define MLC_RUNTIME_TRAIN_LOSSSCALE_H

#include <cstdint>

namespace mlc::runtime::train {

class LossScale {
public:
  /// Without a scale; with one that stays; with one that changes.
  enum class Kind { None, Fixed, Dynamic };

  LossScale() = default;
  LossScale(Kind kind, double scale) : kind(kind), scale(scale) {}

  Kind getKind() const { return kind; }
  bool isOn() const { return kind != Kind::None; }
  double getScale() const { return scale; }
  /// As another rank says, which updates it.
  void setScale(double now) { scale = now; }
  /// Steps that changed nothing, because a gradient was not finite.
  int64_t getSkipped() const { return int64_t(skipped); }

  /// After a step. A dynamic scale is halved if one of its gradients was not
  /// finite, and doubled after `growthInterval` steps in a row where all were.
  void update(bool isFinite);
  /// Whether so many steps in a row changed nothing that none will.
  bool isStuck() const { return failed >= mostFailed; }

  static constexpr double first = 65536;
  static constexpr int growthInterval = 2000, mostFailed = 64;

  /// For a checkpoint: scale, then the counts, all as doubles.
  static constexpr int numNumbers = 4;
  void save(double (&numbers)[numNumbers]) const;
  /// False, with nothing changed, where they are none that save() gives.
  bool load(const double (&numbers)[numNumbers]);

private:
  Kind kind = Kind::None;
  double scale = 1;
  /// Steps in a row that were finite or not, and all that were not.
  double finite = 0, failed = 0, skipped = 0;
};

} // namespace mlc::runtime::train

#endif // MLC_RUNTIME_TRAIN_LOSSSCALE_H
