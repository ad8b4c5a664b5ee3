//===- Resources.cpp - What a kernel takes, as ptxas says -----------------===//
//
// ptxas writes, for each function,
//
//   ptxas info    : Compiling entry function 'NAME' for 'sm_80'
//   ptxas info    : Function properties for NAME
//   ptxas         .     8 bytes stack frame, 0 bytes spill stores, ...
//   ptxas info    : Used 40 registers, used 1 barriers, 512 bytes smem, ...
//
//===----------------------------------------------------------------------===//

#include "codegen/cuda/Resources.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using llvm::StringRef;

namespace mlc::cuda {

/// Takes "8 bytes stack frame" apart.
static void readPart(StringRef part, KernelResources &to) {
  part = part.trim();
  part.consume_front("Used ");
  int64_t value = 0;
  if (part.consumeInteger(10, value))
    return;
  const std::pair<StringRef, int64_t *> parts[] = {
      {"registers", &to.registers},
      {"bytes smem", &to.staticShared},
      {"bytes stack frame", &to.stack},
      {"bytes spill stores", &to.spillStores},
      {"bytes spill loads", &to.spillLoads},
  };
  for (auto [name, field] : parts)
    if (part.trim() == name)
      *field = value;
}

std::optional<KernelResources> readResources(StringRef log, StringRef symbol) {
  KernelResources found;
  bool isEntry = false, isFunction = false, hasRegisters = false;
  for (StringRef line : llvm::split(log, '\n')) {
    StringRef text = line.ltrim();
    if (!text.consume_front("ptxas"))
      continue;
    text = text.ltrim();
    text.consume_front("info");
    text = text.ltrim();
    text = text.drop_front(text.starts_with(":") || text.starts_with(".")).ltrim();
    if (text.consume_front("Compiling entry function '")) {
      isEntry = text.split('\'').first == symbol;
      isFunction = false;
    } else if (text.consume_front("Function properties for ")) {
      // Those that it calls have sections of their own.
      isFunction = text.rtrim() == symbol;
    } else if (isEntry && (isFunction || text.starts_with("Used "))) {
      hasRegisters |= text.starts_with("Used ");
      for (StringRef part : llvm::split(text, ','))
        readPart(part, found);
    }
  }
  return hasRegisters ? std::optional(found) : std::nullopt;
}

} // namespace mlc::cuda
