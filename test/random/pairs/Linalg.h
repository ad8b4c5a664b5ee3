//===- Linalg.h - Random functions of linalg on tensors ---------*- C++ -*-===//
//
// A function of linalg, tensor, arith and math is an expression over tensors:
// element by element, reduced, moved. One expression has many texts (regions
// fused or not, transposed by maps or by operations, loops in any order, tiles
// in scf.for), which are equal by construction.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_TEST_RANDOM_PAIRS_LINALG_H
#define MLC_TEST_RANDOM_PAIRS_LINALG_H

#include "Recipe.h"
#include "dialects/Symbolic/Attributes.h"

namespace mlc::test {

struct Tree;
using TreeRef = std::shared_ptr<const Tree>;

/// An expression over tensors of rank 1 and 2. Sizes are in n and m, the dims
/// of the first argument.
struct Tree {
  enum class Kind {
    Argument,  // `number`
    Map,       // `name`, an operation on elements
    Constant,  // `number` everywhere
    Index,     // the index along `axis`, as a number
    Reduce,    // by `name` along `axis`, of rank 2
    Contract,  // the product of two matrices
    Transpose, // of rank 2
    Broadcast, // of rank 1, which is `axis` of the result
    Slice,     // along `axis` from `number` on, each `step`-th
    Pad,       // along `axis`, `low` before and `high` behind, by `number`
    Collapse,  // of rank 2
    Expand,    // of rank 1 to the rank-2 dims
  };
  Kind kind;
  std::string type; // of elements: "f64", "i32", "i8", "i1"
  llvm::SmallVector<IntExpr> dims;
  std::string name = {};
  std::vector<TreeRef> operands = {};
  int64_t number = 0;
  unsigned axis = 0;
  int64_t step = 1, low = 0, high = 0;
};

/// The expressions of both sides, and the types of arguments that both take.
struct LinalgPair {
  TreeRef before, after;
  std::vector<TreeRef> arguments;
  bool isTrue = false; // by construction
};

LinalgPair makeLinalgPair(mlir::MLIRContext *context, Random &random);

/// A function's text. `isPlain`: without tiles, which ask less of the dims of
/// their operands than the operations that they are made of.
std::string linalgText(const LinalgPair &pair, const TreeRef &tree,
                       llvm::StringRef name, bool isPlain, Random &random);

/// Runs both functions on random inputs, by upstream's folders.
Label labelLinalg(const LinalgPair &pair, mlir::func::FuncOp before,
                  mlir::func::FuncOp after, uint64_t seed);

bool isFloat(llvm::StringRef type);

} // namespace mlc::test

#endif // MLC_TEST_RANDOM_PAIRS_LINALG_H
