//===- Layout.td - Operators on stored tensors -------------*- tablegen -*-===//

#ifndef MLC_DIALECTS_GRAPH_LAYOUT
#define MLC_DIALECTS_GRAPH_LAYOUT

include "dialects/Graph/OpBase.td"

def Mlc_PackOp : Mlc_Op<"pack"> {
  let summary = "a tensor stored in another layout";
  let description = [{
    `Y[b, l, s...] = X<0>[16 b + l, s...]` for `#mlc.layout<[a div 16, a mod 16,
    b, ...]>`, and so for every layout: what is stored at a place is the element
    there; fills are zero. Made by the layout pass.
  }];
  let arguments = (ins Mlc_Tensor:$x, Mlc_LayoutAttr:$layout);
}

def Mlc_UnpackOp : Mlc_Op<"unpack"> {
  let summary = "the tensor that is stored in a layout";
  let description = [{
    `Y[c, s...] = X[c div 16, c mod 16, s...]` for `#mlc.layout<[a div 16,
    a mod 16, b, ...]>`: the inverse of `pack`; fills are dropped.
  }];
  let arguments = (ins Mlc_Tensor:$x, Mlc_LayoutAttr:$layout);
}

def Mlc_LaidOutOp : Mlc_Op<"laid_out"> {
  let summary = "another operator on tensors that are stored in layouts";
  let description = [{
    The operator called `plain_op`, with `plain_attributes`, of tensors that are
    stored as `layouts` says: one for each operand, then the result's. Its
    definition is that operator's with indices replaced; what is stored in the
    result's fills is what that gives. An operator that sums over a filled dim
    means the same only where fills give zeros: the layout pass sees to that.

    `Y[n,ob,h,w,o] = sum_{cb,u,v,c} X[n,cb,h+u,w+v,c] W[ob,cb,u,v,c,o]` is
    `mlc.conv` with X and Y in blocks of channels and W in blocks of both.
  }];
  let arguments = (ins Variadic<Mlc_Tensor>:$operands, StrAttr:$plain_op,
                       DictionaryAttr:$plain_attributes, ArrayAttr:$layouts);
}

#endif // MLC_DIALECTS_GRAPH_LAYOUT
