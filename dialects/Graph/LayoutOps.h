//===- LayoutOps.h - The operators of Layout.td -----------------*- C++ -*-===//

#ifndef MLC_DIALECTS_GRAPH_LAYOUTOPS_H
#define MLC_DIALECTS_GRAPH_LAYOUTOPS_H

#include "dialects/Definition/Layout.h"
#include "dialects/Graph/OpBase.h"

#define GET_OP_CLASSES
#include "dialects/Graph/Layout.h.inc"

#endif // MLC_DIALECTS_GRAPH_LAYOUTOPS_H
