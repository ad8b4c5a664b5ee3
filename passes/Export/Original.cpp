//===- Original.cpp - A model beside the graph made of it -----------------===//

#include "passes/Export/Original.h"
#include "dialects/Graph/ModelOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Import/TensorData.h"
#include "passes/Optimize/Prepare.h"
#include "llvm/Support/BLAKE3.h"

using namespace mlir;
using namespace mlc;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

/// Removes the tensors from main's results, along with ops that only they need.
static SmallVector<std::pair<std::string, Value>>
takeTensors(func::FuncOp main) {
  SmallVector<std::pair<std::string, Value>> tensors;
  Operation *end = main.getBody().front().getTerminator();
  SmallVector<Value> kept;
  SmallVector<DictionaryAttr> attributes;
  for (auto [i, value] : llvm::enumerate(end->getOperands())) {
    if (auto name = main.getResultAttrOfType<StringAttr>(i, "mlc.tensor")) {
      tensors.push_back({name.str(), value});
      continue;
    }
    kept.push_back(value);
    attributes.push_back(main.getResultAttrDict(i));
  }
  main.setAllResultAttrs(SmallVector<DictionaryAttr>(
      end->getNumOperands(), DictionaryAttr::get(main.getContext())));
  end->setOperands(kept);
  main.setType(FunctionType::get(main.getContext(), main.getArgumentTypes(),
                                 end->getOperandTypes()));
  main.setAllResultAttrs(attributes);
  llvm::DenseSet<Value> live(main.args_begin(), main.args_end());
  SmallVector<Operation *> operators;
  for (Operation &op : main.getBody().front().without_terminator())
    operators.push_back(&op);
  for (Operation *op : llvm::reverse(operators)) {
    if (isOpTriviallyDead(op))
      op->erase();
    else
      live.insert(op->result_begin(), op->result_end());
  }
  llvm::erase_if(tensors, [&](const auto &tensor) {
    return !live.contains(tensor.second);
  });
  return tensors;
}

/// A key of an operator over terms. Weights are compared by their bytes,
/// because each import stores them separately.
static OriginalModel::Key keyOf(Operation &op, ArrayRef<TermId> reads) {
  auto bits = [](auto entry) {
    return reinterpret_cast<uintptr_t>(entry.getAsOpaquePointer());
  };
  OriginalModel::Key key = {bits(op.getName())};
  for (Type type : op.getResultTypes())
    key.push_back(bits(type));
  std::optional<std::vector<char>> bytes;
  if (auto constant = dyn_cast<ConstantOp>(op))
    if (auto weights = dyn_cast<DenseResourceElementsAttr>(constant.getValue()))
      bytes = getRawBytes(weights);
  if (bytes) {
    llvm::BLAKE3 hasher;
    hasher.update(StringRef(bytes->data(), bytes->size()));
    auto hash = hasher.final<2 * sizeof(uint64_t)>();
    key.resize(key.size() + 2);
    std::memcpy(&key[key.size() - 2], hash.data(), hash.size());
  } else {
    key.push_back(bits(op.getAttrDictionary()));
  }
  llvm::append_range(key, reads);
  return key;
}

void OriginalModel::number(ModuleOp module) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  Block &body = main.getBody().front();
  llvm::DenseMap<Value, TermId> termOfValue;
  auto add = [&](Value value, TermId first) {
    termOfValue[value] = terms.size();
    terms.push_back({first, false, {}});
  };
  identity.function = main.getName().str();
  for (BlockArgument argument : body.getArguments())
    add(argument, terms.size());
  numArguments = terms.size();
  std::vector<TermId> sameAs; // the first of equal terms
  for (TermId term = 0; term < numArguments; ++term)
    sameAs.push_back(term);
  for (Operation &op : body.without_terminator()) {
    TermId first = terms.size();
    for (Value result : op.getResults())
      add(result, first);
    for (Value operand : op.getOperands())
      terms[first].operands.push_back(termOfValue.lookup(operand));
    terms[first].isConstant = isa<ConstantOp>(op);
    identity.chosen.push_back({first, terms[first].operands});
    SmallVector<TermId> reads;
    for (TermId term : terms[first].operands)
      reads.push_back(sameAs[term]);
    TermId same = termOfKey.try_emplace(keyOf(op, reads), first).first->second;
    for (unsigned i = 0; i < op.getNumResults(); ++i)
      sameAs.push_back(same + i);
  }
  for (Value output : body.getTerminator()->getOperands())
    identity.outputs.push_back(termOfValue.lookup(output));
}

/// Finds the operators of a graph that also returns its tensors among the
/// numbered ones; their order may differ.
void OriginalModel::nameTensors(ModuleOp module) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  auto found = takeTensors(main);
  Block &body = main.getBody().front();
  llvm::DenseMap<Value, TermId> termOfValue;
  for (BlockArgument argument : body.getArguments()) {
    unsigned number = argument.getArgNumber();
    termOfValue[argument] = number;
    if (auto name = main.getArgAttrOfType<StringAttr>(number, "mlc.name"))
      tensors[name.getValue()] = number;
  }
  for (Operation &op : body.without_terminator()) {
    SmallVector<TermId> reads;
    for (Value operand : op.getOperands())
      if (auto it = termOfValue.find(operand); it != termOfValue.end())
        reads.push_back(it->second);
    auto it = termOfKey.find(keyOf(op, reads));
    if (reads.size() != op.getNumOperands() || it == termOfKey.end())
      continue;
    for (auto [i, result] : llvm::enumerate(op.getResults()))
      termOfValue[result] = it->second + i;
  }
  for (const auto &[name, value] : found)
    if (auto it = termOfValue.find(value); it != termOfValue.end())
      tensors[name] = it->second;
}

llvm::Expected<OriginalModel> OriginalModel::read(ModelFile &file,
                                                  const ImportOptions &options,
                                                  MLIRContext *context) {
  OriginalModel original;
  original.file = &file;
  // Returned tensors may change the order of constants and thus the numbers,
  // and the trail refers to the graph without them.
  for (bool returnsTensors : {false, true}) {
    ImportReport report;
    OwningOpRef<ModuleOp> module =
        importFile(file, "the model", options, context, report, returnsTensors);
    if (!module)
      return llvm::createStringError(report.message);
    PassManager passes(context);
    addPreparePasses(passes);
    if (failed(passes.run(*module)))
      return llvm::createStringError("the model cannot be prepared");
    returnsTensors ? original.nameTensors(*module) : original.number(*module);
  }
  return original;
}
