//===- Code.h - CUDA C++ text as it is written ------------------*- C++ -*-===//

#ifndef MLC_CODEGEN_CUDA_CODE_H
#define MLC_CODEGEN_CUDA_CODE_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/Twine.h"
#include <string>

namespace mlc::cuda {

/// Lines of a function's body.
class Code {
public:
  explicit Code(unsigned depth = 1) : depth(depth) {}

  void line(const llvm::Twine &text) {
    out.append(2 * depth, ' ');
    out += text.str();
    out += '\n';
  }
  /// `const TYPE NAME = EXPRESSION;` with a new name, which is returned.
  std::string define(llvm::StringRef type, llvm::StringRef prefix,
                     const llvm::Twine &expression) {
    std::string name = fresh(prefix);
    line("const " + type + " " + name + " = " + expression + ";");
    return name;
  }
  std::string fresh(llvm::StringRef prefix) {
    return prefix.str() + std::to_string(next++);
  }
  /// `HEAD { ... }`
  void block(const llvm::Twine &head, llvm::function_ref<void()> inside) {
    line(head + " {");
    ++depth;
    inside();
    --depth;
    line("}");
  }
  const std::string &text() const { return out; }

private:
  std::string out;
  unsigned depth, next = 0;
};

} // namespace mlc::cuda

#endif // MLC_CODEGEN_CUDA_CODE_H
