//===- ReductionOps.h - The operators of Reduction.td -----------*- C++ -*-===//

#ifndef MLC_DIALECTS_GRAPH_REDUCTIONOPS_H
#define MLC_DIALECTS_GRAPH_REDUCTIONOPS_H

#include "dialects/Graph/OpBase.h"

#define GET_OP_CLASSES
#include "dialects/Graph/Reduction.h.inc"

#endif // MLC_DIALECTS_GRAPH_REDUCTIONOPS_H
