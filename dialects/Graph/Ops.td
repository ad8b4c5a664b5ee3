//===- Ops.td - All operators of the mlc dialect -----------*- tablegen -*-===//

#ifndef MLC_DIALECTS_GRAPH_OPS
#define MLC_DIALECTS_GRAPH_OPS

include "dialects/Graph/Compute.td"
include "dialects/Graph/Contraction.td"
include "dialects/Graph/Convolution.td"
include "dialects/Graph/Layout.td"
include "dialects/Graph/Model.td"
include "dialects/Graph/Movement.td"
include "dialects/Graph/Opaque.td"
include "dialects/Graph/Pointwise.td"
include "dialects/Graph/Pooling.td"
include "dialects/Graph/Random.td"
include "dialects/Graph/Reduction.td"

#endif // MLC_DIALECTS_GRAPH_OPS
