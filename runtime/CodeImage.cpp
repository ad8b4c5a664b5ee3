//===- CodeImage.cpp - The kernels' code for one kind of device -----------===//

#include "runtime/CodeImage.h"

namespace mlc::runtime {

const char *name(ImageKind kind) {
  switch (kind) {
  case ImageKind::Functions:
    return "functions";
  case ImageKind::Elf:
    return "elf";
  case ImageKind::Cubin:
    return "cubin";
  case ImageKind::Ptx:
    return "ptx";
  case ImageKind::Source:
    return "source";
  }
  return "?";
}

Status validate(const std::vector<CodeImage> &images, uint64_t headerSize,
                uint64_t fileSize, uint64_t alignment) {
  for (const CodeImage &image : images) {
    // Functions are addresses in this process and never in a file.
    if (image.kind == ImageKind::Functions)
      return Status::badFile("a code image has no kind");
    if (image.offset % alignment != 0 || image.offset < headerSize ||
        image.offset > fileSize || image.size > fileSize - image.offset)
      return Status::badFile("a code image lies outside the file");
  }
  return Status::success();
}

} // namespace mlc::runtime
