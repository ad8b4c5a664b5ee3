//===- Catalog.h - A leaf set's operators, ready to run ---------*- C++ -*-===//
//
// Types and applications of one leaf set. A type is identified by its sizes in
// every instantiation; two spellings of the same sizes are one type. A variant
// applies to operands when it is well formed in every instantiation.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_REWRITES_GENERATE_CATALOG_H
#define MLC_REWRITES_GENERATE_CATALOG_H

#include "dialects/Evaluator/FixedProgram.h"
#include "dialects/Evaluator/Guided.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "rewrites/Generate/Build.h"
#include "llvm/ADT/SmallVector.h"

namespace mlc::generate {

struct TensorType {
  llvm::SmallVector<IntExpr> dims; // as first met
  std::vector<uint32_t> counts;    // elements in each instantiation
};

struct Application {
  uint32_t variant = 0;
  uint32_t type = 0;
  /// Numbers of the constants that follow the operands as inputs.
  llvm::SmallVector<uint32_t, 4> constants;
  std::vector<FixedProgram> programs; // one for each instantiation

  Application() = default;
  Application(Application &&) = default;
  Application &operator=(Application &&) = default;
};

class Catalog {
public:
  /// Holds only the variants whose operator is in `ops` (all if empty).
  Catalog(const LeafSet &leafSet, llvm::ArrayRef<std::string> ops);

  const LeafSet &getLeafSet() const { return leafSet; }
  unsigned getNumInstantiations() const { return leafSet.sizes.size(); }
  llvm::ArrayRef<uint32_t> unaryVariants() const { return unary; }
  llvm::ArrayRef<uint32_t> binaryVariants() const { return binary; }

  const TensorType &type(uint32_t i) const { return types[i]; }
  uint32_t numTypes() const { return types.size(); }
  uint32_t typeOfLeaf(unsigned leaf) const { return leafTypes[leaf]; }

  /// The application's number; nullopt if the variant does not apply. Not
  /// thread-safe if the answer is new.
  std::optional<uint32_t> apply(uint32_t variant,
                                llvm::ArrayRef<uint32_t> operandTypes);
  const Application &application(uint32_t i) const { return applications[i]; }

  /// The elements of a constant in an instantiation.
  const Guided *constant(uint32_t i, unsigned instantiation) const {
    return constants[i].values[instantiation].data();
  }

  /// Computes the application on its operands in an instantiation.
  void run(const Application &application, unsigned instantiation,
           llvm::ArrayRef<const Guided *> operands, Guided *out) const;

  /// Applications that were left out because their values are too large.
  unsigned numTooLarge = 0;

private:
  struct Constant {
    std::string key;
    std::vector<std::vector<Guided>> values;
  };

  std::optional<uint32_t> intern(llvm::ArrayRef<IntExpr> dims);
  uint32_t internConstant(llvm::StringRef name, llvm::ArrayRef<IntExpr> dims);
  std::optional<Application> compile(uint32_t variant,
                                     llvm::ArrayRef<uint32_t> operandTypes);

  const LeafSet &leafSet;
  std::unique_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  VariantBuilder builder;
  std::vector<uint32_t> unary, binary;
  std::vector<uint32_t> leafTypes;
  std::vector<TensorType> types;
  std::map<std::vector<int64_t>, uint32_t> typeNumbers;
  std::vector<Application> applications;
  std::map<std::vector<uint32_t>, std::optional<uint32_t>> known;
  std::vector<Constant> constants;
};

enum class Signs { Both, Negative, Positive };

/// The signs of a leaf's numbers: all positive in the last instantiation; in
/// the others mostly mixed, sometimes negative (so that a maximum is negative),
/// or positive while other leaves are not (so that a root is defined).
Signs signsOf(unsigned leaf, unsigned instantiation,
              unsigned numInstantiations);

/// Sample values of a leaf or constant: numbers of similar magnitude, times
/// `scale`, a power of 4.
std::vector<Guided> sampleValues(uint64_t seed, size_t count, Signs signs,
                                 double scale = 1.0);

} // namespace mlc::generate

#endif // MLC_REWRITES_GENERATE_CATALOG_H
