//===- ProgramFuzz.cpp - Arbitrary bytes as a program ---------------------===//
//
// Reading any bytes ends in an error or in a program that validates or not;
// one that is read is written back as bytes that read the same.
//
//===----------------------------------------------------------------------===//

#include "runtime/Program.h"

#include <cstdlib>

using namespace mlc::runtime;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Program program;
  if (!deserialize(data, size, program).ok())
    return 0;
  std::vector<uint8_t> bytes = serialize(program);
  Program again;
  if (!deserialize(bytes.data(), bytes.size(), again).ok() ||
      serialize(again) != bytes)
    abort();
  (void)validate(program, /*weightsSize=*/1 << 20).ok();
  return 0;
}
