//===- OutputFilesTest.cpp - Where output goes, and what it leaves --------===//

#include "runtime/OutputFiles.h"
#include "Folder.h"
#include "runtime/FileBytes.h"

#include <catch2/catch.hpp>

#include <csignal>
#include <fcntl.h>
#include <fstream>
#include <set>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

using namespace mlc::runtime;
using Catch::Contains;
using mlc::test::Folder;
namespace fs = std::filesystem;

namespace {

std::string slurp(const std::string &path) {
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

Status writeTo(const std::string &path, const std::string &text = "new") {
  OutputFiles files({path}, "");
  Status status = files.begin();
  if (status.ok())
    status = files.open(0);
  if (status.ok())
    status = files.write(text.data(), text.size());
  if (status.ok())
    status = files.close();
  return status.ok() ? files.commit() : status;
}

size_t entries(const Folder &folder) {
  return std::distance(fs::directory_iterator(folder.path), {});
}

} // namespace

TEST_CASE("devices are written into, not replaced", "[output]") {
  CHECK(writeTo("/dev/null").ok());
  CHECK(fs::is_character_file("/dev/null"));
  // A node of ours too: as root one can make it, and could lose it.
  Folder folder;
  std::string node = folder / "null";
  if (mknod(node.c_str(), S_IFCHR | 0666, makedev(1, 3)) == 0) {
    Status status = writeTo(node);
    CHECK((status.ok() || status.code == MLC_USAGE)); // mounted without devices
    CHECK(fs::is_character_file(node));
  }
  Status full = writeTo("/dev/full");
  CHECK(full.code == MLC_RESOURCES);
  CHECK_THAT(full.message, Contains("/dev/full: cannot be written: No space"));
}

TEST_CASE("a FIFO gets the bytes and stays", "[output]") {
  Folder folder;
  std::string path = folder / "fifo";
  REQUIRE(mkfifo(path.c_str(), 0600) == 0);
  int reader = open(path.c_str(), O_RDONLY | O_NONBLOCK);
  REQUIRE(reader >= 0);
  CHECK(writeTo(path).ok());
  char text[8] = {};
  CHECK(read(reader, text, sizeof(text)) == 3);
  CHECK(std::string(text) == "new");
  CHECK(fs::is_fifo(path));
  CHECK(entries(folder) == 1);
  close(reader);
}

TEST_CASE("links stay and what they name is written", "[output]") {
  Folder folder;
  fs::create_directory(folder / "d");
  std::ofstream(folder / "d/file") << "old";
  fs::permissions(folder / "d/file", fs::perms(0640));
  fs::create_symlink("d/file", folder / "link");
  fs::create_symlink("link", folder / "link2");
  CHECK(writeTo(folder / "link2").ok());
  CHECK(fs::is_symlink(folder / "link"));
  CHECK(fs::is_symlink(folder / "link2"));
  CHECK(slurp(folder / "d/file") == "new");
  CHECK(fs::status(folder / "d/file").permissions() == fs::perms(0640));
  // To a file that is yet to be.
  fs::create_symlink("d/later", folder / "link3");
  CHECK(writeTo(folder / "link3").ok());
  CHECK(fs::is_symlink(folder / "link3"));
  CHECK(slurp(folder / "d/later") == "new");
  fs::create_symlink("loop", folder / "loop");
  CHECK(writeTo(folder / "loop").code == MLC_USAGE);
  fs::create_symlink("/dev/null", folder / "null");
  CHECK(writeTo(folder / "null").ok());
  CHECK(fs::is_symlink(folder / "null"));
}

TEST_CASE("a file that is this process's output is written into", "[output]") {
  Folder folder;
  std::string path = folder / "out";
  int saved = dup(STDERR_FILENO);
  int file = open(path.c_str(), O_WRONLY | O_CREAT, 0600);
  dup2(file, STDERR_FILENO);
  (void)!::write(STDERR_FILENO, "before ", 7);
  Status status = writeTo("/proc/self/fd/2", "new ");
  Status again = writeTo(path, "again");
  dup2(saved, STDERR_FILENO);
  close(saved);
  close(file);
  CHECK(status.ok());
  CHECK(again.ok());
  CHECK(slurp(path) == "before new again");
}

TEST_CASE("temporary names cannot be guessed and nothing is left", "[output]") {
  Folder folder;
  std::string path = folder / "file";
  std::set<std::string> names;
  for (int i = 0; i < 3; ++i) {
    OutputFiles files({path}, "");
    REQUIRE(files.begin().ok());
    REQUIRE(files.open(0).ok());
    for (const fs::directory_entry &entry :
         fs::directory_iterator(folder.path)) {
      std::string name = entry.path().filename();
      CHECK(name.find(std::to_string(getpid())) == std::string::npos);
      names.insert(name);
    }
  }
  CHECK(names.size() == 3);
  CHECK(entries(folder) == 0);
  {
    OutputFiles files({path}, "");
    REQUIRE(files.begin().ok());
    REQUIRE(files.open(0).ok());
    OutputFiles::abandon(); // what a signal does
    CHECK(entries(folder) == 0);
  }
  CHECK(writeTo(folder / "no/such/file").code == MLC_USAGE);
  CHECK(writeTo(folder.path).code == MLC_USAGE);
  // A limit on file size stands in for a full disk on a regular file.
  rlimit old, limit;
  getrlimit(RLIMIT_FSIZE, &old);
  limit = {1 << 10, old.rlim_max};
  auto oldHandler = std::signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &limit);
  Status status = writeTo(path, std::string(1 << 12, 'x'));
  setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, oldHandler);
  CHECK(status.code == MLC_RESOURCES);
  CHECK_THAT(status.message, Contains("File too large"));
  CHECK(entries(folder) == 0);
}

TEST_CASE("files are read whole within a bound", "[output]") {
  Folder folder;
  std::string path = folder / "file";
  std::ofstream(path) << std::string(100000, 'x');
  FileBytes bytes;
  CHECK(FileBytes::read(path.c_str(), 100000, bytes).ok());
  CHECK(bytes.text() == std::string(100000, 'x'));
  CHECK(FileBytes::read(path.c_str(), 99999, bytes).code == MLC_RESOURCES);
  CHECK(FileBytes::read("/dev/zero", 1 << 20, bytes).code == MLC_RESOURCES);
  CHECK(FileBytes::read("/dev/null", 1 << 20, bytes).ok());
  CHECK(bytes.text().empty());
  CHECK(FileBytes::read((folder / "none").c_str(), 10, bytes).code ==
        MLC_BAD_FILE);

  CHECK(FileBytes::readOwn(path.c_str(), 100000, bytes).ok());
  fs::create_symlink("file", folder / "link");
  CHECK_FALSE(
      FileBytes::readOwn((folder / "link").c_str(), 1 << 20, bytes).ok());
  fs::create_hard_link(path, folder / "hard");
  CHECK_THAT(FileBytes::readOwn(path.c_str(), 1 << 20, bytes).message,
             Contains("hard links"));
  REQUIRE(mkfifo((folder / "fifo").c_str(), 0600) == 0);
  CHECK_THAT(
      FileBytes::readOwn((folder / "fifo").c_str(), 1 << 20, bytes).message,
      Contains("regular"));
}
