//===- PointwiseOps.h - The operators of Pointwise.td -----------*- C++ -*-===//

#ifndef MLC_DIALECTS_GRAPH_POINTWISEOPS_H
#define MLC_DIALECTS_GRAPH_POINTWISEOPS_H

#include "dialects/Graph/OpBase.h"
#include "dialects/Graph/Pointwise.h"

#define GET_OP_CLASSES
#include "dialects/Graph/Pointwise.h.inc"

#endif // MLC_DIALECTS_GRAPH_POINTWISEOPS_H
