//===- OutputFiles.h - Files that appear whole or not at all ---*- C++ -*-===//
//
// A set of files written under temporary names and renamed together at the
// end. Whatever ends the process before, an error or a signal, leaves nothing
// behind.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_OUTPUTFILES_H
#define MLC_RUNTIME_OUTPUTFILES_H

#include "runtime/Status.h"

#include <csignal>
#include <cstddef>
#include <string>
#include <vector>

namespace mlc::runtime {

/// Makes SIGINT, SIGTERM and SIGHUP end the process with 130, without output
/// files that are not complete, as long as it lives. One at a time.
class InterruptGuard {
public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard &) = delete;
  InterruptGuard &operator=(const InterruptGuard &) = delete;

private:
  struct sigaction old[3];
};

/// At most one object at a time exists in a process: InterruptGuard refers to
/// it. Errors name the path; a full disk is MLC_RESOURCES.
class OutputFiles {
public:
  /// `paths` are the final names, `folder` (may be empty) is made if missing,
  /// with its parents.
  OutputFiles(std::vector<std::string> paths, std::string folder);
  /// Removes what was not committed.
  ~OutputFiles();
  OutputFiles(const OutputFiles &) = delete;
  OutputFiles &operator=(const OutputFiles &) = delete;

  /// Makes the folder.
  Status begin();
  /// Opens file `index` for writing; then write, then close it.
  Status open(size_t index);
  Status write(const void *data, size_t size);
  Status close();
  /// Gives all files their final names.
  Status commit();

private:
  friend class InterruptGuard;
  Status fail(int code, const std::string &path) const;
  void removeAll();
  static void onSignal(int signal);

  std::vector<std::string> paths, temporaries;
  std::string folder;
  /// Folders that begin() made, outermost first.
  std::vector<std::string> made;
  size_t current = 0;
  int fd = -1;
};

} // namespace mlc::runtime

#endif // MLC_RUNTIME_OUTPUTFILES_H
