//===- ProgramSteps.cpp - Steps of an exec.program as data ----------------===//

#include "passes/ProgramSteps.h"
#include "passes/ProgramRanks.h"

using namespace mlir;
using llvm::StringRef;

namespace rt = mlc::runtime;

namespace mlc {

namespace {

/// A visitor that sets each field from the attribute of its name.
class FieldReader {
public:
  FieldReader(Operation *op, const std::vector<rt::MeshAxis> &mesh,
              llvm::function_ref<rt::ExprId(IntExpr)> addSize)
      : op(op), mesh(mesh), addSize(addSize) {}

  bool hasFailed() const { return failed(result); }

  // These depend on more than the op; Program.cpp makes such steps itself.
  void kernel(const char *name, rt::KernelId &) { lacks(name); }
  void binds(const char *name, rt::SymbolId &) { lacks(name); }
  void maps(const char *name, std::vector<rt::TensorMap> &) { lacks(name); }

  void size(const char *name, rt::ExprId &id) {
    if (auto expr = op->getAttrOfType<IntExpr>(name))
      id = addSize(expr);
    else
      lacks(name);
  }
  void size(const char *name, std::optional<rt::ExprId> &id) {
    if (auto expr = op->getAttrOfType<IntExpr>(name))
      id = addSize(expr);
  }
  void number(const char *name, uint64_t &value) { readInteger(name, value); }
  void starts(const char *name, uint32_t &ticket) { readInteger(name, ticket); }
  void waits(const char *name, uint32_t &ticket) { readInteger(name, ticket); }
  void word(const char *name, uint8_t &index, rt::Words words) {
    auto word = op->getAttrOfType<StringAttr>(name);
    if (!word)
      return;
    const char *const *end = words.all + words.count;
    const char *const *found = std::find(words.all, end, word.getValue());
    if (found != end)
      index = uint8_t(found - words.all);
    else
      result = op->emitOpError("has the ") << name << " '" << word.getValue()
                                           << "', which the runtime has not";
  }
  void text(const char *name, std::string &value) {
    if (auto text = op->getAttrOfType<StringAttr>(name))
      value = text.str();
  }
  void axis(const char *name, uint32_t &index) {
    auto axis = op->getAttrOfType<StringAttr>(name);
    FailureOr<uint32_t> found =
        findAxis(op, mesh, axis ? axis.getValue() : StringRef());
    if (succeeded(found))
      index = *found;
    else
      result = failure();
  }

private:
  template <typename T> void readInteger(const char *name, T &value) {
    if (auto number = op->getAttrOfType<IntegerAttr>(name))
      value = T(number.getInt());
    else
      lacks(name);
  }
  void lacks(const char *name) { result = op->emitOpError("has no ") << name; }

  Operation *op;
  const std::vector<rt::MeshAxis> &mesh;
  llvm::function_ref<rt::ExprId(IntExpr)> addSize;
  LogicalResult result = success();
};

} // namespace

rt::TensorMap makeMap(const KernelMap &map,
                      llvm::function_ref<rt::ExprId(IntExpr)> addSize) {
  rt::TensorMap result;
  static_cast<rt::MapTile &>(result) = map;
  MLIRContext *context = map.dims.front().getContext();
  result.offset =
      addSize(map.offset ? map.offset : IntExpr::constant(context, 0));
  for (IntExpr dim : map.dims)
    result.dims.push_back(addSize(dim));
  for (IntExpr stride : map.strides)
    result.strides.push_back(addSize(stride));
  return result;
}

FailureOr<rt::Step> readStep(exec::StepOpInterface op,
                             const std::vector<rt::MeshAxis> &mesh,
                             llvm::function_ref<rt::ExprId(IntExpr)> addSize) {
  rt::Step step;
  StringRef kind = op->getName().stripDialect();
  if (!rt::makeDetail(std::string_view(kind), step.detail))
    return op->emitOpError("is no kind of step of the runtime");
  step.name = op.getStepName().str();
  if (auto args = op->getAttrOfType<DimsAttr>("args"))
    for (IntExpr arg : args.getDims())
      step.args.push_back(addSize(arg));
  if (auto nodes = op->getAttrOfType<ArrayAttr>("nodes"))
    for (StringRef node : nodes.getAsValueRange<StringAttr>())
      step.nodes.push_back(node.str());
  FieldReader fields(op, mesh, addSize);
  rt::visitFields(step, fields);
  if (fields.hasFailed())
    return failure();
  return step;
}

} // namespace mlc
