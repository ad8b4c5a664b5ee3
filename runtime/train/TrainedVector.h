//===- TrainedVector.h - All trained weights as one vector ------*- C++ -*-===//

#ifndef MLC_RUNTIME_TRAIN_TRAINEDVECTOR_H
#define MLC_RUNTIME_TRAIN_TRAINEDVECTOR_H

#include "runtime/train/Option.h"
#include "runtime/train/Program.h"

namespace mlc::runtime::train {

/// The trained weights of a model, or their gradients, concatenated: as float64
/// if one of them is, else as float32.
class TrainedVector {
public:
  enum Kind : uint8_t { Weights, Gradients };

  /// For a program that keeps gradient sums and splits no state. Fails for
  /// weights of other types.
  static Status of(const TrainingProgram &program, Spelling spelling,
                   TrainedVector &vector);

  mlc_dtype type() const { return element; }
  size_t elements() const { return count; }
  /// Copies the tensors from the session's states to `to`, ...
  Status read(mlc_session *session, Kind kind, char *to) const;
  /// ... and back, times `factor`.
  Status write(mlc_session *session, Kind kind, const char *from,
               double factor = 1) const;

  double number(const char *vector, size_t i) const;
  void setNumber(char *vector, size_t i, double number) const;

private:
  struct Tensor {
    size_t states[2]; // by Kind
    mlc_dtype type;
    std::vector<int64_t> dims;
    size_t elements;
  };

  std::vector<Tensor> tensors;
  mlc_dtype element = MLC_F32;
  size_t count = 0;
};

} // namespace mlc::runtime::train

#endif // MLC_RUNTIME_TRAIN_TRAINEDVECTOR_H
