//===- Artifact.cpp - Opening an artifact ---------------------------------===//

#include "runtime/Artifact.h"
#include "runtime/ArtifactFormat.h"
#include "runtime/Blake3.h"
#include "runtime/Devices.h"
#include "runtime/FileKind.h"
#include "runtime/Library.h"
#include "runtime/StepTexts.h"
#include "runtime/Version.h"

#include <algorithm>
#include <cstring>

namespace mlc::runtime {

namespace {

/// A zero-terminated text of the header, reduced to printable characters, since
/// the header may be damaged.
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

Status foreignFile(std::string_view bytes) {
  KnownFile known = knowFile(bytes);
  if (known.kind == FileKind::Onnx)
    return Status::badFile("is a model; compile it first (mlc compile)");
  std::string text = "is not an mlc artifact";
  if (known.kind != FileKind::Unknown)
    text = std::string("is ") + known.name + ", not an mlc artifact";
  return Status::badFile(text);
}

Status checkHeader(const uint8_t *data, size_t size, ArtifactHeader &header) {
  if (size < sizeof(artifactMagic) ||
      std::memcmp(data, artifactMagic, sizeof(artifactMagic)) != 0)
    return foreignFile({reinterpret_cast<const char *>(data), size});
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
       {header.manifest, header.program, header.images, header.weights})
    if (s.offset % sectionAlignment != 0 || s.offset < sizeof(header) ||
        s.offset > size || s.size > size - s.offset)
      return Status::badFile("is damaged: a section lies outside the file" +
                             rebuildHint(header));
  return Status::success();
}

/// Finds the epochs in which expressions, symbols and buffers become known.
Epochs makeEpochs(const Program &p) {
  Epochs e;
  e.ofSymbol.assign(p.symbols.size(), 0);
  e.firstStep.push_back(0);
  for (uint32_t s = 0; s < p.steps.size(); ++s)
    if (std::optional<SymbolId> symbol = boundSymbol(p.steps[s])) {
      e.ofSymbol[*symbol] = e.firstStep.size();
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

Artifact::PortText describe(const State &state) {
  Artifact::PortText text;
  text.dims = state.dims;
  for (int64_t dim : state.dims)
    text.texts.push_back(std::to_string(dim));
  return text;
}

/// The splits as the C ABI shows them.
template <typename T> Artifact::Splits splitsOf(const std::vector<T> &ports) {
  Artifact::Splits all;
  for (const T &port : ports) {
    all.emplace_back();
    for (const Split &split : port.splits)
      all.back().push_back({split.dim, split.axis, split.unit});
  }
  return all;
}

/// Sets the C ABI's pointers to the texts, which do not move later.
void point(std::vector<Artifact::PortText> &texts) {
  for (Artifact::PortText &text : texts)
    for (const std::string &dim : text.texts)
      text.pointers.push_back(dim.c_str());
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

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// Prefixes the message with the artifact's name.
Status Artifact::named(Status status) const {
  if (!status.ok() && !displayName.empty())
    status.message = displayName + ": " + status.message;
  return status;
}

Status Artifact::open(const char *path, uint32_t flags,
                      std::shared_ptr<const Artifact> &artifact) {
  std::shared_ptr<Artifact> result(new Artifact);
  result->displayName = path;
  Status status = result->file.open(path);
  if (status.ok())
    status = result->read(result->file.data(), result->file.size(), flags);
  if (!status.ok())
    return result->named(std::move(status));
  artifact = std::move(result);
  return status;
}

Status Artifact::openMemory(const void *data, size_t size, uint32_t flags,
                            std::shared_ptr<const Artifact> &artifact) {
  std::shared_ptr<Artifact> result(new Artifact);
  result->displayName = "artifact in memory";
  Status status = result->read(static_cast<const uint8_t *>(data), size, flags);
  if (!status.ok())
    return result->named(std::move(status));
  artifact = std::move(result);
  return status;
}

Status Artifact::create(Program program, const uint8_t *weights,
                        uint64_t weightsSize, std::vector<mlc_kernel> kernels,
                        std::shared_ptr<const Artifact> &artifact) {
  Programs programs;
  programs.entries.push_back(std::move(program));
  return create(std::move(programs), weights, weightsSize, std::move(kernels),
                artifact);
}

Status Artifact::create(Programs programs, const uint8_t *weights,
                        uint64_t weightsSize, std::vector<mlc_kernel> kernels,
                        std::shared_ptr<const Artifact> &artifact) {
  std::shared_ptr<Artifact> result(new Artifact);
  result->all = std::move(programs);
  result->weightBytes = weights;
  result->weightCount = weightsSize;
  std::vector<std::string> names;
  for (const Program &entry : result->all.entries)
    names.insert(names.end(), entry.kernels.begin(), entry.kernels.end());
  if (kernels.size() != names.size())
    return Status::error(MLC_USAGE,
                         "the program names " + std::to_string(names.size()) +
                             " kernels, " + std::to_string(kernels.size()) +
                             " were given");
  result->kernelNames = std::move(names);
  for (size_t k = 0; k < kernels.size(); ++k)
    result->functions.push_back({result->kernelNames[k].c_str(), kernels[k]});
  CodeImage image;
  image.kind = ImageKind::Functions;
  image.data = result->functions.data();
  image.size = result->functions.size() * sizeof(NamedFunction);
  result->codeImages.push_back(std::move(image));
  Status status = validate(result->all, weightsSize);
  if (status.ok())
    status = result->finish();
  if (status.ok())
    artifact = std::move(result);
  return status;
}

/// Reads the programs and the table of the images.
Status Artifact::readTables(const ArtifactHeader &header, const uint8_t *data) {
  Status status =
      deserialize(data + header.program.offset, header.program.size, all);
  if (status.ok())
    status = validate(all, header.weights.size);
  if (status.ok())
    status = deserialize(data + header.images.offset, header.images.size,
                         codeImages);
  if (status.ok())
    status =
        validate(codeImages, sizeof(header), header.fileSize, sectionAlignment);
  for (CodeImage &image : codeImages)
    image.data = data + image.offset;
  if (!status.ok())
    status = Status::badFile(status.message + remedy);
  return status;
}

Status Artifact::read(const uint8_t *data, size_t size, uint32_t flags) {
  openFlags = flags;
  ArtifactHeader header;
  Status status = checkHeader(data, size, header);
  if (!status.ok())
    return status;
  remedy = rebuildHint(header);
  if (!(flags & MLC_OPEN_SKIP_CHECKSUM)) {
    Digest digest = blake3(data + hashedFrom, size - hashedFrom);
    if (std::memcmp(digest.data(), header.hash, sizeof(header.hash)) != 0)
      return Status::badFile("is damaged: the checksum does not match" +
                             remedy);
  }
  manifestText.assign(
      reinterpret_cast<const char *>(data + header.manifest.offset),
      header.manifest.size);
  status = readTables(header, data);
  if (!status.ok())
    return status;
  weightBytes = data + header.weights.offset;
  weightCount = header.weights.size;
  // Kernels rely on 64-byte aligned constants.
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
  return !status.ok() || (flags & MLC_OPEN_INSPECT) ? status : loadOnFirst();
}

//===----------------------------------------------------------------------===//
// Devices
//===----------------------------------------------------------------------===//

/// The first image that `device` runs, or null.
const CodeImage *Artifact::findImage(const Device &device) const {
  for (const CodeImage &image : codeImages)
    if (device.reasonAgainst(image).empty())
      return &image;
  return nullptr;
}

bool Artifact::hasImage(ImageKind kind) const {
  return std::any_of(codeImages.begin(), codeImages.end(),
                     [&](const CodeImage &i) { return i.kind == kind; });
}

/// Whether a device that is only looked up by name (CudaDevices.h) may run it.
bool Artifact::hasCudaImage() const {
  return hasImage(ImageKind::Cubin) || hasImage(ImageKind::Ptx) ||
         hasImage(ImageKind::Source);
}

/// The error if no device of this process runs any image, with the reason for
/// each image.
Status Artifact::noImage(const Device &device) const {
  std::string text = "has no code" + remedy;
  for (const CodeImage &image : codeImages)
    text = (&image == &codeImages[0] ? "was compiled for " : text + "; for ") +
           image.target + " (" + name(image.kind) + "), " +
           device.reasonAgainst(image);
  if (codeImages.empty())
    return Status::error(MLC_DEVICE, text);
  text += "; ";
  if (device.usesHostMemory() && hasCudaImage()) {
    bool isForGpu = hasImage(ImageKind::Cubin) || hasImage(ImageKind::Ptx);
    text += std::string("run it with device ") +
            (isForGpu ? "cuda" : "emulator") + ", or ";
  }
  return Status::error(MLC_DEVICE,
                       text + "compile it for target " + device.targetName());
}

/// Loads on the first device with a suitable image, so that opening a file that
/// cannot run here fails. CUDA devices are looked up only when a session asks
/// for one.
Status Artifact::loadOnFirst() const {
  const std::vector<Device *> &all = devices();
  auto it = std::find_if(all.begin(), all.end(), [&](const Device *device) {
    return findImage(*device) || !hasKernels();
  });
  const LoadedProgram *loaded;
  if (it != all.end())
    return loadOn(**it, loaded);
  return hasCudaImage() ? Status::success() : noImage(*all.front());
}

Status Artifact::load(Device &device, const LoadedProgram *&loaded) const {
  if (openFlags & MLC_OPEN_INSPECT)
    return Status::error(MLC_USAGE, "the artifact was opened with "
                                    "MLC_OPEN_INSPECT and cannot be run");
  return named(loadOn(device, loaded));
}

Status Artifact::loadOn(Device &device, const LoadedProgram *&loaded) const {
  std::lock_guard<std::mutex> lock(loading);
  std::unique_ptr<LoadedProgram> &known = loadedOn[&device];
  if (!known) {
    auto result = std::make_unique<LoadedProgram>();
    Status status = loadCode(device, *result);
    if (status.ok())
      status = loadWeights(device, *result);
    if (!status.ok())
      return status;
    known = std::move(result);
  }
  loaded = known.get();
  return Status::success();
}

bool Artifact::hasKernels() const {
  return std::any_of(all.entries.begin(), all.entries.end(),
                     [](const Program &p) { return !p.kernels.empty(); });
}

Status Artifact::loadCode(Device &device, LoadedProgram &loaded) const {
  loaded.kernels.resize(all.entries.size());
  if (!hasKernels())
    return Status::success();
  const CodeImage *image = findImage(device);
  if (!image)
    return noImage(device);
  // The file's checksum was skipped, and damaged code may do anything.
  if ((openFlags & MLC_OPEN_SKIP_CHECKSUM) &&
      blake3(image->data, image->size) != image->hash)
    return Status::badFile("is damaged: the checksum of its code does not "
                           "match" +
                           remedy);
  Status status = device.load(*image, loaded.code);
  if (status.code == MLC_BAD_FILE)
    status.message += remedy;
  if (!status.ok())
    return status;
  for (size_t e = 0; e < all.entries.size(); ++e)
    for (const std::string &name : all.entries[e].kernels) {
      KernelHandle kernel = name.empty() ? nullptr : loaded.code->find(name);
      if (!kernel && !name.empty())
        return Status::badFile("the code lacks kernel " + name + remedy);
      loaded.kernels[e].push_back(kernel);
    }
  return status;
}

Status Artifact::loadWeights(Device &device, LoadedProgram &loaded) const {
  if (device.usesHostMemory()) {
    loaded.weights = const_cast<uint8_t *>(weightBytes);
    return Status::success();
  }
  bool grown;
  Status status = loaded.copy.reserve(device, weightCount, grown);
  std::unique_ptr<Queue> queue;
  if (status.ok())
    status = device.open({}, queue);
  if (status.ok()) {
    QueuedWork work(*queue);
    status = queue->upload(loaded.copy.data(), weightBytes, weightCount);
    // From now on all queues see the weights.
    Status finished = work.finish();
    if (status.ok())
      status = std::move(finished);
  }
  loaded.weights = loaded.copy.data();
  return status;
}

Status Artifact::makeEntry(const Program &program,
                           const std::vector<MeshAxis> &mesh, Entry &entry) {
  entry.epochs = makeEpochs(program);
  entry.lives = liveRanges(program);
  entry.setup = findSetup(program);
  for (const Step &step : program.steps) {
    if (std::holds_alternative<LibraryStep>(step.detail) &&
        !findLibraryKernel(step.name))
      return Status::badFile("needs library kernel " + step.name +
                             ", which this runtime (" MLC_VERSION ") lacks");
    entry.nodeTexts.emplace_back();
    for (const std::string &node : step.nodes)
      entry.nodeTexts.back().push_back(node.c_str());
  }
  entry.stepTexts = describeSteps(program, mesh);
  for (const Port &port : program.inputs)
    entry.inputTexts.push_back(describe(program, port));
  for (const Port &port : program.outputs)
    entry.outputTexts.push_back(describe(program, port));
  for (const Port &port : program.parameters)
    entry.parameterTexts.push_back(describe(program, port));
  entry.inputSplits = splitsOf(program.inputs);
  entry.outputSplits = splitsOf(program.outputs);
  point(entry.inputTexts);
  point(entry.outputTexts);
  point(entry.parameterTexts);
  return Status::success();
}

Status Artifact::finish() {
  alignas(64) static const uint8_t none[64] = {};
  if (weightCount == 0)
    weightBytes = none;
  for (const State &state : all.states)
    stateTexts.push_back(describe(state));
  point(stateTexts);
  if (all.pipeline) {
    for (const PipelinePort &port : all.pipeline->inputs)
      pipelineInputs.push_back({port.dims, port.texts, {}});
    for (const PipelinePort &port : all.pipeline->outputs)
      pipelineOutputs.push_back({port.dims, port.texts, {}});
    point(pipelineInputs);
    point(pipelineOutputs);
  }
  splitsOfStates = splitsOf(all.states);
  entries.resize(all.entries.size());
  for (size_t e = 0; e < entries.size(); ++e) {
    entries[e].stateUse = findStateUse(all.entries[e], all.states.size());
    if (Status status = makeEntry(all.entries[e], all.mesh, entries[e]);
        !status.ok())
      return status;
  }
  return Status::success();
}

} // namespace mlc::runtime
