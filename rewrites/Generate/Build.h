//===- Build.h - Variants as operators of the mlc dialect -------*- C++ -*-===//

#ifndef MLC_REWRITES_GENERATE_BUILD_H
#define MLC_REWRITES_GENERATE_BUILD_H

#include "dialects/Definition/OpInterfaces.h"
#include "rewrites/Generate/Variants.h"
#include <map>

namespace mlc::generate {

/// The dims that a variant's text names, parsed: "n, g * cg, h".
llvm::SmallVector<IntExpr> parseDims(mlir::MLIRContext *context,
                                     llvm::StringRef text);

/// Builds operators of variants in one context. Parses each text once.
class VariantBuilder {
public:
  explicit VariantBuilder(mlir::MLIRContext *context) : context(context) {}

  /// The constant of this name and these dims, for "@name [dims]".
  using Constants = llvm::function_ref<mlir::Value(
      llvm::StringRef name, llvm::ArrayRef<IntExpr> dims)>;

  /// Appends the operators of a variant; fails silently if its types do not
  /// fit.
  mlir::FailureOr<mlir::Value> build(mlir::OpBuilder &builder,
                                     llvm::ArrayRef<Step> steps,
                                     mlir::ValueRange operands,
                                     Constants constants);

  mlir::MLIRContext *getContext() const { return context; }

private:
  struct Operand {
    char kind = 'x'; // 'x', 'y', '%', '@'
    unsigned step = 0;
    std::string name;
    DimsAttr dims;
  };
  struct Parsed {
    std::vector<Operand> operands;
    mlir::DictionaryAttr attributes;
  };
  const Parsed &parse(const Step &step);

  mlir::MLIRContext *context;
  std::map<const Step *, Parsed> parsed;
};

} // namespace mlc::generate

#endif // MLC_REWRITES_GENERATE_BUILD_H
