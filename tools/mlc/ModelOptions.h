//===- ModelOptions.h - Options that several subcommands share --*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_MODELOPTIONS_H
#define MLC_TOOLS_MLC_MODELOPTIONS_H

#include "codegen/kernel/Backend.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mlc::cli {

/// `NAME=N`, or `NAME=any` without a value: the dim stays open.
struct DimSetting {
  std::string name;
  std::optional<int64_t> value;
};

/// `NAME=x.npy`.
struct InputFile {
  std::string name;
  std::string path;
};

/// Parses the texts of `--dim`. Fails without `=`, for a value that is neither
/// `any` nor a number >= 0, and for a name given twice with different values.
llvm::Expected<std::vector<DimSetting>>
parseDims(llvm::ArrayRef<std::string> texts, llvm::StringRef flag = "--dim");

/// Parses the texts of `--input`. Fails without `=` and for a name given twice.
llvm::Expected<std::vector<InputFile>>
parseInputs(llvm::ArrayRef<std::string> texts);

/// The model and how it is compiled.
struct ModelOptions {
  ModelOptions(llvm::cl::SubCommand &sub, const char *modelHelp);

  llvm::cl::opt<std::string> model;
  llvm::cl::opt<std::string> target;
  llvm::cl::list<std::string> dims;
  llvm::cl::list<std::string> parameters;
  llvm::cl::opt<bool> noRewrites;
  llvm::cl::list<std::string> rules;
  llvm::cl::opt<std::string> timings;
  llvm::cl::opt<Precision> precision;
  /// ImportOptions::checked, for commands with the flag.
  bool checked = false;
  /// Whether weights whose external data are missing are taken by their shapes.
  bool byShape = false;
  /// Whether inputs that have a value in the file are constants.
  bool keepsDefaults = false;
};

/// `--checked`.
struct CheckedFlag {
  explicit CheckedFlag(llvm::cl::SubCommand &sub);

  llvm::cl::opt<bool> checked;
};

/// The inputs of a run.
struct InputOptions {
  explicit InputOptions(llvm::cl::SubCommand &sub);

  llvm::cl::list<std::string> inputs;
  llvm::cl::opt<uint64_t> seed;
};

/// The device of a run.
struct DeviceOption {
  explicit DeviceOption(llvm::cl::SubCommand &sub);

  llvm::cl::opt<std::string> device;
};

/// How ranks exchange tensors; the help lists the engines. `otherwise` says
/// which one is taken unless it is given.
class EngineOption : public llvm::cl::opt<std::string> {
public:
  EngineOption(llvm::cl::SubCommand &sub, const char *otherwise);

private:
  std::string text;
};

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_MODELOPTIONS_H
