//===- DefinitionText.h - Definitions as text, and back ---------*- C++ -*-===//
//
// The inline syntax of a definition in an `mlc.compute`:
//
//   (w, s, v; m; eps) Y[o, c] = w[o, c] * s[o] / sqrt(v[o] + eps)
//   (w; e, k) Y[o, u] = w<0>[o, u - e] / f32(k)
//   (a, b; n) T[i < n] = sum{r < n}(a[i, r] * b[r]); Y[i] = T[i] / T[0]
//
//   definition := header stage (';' stage)*
//   header     := '(' names (';' names (';' names)?)? ')'
//                 tensors (the operands in order); integers; real parameters
//   stage      := name '[' loops ']' '=' expr
//                 the last stage is the result: its loops have no bounds, they
//                 run over the operator's dims; other stages give `i < extent`
//   expr       := sum (('<' | '<=' | '>' | '>=' | '==' | '!=') sum)?
//   sum        := product (('+' | '-') product)*
//   product    := factor (('*' | '/') factor)*
//   factor     := '-' factor | '(' expr ')' | number | loop, integer or real
//               | name ('<' factor '>')? '[' exprs ']'
//                 an element of an operand or an earlier stage, and its value
//                 where an index is out of range
//               | function '(' exprs ')'
//                 one of ScalarFunctions.def by its name (abs, exp, ...);
//                 floordiv mod min max pow and or xor;
//                 select(condition, then, else); an element type (a cast)
//               | reduction '{' loops '}' '(' expr ')'
//                 sum prod max min any all, over `i < extent`, ...
//
// Index expressions are integers and never mix with elements without a cast;
// `floordiv` and `mod` take a divisor without loops, required to be positive. A
// literal takes the other operand's type (two literals, one with a fraction,
// are elements). A read without `<..>` must be evidently in range
// (isEvidentlyInRange), so that no text reads out of bounds.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_DIALECTS_DEFINITION_DEFINITIONTEXT_H
#define MLC_DIALECTS_DEFINITION_DEFINITIONTEXT_H

#include "dialects/Definition/Definition.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/Error.h"

namespace mlc {

/// The integers and reals that the header names, in its order, and the type of
/// the result.
struct DefinitionArguments {
  llvm::ArrayRef<IntExpr> integers;
  llvm::ArrayRef<RealAttr> reals;
  llvm::ArrayRef<IntExpr> dims;
  mlir::Type elementType;
};

/// Parses `text` into `builder`, whose inputs are the header's tensors. The
/// text is untrusted: errors have a position and a reason, and recursion and
/// growth are limited.
llvm::Error parseDefinition(llvm::StringRef text,
                            const DefinitionArguments &arguments,
                            DefinitionBuilder &builder);

/// The inverse, for definitions with one result whose stages have one piece
/// each: a text that parses to the same stages. Integers are the symbols of the
/// definition and reals its parameters, each in order of appearance.
struct DefinitionText {
  std::string text;
  std::vector<std::string> integers, reals;
};
DefinitionText printDefinition(const Definition &definition,
                               llvm::ArrayRef<std::string> tensorNames);

/// Whether 0 <= index < dim follows from the loops' extents by interval
/// arithmetic, for all values of symbols.
bool isEvidentlyInRange(const Expr &index, IntExpr dim,
                        const llvm::DenseMap<unsigned, IntExpr> &extents);

} // namespace mlc

#endif // MLC_DIALECTS_DEFINITION_DEFINITIONTEXT_H
