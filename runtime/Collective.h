//===- Collective.h - Properties of each collective -------------*- C++ -*-===//
//
// The rows of Collectives.def: the dialect's operators, steps of programs,
// programs of sends and the engines' interface follow them. Header-only, since
// engines are separate shared objects.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_COLLECTIVE_H
#define MLC_RUNTIME_COLLECTIVE_H

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>

namespace mlc::runtime {

/// What a collective does with the tensors of a group's ranks.
enum class CollectiveKind : uint8_t {
#define MLC_COLLECTIVE(ID, NAME, ENGINE, NUMBER, MESSAGE, INPUT, OUTPUT,       \
                       TRAITS)                                                 \
  ID,
#include "runtime/Collectives.def"
};
inline constexpr const char *collectiveNames[] = {
#define MLC_COLLECTIVE(ID, NAME, ENGINE, NUMBER, MESSAGE, INPUT, OUTPUT,       \
                       TRAITS)                                                 \
  NAME,
#include "runtime/Collectives.def"
};
inline constexpr uint8_t numCollectives = std::size(collectiveNames);

/// How the elements of several ranks are reduced to one.
enum class ReductionKind : uint8_t {
#define MLC_REDUCTION(ID, NAME, ENGINE) ID,
#include "runtime/Collectives.def"
};
inline constexpr const char *reductionNames[] = {
#define MLC_REDUCTION(ID, NAME, ENGINE) NAME,
#include "runtime/Collectives.def"
};
inline constexpr uint8_t numReductions = std::size(reductionNames);

/// The columns of a row.
namespace rows {

/// The arguments of a message; the value is their number.
enum Message : uint8_t { Elements = 1, Units, Blocks };
enum Share : uint8_t { Whole, Part, Split, Joined };
enum Trait : uint8_t { OfEngines = 1, InPlace = 2, Reduces = 4, Consumes = 8 };

struct Row {
  const char *name;
  const char *number; ///< empty: none
  Message message;
  Share input, output;
  uint8_t traits;

  constexpr bool hasNumber() const { return *number != 0; }
  /// Whether one rank's elements are what all get.
  constexpr bool hasRoot() const { return number == std::string_view("root"); }
  constexpr size_t numArguments() const { return message; }
  constexpr bool isOfEngines() const { return traits & OfEngines; }
  constexpr bool isInPlace() const { return traits & InPlace; }
  constexpr bool reduces() const { return traits & Reduces; }
  constexpr bool consumes() const { return traits & Consumes; }
  constexpr bool writesInput() const { return isInPlace() || consumes(); }
};

inline constexpr Row all[] = {
#define MLC_COLLECTIVE(ID, NAME, ENGINE, NUMBER, MESSAGE, INPUT, OUTPUT,       \
                       TRAITS)                                                 \
  {NAME, NUMBER, MESSAGE, INPUT, OUTPUT, TRAITS},
#include "runtime/Collectives.def"
};

} // namespace rows

/// Precondition: `kind` is valid.
constexpr const rows::Row &rowOf(CollectiveKind kind) {
  return rows::all[static_cast<size_t>(kind)];
}

/// The collective with that name ("all_gather"), if there is one.
inline std::optional<CollectiveKind> collectiveNamed(std::string_view name) {
  for (uint8_t i = 0; i < numCollectives; ++i)
    if (name == collectiveNames[i])
      return static_cast<CollectiveKind>(i);
  return std::nullopt;
}

inline std::optional<ReductionKind> reductionNamed(std::string_view name) {
  for (uint8_t i = 0; i < numReductions; ++i)
    if (name == reductionNames[i])
      return static_cast<ReductionKind>(i);
  return std::nullopt;
}

} // namespace mlc::runtime

#endif // MLC_RUNTIME_COLLECTIVE_H
