//===- Engines.h - Properties of each engine --------------------*- C++ -*-===//
//
// The rows of Engines.def, and texts made from them.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_ENGINES_H
#define MLC_RUNTIME_ENGINES_H

#include <string>
#include <string_view>

namespace mlc::runtime::engines {

/// The columns of a row.
enum Ranks { Threads, Processes };
enum Default { OfNone, OfMpirun, OfRendezvous };
enum Memory { Host, Gpu };

struct Row {
  const char *name;
  Ranks ranks;
  Default isDefault;
  Memory memory;
  const char *use, *remedy;
};

inline constexpr Row all[] = {
#define MLC_ENGINE(NAME, RANKS, DEFAULT, MEMORY, USE, REMEDY)                  \
  {NAME, RANKS, DEFAULT, MEMORY, USE, REMEDY},
#include "runtime/Engines.def"
};

/// Null for a path and an unknown name.
const Row *find(std::string_view name);

/// The one whose ranks are threads.
const Row &ofThreads();

/// The one for the ranks of such a launcher.
const Row &ofLauncher(Default launcher);

/// "inproc, mpi, gloo and nccl".
std::string names();

/// Those that work in a GPU's memory: "nccl".
std::string namesForGpus();

/// All with their uses, for help: "inproc (threads of this process), ..., or an
/// engine's path".
std::string uses();

} // namespace mlc::runtime::engines

#endif // MLC_RUNTIME_ENGINES_H
