//===- Pooling.td - Windows over spatial dims --------------*- tablegen -*-===//
//
// Spatial dims are dims 2, 3, ..., as many as `kernel` has; further dims
// (blocked channels) are parallel. `pads` lists all begins, then all ends.
// `ceil_pads` is how far the last window may reach past the padded end (ONNX
// ceil_mode); positions there never count.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_DIALECTS_GRAPH_POOLING
#define MLC_DIALECTS_GRAPH_POOLING

include "dialects/Graph/OpBase.td"

def Mlc_MaxPoolOp : Mlc_Op<"max_pool"> {
  let summary = "maximum over windows";
  let description = [{
    `Y[n,c,h...] = max_{u...} X<-inf>[n, c, h s + u d - p, ...]`. Follows ONNX MaxPool.
  }];
  let arguments = (ins Mlc_Tensor:$x, Mlc_DimsAttr:$kernel, Mlc_DimsAttr:$strides,
                       Mlc_DimsAttr:$pads, Mlc_DimsAttr:$dilations,
                       Mlc_DimsAttr:$ceil_pads);
}

def Mlc_AvgPoolOp : Mlc_Op<"avg_pool"> {
  let summary = "mean over windows";
  let description = [{
    `Y[n,c,h...] = sum_{u...} X<0>[n, c, h s + u d - p, ...] / count(h...)`, the
    count being of positions inside the input, or, with count_include_pad,
    inside the padded input. Follows ONNX AveragePool.
  }];
  let arguments = (ins Mlc_Tensor:$x, Mlc_DimsAttr:$kernel, Mlc_DimsAttr:$strides,
                       Mlc_DimsAttr:$pads, Mlc_DimsAttr:$dilations,
                       Mlc_DimsAttr:$ceil_pads, BoolAttr:$count_include_pad);
}

#endif // MLC_DIALECTS_GRAPH_POOLING
