//===- ContractionOps.h - The operators of Contraction.td -------*- C++ -*-===//

#ifndef MLC_DIALECTS_GRAPH_CONTRACTIONOPS_H
#define MLC_DIALECTS_GRAPH_CONTRACTIONOPS_H

#include "dialects/Graph/OpBase.h"

#define GET_OP_CLASSES
#include "dialects/Graph/Contraction.h.inc"

#endif // MLC_DIALECTS_GRAPH_CONTRACTIONOPS_H
