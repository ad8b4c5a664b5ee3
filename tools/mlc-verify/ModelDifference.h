//===- ModelDifference.h - Where two ONNX models differ ---------*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_VERIFY_MODELDIFFERENCE_H
#define MLC_TOOLS_MLC_VERIFY_MODELDIFFERENCE_H

#include "onnx-ml.pb.h"
#include <optional>
#include <string>

namespace mlc {

/// The first place where `found` says something else than `expected`: inputs
/// and outputs, weights, nodes, then the rest, what ONNX's schema does not know
/// included. Metadata, documentation and the names of nodes are left out; names
/// of inner tensors may be others as long as the same tensors bear them.
std::optional<std::string> firstDifference(onnx::ModelProto expected,
                                           onnx::ModelProto found);

} // namespace mlc

#endif // MLC_TOOLS_MLC_VERIFY_MODELDIFFERENCE_H
