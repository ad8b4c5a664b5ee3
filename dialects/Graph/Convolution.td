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

#endif // MLC_DIALECTS_GRAPH_CONVOLUTION
