//===- Artifact.cpp - Writing an artifact ---------------------------------===//

#include "codegen/Artifact.h"
#include "runtime/ArtifactFormat.h"
#include "runtime/Version.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <cstring>

using namespace llvm;

namespace mlc {

using namespace runtime;

namespace {

void copyText(char *to, size_t size, StringRef text) {
  // The rest of the field is zero already.
  std::memcpy(to, text.data(), std::min(size - 1, text.size()));
}

} // namespace

uint64_t ArtifactWriter::addConstant(ArrayRef<char> bytes) {
  auto [it, isNew] =
      known.try_emplace(blake3(bytes.data(), bytes.size()), nextOffset);
  if (isNew) {
    places.push_back({nextOffset, bytes});
    nextOffset = alignTo(nextOffset + bytes.size(), sectionAlignment);
  }
  return it->second;
}

/// Hands the whole file to `sink` in order, with `digest` as its hash.
void ArtifactWriter::emit(const Contents &contents, ArrayRef<uint8_t> program,
                          const Digest &digest, Sink sink) const {
  ArtifactHeader header = {};
  std::memcpy(header.magic, artifactMagic, sizeof(artifactMagic));
  header.format = artifactFormat;
  header.headerSize = sizeof(header);
  copyText(header.toolVersion, sizeof(header.toolVersion), MLC_VERSION);
  copyText(header.rebuild, sizeof(header.rebuild), contents.rebuild);
  uint64_t end = sizeof(header);
  auto place = [&](uint64_t size, uint64_t alignment) {
    ArtifactHeader::Section section = {alignTo(end, alignment), size};
    end = section.offset + size;
    return section;
  };
  header.manifest = place(contents.manifest.size(), sectionAlignment);
  header.program = place(program.size(), sectionAlignment);
  header.code = place(contents.code.size(), sectionAlignment);
  header.weights = place(nextOffset, weightsAlignment);
  header.fileSize = end;

  std::memcpy(header.hash, digest.data(), sizeof(header.hash));
  uint64_t at = 0;
  auto put = [&](const void *data, size_t size) {
    sink(ArrayRef(static_cast<const char *>(data), size));
    at += size;
  };
  static const char zeros[weightsAlignment] = {};
  auto padTo = [&](uint64_t offset) { put(zeros, offset - at); };
  put(&header, hashedFrom);
  put(reinterpret_cast<const char *>(&header) + hashedFrom,
      sizeof(header) - hashedFrom);
  padTo(header.manifest.offset);
  put(contents.manifest.data(), contents.manifest.size());
  padTo(header.program.offset);
  put(program.data(), program.size());
  padTo(header.code.offset);
  put(contents.code.data(), contents.code.size());
  padTo(header.weights.offset);
  for (const Place &p : places) {
    padTo(header.weights.offset + p.offset);
    put(p.bytes.data(), p.bytes.size());
  }
  padTo(end);
}

Error ArtifactWriter::write(raw_ostream &os, const Contents &contents) const {
  Status status = validate(*contents.program, nextOffset);
  if (!status.ok())
    return createStringError(std::make_error_code(std::errc::value_too_large),
                             status.message);
  std::vector<uint8_t> program = serialize(*contents.program);
  // The hash stands before what it is of, and a stream cannot go back.
  Blake3 hash;
  uint64_t at = 0;
  emit(contents, program, Digest(), [&](ArrayRef<char> bytes) {
    // The fields before `fileSize` are not hashed.
    if (at >= hashedFrom)
      hash.update(bytes.data(), bytes.size());
    at += bytes.size();
  });
  emit(contents, program, hash.finish(),
       [&](ArrayRef<char> bytes) { os.write(bytes.data(), bytes.size()); });
  return Error::success();
}

} // namespace mlc
