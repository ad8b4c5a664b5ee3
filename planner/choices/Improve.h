//===- Improve.h - Better choices by small changes --------------*- C++ -*-===//

#ifndef MLC_PLANNER_CHOICES_IMPROVE_H
#define MLC_PLANNER_CHOICES_IMPROVE_H

#include "planner/choices/Problem.h"

namespace mlc::planner {

/// Makes choices fit the rows, and then cheaper, by changes of one node or two.
class Improver {
public:
  /// Of a problem without two edges between the same nodes, which outlives it.
  explicit Improver(const ChoiceProblem &problem);

  /// What bytes of each row cost, for orders in which changes are tried.
  std::vector<double> byteCosts;

  /// Changes nodes until all rows have room: the change that costs the least
  /// for what it frees comes first. False if none frees anything.
  bool repair(Choices &choices);
  /// Makes choices that fit cheaper, and keeps them fitting: by moves of a
  /// node, of the two nodes of an edge, and of a node that needs room together
  /// with one that gives it.
  void improve(Choices &choices);
  /// Takes from `other` what makes `choices`, which fit, cheaper and fits: one
  /// connected part after the other of the nodes where they differ.
  bool takeFrom(const Choices &other, Choices &choices);

  /// How many costs were looked at.
  double steps() const { return count; }

private:
  struct Neighbour {
    uint32_t edge, node;
    bool isFrom; ///< this node is the edge's first
  };
  struct RowUse {
    uint32_t row;
    const std::vector<int64_t> *bytes;
  };
  struct Change {
    double cost, priced;
    uint32_t node, choice;
  };

  void begin(const Choices &choices);
  double edgeCost(const Neighbour &edge, uint32_t mine, uint32_t its) const;
  double changeOf(uint32_t node, uint32_t choice, uint32_t except) const;
  double bytesChangeOf(uint32_t node, uint32_t choice) const;
  double excessChangeOf(uint32_t node, uint32_t choice) const;
  void move(uint32_t node, uint32_t choice);
  bool fitsAfter(const std::vector<std::pair<uint32_t, uint32_t>> &moves);
  bool improveNodes();
  bool improveEdges();
  bool improveEdge(const ChoiceProblem::Edge &edge);
  bool improveExchanges();
  std::vector<std::vector<uint32_t>> partsOfDifference(const Choices &other);
  double changeOfPart(const std::vector<uint32_t> &part, const Choices &other);

  const ChoiceProblem &problem;
  std::vector<std::vector<Neighbour>> neighbours;
  std::vector<std::vector<RowUse>> uses;
  Choices now;
  std::vector<int64_t> used; ///< of each row
  std::vector<int64_t> more; ///< fitsAfter's, zero between calls
  double least = 0;          ///< changes that save less are rounding
  double count = 0;
};

} // namespace mlc::planner

#endif // MLC_PLANNER_CHOICES_IMPROVE_H
