//===- StageEntry.cpp - The entries of stages -----------------------------===//

#include "runtime/schedule/StageEntry.h"

#include <charconv>

using namespace mlc::runtime::schedule;

std::optional<StageEntry> StageEntry::parse(std::string_view name) {
  StageEntry entry;
  const char *end = name.data() + name.size();
  auto [rest, error] = std::from_chars(name.data(), end, entry.stage);
  if (error != std::errc() || entry.stage < 0)
    return std::nullopt;
  for (ActionKind kind :
       {ActionKind::Forward, ActionKind::Backward, ActionKind::InputGradient,
        ActionKind::WeightGradient, ActionKind::Norm, ActionKind::Step}) {
    entry.kind = kind;
    if (entry.name() == name)
      return entry;
  }
  return std::nullopt;
}
