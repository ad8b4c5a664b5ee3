//===- Sample.h - A small artifact for the tests ----------------*- C++ -*-===//

#ifndef MLC_TEST_UNIT_RUNTIME_SAMPLE_H
#define MLC_TEST_UNIT_RUNTIME_SAMPLE_H

#include "Folder.h"
#include "Programs.h"
#include "codegen/Artifact.h"

#include <catch2/catch.hpp>

#include <fstream>

namespace mlc::test {

inline std::vector<char> readAll(const std::string &path) {
  std::ifstream in(path, std::ios::binary);
  return std::vector<char>(std::istreambuf_iterator<char>(in), {});
}

/// The kernel of scaleProgram as a shared object, compiled once.
inline const std::vector<char> &code() {
  static const std::vector<char> bytes = [] {
    Folder folder;
    std::ofstream(folder / "k.c")
        << "#include <stdint.h>\n"
           "void scale(void *const *b, const int64_t *s, int64_t begin,\n"
           "           int64_t end, void *scratch) {\n"
           "  const float *x = b[0], *c = b[1]; float *y = b[2];\n"
           "  for (int64_t i = begin * 4; i < end * 4; ++i)\n"
           "    y[i] = 2 * x[i] + c[i % 4];\n}\n";
    std::string command = std::string(MLC_CC) + " -O1 -shared -fPIC -o " +
                          (folder / "k.so") + " " + (folder / "k.c");
    REQUIRE(std::system(command.c_str()) == 0);
    return readAll(folder / "k.so");
  }();
  return bytes;
}

/// An image for any x86-64.
inline runtime::CodeImage elf(const std::vector<char> &bytes) {
  runtime::CodeImage image;
  image.target = "x86-64";
  image.data = bytes.data();
  image.size = bytes.size();
  return image;
}

inline const float bias[4] = {1, 2, 3, 4};
inline llvm::ArrayRef<char> asBytes(const float *data, size_t count) {
  return {reinterpret_cast<const char *>(data), count * 4};
}

struct Sample {
  ArtifactWriter writer;
  runtime::Programs programs{{}, {}, {runtime::Program()}};
  runtime::Program &program = programs.entries[0];
  std::vector<runtime::CodeImage> images{elf(code())};
  Sample() { program = scaleProgram(writer.addConstant(asBytes(bias, 4))); }
  ArtifactWriter::Contents contents() const {
    return {"{\"model\": \"scale\"}", &programs, images,
            "mlc compile scale.onnx -o scale.mlca"};
  }
  std::vector<char> bytes() const {
    std::string out;
    llvm::raw_string_ostream os(out);
    llvm::Error error = writer.write(os, contents());
    REQUIRE_FALSE(bool(error));
    return {out.begin(), out.end()};
  }
  void write(const std::string &path) const {
    std::vector<char> all = bytes();
    std::ofstream(path, std::ios::binary).write(all.data(), all.size());
  }
};

} // namespace mlc::test

#endif // MLC_TEST_UNIT_RUNTIME_SAMPLE_H
