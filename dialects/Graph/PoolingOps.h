//===- PoolingOps.h - The operators of Pooling.td ---------------*- C++ -*-===//

#ifndef MLC_DIALECTS_GRAPH_POOLINGOPS_H
#define MLC_DIALECTS_GRAPH_POOLINGOPS_H

#include "dialects/Graph/OpBase.h"

#define GET_OP_CLASSES
#include "dialects/Graph/Pooling.h.inc"

#endif // MLC_DIALECTS_GRAPH_POOLINGOPS_H
