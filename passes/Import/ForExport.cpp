//===- ForExport.cpp - Import for the exporter and checker ----------------===//

#include "passes/Import/ForExport.h"
#include "dialects/Graph/ModelOps.h"
#include "passes/Import/TensorData.h"

using namespace mlir;
using llvm::Error;
using llvm::SmallVector;
using llvm::StringRef;

namespace mlc {

/// How the messages of checks end that ONNX makes, too: if they fail, a model
/// has no result. All other checks are assumptions.
static constexpr StringRef refusedByOnnx[] = {
    "a dim must be a multiple of the block size",
    "a squeezed dim must be 1",
    "batch dims of both operands must be equal",
    "columns of the left input must equal rows of the right one",
    "columns of the left must equal rows of the right operand",
    "dims other than the axis must be equal",
    "input channels must be groups times the weight's channels",
    "input channels must equal the weight's first dim",
    "OneHot requires two values",
    "parameters must have one element per channel",
    "Reshape must keep the number of elements",
    "the dim must divide into equal parts",
    "the operand must have an edge to repeat",
    "the parts must make up the whole dim",
};
/// The same, followed by a number.
static constexpr StringRef refusedByOnnxIn[] = {
    "tensors that are concatenated differ in dim ",
    "the padded input is too small for the window in spatial dim ",
};

static bool isRefusedByOnnx(StringRef message) {
  return llvm::any_of(refusedByOnnx,
                      [&](StringRef end) { return message.ends_with(end); }) ||
         llvm::any_of(refusedByOnnxIn, [&](StringRef part) {
           return message.rtrim("0123456789").ends_with(part);
         });
}

std::vector<std::string> assumptionsOf(ModuleOp module) {
  std::vector<std::string> assumptions;
  for (auto check : module.getOps<CheckOp>())
    if (!isRefusedByOnnx(check.getMessage()))
      assumptions.push_back(check.getMessage().str());
  return assumptions;
}

Error embedData(onnx::TensorProto &tensor, ModelFile &file) {
  if (tensor.data_location() != onnx::TensorProto::EXTERNAL)
    return Error::success();
  MLIRContext context;
  Type type = getElementType(&context, tensor.data_type());
  SmallVector<int64_t> dims(tensor.dims().begin(), tensor.dims().end());
  std::optional<int64_t> count = countElements(dims);
  if (!type || !count)
    return llvm::createStringError("'" + tensor.name() +
                                   "' has no size that is known");
  auto bytes =
      file.externalData(tensor, uint64_t(getRawElementSize(type)) * *count);
  if (!bytes)
    return bytes.takeError();
  tensor.clear_external_data();
  tensor.clear_data_location();
  tensor.set_raw_data(bytes->data.data(), bytes->data.size());
  return Error::success();
}

Error embedData(onnx::GraphProto &graph, ModelFile &file) {
  for (onnx::TensorProto &tensor : *graph.mutable_initializer())
    if (Error error = embedData(tensor, file))
      return error;
  for (onnx::NodeProto &node : *graph.mutable_node())
    for (onnx::AttributeProto &attribute : *node.mutable_attribute()) {
      if (attribute.has_t())
        if (Error error = embedData(*attribute.mutable_t(), file))
          return error;
      if (attribute.has_g())
        if (Error error = embedData(*attribute.mutable_g(), file))
          return error;
    }
  return Error::success();
}

/// The computation, as text.
static llvm::Expected<std::string> computationOf(ModelFile &file) {
  onnx::ModelProto model;
  model.set_ir_version(file.proto().ir_version());
  *model.mutable_opset_import() = file.proto().opset_import();
  *model.mutable_functions() = file.proto().functions();
  onnx::GraphProto &graph = *model.mutable_graph();
  graph = file.proto().graph();
  if (Error error = embedData(graph, file))
    return std::move(error);
  graph.clear_input();
  graph.clear_output();
  graph.clear_value_info();
  graph.clear_doc_string();
  std::string text;
  if (!model.SerializeToString(&text))
    return llvm::createStringError("it has more than 2 GB");
  return text;
}

std::optional<std::string> fileDifference(ModelFile &expected,
                                          ModelFile &found) {
  auto x = computationOf(expected), y = computationOf(found);
  std::optional<std::string> difference;
  for (auto *text : {&x, &y})
    if (!*text)
      difference = llvm::toString(text->takeError());
  if (difference)
    return difference;
  if (*x == *y)
    return std::nullopt;
  return "the nodes, weights or opsets are others";
}

} // namespace mlc
