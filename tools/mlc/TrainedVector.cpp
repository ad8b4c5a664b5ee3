//===- TrainedVector.cpp - All trained weights as one vector --------------===//

#include "tools/mlc/TrainedVector.h"
#include "runtime/Text.h"
#include "tools/mlc/Failure.h"
#include <cstring>

using namespace mlc;
using namespace mlc::cli;

llvm::Expected<TrainedVector> TrainedVector::of(const Model &built,
                                                const TrainingModel &read) {
  std::map<std::string, std::pair<size_t, mlc_port>, std::less<>> states;
  for (size_t i = 0, n = mlc_artifact_state_count(built.get()); i < n; ++i) {
    mlc_port port;
    if (mlc_status status = mlc_artifact_state(built.get(), i, &port))
      return runtimeFailure(built.name(), status);
    states[port.name] = {i, port};
  }
  TrainedVector vector;
  vector.name = built.name();
  for (const Weight *weight : read.trained()) {
    const auto &[index, port] = states.at("weight/" + weight->name);
    const auto &[sum, other] = states.at("gradient/" + weight->name);
    if ((port.type != MLC_F32 && port.type != MLC_F64) ||
        other.type != port.type)
      return fail(Exit::Usage,
                  built.name() + ": the weight '" +
                      runtime::printable(weight->name) + "' is of " +
                      mlc_dtype_name(port.type) + ", and its gradient of " +
                      mlc_dtype_name(other.type) +
                      "; a server exchanges float32 and float64, give "
                      "--algorithm=colocated");
    size_t elements = 1;
    for (int64_t dim : llvm::ArrayRef(port.dims, port.rank))
      elements *= dim;
    if (port.type == MLC_F64)
      vector.element = MLC_F64;
    vector.tensors.push_back({{index, sum},
                              port.type,
                              {port.dims, port.dims + port.rank},
                              elements});
    vector.count += elements;
  }
  return vector;
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

llvm::Error TrainedVector::read(mlc_session *session, Kind kind,
                                char *to) const {
  size_t at = 0;
  for (const Tensor &tensor : tensors) {
    mlc_tensor value;
    if (mlc_status status =
            mlc_session_state(session, tensor.states[kind], &value))
      return runtimeFailure(name, status);
    if (tensor.type == element)
      std::memcpy(to + at * mlc_dtype_size(element), value.data, value.bytes);
    else
      for (size_t i = 0; i < tensor.elements; ++i)
        setNumber(to, at + i, static_cast<const float *>(value.data)[i]);
    at += tensor.elements;
  }
  return llvm::Error::success();
}

llvm::Error TrainedVector::write(mlc_session *session, Kind kind,
                                 const char *from, double factor) const {
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
      return runtimeFailure(name, status);
    at += tensor.elements;
  }
  return llvm::Error::success();
}
