//===- Table.cpp - A training step as a table of actions ------------------===//

#include "runtime/schedule/Table.h"
#include <algorithm>

using namespace mlc::runtime;
using namespace mlc::runtime::schedule;

namespace {
struct KindRow {
  const char *text;
  bool hasMicroBatch, isCompute;
};
constexpr KindRow rows[] = {
#define ACTION(NAME, TEXT, HAS_MICRO_BATCH, IS_COMPUTE)                        \
  {TEXT, HAS_MICRO_BATCH, IS_COMPUTE},
#include "runtime/schedule/Actions.def"
};
} // namespace

const char *schedule::toText(ActionKind kind) {
  return rows[size_t(kind)].text;
}

bool schedule::hasMicroBatch(ActionKind kind) {
  return rows[size_t(kind)].hasMicroBatch;
}

bool schedule::isCompute(ActionKind kind) {
  return rows[size_t(kind)].isCompute;
}
