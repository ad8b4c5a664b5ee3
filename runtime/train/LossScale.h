//===- LossScale.h - Loss scaling -------------------------------*- C++ -*-===//
//
// Float16 rounds gradients below 6e-8 to 0. Scaling the loss avoids that, as
// long as no scaled gradient is infinite. Micikevicius et al. 2018; the
// constants are those of PyTorch's GradScaler.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_TRAIN_LOSSSCALE_H
#define MLC_RUNTIME_TRAIN_LOSSSCALE_H

#include <cstdint>

namespace mlc::runtime::train {

class LossScale {
public:
  /// No scale, a fixed one, or one that changes.
  enum class Kind { None, Fixed, Dynamic };

  LossScale() = default;
  LossScale(Kind kind, double scale) : kind(kind), scale(scale) {}

  Kind getKind() const { return kind; }
  bool isOn() const { return kind != Kind::None; }
  double getScale() const { return scale; }
  /// Sets the scale that another rank maintains.
  void setScale(double now) { scale = now; }
  /// Steps that were skipped because a gradient was not finite.
  int64_t getSkipped() const { return int64_t(skipped); }

  /// Called after a step. Halves a dynamic scale if a gradient was not finite,
  /// and doubles it after `growthInterval` finite steps in a row.
  void update(bool isFinite);
  /// Whether so many steps in a row were skipped that training cannot recover.
  bool isStuck() const { return failed >= mostFailed; }

  static constexpr double first = 65536;
  static constexpr int growthInterval = 2000, mostFailed = 64;

  /// For a checkpoint: scale, then the counts, all as doubles.
  static constexpr int numNumbers = 4;
  void save(double (&numbers)[numNumbers]) const;
  /// Returns false and changes nothing if save() cannot have written them.
  bool load(const double (&numbers)[numNumbers]);

private:
  Kind kind = Kind::None;
  double scale = 1;
  /// Finite steps in a row, skipped steps in a row, and all skipped steps.
  double finite = 0, failed = 0, skipped = 0;
};

} // namespace mlc::runtime::train

#endif // MLC_RUNTIME_TRAIN_LOSSSCALE_H
