//===- Process.cpp - Running a compiler and other tools -------------------===//

#include "runtime/emulator/Process.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace mlc::emulator {

int runProgram(const std::vector<std::string> &arguments, std::string &output) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    output = std::strerror(errno);
    return -1;
  }
  std::vector<char *> words;
  words.reserve(arguments.size() + 1);
  for (const std::string &argument : arguments)
    words.push_back(const_cast<char *>(argument.c_str()));
  words.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 2);
  pid_t child = 0;
  int error =
      posix_spawn(&child, words[0], &actions, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (error) {
    close(ends[0]);
    output = std::strerror(error);
    return -1;
  }
  char buffer[4096];
  for (;;) {
    ssize_t n = read(ends[0], buffer, sizeof(buffer));
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      break;
    output.append(buffer, size_t(n));
  }
  close(ends[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR)
      return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

std::string findProgram(const std::vector<std::string> &names) {
  const char *path = std::getenv("PATH");
  std::string folders = path ? path : "/usr/bin:/bin";
  for (const std::string &name : names) {
    if (name.find('/') != std::string::npos) {
      if (access(name.c_str(), X_OK) == 0)
        return name;
      continue;
    }
    for (size_t at = 0; at <= folders.size();) {
      size_t end = std::min(folders.find(':', at), folders.size());
      std::string file = folders.substr(at, end - at) + "/" + name;
      at = end + 1;
      if (file[0] == '/' && access(file.c_str(), X_OK) == 0)
        return file;
    }
  }
  return "";
}

bool makeFolders(const std::string &folder) {
  for (size_t at = 1; at != std::string::npos;) {
    at = folder.find('/', at + 1);
    if (mkdir(folder.substr(0, at).c_str(), 0700) != 0 && errno != EEXIST)
      return false;
  }
  return access(folder.c_str(), W_OK | X_OK) == 0;
}

bool writeFile(const std::string &path, const std::string &text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  return bool(file);
}

} // namespace mlc::emulator
