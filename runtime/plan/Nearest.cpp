//===- Nearest.cpp - The name that a misspelt one stands for --------------===//

#include "runtime/plan/Nearest.h"

#include <algorithm>
#include <cstddef>

namespace mlc::runtime {

/// Levenshtein's distance.
static size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j)
    row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

std::string_view nearestName(std::string_view name,
                             const std::vector<std::string_view> &candidates) {
  constexpr size_t longest = 256;
  std::string_view best;
  size_t least = 0;
  for (std::string_view candidate : candidates) {
    if (name.size() > longest || candidate.size() > longest)
      continue;
    const size_t changes = distance(name, candidate);
    if (2 * changes > std::max(name.size(), candidate.size()))
      continue;
    if (best.empty() || changes < least) {
      best = candidate;
      least = changes;
    }
  }
  return best;
}

} // namespace mlc::runtime
