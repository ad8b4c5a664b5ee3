//===- RandomOps.h - The operators of Random.td -----------------*- C++ -*-===//

#ifndef MLC_DIALECTS_GRAPH_RANDOMOPS_H
#define MLC_DIALECTS_GRAPH_RANDOMOPS_H

#include "dialects/Graph/OpBase.h"

#define GET_OP_CLASSES
#include "dialects/Graph/Random.h.inc"

#endif // MLC_DIALECTS_GRAPH_RANDOMOPS_H
