//===- OutputFile.cpp - Files that appear whole or not at all -------------===//

#include "tools/mlc/OutputFile.h"
#include "runtime/OutputFiles.h"
#include "tools/mlc/Failure.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlc;
using namespace mlc::cli;
using runtime::OutputFiles;
using runtime::Status;

namespace {

/// Writes to the open file of a set; keeps the first error.
class FileStream : public llvm::raw_ostream {
public:
  explicit FileStream(OutputFiles &files) : files(files) {
    SetBufferSize(1 << 20);
  }
  ~FileStream() override { flush(); }
  Status finish() {
    flush();
    return std::exchange(status, Status::success());
  }

private:
  void write_impl(const char *data, size_t size) override {
    position += size;
    if (status.ok())
      status = files.write(data, size);
  }
  uint64_t current_pos() const override { return position; }

  OutputFiles &files;
  Status status;
  uint64_t position = 0;
};

} // namespace

llvm::Error mlc::cli::writeOutput(
    llvm::StringRef path,
    llvm::function_ref<llvm::Error(llvm::raw_ostream &)> write) {
  if (path == "-") {
    // The end of the program reports failed writes to standard output.
    llvm::Error failure = write(llvm::outs());
    llvm::outs().flush();
    return failure;
  }
  return writeOutputs({{path.str(), write}});
}

llvm::Error mlc::cli::writeOutputs(llvm::ArrayRef<Output> outputs) {
  std::vector<std::string> paths;
  for (const Output &output : outputs)
    paths.push_back(output.path);
  OutputFiles files(std::move(paths), "");
  Status status = files.begin();
  for (size_t i = 0; status.ok() && i < outputs.size(); ++i) {
    status = files.open(i);
    if (!status.ok())
      break;
    FileStream stream(files);
    if (llvm::Error failure = outputs[i].write(stream))
      return failure;
    status = stream.finish();
    if (status.ok())
      status = files.close();
  }
  if (status.ok())
    status = files.commit();
  return statusFailure(status);
}

/// A normal form of the path.
static llvm::SmallString<128> plain(llvm::StringRef path) {
  llvm::SmallString<128> name(path);
  if (llvm::sys::fs::make_absolute(name))
    name = path; // no working folder
  llvm::sys::path::remove_dots(name, /*remove_dot_dot=*/false);
  return name;
}

llvm::Error mlc::cli::refuseSame(llvm::ArrayRef<NamedOutput> outputs) {
  auto isFile = [](llvm::StringRef name) {
    return !name.empty() && name != "-";
  };
  for (size_t i = 0; i < outputs.size(); ++i)
    for (const auto &[file, what] : outputs.take_front(i))
      if (const auto &[other, whatElse] = outputs[i];
          isFile(file) && isFile(other) &&
          (plain(file) == plain(other) ||
           llvm::sys::fs::equivalent(file, other)))
        return fail(Exit::Usage, file + ": is both " + what + " and " +
                                     whatElse + "; give two files");
  return llvm::Error::success();
}

llvm::Error mlc::cli::refuseInputs(llvm::ArrayRef<std::string> outputs,
                                   llvm::ArrayRef<std::string> inputs) {
  return statusFailure(runtime::refuseInputs(outputs.vec(), inputs.vec()));
}
