//===- Kernels.cpp - The kernels of an artifact, for people ---------------===//

#include "tools/mlc/Kernels.h"
#include "codegen/Backends.h"
#include "runtime/CodeBundle.h"
#include "runtime/Text.h"
#include "tools/mlc/Failure.h"
#include "tools/mlc/OutputFile.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"

using namespace mlc;
using namespace mlc::cli;
namespace json = llvm::json;

/// How many steps launch the kernel, by "(kernel SYMBOL, ..." in their texts.
static size_t countLaunches(const json::Array &steps, llvm::StringRef symbol) {
  std::string text = ("kernel " + symbol + ",").str();
  return llvm::count_if(steps, [&](const json::Value &value) {
    const json::Object *step = value.getAsObject();
    return step && step->getString("text").value_or("").contains(text);
  });
}

void mlc::cli::printKernels(const json::Object &manifest,
                            const json::Array &steps) {
  const json::Array *kernels = manifest.getArray("kernels");
  if (!kernels || kernels->empty())
    return;
  llvm::outs() << "kernels (" << kernels->size() << "):\n"
               << "  symbol                    skeleton     block  registers  "
                  "shared  stack  spilled  launches\n";
  for (const json::Value &value : *kernels) {
    const json::Object *kernel = value.getAsObject();
    if (!kernel)
      continue;
    auto number = [&](llvm::StringRef key) {
      return (long long)kernel->getInteger(key).value_or(0);
    };
    llvm::StringRef symbol = kernel->getString("symbol").value_or("");
    llvm::outs()
        << "  " << llvm::left_justify(runtime::printable(symbol), 24) << "  "
        << llvm::left_justify(
               runtime::printable(kernel->getString("skeleton").value_or("")),
               11)
        << llvm::format("%7lld%11lld%8lld%7lld%9lld%10zu\n", number("block"),
                        number("registers"), number("shared"), number("stack"),
                        number("spill_stores") + number("spill_loads"),
                        countLaunches(steps, symbol));
  }
}

static llvm::Error writeFile(llvm::StringRef folder, llvm::StringRef name,
                             llvm::StringRef bytes) {
  return writeOutput((folder + "/" + name).str(),
                     [&](llvm::raw_ostream &os) -> llvm::Error {
                       os << bytes;
                       return llvm::Error::success();
                     });
}

/// A name in an untrusted artifact must not lead out of the folder.
static bool isIdentifier(llvm::StringRef name) {
  return !name.empty() && name.size() < 200 &&
         llvm::all_of(
             name, [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

static llvm::Error extractImage(const Model &model, const mlc_image &image,
                                llvm::StringRef ending,
                                llvm::StringRef folder) {
  std::vector<runtime::BundleEntry> entries;
  runtime::Status status =
      runtime::readBundle(image.data, image.bytes, entries);
  if (!status.ok())
    return fail(Exit::BadFile, model.name() + ": " + status.message);
  for (const runtime::BundleEntry &entry : entries) {
    if (!isIdentifier(entry.name))
      return fail(Exit::BadFile, model.name() + ": the kernel '" +
                                     runtime::printable(entry.name) +
                                     "' has a name that no file gets; compile "
                                     "the model again");
    if (llvm::Error error =
            writeFile(folder, entry.name + ending.str(),
                      {reinterpret_cast<const char *>(entry.data), entry.size}))
      return error;
  }
  return llvm::Error::success();
}

llvm::Error mlc::cli::extractKernels(const Model &model, llvm::StringRef target,
                                     llvm::StringRef folder) {
  if (std::error_code error = llvm::sys::fs::create_directories(folder))
    return fail(
        error == std::errc::no_space_on_device ? Exit::Resources : Exit::Usage,
        (folder + ": cannot make the folder: " + error.message()).str());
  bool isEmpty = true;
  std::string sources;
  for (size_t i = 0, n = mlc_artifact_image_count(model.get()); i < n; ++i) {
    mlc_image image;
    if (mlc_status status = mlc_artifact_image(model.get(), i, &image))
      return runtimeFailure(model.name(), status);
    llvm::StringRef ending = llvm::StringSwitch<llvm::StringRef>(image.kind)
                                 .Case("source", ".cu")
                                 .Case("ptx", ".ptx")
                                 .Case("cubin", ".cubin")
                                 .Default("");
    if (ending.empty())
      continue;
    isEmpty = false;
    if (ending == ".cu")
      sources.append(static_cast<const char *>(image.data), image.bytes);
    if (llvm::Error error = extractImage(model, image, ending, folder))
      return error;
  }
  if (isEmpty)
    return fail(Exit::Usage, model.name() +
                                 ": has no kernels for GPUs; compile the model "
                                 "with --target=cuda:sm_80");
  llvm::Expected<CodeTarget> code = parseCodeTarget(target);
  if (!code) {
    // Made by another mlc for a target unknown to this one.
    llvm::consumeError(code.takeError());
    return llvm::Error::success();
  }
  for (auto [name, text] : code->backend->getSourceHeaders()) {
    if (!llvm::StringRef(sources).contains(name))
      continue;
    if (llvm::Error error = writeFile(folder, name, text))
      return error;
  }
  return llvm::Error::success();
}
