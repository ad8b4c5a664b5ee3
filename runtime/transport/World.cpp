//===- World.cpp - This process's rank, from the launcher -----------------===//

#include "runtime/transport/World.h"
#include "runtime/Engines.h"
#include "runtime/Step.h"
#include "runtime/Text.h"

#include <charconv>
#include <cstdlib>
#include <cstring>

namespace mlc::runtime::transport {

namespace {

struct Launcher {
  const char *name, *rank, *size, *localRank;
};

const Launcher launchers[] = {
    {"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
     "OMPI_COMM_WORLD_LOCAL_RANK"},
    {"PMI", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"},
    {"torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK"},
};
const Launcher slurm = {"Slurm", "SLURM_PROCID", "SLURM_NTASKS",
                        "SLURM_LOCALID"};

/// -1 if it is not set.
Status read(const char *variable, int &number) {
  const char *text = std::getenv(variable);
  number = -1;
  if (!text)
    return Status::success();
  const char *end = text + std::strlen(text);
  auto [last, error] = std::from_chars(text, end, number);
  if (error == std::errc() && last == end && number >= 0 &&
      number <= int(maxRanks))
    return Status::success();
  return Status::error(MLC_USAGE, std::string(variable) + " is \"" +
                                      printable(text) +
                                      "\", which is no number of ranks; set "
                                      "it as the launcher does, or unset it");
}

std::string whoSetRank() {
  return std::getenv("TORCHELASTIC_RUN_ID") ? "torchrun"
         : std::getenv("MLC_LAUNCH")        ? "mlc launch"
                                            : "who set WORLD_SIZE";
}

Status read(const Launcher &launcher, World &world) {
  world = {};
  if (Status status = read(launcher.rank, world.rank); !status.ok())
    return status;
  if (Status status = read(launcher.size, world.size); !status.ok())
    return status;
  if (world.rank < 0 && world.size < 0)
    return Status::success();
  if (world.rank < 0 || world.size < 0)
    return Status::error(
        MLC_USAGE, std::string(world.rank < 0 ? launcher.size : launcher.rank) +
                       " is set and " +
                       (world.rank < 0 ? launcher.rank : launcher.size) +
                       " is not; set both, or unset both");
  if (world.rank >= world.size)
    return Status::error(MLC_USAGE, std::string(launcher.rank) + " is " +
                                        std::to_string(world.rank) + " and " +
                                        launcher.size + " is " +
                                        std::to_string(world.size) +
                                        "; ranks count from 0 to one less");
  world.launcher = launcher.name;
  world.starter = world.launcher == "torchrun" ? whoSetRank() : launcher.name;
  return read(launcher.localRank, world.localRank);
}

std::string describe(const World &world) {
  return "rank " + std::to_string(world.rank) + " of " +
         std::to_string(world.size);
}

} // namespace

const char *World::engine() const {
  const bool meets = launcher == "torchrun";
  return engines::ofLauncher(meets ? engines::OfRendezvous : engines::OfMpirun)
      .name;
}

Status findWorld(World &world) {
  world = {};
  for (const Launcher &launcher : launchers) {
    World said;
    if (Status status = read(launcher, said); !status.ok())
      return status;
    if (!said.found())
      continue;
    if (!world.found()) {
      world = said;
      continue;
    }
    if (said.rank != world.rank || said.size != world.size)
      return Status::error(
          MLC_USAGE, "this is " + describe(world) + " for " + world.starter +
                         ", but " + describe(said) + " for " + said.starter +
                         " (" + launcher.rank + ", " + launcher.size +
                         "); unset those of the launcher "
                         "that did not start it");
  }
  return world.found() ? Status::success() : read(slurm, world);
}

} // namespace mlc::runtime::transport
