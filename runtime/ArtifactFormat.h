//===- ArtifactFormat.h - The layout of an artifact file --------*- C++ -*-===//
//
//   header | manifest (JSON) | programs | code images | table of these |
//   weights
//
// The header has 1024 bytes. Its fields up to `rebuild` keep their places in
// all versions, so that artifacts of other versions can be identified.
//
// Sections and images begin at multiples of 64 bytes, the weights at one of
// 4096. The hash is BLAKE3 of everything after it. Serialize.cpp writes the
// programs, with their states, and the table, which says where each image is.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_ARTIFACTFORMAT_H
#define MLC_RUNTIME_ARTIFACTFORMAT_H

#include <cstddef>
#include <cstdint>

namespace mlc::runtime {

/// Raised with every change to the file, the program, a library kernel or the
/// kernel ABI that an older runtime would misread.
constexpr uint32_t artifactFormat = 10;

/// Transfers that take the file for text damage the last four bytes.
constexpr char artifactMagic[8] = {'M', 'L', 'C', 'A', '\r', '\n', 26, '\n'};

constexpr uint64_t sectionAlignment = 64;
constexpr uint64_t weightsAlignment = 4096;

struct ArtifactHeader {
  struct Section {
    uint64_t offset, size;
  };
  char magic[8];
  uint32_t format;
  uint32_t headerSize;
  uint8_t hash[32];
  uint64_t fileSize;
  char toolVersion[48]; ///< zero-terminated
  char rebuild[512];    ///< command that makes the artifact; zero-terminated
  Section manifest, program, images, weights;
  uint8_t reserved[344];
};
static_assert(sizeof(ArtifactHeader) == 1024, "the layout is fixed");

/// The hash covers the file from here on.
constexpr size_t hashedFrom = offsetof(ArtifactHeader, fileSize);

} // namespace mlc::runtime

#endif // MLC_RUNTIME_ARTIFACTFORMAT_H
