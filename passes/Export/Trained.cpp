//===- Trained.cpp - The file of a model with other weights ---------------===//

#include "passes/Export/Trained.h"
#include "passes/Import/ForExport.h"
#include "passes/Import/Weights.h"

namespace mlc {

llvm::Expected<std::string> replaceWeights(ModelFile &file,
                                           llvm::ArrayRef<NewWeight> weights) {
  onnx::ModelProto model = file.proto();
  llvm::StringMap<onnx::TensorProto *> byName;
  for (onnx::TensorProto &tensor :
       *model.mutable_graph()->mutable_initializer())
    byName[tensor.name()] = &tensor;
  for (onnx::NodeProto &node : *model.mutable_graph()->mutable_node())
    if (findHeldTensor(node))
      byName[node.output(0)] = node.mutable_attribute(0)->mutable_t();
  for (const NewWeight &weight : weights) {
    onnx::TensorProto *tensor = byName.lookup(weight.name);
    if (!tensor)
      return llvm::createStringError("it has no weight '" + weight.name + "'");
    // A new tensor, because any of its fields may hold the elements.
    onnx::TensorProto changed;
    changed.set_name(tensor->name());
    changed.set_data_type(tensor->data_type());
    *changed.mutable_dims() = tensor->dims();
    changed.set_raw_data(weight.bytes.data(), weight.bytes.size());
    *tensor = std::move(changed);
  }
  if (llvm::Error error = embedData(*model.mutable_graph(), file))
    return std::move(error);
  std::string bytes;
  if (!model.SerializeToString(&bytes))
    return llvm::createStringError("it has more than 2 GB");
  return bytes;
}

} // namespace mlc
