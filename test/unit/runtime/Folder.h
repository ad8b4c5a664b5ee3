//===- Folder.h - A folder for one test, removed at its end -----*- C++ -*-===//

#ifndef MLC_TEST_UNIT_RUNTIME_FOLDER_H
#define MLC_TEST_UNIT_RUNTIME_FOLDER_H

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace mlc::test {

struct Folder {
  std::filesystem::path path;
  Folder() {
    std::string name =
        (std::filesystem::temp_directory_path() / "mlc-test-XXXXXX").string();
    if (!mkdtemp(name.data()))
      throw std::runtime_error("cannot make a folder like " + name);
    path = name;
  }
  ~Folder() { std::filesystem::remove_all(path); }
  Folder(const Folder &) = delete;
  std::string operator/(const char *name) const {
    return (path / name).string();
  }
};

} // namespace mlc::test

#endif // MLC_TEST_UNIT_RUNTIME_FOLDER_H
