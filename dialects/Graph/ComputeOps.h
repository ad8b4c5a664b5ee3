//===- ComputeOps.h - The operators of Compute.td ---------------*- C++ -*-===//

#ifndef MLC_DIALECTS_GRAPH_COMPUTEOPS_H
#define MLC_DIALECTS_GRAPH_COMPUTEOPS_H

#include "dialects/Graph/OpBase.h"

#define GET_OP_CLASSES
#include "dialects/Graph/Compute.h.inc"

#endif // MLC_DIALECTS_GRAPH_COMPUTEOPS_H
