//===- ProgramFuzz.cpp - Arbitrary bytes as an artifact's tables ----------===//
//
// Reading any bytes as a program or as a table of code images ends in an error
// or in one that validates or not; one that is read is written back as bytes
// that read the same, and one that is valid can be printed.
//
//===----------------------------------------------------------------------===//

#include "runtime/CodeImage.h"
#include "runtime/StepTexts.h"

#include <cstdlib>

using namespace mlc::runtime;

/// Reads `data` as a `Table`; aborts where that is not read again as it was
/// written.
template <typename Table>
static bool read(const uint8_t *data, size_t size, Table &table) {
  if (!deserialize(data, size, table).ok())
    return false;
  std::vector<uint8_t> bytes = serialize(table);
  Table again;
  if (!deserialize(bytes.data(), bytes.size(), again).ok() ||
      serialize(again) != bytes)
    abort();
  return true;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Program program;
  if (read(data, size, program) &&
      validate(program, /*weightsSize=*/1 << 20).ok())
    describeSteps(program);
  Programs programs;
  if (read(data, size, programs))
    (void)validate(programs, /*weightsSize=*/1 << 20).ok();
  std::vector<CodeImage> images;
  if (read(data, size, images))
    (void)validate(images, /*headerSize=*/1024, /*fileSize=*/1 << 20,
                   /*alignment=*/64)
        .ok();
  return 0;
}
