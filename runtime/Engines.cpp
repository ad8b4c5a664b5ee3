//===- Engines.cpp - Properties of each engine ----------------------------===//

#include "runtime/Engines.h"

#include <iterator>
#include <vector>

namespace mlc::runtime::engines {

namespace {

/// How many rows have this value in the column.
template <typename Column>
constexpr int count(Column Row::*column, Column value) {
  int found = 0;
  for (const Row &row : all)
    found += row.*column == value;
  return found;
}

template <typename Column> const Row &only(Column Row::*column, Column value) {
  const Row *found = all;
  while (found->*column != value)
    ++found;
  return *found;
}

// Threads are opened over the engine inside mlc, and a launcher has one engine.
static_assert(count(&Row::ranks, Threads) == 1);
static_assert(count(&Row::isDefault, OfMpirun) == 1);
static_assert(count(&Row::isDefault, OfRendezvous) == 1);
static_assert(count(&Row::memory, Gpu) >= 1);

/// "a, b<last>c".
std::string join(const std::vector<std::string> &words, const char *last) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i)
    text += (i == 0 ? "" : i + 1 == words.size() ? last : ", ") + words[i];
  return text;
}

} // namespace

const Row *find(std::string_view name) {
  for (const Row &row : all)
    if (name == row.name)
      return &row;
  return nullptr;
}

const Row &ofThreads() { return only(&Row::ranks, Threads); }

const Row &ofLauncher(Default launcher) {
  return only(&Row::isDefault, launcher);
}

std::string names() {
  std::vector<std::string> words;
  for (const Row &row : all)
    words.emplace_back(row.name);
  return join(words, " and ");
}

std::string namesForGpus() {
  std::vector<std::string> words;
  for (const Row &row : all)
    if (row.memory == Gpu)
      words.emplace_back(row.name);
  return join(words, " or ");
}

std::string uses() {
  std::vector<std::string> words;
  for (const Row &row : all)
    words.push_back(std::string(row.name) + " (" + row.use + ")");
  words.emplace_back("an engine's path");
  return join(words, ", or ");
}

} // namespace mlc::runtime::engines
