//===- Nearest.h - The name that a misspelt one stands for ------*- C++ -*-===//

#ifndef MLC_RUNTIME_PLAN_NEAREST_H
#define MLC_RUNTIME_PLAN_NEAREST_H

#include <string_view>
#include <vector>

namespace mlc::runtime {

/// The candidate with the fewest insertions, deletions and replacements of
/// characters from `name`, the first of several; empty if that is more than
/// half of the longer name, or if there is none. Long names (beyond 256
/// characters) are not compared.
std::string_view nearestName(std::string_view name,
                             const std::vector<std::string_view> &candidates);

} // namespace mlc::runtime

#endif // MLC_RUNTIME_PLAN_NEAREST_H
