//===- Layout.h - How tensors are stored ------------------------*- C++ -*-===//
//
// A layout says how the elements of a tensor are stored in another: dims in
// another order, a dim cut into blocks whose lanes are a dim of their own, the
// last block filled up. Element x[n, c, h, w] of 24 channels in blocks of 16 is
// stored at [n, c div 16, h, w, c mod 16], and what is stored at [n, 1, h, w,
// 8] and beyond is a *fill*, no element.
//
// An operator on stored tensors is no other operator: its definition is the
// plain one with indices replaced. Every loop over a cut dim becomes two, b and
// l for c = 16 b + l, and a read at channel c becomes a read at block b and
// lane l. `layOut` does that for any definition, or says what is in the way.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_DIALECTS_INTERFACES_LAYOUT_H
#define MLC_DIALECTS_INTERFACES_LAYOUT_H

#include "dialects/Interfaces/Definition.h"
#include "llvm/Support/Error.h"

namespace mlc {

/// Where the element with these indices is stored: one index per stored dim.
llvm::SmallVector<Expr> storedIndices(LayoutAttr layout,
                                      llvm::ArrayRef<Expr> plain);
/// The index along a cut dim of what is stored in a lane of a block; past the
/// end of its group for fills.
Expr elementIndex(const DimSplit &split, Expr block, Expr lane);

/// Builds `plain` with operands and results stored as the layouts say; the
/// builder's inputs are the stored tensors. A result's fills are what the
/// definition gives there. True: a sum runs over all lanes of an operand's
/// blocks, and is that of the plain definition only where fills give zeros.
/// Fails, saying why, where blocks and lanes cannot be told of an index of a
/// cut dim: it must be a loop over one cut alike, at whole blocks.
/// Precondition: one layout for each operand, of its rank and dims.
llvm::Expected<bool> layOut(const Definition &plain,
                            llvm::ArrayRef<LayoutAttr> operands,
                            LayoutAttr result, DefinitionBuilder &builder);

} // namespace mlc

#endif // MLC_DIALECTS_INTERFACES_LAYOUT_H
