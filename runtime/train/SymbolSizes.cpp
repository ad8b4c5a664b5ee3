//===- SymbolSizes.cpp - Dims of what entries carry -----------------------===//

#include "runtime/train/SymbolSizes.h"
#include "runtime/Ranks.h"

using namespace mlc::runtime;
using namespace mlc::runtime::train;

Status train::findDims(const Artifact &artifact, const Program &program,
                       const Buffer &buffer, int rank, const SymbolSizes &sizes,
                       bool &isKnown, std::vector<int64_t> &dims) {
  const std::vector<int64_t> at = coordinatesOf(artifact.mesh(), rank);
  std::vector<int64_t> symbols(program.symbols.size());
  std::vector<uint8_t> known(symbols.size());
  for (size_t i = 0; i < symbols.size(); ++i) {
    const Symbol &symbol = program.symbols[i];
    auto found = sizes.find(symbol.name);
    if (symbol.kind == Symbol::FromRank)
      symbols[i] = at[symbol.source];
    else if (found != sizes.end())
      symbols[i] = found->second;
    else
      continue;
    known[i] = true;
  }
  isKnown = true;
  std::vector<int64_t> made;
  for (ExprId dim : buffer.dims) {
    const Expr &expr = program.exprs[dim];
    for (const Expr::Inst &inst : expr.code)
      if (inst.op == Expr::Symbol && !known[inst.operand]) {
        isKnown = false;
        return Status::success();
      }
    if (Status status = evaluate(expr, symbols.data(), made.emplace_back());
        !status.ok())
      return status;
  }
  dims = std::move(made);
  return Status::success();
}
