//===- OpaqueOps.h - The operators of Opaque.td -----------------*- C++ -*-===//

#ifndef MLC_DIALECTS_GRAPH_OPAQUEOPS_H
#define MLC_DIALECTS_GRAPH_OPAQUEOPS_H

#include "dialects/Graph/OpBase.h"

#define GET_OP_CLASSES
#include "dialects/Graph/Opaque.h.inc"

#endif // MLC_DIALECTS_GRAPH_OPAQUEOPS_H
