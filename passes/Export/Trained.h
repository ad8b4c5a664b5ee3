//===- Trained.h - The file of a model with other weights -------*- C++ -*-===//

#ifndef MLC_PASSES_EXPORT_TRAINED_H
#define MLC_PASSES_EXPORT_TRAINED_H

#include "passes/Import/ModelFile.h"
#include "llvm/ADT/ArrayRef.h"

namespace mlc {

/// New elements of a weight, with the same number of bytes.
struct NewWeight {
  llvm::StringRef name, bytes;
};

/// The bytes of `file` with `weights` in place of the weights with these names;
/// everything else stays. External data is embedded. Errors: an unknown weight,
/// more than 2 GB (the format's limit).
llvm::Expected<std::string> replaceWeights(ModelFile &file,
                                           llvm::ArrayRef<NewWeight> weights);

} // namespace mlc

#endif // MLC_PASSES_EXPORT_TRAINED_H
