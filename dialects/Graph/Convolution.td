//===- Convolution.td - Convolutions -----------------------*- tablegen -*-===//

#ifndef MLC_DIALECTS_GRAPH_CONVOLUTION
#define MLC_DIALECTS_GRAPH_CONVOLUTION

include "dialects/Graph/OpBase.td"

def Mlc_ConvOp : Mlc_Op<"conv"> {
  let summary = "grouped convolution over any number of spatial dims";
  let description = [{
    `Y[n,o,h...] = sum_{c,u...} X<0>[n, g(o) C/G + c, h s + u d - p, ...] W[o,c,u,...]`
    with `g(o) = o div (O/G)`. X is [N, C, spatial...], W is [O, C/G, kernel...].
    `pads` lists all begins, then all ends. A bias is an operator of its own.
    Follows ONNX Conv.
  }];
  let arguments = (ins Mlc_Tensor:$x, Mlc_Tensor:$w, Mlc_DimsAttr:$strides,
                       Mlc_DimsAttr:$pads, Mlc_DimsAttr:$dilations,
                       Mlc_IntExpr:$groups);
}

def Mlc_ConvTransposeOp : Mlc_Op<"conv_transpose"> {
  let summary = "transposed convolution";
  let description = [{
    `Y[n,o,h...] = sum_{c,u...} X<0>[n, g(o) C/G + c, (h + p - u d) / s, ...] W[g(o) C/G + c, o mod O/G, u, ...]`
    where the division is exact, and 0 elsewhere. X is [N, C, spatial...], W is
    [C, O/G, kernel...]. The zeros are multiplied: beside an infinite weight
    they give NaN, as those of a padded convolution do. Follows ONNX
    ConvTranspose.
  }];
  let arguments = (ins Mlc_Tensor:$x, Mlc_Tensor:$w, Mlc_DimsAttr:$strides,
                       Mlc_DimsAttr:$pads, Mlc_DimsAttr:$dilations,
                       Mlc_DimsAttr:$output_padding, Mlc_IntExpr:$groups);
}

class Mlc_BlockedConvOp<string mnemonic, string equation, string text> : Mlc_Op<mnemonic> {
  let summary = text;
  let description = equation # [{

    Channels are blocked: the last dim holds a block of them. There is no
    padding here: a halo is an explicit `mlc.pad`. Made by the layout pass.
  }];
  let arguments = (ins Mlc_Tensor:$x, Mlc_Tensor:$w, Mlc_DimsAttr:$strides,
                       Mlc_DimsAttr:$dilations);
}

def Mlc_ConvBlockedOp : Mlc_BlockedConvOp<"conv_blocked",
    "`Y[n,ob,h...,o] = sum_{cb,u...,c} X[n,cb,h s + u d,...,c] W[ob,cb,u,...,c,o]`",
    "convolution on blocked channels">;
def Mlc_ConvToBlockedOp : Mlc_BlockedConvOp<"conv_to_blocked",
    "`Y[n,ob,h...,o] = sum_{c,u...} X[n,c,h s + u d,...] W[ob,c,u,...,o]`",
    "convolution from plain to blocked channels">;
def Mlc_DepthwiseBlockedOp : Mlc_BlockedConvOp<"depthwise_blocked",
    "`Y[n,cb,h...,c] = sum_{u...} X[n,cb,h s + u d,...,c] W[cb,u,...,c]`",
    "depthwise convolution on blocked channels">;

#endif // MLC_DIALECTS_GRAPH_CONVOLUTION
