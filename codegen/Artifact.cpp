//===- Artifact.cpp - Writing an artifact ---------------------------------===//

#include "codegen/Artifact.h"
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

/// Sets the offsets of all sections in `header` and `file.images`.
void ArtifactWriter::layOut(const Contents &contents, File &file) const {
  ArtifactHeader &header = file.header;
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
  header.program = place(file.program.size(), sectionAlignment);
  for (CodeImage &image : file.images) {
    image.offset = place(image.size, sectionAlignment).offset;
    image.hash = blake3(image.data, image.size);
  }
  file.table = serialize(file.images);
  header.images = place(file.table.size(), sectionAlignment);
  header.weights = place(nextOffset, weightsAlignment);
  header.fileSize = end;
}

/// Hands the whole file to `sink` in order.
void ArtifactWriter::emit(const Contents &contents, const File &file,
                          Sink sink) const {
  const ArtifactHeader &header = file.header;
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
  put(file.program.data(), file.program.size());
  for (const CodeImage &image : file.images) {
    padTo(image.offset);
    put(image.data, image.size);
  }
  padTo(header.images.offset);
  put(file.table.data(), file.table.size());
  padTo(header.weights.offset);
  for (const Place &p : places) {
    padTo(header.weights.offset + p.offset);
    put(p.bytes.data(), p.bytes.size());
  }
  padTo(header.fileSize);
}

void ArtifactWriter::writeWeights(raw_ostream &os) const {
  uint64_t at = 0;
  for (const Place &place : places) {
    os.write_zeros(place.offset - at);
    os.write(place.bytes.data(), place.bytes.size());
    at = place.offset + place.bytes.size();
  }
  os.write_zeros(nextOffset - at);
}

Error ArtifactWriter::write(raw_ostream &os, const Contents &contents) const {
  Status status = validate(*contents.programs, nextOffset);
  if (!status.ok())
    return createStringError(std::make_error_code(std::errc::value_too_large),
                             status.message);
  File file;
  file.program = serialize(*contents.programs);
  file.images = contents.images;
  layOut(contents, file);
  // The hash precedes the bytes it covers, and a stream cannot seek back.
  Blake3 hash;
  uint64_t at = 0;
  emit(contents, file, [&](ArrayRef<char> bytes) {
    // The fields before `fileSize` are not hashed.
    if (at >= hashedFrom)
      hash.update(bytes.data(), bytes.size());
    at += bytes.size();
  });
  Digest digest = hash.finish();
  std::memcpy(file.header.hash, digest.data(), sizeof(file.header.hash));
  emit(contents, file,
       [&](ArrayRef<char> bytes) { os.write(bytes.data(), bytes.size()); });
  return Error::success();
}

} // namespace mlc
