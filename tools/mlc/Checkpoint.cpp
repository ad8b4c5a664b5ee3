//===- Checkpoint.cpp - Where training stands -----------------------------===//

#include "tools/mlc/Checkpoint.h"
#include "runtime/Npy.h"
#include "runtime/Text.h"
#include "tools/mlc/Failure.h"
#include "tools/mlc/Npz.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>
#include <cstring>

using namespace mlc::cli;
namespace runtime = mlc::runtime;

template <typename T> static bool isFinite(const HostTensor &tensor) {
  const T *data = reinterpret_cast<const T *>(tensor.data.get());
  return std::all_of(data, data + tensor.bytes / sizeof(T),
                     [](T x) { return std::isfinite(x); });
}

std::string mlc::cli::findInfinite(const Checkpoint &checkpoint) {
  for (auto [name, value] : llvm::zip(checkpoint.names, checkpoint.values))
    if (!(value.type == MLC_F64 ? isFinite<double>(value)
                                : isFinite<float>(value)))
      return name;
  return {};
}

llvm::Error mlc::cli::writeCheckpoint(llvm::StringRef path,
                                      const Checkpoint &checkpoint) {
  std::vector<runtime::NpzItem> items;
  items.push_back({"step", runtime::DType::I64, {}, &checkpoint.step, 8});
  items.push_back({"settings",
                   runtime::DType::U8,
                   {int64_t(checkpoint.settings.size())},
                   checkpoint.settings.data(),
                   checkpoint.settings.size()});
  double scale[LossScale::numNumbers];
  checkpoint.lossScale.save(scale);
  if (checkpoint.lossScale.isOn())
    items.push_back({"loss scale",
                     runtime::DType::F64,
                     {LossScale::numNumbers},
                     scale,
                     sizeof(scale)});
  for (auto [name, value] : llvm::zip(checkpoint.names, checkpoint.values))
    items.push_back({name, static_cast<runtime::DType>(value.type), value.dims,
                     value.data.get(), value.bytes});
  return writeNpz(path, items);
}

static llvm::Error readEntry(const runtime::NpzFile &file,
                             const std::string &name,
                             runtime::NpyArray &array) {
  auto status = file.read(name, array);
  return status.ok() ? llvm::Error::success()
                     : fail(static_cast<Exit>(status.code), status.message);
}

static llvm::Error readLossScale(const runtime::NpzFile &file,
                                 const std::string &path,
                                 llvm::ArrayRef<std::string> names,
                                 LossScale &scale) {
  if (!scale.isOn())
    return llvm::Error::success();
  runtime::NpyArray array;
  double numbers[LossScale::numNumbers];
  bool isThere = llvm::is_contained(names, "loss scale");
  if (isThere)
    if (llvm::Error error = readEntry(file, "loss scale", array))
      return error;
  bool fits = isThere && array.type == runtime::DType::F64 &&
              array.bytes == sizeof(numbers);
  if (fits)
    std::memcpy(numbers, array.data.data(), sizeof(numbers));
  if (!fits || !scale.load(numbers))
    return fail(Exit::BadFile, path + ": is no checkpoint: 'loss scale' is "
                                      "none");
  return llvm::Error::success();
}

/// An error that names the first lines that the other has not.
static llvm::Error compareSettings(const std::string &path,
                                   llvm::StringRef found,
                                   llvm::StringRef wanted) {
  if (found == wanted)
    return llvm::Error::success();
  llvm::SmallVector<llvm::StringRef> have, want;
  found.split(have, '\n');
  wanted.split(want, '\n');
  // Some are there for some commands only.
  auto firstBut = [](llvm::ArrayRef<llvm::StringRef> lines,
                     llvm::ArrayRef<llvm::StringRef> others) {
    auto it = llvm::find_if_not(lines, [&](llvm::StringRef line) {
      return llvm::is_contained(others, line);
    });
    return it == lines.end() ? "" : it->str();
  };
  std::string had = firstBut(have, want), has = firstBut(want, have);
  if (!had.empty() || !has.empty()) {
    std::string what = had.empty()   ? "without " + has
                       : has.empty() ? "with " + had
                                     : "with " + had + ", not " + has;
    return fail(Exit::Usage, path + ": was made " + runtime::printable(what) +
                                 "; go on as it was, or begin anew without "
                                 "--resume");
  }
  return fail(Exit::BadFile, path + ": is no checkpoint of this version");
}

llvm::Error mlc::cli::readCheckpoint(const std::string &path,
                                     Checkpoint &expected) {
  runtime::NpzFile file;
  if (auto status = file.open(path); !status.ok())
    return fail(static_cast<Exit>(status.code), status.message);
  std::vector<std::string> names = file.names();
  for (const char *name : {"step", "settings"})
    if (!llvm::is_contained(names, name))
      return fail(Exit::BadFile, path + ": is no checkpoint: it has no '" +
                                     name + "'; give what --checkpoint wrote");
  runtime::NpyArray step, settings;
  if (llvm::Error error = readEntry(file, "step", step))
    return error;
  if (llvm::Error error = readEntry(file, "settings", settings))
    return error;
  if (step.type != runtime::DType::I64 || step.bytes != 8)
    return fail(Exit::BadFile,
                path + ": is no checkpoint: 'step' is no number");
  if (llvm::Error error = compareSettings(
          path,
          llvm::StringRef(reinterpret_cast<const char *>(settings.data.data()),
                          settings.bytes),
          expected.settings))
    return error;
  for (const std::string &name : names)
    if (llvm::StringRef(name).starts_with("weight/") &&
        !llvm::is_contained(expected.names, name))
      return fail(Exit::Usage,
                  path + ": '" + runtime::printable(name) +
                      "' was trained, and is not now; give --train and "
                      "--freeze as it was made with");
  std::vector<HostTensor> values;
  for (auto [name, value] : llvm::zip(expected.names, expected.values)) {
    if (!llvm::is_contained(names, name))
      return fail(Exit::BadFile, path + ": has no '" +
                                     runtime::printable(name) +
                                     "'; it is of another model");
    auto array = std::make_shared<runtime::NpyArray>();
    if (llvm::Error error = readEntry(file, name, *array))
      return error;
    if (static_cast<mlc_dtype>(array->type) != value.type ||
        array->dims != value.dims)
      return fail(Exit::BadFile, path + ": '" + runtime::printable(name) +
                                     "' has another type or other dims than "
                                     "the model's");
    values.push_back({value.type, value.dims,
                      std::shared_ptr<char>(
                          array, reinterpret_cast<char *>(array->data.data())),
                      size_t(array->bytes)});
  }
  int64_t done;
  std::memcpy(&done, step.data.data(), sizeof(done));
  if (done < 0)
    return fail(Exit::BadFile, path + ": is no checkpoint: 'step' is negative");
  if (llvm::Error error = readLossScale(file, path, names, expected.lossScale))
    return error;
  expected.step = done;
  expected.values = std::move(values);
  return llvm::Error::success();
}
