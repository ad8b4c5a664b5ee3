//===- Training.cpp - How an artifact is trained --------------------------===//

#include "runtime/Training.h"

namespace mlc::runtime {

static constexpr const char *stateRoles[] = {
#define MLC_STATE_ROLE(NAME, TEXT, MEANING) TEXT,
#include "runtime/Roles.def"
};
static constexpr const char *inputRoles[] = {
#define MLC_INPUT_ROLE(NAME, TEXT, MEANING) TEXT,
#include "runtime/Roles.def"
};

const char *name(StateRole role) { return stateRoles[unsigned(role)]; }
const char *name(InputRole role) { return inputRoles[unsigned(role)]; }

std::optional<StateRole> findStateRole(const std::string &text) {
  for (unsigned i = 0; i < numStateRoles; ++i)
    if (text == stateRoles[i])
      return StateRole(i);
  return std::nullopt;
}

std::optional<InputRole> findInputRole(const std::string &text) {
  for (unsigned i = 0; i < numInputRoles; ++i)
    if (text == inputRoles[i])
      return InputRole(i);
  return std::nullopt;
}

} // namespace mlc::runtime
