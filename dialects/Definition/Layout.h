//===- Layout.h - Storage layouts of tensors --------------------*- C++ -*-===//
//
// A layout says how the elements of a tensor are stored in another one: dims in
// another order, a dim split into blocks whose lanes are a separate dim, the
// last block filled up. Element x[n, c, h, w] of 24 channels in blocks of 16 is
// stored at [n, c div 16, h, w, c mod 16]. The positions [n, 1, h, w, 8] and
// beyond are *fills*, not elements.
//
// An operator on stored tensors is not a new operator: its definition is the
// plain one with indices replaced. Every loop over a split dim becomes two, b
// and l for c = 16 b + l, and a read at channel c becomes a read at block b and
// lane l. `layOut` does that for any definition, or says what prevents it.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_DIALECTS_DEFINITION_LAYOUT_H
#define MLC_DIALECTS_DEFINITION_LAYOUT_H

#include "dialects/Definition/Definition.h"
#include "llvm/Support/Error.h"

namespace mlc {

/// The stored indices of an element: one per stored dim.
llvm::SmallVector<Expr> storedIndices(LayoutAttr layout,
                                      llvm::ArrayRef<Expr> plain);
/// The index along a split dim of a lane of a block; past the end of its group
/// for fills.
Expr elementIndex(const DimSplit &split, Expr block, Expr lane);

/// Builds `plain` with operands and results stored as the layouts say; the
/// builder's inputs are the stored tensors. A result's fills are what the
/// definition gives there. Returns true if a sum runs over all lanes of an
/// operand's blocks: it equals that of the plain definition only if fills give
/// zeros. Fails, with the reason, if block and lane of an index of a split dim
/// cannot be found: the index must be a loop over a dim with the same split,
/// offset by whole blocks. Precondition: one layout per operand, of its rank
/// and dims.
llvm::Expected<bool> layOut(const Definition &plain,
                            llvm::ArrayRef<LayoutAttr> operands,
                            LayoutAttr result, DefinitionBuilder &builder);

} // namespace mlc

#endif // MLC_DIALECTS_DEFINITION_LAYOUT_H
