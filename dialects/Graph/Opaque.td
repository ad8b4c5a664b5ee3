//===- Opaque.td - Operators without a definition ----------*- tablegen -*-===//

#ifndef MLC_DIALECTS_GRAPH_OPAQUE
#define MLC_DIALECTS_GRAPH_OPAQUE

include "dialects/Graph/OpBase.td"

def Mlc_TopKOp : Op<Mlc_Dialect, "top_k", [Pure,
    DeclareOpInterfaceMethods<OpaqueOpInterface,
        ["getRequirements", "getEvaluator", "getSharedDims", "createStacked",
         "getCandidateTypes", "createCandidates", "chooseCandidates",
         "createGradients"]>]> {
  let summary = "the k largest or smallest elements along an axis";
  let description = [{
    Values and their i64 indices; equal elements in order of index. Follows ONNX
    TopK. `sorted = false` still sorts.
  }];
  let arguments = (ins Mlc_Tensor:$x, I64Attr:$axis, Mlc_IntExpr:$k,
                       BoolAttr:$largest, BoolAttr:$sorted);
  let results = (outs Mlc_Tensor:$values, Mlc_Tensor:$indices);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

#endif // MLC_DIALECTS_GRAPH_OPAQUE
