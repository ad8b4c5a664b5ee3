//===- ValidateCollectives.h - Checks of collectives ------------*- C++ -*-===//

#ifndef MLC_RUNTIME_VALIDATECOLLECTIVES_H
#define MLC_RUNTIME_VALIDATECOLLECTIVES_H

#include "runtime/Program.h"

namespace mlc::runtime {

/// What is wrong with a mesh; empty if nothing is.
std::string problemOf(const std::vector<MeshAxis> &mesh);

/// What is wrong with the splits of a tensor of `rank` dims.
std::string problemOf(const std::vector<Split> &splits, size_t rank,
                      const std::vector<MeshAxis> &mesh);

/// Follows a program's steps, whose ids were checked, and finds collectives
/// whose operands other steps touch.
class CollectiveChecks {
public:
  CollectiveChecks(const Program &program, const std::vector<MeshAxis> &mesh)
      : program(program), mesh(mesh), reads(program.buffers.size(), 0),
        writes(program.buffers.size(), 0) {}

  /// What is wrong with the next step; empty if nothing is.
  std::string step(const Step &step);
  /// What is wrong at the end of the program.
  std::string end() const;
  /// Whether the collective of this start destroys its inputs.
  static bool consumes(const StartStep &start);

private:
  std::string start(const StartStep &detail, const Step &step);
  std::string wait(const Step &step, uint32_t ticket);
  std::string touches(const Step &step) const;
  std::string problemOfOperands(const StartStep &detail,
                                const Step &step) const;
  void mark(const Step &step, int change);

  const Program &program;
  const std::vector<MeshAxis> &mesh;
  /// For each buffer that owns memory: how many collectives under way read and
  /// write it.
  std::vector<uint32_t> reads, writes;
  /// Indexed by ticket; null once it was waited for.
  std::vector<const Step *> started;
};

} // namespace mlc::runtime

#endif // MLC_RUNTIME_VALIDATECOLLECTIVES_H
