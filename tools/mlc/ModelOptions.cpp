//===- ModelOptions.cpp - Options that several subcommands share ----------===//

#include "tools/mlc/ModelOptions.h"
#include "runtime/Engines.h"
#include "tools/mlc/Failure.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlc::cli;
namespace cl = llvm::cl;

ModelOptions::ModelOptions(cl::SubCommand &sub, const char *modelHelp)
    : model(cl::Positional, cl::desc(modelHelp), cl::value_desc("model"),
            cl::sub(sub)),
      target("target", cl::init("cpu"), cl::value_desc("name"),
             cl::desc("What code is made for: cpu (this machine), "
                      "cpu:x86-64-v3, cpu:x86-64-v4, cuda:sm_75, cuda:sm_80, "
                      "cuda:sm_86, cuda:sm_89, cuda:sm_90, cuda:sm_90a, "
                      "cuda:sm_100, cuda:sm_120, or a target file (.json); "
                      "only costed: gpu:k80, gpu:v100, gpu:a100, gpu:h100, "
                      "gpu:h200"),
             cl::sub(sub)),
      dims("dim", cl::value_desc("name=N|name=any"),
           cl::desc("Fix a symbolic dim, or say that it stays open (as it "
                    "does by default)"),
           cl::sub(sub)),
      parameters("parameter", cl::value_desc("name"),
                 cl::desc("A weight that may change after compilation: nothing "
                          "is computed from it before the model runs"),
                 cl::sub(sub)),
      noRewrites("no-rewrites", cl::desc("Apply no rewrite rules"),
                 cl::sub(sub)),
      rules("rules", cl::value_desc("file.mlir"),
            cl::desc("Apply the rules of this file too, once each is proved "
                     "(docs/AddARewrite.md)"),
            cl::sub(sub)),
      timings("timings", cl::value_desc("file.json"),
              cl::desc("Measured times of operators, which mlc calibrate "
                       "writes; they go before predicted ones"),
              cl::sub(sub)),
      precision("precision", cl::init(Precision::TF32),
                cl::desc("What matrix products and convolutions of float32 are "
                         "computed with on GPUs (tf32); CPUs compute in "
                         "float32:"),
                cl::values(clEnumValN(Precision::TF32, "tf32",
                                      "factors rounded to 10 bits of mantissa, "
                                      "on tensor cores"),
                           clEnumValN(Precision::IEEE, "ieee", "float32")),
                cl::sub(sub)) {}

CheckedFlag::CheckedFlag(cl::SubCommand &sub)
    : checked("checked",
              cl::desc("A run fails, with the node's name, where an index of "
                       "Gather or Scatter or the label of a loss is out of "
                       "range, instead of reading zeros or writing nothing"),
              cl::sub(sub)) {}

InputOptions::InputOptions(cl::SubCommand &sub)
    : inputs("input", cl::value_desc("name=x.npy"),
             cl::desc("Take this input from a file instead of at random"),
             cl::sub(sub)),
      seed("seed", cl::init(0), cl::value_desc("number"),
           cl::desc("Seed of the random inputs (0)"), cl::sub(sub)) {}

DeviceOption::DeviceOption(cl::SubCommand &sub)
    : device("device", cl::value_desc("name"),
             cl::desc("Device that runs it: cpu, cuda, cuda:<number>, "
                      "emulator or emulator:<number> (cpu)"),
             cl::sub(sub)) {}

EngineOption::EngineOption(cl::SubCommand &sub, const char *otherwise)
    : cl::opt<std::string>("engine", cl::value_desc("name"), cl::sub(sub)),
      text("How ranks exchange tensors: " + runtime::engines::uses() + " (" +
           otherwise + ")") {
  setDescription(text);
}

static std::pair<llvm::StringRef, llvm::StringRef>
splitLast(llvm::StringRef text) {
  // Names of dims and tensors may contain any character, even `=`.
  return text.rsplit('=');
}

llvm::Expected<std::vector<DimSetting>>
mlc::cli::parseDims(llvm::ArrayRef<std::string> texts, llvm::StringRef flag) {
  std::vector<DimSetting> dims;
  for (llvm::StringRef text : texts) {
    auto [name, value] = splitLast(text);
    DimSetting dim{name.str(), std::nullopt};
    int64_t number = 0;
    if (value != "any") {
      if (name.size() == text.size() || value.getAsInteger(10, number) ||
          number < 0)
        return fail(Exit::Usage, flag + " " + text +
                                     ": expected NAME=N with N >= 0, or "
                                     "NAME=any");
      dim.value = number;
    }
    auto same = llvm::find_if(
        dims, [&](const DimSetting &d) { return d.name == dim.name; });
    if (same == dims.end())
      dims.push_back(std::move(dim));
    else if (same->value != dim.value)
      return fail(Exit::Usage,
                  flag + " " + text + ": the dim has two values; give one");
  }
  return dims;
}

llvm::Expected<std::vector<InputFile>>
mlc::cli::parseInputs(llvm::ArrayRef<std::string> texts) {
  std::vector<InputFile> inputs;
  for (llvm::StringRef text : texts) {
    // A path may contain `=` too, but not together with a name that does.
    auto [name, path] = splitLast(text);
    if (name.size() == text.size() || name.empty() || path.empty())
      return fail(Exit::Usage, "--input " + text + ": expected NAME=FILE.npy");
    if (llvm::any_of(inputs, [n = name](const InputFile &input) {
          return input.name == n;
        }))
      return fail(Exit::Usage, "--input " + text +
                                   ": the input is given twice; give it "
                                   "once");
    inputs.push_back({name.str(), path.str()});
  }
  return inputs;
}
