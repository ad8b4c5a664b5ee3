//===- TrainedVector.cpp - All trained weights as one vector --------------===//

#include "runtime/train/TrainedVector.h"
#include "runtime/Text.h"

#include <cstring>

using namespace mlc::runtime;
using namespace mlc::runtime::train;

Status TrainedVector::of(const TrainingProgram &program, Spelling spelling,
                         TrainedVector &vector) {
  vector = TrainedVector();
  for (size_t index : program.weights()) {
    const State &weight = program.state(index);
    std::optional<size_t> sum =
        program.find(StateRole::GradientSum, weight.owner);
    if (!sum)
      return Status::error(MLC_USAGE, "the artifact keeps no gradients");
    const auto type = static_cast<mlc_dtype>(weight.type);
    if ((type != MLC_F32 && type != MLC_F64) ||
        program.state(*sum).type != weight.type)
      return Status::error(
          MLC_USAGE, "the weight '" + printable(weight.owner) + "' is of " +
                         mlc_dtype_name(type) + ", and its gradient of " +
                         name(program.state(*sum).type) +
                         "; a server exchanges float32 and float64, give " +
                         option(spelling, "algorithm") + "=colocated");
    if (type == MLC_F64)
      vector.element = MLC_F64;
    const size_t elements = weight.size / byteSize(weight.type);
    vector.tensors.push_back({{index, *sum}, type, weight.dims, elements});
    vector.count += elements;
  }
  return Status::success();
}

double TrainedVector::number(const char *vector, size_t i) const {
  return element == MLC_F64 ? reinterpret_cast<const double *>(vector)[i]
                            : reinterpret_cast<const float *>(vector)[i];
}

void TrainedVector::setNumber(char *vector, size_t i, double number) const {
  if (element == MLC_F64)
    reinterpret_cast<double *>(vector)[i] = number;
  else
    reinterpret_cast<float *>(vector)[i] = float(number);
}

Status TrainedVector::read(mlc_session *session, Kind kind, char *to) const {
  size_t at = 0;
  for (const Tensor &tensor : tensors) {
    mlc_tensor value;
    if (mlc_status status =
            mlc_session_state(session, tensor.states[kind], &value))
      return lastFailure(status);
    if (tensor.type == element)
      std::memcpy(to + at * mlc_dtype_size(element), value.data, value.bytes);
    else
      for (size_t i = 0; i < tensor.elements; ++i)
        setNumber(to, at + i, static_cast<const float *>(value.data)[i]);
    at += tensor.elements;
  }
  return Status::success();
}

Status TrainedVector::write(mlc_session *session, Kind kind, const char *from,
                            double factor) const {
  size_t at = 0;
  for (const Tensor &tensor : tensors) {
    const char *data = from + at * mlc_dtype_size(element);
    std::vector<float> narrow;
    std::vector<double> wide;
    if (tensor.type == MLC_F32 && (element == MLC_F64 || factor != 1)) {
      for (size_t i = 0; i < tensor.elements; ++i)
        narrow.push_back(float(factor * number(from, at + i)));
      data = reinterpret_cast<const char *>(narrow.data());
    } else if (factor != 1) {
      for (size_t i = 0; i < tensor.elements; ++i)
        wide.push_back(factor * number(from, at + i));
      data = reinterpret_cast<const char *>(wide.data());
    }
    if (mlc_status status = mlc_session_set_state(
            session, tensor.states[kind], tensor.type, tensor.dims.size(),
            tensor.dims.data(), data, MLC_SPACE_HOST))
      return lastFailure(status);
    at += tensor.elements;
  }
  return Status::success();
}
