//===- RunOutputs.cpp - The files of a run command ------------------------===//

#include "runtime/RunOutputs.h"
#include "runtime/OutputFiles.h"
#include "runtime/Text.h"

namespace mlc::runtime {

static Status writeFolder(const std::vector<NpzItem> &outputs,
                          OutputFiles &files) {
  std::string names = "[";
  Status status;
  for (size_t i = 0; status.ok() && i < outputs.size(); ++i) {
    const NpzItem &item = outputs[i];
    names += (i ? ", " : "") + jsonString(item.name);
    std::string header = npyHeader(item.type, item.dims);
    status = files.open(i);
    if (status.ok())
      status = files.write(header.data(), header.size());
    if (status.ok())
      status = files.write(item.data, item.bytes);
    if (status.ok())
      status = files.close();
  }
  names += "]\n";
  if (status.ok())
    status = files.open(outputs.size());
  if (status.ok())
    status = files.write(names.data(), names.size());
  return status.ok() ? files.close() : status;
}

static Status writeArchive(const std::vector<NpzItem> &outputs,
                           OutputFiles &files, size_t index) {
  Status status = files.open(index), written;
  if (!status.ok())
    return status;
  status = writeNpz(outputs, [&](const void *data, size_t size) {
    written = files.write(data, size);
    return written.ok();
  });
  if (!written.ok())
    return written;
  Status closed = files.close();
  return status.ok() ? closed : status;
}

std::vector<std::string> runOutputPaths(const std::string &folder,
                                        const std::string &archive,
                                        size_t count) {
  std::vector<std::string> paths;
  if (!folder.empty()) {
    for (size_t i = 0; i < count; ++i)
      paths.push_back(folder + "/" + std::to_string(i) + ".npy");
    paths.push_back(folder + "/outputs.json");
  }
  if (!archive.empty())
    paths.push_back(archive);
  return paths;
}

Status writeRunOutputs(const std::string &folder, const std::string &archive,
                       const std::vector<NpzItem> &outputs) {
  std::vector<std::string> paths =
      runOutputPaths(folder, archive, outputs.size());
  if (paths.empty())
    return Status::success();
  OutputFiles files(paths, folder);
  Status status = files.begin();
  if (status.ok() && !folder.empty())
    status = writeFolder(outputs, files);
  if (status.ok() && !archive.empty())
    status = writeArchive(outputs, files, paths.size() - 1);
  return status.ok() ? files.commit() : status;
}

} // namespace mlc::runtime
