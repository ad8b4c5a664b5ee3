//===- MovementOps.h - The operators of Movement.td -------------*- C++ -*-===//

#ifndef MLC_DIALECTS_GRAPH_MOVEMENTOPS_H
#define MLC_DIALECTS_GRAPH_MOVEMENTOPS_H

#include "dialects/Graph/OpBase.h"

#define GET_OP_CLASSES
#include "dialects/Graph/Movement.h.inc"

#endif // MLC_DIALECTS_GRAPH_MOVEMENTOPS_H
