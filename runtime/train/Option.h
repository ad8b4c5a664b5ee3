//===- Option.h - How messages name options ---------------------*- C++ -*-===//

#ifndef MLC_RUNTIME_TRAIN_OPTION_H
#define MLC_RUNTIME_TRAIN_OPTION_H

#include <algorithm>
#include <string>

namespace mlc::runtime::train {

/// How messages spell options: --learning-rate on a command line, learning_rate
/// as a function's argument.
enum class Spelling { Flags, Keywords };

/// The option `name`, as "learning-rate", in that spelling.
inline std::string option(Spelling spelling, std::string name) {
  if (spelling == Spelling::Flags)
    return "--" + name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

} // namespace mlc::runtime::train

#endif // MLC_RUNTIME_TRAIN_OPTION_H
