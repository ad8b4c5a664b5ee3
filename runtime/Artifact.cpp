//===- Artifact.cpp - Opening an artifact ---------------------------------===//

#include "runtime/Artifact.h"
#include "runtime/ArtifactFormat.h"
#include "runtime/Blake3.h"
#include "runtime/Cpu.h"
#include "runtime/Library.h"
#include "runtime/Version.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

namespace mlc::runtime {

namespace {

/// A zero-terminated text of the header, printable characters only: the header
/// may be damaged.
std::string headerText(const char *text, size_t size) {
  std::string result(text, strnlen(text, size));
  for (char &c : result)
    if (c < ' ' || c > '~')
      c = '?';
  return result;
}

std::string rebuildHint(const ArtifactHeader &header) {
  std::string command = headerText(header.rebuild, sizeof(header.rebuild));
  return "; rebuild it with: " +
         (command.empty() ? "mlc compile MODEL.onnx -o MODEL.mlca" : command);
}

Status checkHeader(const uint8_t *data, size_t size, ArtifactHeader &header) {
  if (size < sizeof(artifactMagic) ||
      std::memcmp(data, artifactMagic, sizeof(artifactMagic)) != 0)
    return Status::badFile("is not an mlc artifact");
  if (size < sizeof(header))
    return Status::badFile("is truncated: " + std::to_string(size) +
                           " bytes do not hold a header");
  std::memcpy(&header, data, sizeof(header));
  std::string tool = headerText(header.toolVersion, sizeof(header.toolVersion));
  if (header.format != artifactFormat)
    return Status::badFile("was made by mlc " + tool + " (artifact format " +
                           std::to_string(header.format) +
                           "), this is runtime " MLC_VERSION " (format " +
                           std::to_string(artifactFormat) + ")" +
                           rebuildHint(header));
  if (header.fileSize != size)
    return Status::badFile(
        (size < header.fileSize ? "is truncated: has " : "is damaged: has ") +
        std::to_string(size) + " bytes of " + std::to_string(header.fileSize) +
        rebuildHint(header));
  if (header.headerSize != sizeof(header))
    return Status::badFile("is damaged: the header's size is wrong" +
                           rebuildHint(header));
  for (const ArtifactHeader::Section &s :
       {header.manifest, header.program, header.code, header.weights})
    if (s.offset % sectionAlignment != 0 || s.offset < sizeof(header) ||
        s.offset > size || s.size > size - s.offset)
      return Status::badFile("is damaged: a section lies outside the file" +
                             rebuildHint(header));
  return Status::success();
}

/// Where every expression, symbol and buffer becomes known.
Epochs makeEpochs(const Program &p) {
  Epochs e;
  e.ofSymbol.assign(p.symbols.size(), 0);
  e.firstStep.push_back(0);
  for (uint32_t s = 0; s < p.steps.size(); ++s)
    if (p.steps[s].kind == Step::BindSymbol) {
      e.ofSymbol[p.steps[s].symbol] = e.firstStep.size();
      e.firstStep.push_back(s + 1);
    }
  e.firstStep.push_back(p.steps.size());
  for (const Expr &expr : p.exprs) {
    uint32_t last = 0;
    for (const Expr::Inst &inst : expr.code)
      if (inst.op == Expr::Symbol)
        last = std::max(last, e.ofSymbol[inst.operand]);
    e.ofExpr.push_back(last);
  }
  for (const Buffer &b : p.buffers)
    e.ofBuffer.push_back(b.kind == Buffer::Arena ? e.ofExpr[b.sizeExpr] : 0);
  return e;
}

Artifact::PortText describe(const Program &p, const Port &port) {
  Artifact::PortText text;
  for (ExprId id : p.buffers[port.buffer].dims) {
    const Expr &dim = p.exprs[id];
    bool fixed =
        std::none_of(dim.code.begin(), dim.code.end(),
                     [](const Expr::Inst &i) { return i.op == Expr::Symbol; });
    int64_t value = -1;
    if (!fixed || !evaluate(dim, nullptr, value).ok())
      value = -1;
    text.dims.push_back(value);
    text.texts.push_back(fixed ? std::to_string(value) : toString(p, dim));
  }
  return text;
}

} // namespace

Artifact::~Artifact() {
  if (library)
    dlclose(library);
  if (codeFile >= 0)
    close(codeFile);
}

Status Artifact::open(const char *path, uint32_t flags,
                      std::shared_ptr<const Artifact> &artifact) {
  std::shared_ptr<Artifact> result(new Artifact);
  Status status = result->file.open(path);
  if (status.ok())
    status =
        result->load(result->file.data(), result->file.size(), flags, path);
  if (status.ok())
    artifact = std::move(result);
  else
    status.message = std::string(path) + ": " + status.message;
  return status;
}

Status Artifact::openMemory(const void *data, size_t size, uint32_t flags,
                            std::shared_ptr<const Artifact> &artifact) {
  std::shared_ptr<Artifact> result(new Artifact);
  Status status =
      result->load(static_cast<const uint8_t *>(data), size, flags, "artifact");
  if (status.ok())
    artifact = std::move(result);
  else
    status.message = "artifact in memory: " + status.message;
  return status;
}

Status Artifact::create(Program program, const uint8_t *weights,
                        uint64_t weightsSize, std::vector<mlc_kernel> kernels,
                        std::shared_ptr<const Artifact> &artifact) {
  std::shared_ptr<Artifact> result(new Artifact);
  result->prog = std::move(program);
  result->weightBytes = weights;
  result->weightCount = weightsSize;
  result->functions = std::move(kernels);
  if (result->functions.size() != result->prog.kernels.size())
    return Status::error(
        MLC_USAGE, "the program names " +
                       std::to_string(result->prog.kernels.size()) +
                       " kernels, " + std::to_string(result->functions.size()) +
                       " were given");
  Status status = validate(result->prog, weightsSize);
  if (status.ok())
    status = result->finish();
  if (status.ok())
    artifact = std::move(result);
  return status;
}

Status Artifact::load(const uint8_t *data, size_t size, uint32_t flags,
                      const std::string &name) {
  ArtifactHeader header;
  Status status = checkHeader(data, size, header);
  if (!status.ok())
    return status;
  if (!(flags & MLC_OPEN_SKIP_CHECKSUM)) {
    Digest digest = blake3(data + hashedFrom, size - hashedFrom);
    if (std::memcmp(digest.data(), header.hash, sizeof(header.hash)) != 0)
      return Status::badFile("is damaged: the checksum does not match" +
                             rebuildHint(header));
  }
  manifestText.assign(
      reinterpret_cast<const char *>(data + header.manifest.offset),
      header.manifest.size);
  status = deserialize(data + header.program.offset, header.program.size, prog);
  if (status.ok())
    status = validate(prog, header.weights.size);
  if (!status.ok())
    return Status::badFile(status.message + rebuildHint(header));
  weightBytes = data + header.weights.offset;
  weightCount = header.weights.size;
  codeCount = header.code.size;
  // Constants are promised to be 64-byte aligned.
  if ((flags & MLC_OPEN_COPY_WEIGHTS) ||
      reinterpret_cast<uintptr_t>(weightBytes) % 64 != 0) {
    bool grown;
    status = copied.reserve(weightCount, grown);
    if (!status.ok())
      return status;
    if (weightCount)
      std::memcpy(copied.data(), weightBytes, weightCount);
    weightBytes = copied.data();
  }
  status = finish();
  if (!status.ok() || (flags & MLC_OPEN_INSPECT))
    return status;
  std::vector<std::string> missing = missingFeatures(prog.features);
  if (!missing.empty()) {
    std::string list;
    for (const std::string &feature : missing)
      list += (list.empty() ? "" : ", ") + feature;
    return Status::error(MLC_DEVICE,
                         "was compiled for " + prog.target + ", this CPU (" +
                             cpuLevel() + ") lacks " + list +
                             "; compile it with --target=cpu:" + cpuLevel());
  }
  return loadCode(header, data + header.code.offset, header.code.size);
}

Status Artifact::loadCode(const ArtifactHeader &header, const uint8_t *code,
                          size_t size) {
  if (prog.kernels.empty())
    return Status::success();
  int fd = memfd_create("mlc-code", MFD_CLOEXEC);
  if (fd < 0)
    return Status::error(MLC_RESOURCES, std::string("cannot load code: ") +
                                            std::strerror(errno));
  for (size_t done = 0; done < size;) {
    ssize_t n = write(fd, code + done, size - done);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0) {
      int reason = errno;
      close(fd);
      return Status::error(MLC_RESOURCES, std::string("cannot load code: ") +
                                              std::strerror(reason));
    }
    done += n;
  }
  // Open for as long as the code is loaded: dlopen knows libraries by their
  // names, and the next artifact must not get this one's code under the same
  // number.
  codeFile = fd;
  std::string path = "/proc/self/fd/" + std::to_string(fd);
  if (access(path.c_str(), R_OK) != 0)
    return Status::error(MLC_DEVICE, "code is loaded by way of /proc/self/fd, "
                                     "which is not there (" +
                                         std::string(std::strerror(errno)) +
                                         "); mount /proc");
  library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char *text = dlerror();
    std::string reason = text ? text : "unknown reason";
    // What the machine lacks is no fault of the file; there is only a text.
    for (int lack : {EMFILE, ENFILE, ENOMEM})
      if (reason.find(std::strerror(lack)) != std::string::npos)
        return Status::error(MLC_RESOURCES,
                             "the code cannot be loaded: " + reason);
    return Status::badFile("the code cannot be loaded: " + reason +
                           rebuildHint(header));
  }
  for (const std::string &name : prog.kernels) {
    void *symbol = dlsym(library, name.c_str());
    if (!symbol)
      return Status::badFile("the code lacks kernel " + name +
                             rebuildHint(header));
    functions.push_back(reinterpret_cast<mlc_kernel>(symbol));
  }
  return Status::success();
}

Status Artifact::finish() {
  static const uint8_t none[64] = {};
  if (weightCount == 0)
    weightBytes = none;
  epoch = makeEpochs(prog);
  live = liveRanges(prog);
  setup = findSetup(prog);
  for (const Step &step : prog.steps) {
    if (step.kind == Step::Library && !findLibraryKernel(step.name))
      return Status::badFile("needs library kernel " + step.name +
                             ", which this runtime (" MLC_VERSION ") lacks");
    nodeTexts.emplace_back();
    for (const std::string &node : step.nodes)
      nodeTexts.back().push_back(node.c_str());
  }
  for (const Port &port : prog.inputs)
    inputTexts.push_back(describe(prog, port));
  for (const Port &port : prog.outputs)
    outputTexts.push_back(describe(prog, port));
  for (const Port &port : prog.parameters)
    parameterTexts.push_back(describe(prog, port));
  for (auto *texts : {&inputTexts, &outputTexts, &parameterTexts})
    for (PortText &text : *texts)
      for (const std::string &dim : text.texts)
        text.pointers.push_back(dim.c_str());
  return Status::success();
}

} // namespace mlc::runtime
