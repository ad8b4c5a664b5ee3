//===- Json.cpp - JSON of unknown origin ----------------------------------===//

#include "codegen/target/Json.h"
#include "runtime/Nesting.h"

llvm::Expected<llvm::json::Value> mlc::parseJson(llvm::StringRef text) {
  if (runtime::findDeepNesting(text) != llvm::StringRef::npos)
    return llvm::createStringError("nested more than " +
                                   llvm::Twine(runtime::maxNesting) + " deep");
  return llvm::json::parse(text);
}
