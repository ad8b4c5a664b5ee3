//===- Original.h - A model beside the graph made of it ---------*- C++ -*-===//
//
// The input of a search: the model's file, and which tensor of the model is
// which term of its trail (rewrites/ProofLog/Trail.h).
//
//===----------------------------------------------------------------------===//

#ifndef MLC_PASSES_EXPORT_ORIGINAL_H
#define MLC_PASSES_EXPORT_ORIGINAL_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/Import/ForExport.h"
#include "rewrites/ProofLog/Trail.h"
#include "llvm/ADT/StringMap.h"
#include <map>

namespace mlc {

class OriginalModel {
public:
  /// Name, types, attributes and operands of an operator.
  using Key = std::vector<uint64_t>;

  /// Imports the file and prepares it for a search.
  static llvm::Expected<OriginalModel> read(ModelFile &file,
                                            const ImportOptions &options,
                                            mlir::MLIRContext *context);

  const onnx::ModelProto &proto() const { return file->proto(); }
  ModelFile &getFile() const { return *file; }

  /// The term of a tensor, if it has a value.
  std::optional<TermId> termOf(llvm::StringRef tensor) const {
    auto it = tensors.find(tensor);
    return it == tensors.end() ? std::nullopt : std::optional(it->second);
  }
  size_t numTerms() const { return terms.size(); }
  bool isArgument(TermId term) const { return term < numArguments; }
  bool isConstant(TermId term) const { return terms[term].isConstant; }
  /// The first term of the operator that makes `term`, and the operator's
  /// operands.
  TermId firstOf(TermId term) const { return terms[term].first; }
  llvm::ArrayRef<TermId> operandsOf(TermId term) const {
    return terms[terms[term].first].operands;
  }
  /// The trail of a search without steps.
  const Trail &getIdentity() const { return identity; }

private:
  struct Term {
    TermId first;
    bool isConstant = false;
    std::vector<TermId> operands; // of the operator, at its first term
  };
  void number(mlir::ModuleOp module);
  void nameTensors(mlir::ModuleOp module);

  ModelFile *file = nullptr;
  std::vector<Term> terms;
  unsigned numArguments = 0;
  llvm::StringMap<TermId> tensors;
  std::map<Key, TermId> termOfKey;
  Trail identity;
};

} // namespace mlc

#endif // MLC_PASSES_EXPORT_ORIGINAL_H
