//===- Artifact.cpp - Writing an artifact ---------------------------------===//

#include "codegen/Artifact.h"
#include "runtime/ArtifactFormat.h"
#include "runtime/Version.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <cstring>
#include <unistd.h>

using namespace llvm;

namespace mlc {

using namespace runtime;

namespace {

void copyText(char *to, size_t size, StringRef text) {
  // The rest of the field is zero already.
  std::memcpy(to, text.data(), std::min(size - 1, text.size()));
}

Error fileError(StringRef path, std::error_code code) {
  return createStringError(code, Twine("cannot write ") + path + ": " +
                                     code.message());
}

/// Writes to an open file; remembers the first error.
class FileSink {
public:
  explicit FileSink(int fd) : os(fd, /*shouldClose=*/false) {
    os.SetBufferSize(1 << 20);
  }
  void operator()(ArrayRef<char> bytes) {
    if (!os.has_error())
      os.write(bytes.data(), bytes.size());
  }
  std::error_code finish() {
    os.flush();
    std::error_code code = os.error();
    os.clear_error();
    return code;
  }

private:
  raw_fd_ostream os;
};

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

/// Hands the whole file to `sink` in order, with a zero in place of the hash,
/// and returns the hash.
Error ArtifactWriter::emit(const Contents &contents, Sink sink,
                           Digest &digest) const {
  Status status = validate(*contents.program, nextOffset);
  if (!status.ok())
    return createStringError(std::make_error_code(std::errc::invalid_argument),
                             status.message);
  std::vector<uint8_t> program = serialize(*contents.program);

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

  Blake3 hash;
  uint64_t at = 0;
  auto put = [&](const void *data, size_t size) {
    // The fields before `fileSize` are not hashed.
    if (at >= hashedFrom)
      hash.update(data, size);
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
  digest = hash.finish();
  return Error::success();
}

Error ArtifactWriter::write(StringRef path, const Contents &contents) const {
  // A device or a pipe cannot be renamed onto; it is written as it is.
  sys::fs::file_status status;
  bool special =
      !sys::fs::status(path, status) && !sys::fs::is_regular_file(status);
  if (special) {
    SmallVector<char, 0> bytes;
    if (Error error = writeToMemory(bytes, contents))
      return error;
    std::error_code code;
    raw_fd_ostream os(path, code);
    if (!code) {
      os.write(bytes.data(), bytes.size());
      os.flush();
      code = os.error();
      os.clear_error();
    }
    return code ? fileError(path, code) : Error::success();
  }

  Expected<sys::fs::TempFile> temp =
      sys::fs::TempFile::create(path + ".%%%%%%%%.tmp");
  if (!temp)
    return fileError(path, errorToErrorCode(temp.takeError()));
  Digest digest;
  FileSink sink(temp->FD);
  Error error = emit(contents, [&](ArrayRef<char> b) { sink(b); }, digest);
  std::error_code code = sink.finish();
  if (!error && !code &&
      pwrite(temp->FD, digest.data(), digest.size(),
             offsetof(ArtifactHeader, hash)) != ssize_t(digest.size()))
    code = std::error_code(errno, std::generic_category());
  if (!error && code)
    error = fileError(path, code);
  if (error) {
    consumeError(temp->discard());
    return error;
  }
  if (Error kept = temp->keep(path))
    return fileError(path, errorToErrorCode(std::move(kept)));
  return Error::success();
}

Error ArtifactWriter::writeToMemory(SmallVectorImpl<char> &out,
                                    const Contents &contents) const {
  out.clear();
  out.reserve(nextOffset + contents.code.size() + contents.manifest.size() +
              (1 << 20));
  Digest digest;
  if (Error error = emit(
          contents, [&](ArrayRef<char> b) { out.append(b.begin(), b.end()); },
          digest))
    return error;
  std::memcpy(out.data() + offsetof(ArtifactHeader, hash), digest.data(),
              digest.size());
  return Error::success();
}

} // namespace mlc
