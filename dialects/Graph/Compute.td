//===- Compute.td - An inline definition -------------------*- tablegen -*-===//

#ifndef MLC_DIALECTS_GRAPH_COMPUTE
#define MLC_DIALECTS_GRAPH_COMPUTE

include "dialects/Graph/OpBase.td"

def Mlc_ComputeOp : Mlc_Op<"compute"> {
  let summary = "a tensor by a definition of its own";
  let description = [{
    The definition stands inline, in index notation:

    `(w, s, v; ; eps) Y[o, c] = w[o, c] * s[o] / sqrt(v[o] + eps)`

    The header names the operands, then the `integers`, then the `reals`; the
    result has these `dims` and this element `type`. The syntax is in
    dialects/Definition/DefinitionText.h. Weights that a rule solves for are
    such tensors; over constants they are computed at compile time.
  }];
  let arguments = (ins Variadic<Mlc_Tensor>:$operands, StrAttr:$definition,
                       Mlc_DimsAttr:$dims, Mlc_DimsAttr:$integers,
                       ArrayAttr:$reals, TypeAttr:$type);
}

#endif // MLC_DIALECTS_GRAPH_COMPUTE
