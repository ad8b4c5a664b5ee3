//===- OutputFile.cpp - Files that appear whole or not at all -------------===//

#include "tools/mlc/OutputFile.h"
#include "runtime/OutputFiles.h"
#include "tools/mlc/Failure.h"
#include <utility>

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

llvm::Error mlc::cli::refuseInputs(llvm::ArrayRef<std::string> outputs,
                                   llvm::ArrayRef<std::string> inputs) {
  return statusFailure(runtime::refuseInputs(outputs.vec(), inputs.vec()));
}
