//===- ModelOps.h - The operators of Model.td -------------------*- C++ -*-===//

#ifndef MLC_DIALECTS_GRAPH_MODELOPS_H
#define MLC_DIALECTS_GRAPH_MODELOPS_H

#include "dialects/Graph/OpBase.h"

#define GET_OP_CLASSES
#include "dialects/Graph/Model.h.inc"

#endif // MLC_DIALECTS_GRAPH_MODELOPS_H
