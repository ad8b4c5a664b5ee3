//===- TrainedVector.h - All trained weights as one vector ------*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_TRAINEDVECTOR_H
#define MLC_TOOLS_MLC_TRAINEDVECTOR_H

#include "tools/mlc/TrainingFlags.h"

namespace mlc::cli {

/// The trained weights of a model, or their gradients, one after the other: as
/// float64 where one of them is, else as float32.
class TrainedVector {
public:
  enum Kind : uint8_t { Weights, Gradients };

  /// Of the states of `built`, which `read` was compiled to with gradients that
  /// are states (TrainingEntries::isApart) and on no rank split.
  static llvm::Expected<TrainedVector> of(const Model &built,
                                          const TrainingModel &read);

  mlc_dtype type() const { return element; }
  size_t elements() const { return count; }
  /// Copies them from the session's states to `to`, ...
  llvm::Error read(mlc_session *session, Kind kind, char *to) const;
  /// ... and back, times `factor`.
  llvm::Error write(mlc_session *session, Kind kind, const char *from,
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

  std::string name; // for messages
  std::vector<Tensor> tensors;
  mlc_dtype element = MLC_F32;
  size_t count = 0;
};

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_TRAINEDVECTOR_H
