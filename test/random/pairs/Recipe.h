//===- Recipe.h - A function as data ----------------------------*- C++ -*-===//
//
// What the generator makes and changes: arguments, steps and a result, from
// which a function is built. Numbers name values: first the arguments, then
// the steps; a step may read any other, and those that the result does not
// need are not built.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_TEST_RANDOM_PAIRS_RECIPE_H
#define MLC_TEST_RANDOM_PAIRS_RECIPE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "verifier/Verifier.h"
#include <random>
#include <string>
#include <vector>

namespace mlc::test {

struct Step {
  std::string op; // "mlc.add", "arith.addi"
  std::vector<unsigned> operands;
  std::vector<mlir::NamedAttribute> attributes;
  /// Of the scalar (operators of mlc infer theirs).
  mlir::Type type;
};

struct Recipe {
  /// Of tensors; of elements where `isScalar`.
  std::vector<mlir::Type> arguments;
  std::vector<Step> steps;
  unsigned result = 0;
  /// Steps are scalar operations in the region of one linalg.generic.
  bool isScalar = false;
  std::vector<std::string> conditions;
  std::vector<std::pair<unsigned, std::string>> predicates;

  unsigned add(Step step) {
    steps.push_back(std::move(step));
    return arguments.size() + steps.size() - 1;
  }
  Step *stepOf(unsigned value) {
    return value < arguments.size() ? nullptr
                                    : &steps[value - arguments.size()];
  }
  const Step *stepOf(unsigned value) const {
    return const_cast<Recipe *>(this)->stepOf(value);
  }
};

using Random = std::mt19937_64;

template <typename List> auto &oneOf(List &list, Random &random) {
  return list[random() % std::size(list)];
}

/// Adds the recipe's function to a module; null when it is not well formed.
/// `values`, if given, becomes the built value of each number (null: not
/// needed).
mlir::func::FuncOp build(const Recipe &recipe, mlir::ModuleOp module,
                         llvm::StringRef name,
                         std::vector<mlir::Value> *values = nullptr);

/// A random function of operators of mlc, or of scalars.
Recipe makeGraph(mlir::MLIRContext *context, Random &random);
Recipe makeScalars(mlir::MLIRContext *context, Random &random);

/// Changes a recipe in one place so that its value stays the same; false when
/// what was tried does not apply. `types`: of all values.
bool preserve(Recipe &recipe, llvm::ArrayRef<mlir::Type> types, Random &random);
/// Changes a recipe in one place in any way.
bool mutate(Recipe &recipe, llvm::ArrayRef<mlir::Type> types, Random &random);
/// Takes a part of `other` over, where types allow it.
bool recombine(Recipe &recipe, llvm::ArrayRef<mlir::Type> types,
               const Recipe &other, llvm::ArrayRef<mlir::Type> otherTypes,
               Random &random);

/// What evaluation, which shares nothing with the verifier's reading of the
/// functions, says of them.
struct Label {
  enum class Kind { Nothing, Equal, Different };
  Kind kind = Kind::Nothing;
  unsigned instances = 0; // on which both were defined and equal
  std::string where;      // Different: sizes and values
};
Label labelGraphs(mlir::func::FuncOp before, mlir::func::FuncOp after,
                  const Assumptions &assumptions, uint64_t seed);
Label labelScalars(mlir::func::FuncOp before, mlir::func::FuncOp after,
                   uint64_t seed);

} // namespace mlc::test

#endif // MLC_TEST_RANDOM_PAIRS_RECIPE_H
