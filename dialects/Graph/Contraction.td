//===- Contraction.td - Matrix products --------------------*- tablegen -*-===//

#ifndef MLC_DIALECTS_GRAPH_CONTRACTION
#define MLC_DIALECTS_GRAPH_CONTRACTION

include "dialects/Graph/OpBase.td"

def Mlc_MatMulOp : Mlc_Op<"matmul"> {
  let summary = "batched matrix product";
  let description = [{
    `Y[b..., m, n] = sum_k A[b..., m, k] * B[b..., k, n]`. Batch dims are equal;
    broadcasts are explicit operators.
  }];
  let arguments = (ins Mlc_Tensor:$lhs, Mlc_Tensor:$rhs);
}

#endif // MLC_DIALECTS_GRAPH_CONTRACTION
