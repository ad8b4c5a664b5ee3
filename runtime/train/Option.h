//===- Option.h - How messages name options ---------------------*- C++ -*-===//

#ifndef MLC_RUNTIME_TRAIN_OPTION_H
#define MLC_RUNTIME_TRAIN_OPTION_H

#include <algorithm>
#include <string>

namespace mlc::runtime::train {

/// Who reads messages: a command line has --learning-rate, a function
/// learning_rate.
enum class Spelling { Flags, Keywords };

/// The option `name`, "learning-rate", as these readers give it.
inline std::string option(Spelling spelling, std::string name) {
  if (spelling == Spelling::Flags)
    return "--" + name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

} // namespace mlc::runtime::train

#endif // MLC_RUNTIME_TRAIN_OPTION_H
