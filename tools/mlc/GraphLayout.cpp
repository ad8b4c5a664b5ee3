//===- GraphLayout.cpp - Places for the nodes of a small graph ------------===//

#include "tools/mlc/GraphLayout.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace mlc::cli;
using llvm::ArrayRef;

namespace {

constexpr double gapAcross = 18, gapDown = 26;
/// Room for an edge that passes a layer.
constexpr double edgeWidth = 10;

/// Rows of nodes and of points where edges pass a layer.
class Layers {
public:
  explicit Layers(ArrayRef<LayoutNode> nodes) : nodes(nodes) {
    assignRows();
    addItems();
    for (unsigned sweep = 0; sweep < 8; ++sweep)
      order(/*downward=*/sweep % 2 == 0);
    spread();
    for (unsigned sweep = 0; sweep < 12; ++sweep)
      settle(/*downward=*/sweep % 2 == 0);
  }

  Layout take();

private:
  struct Item {
    double width, x = 0;
    unsigned row;
    double key = 0;
    std::vector<unsigned> above, below;
  };

  void assignRows() {
    rowOf.resize(nodes.size());
    for (auto [i, node] : llvm::enumerate(nodes))
      for (unsigned input : node.inputs)
        rowOf[i] = std::max(rowOf[i], rowOf[input] + 1);
    // A source is placed right above its first reader.
    std::vector<unsigned> firstReader(nodes.size(), ~0u);
    for (auto [i, node] : llvm::enumerate(nodes))
      for (unsigned input : node.inputs)
        firstReader[input] = std::min(firstReader[input], rowOf[i]);
    for (auto [i, node] : llvm::enumerate(nodes))
      if (node.inputs.empty() && firstReader[i] != ~0u)
        rowOf[i] = firstReader[i] - 1;
  }

  unsigned addItem(double width, unsigned row) {
    items.push_back({width, 0, row, 0, {}, {}});
    if (rows.size() <= row)
      rows.resize(row + 1);
    rows[row].push_back(items.size() - 1);
    return items.size() - 1;
  }

  void link(unsigned above, unsigned below) {
    items[above].below.push_back(below);
    items[below].above.push_back(above);
  }

  void addItems() {
    for (auto [i, node] : llvm::enumerate(nodes))
      addItem(node.width, rowOf[i]);
    for (auto [i, node] : llvm::enumerate(nodes))
      for (unsigned input : node.inputs) {
        std::vector<unsigned> chain{input};
        for (unsigned row = rowOf[input] + 1; row < rowOf[i]; ++row) {
          unsigned passing = addItem(edgeWidth, row);
          link(chain.back(), passing);
          chain.push_back(passing);
        }
        link(chain.back(), i);
        chain.push_back(i);
        chains.push_back(std::move(chain));
      }
  }

  /// Sorts each row by the mean place of the neighbours in the row before.
  void order(bool downward) {
    std::vector<double> place(items.size());
    auto note = [&](const std::vector<unsigned> &row) {
      for (auto [i, item] : llvm::enumerate(row))
        place[item] = i;
    };
    llvm::for_each(rows, note);
    auto sortRow = [&](std::vector<unsigned> &row) {
      for (unsigned item : row) {
        const auto &others = downward ? items[item].above : items[item].below;
        double sum = 0;
        for (unsigned other : others)
          sum += place[other];
        items[item].key =
            others.empty() ? place[item] : sum / double(others.size());
      }
      std::stable_sort(row.begin(), row.end(), [&](unsigned a, unsigned b) {
        return items[a].key < items[b].key;
      });
      note(row);
    };
    if (downward)
      llvm::for_each(rows, sortRow);
    else
      llvm::for_each(llvm::reverse(rows), sortRow);
  }

  static double distance(const Item &a, const Item &b) {
    return (a.width + b.width) / 2 + gapAcross;
  }

  void spread() {
    for (const std::vector<unsigned> &row : rows)
      for (size_t i = 1; i < row.size(); ++i)
        items[row[i]].x =
            items[row[i - 1]].x + distance(items[row[i - 1]], items[row[i]]);
  }

  /// Moves items towards their neighbours as far as the order allows: to the
  /// mean of the positions from pushing left to right and right to left.
  void settle(bool downward) {
    for (const std::vector<unsigned> &row : rows) {
      std::vector<double> wanted;
      for (unsigned index : row) {
        const Item &item = items[index];
        const auto &others = downward ? item.above : item.below;
        double sum = 0;
        for (unsigned other : others)
          sum += items[other].x;
        wanted.push_back(others.empty() ? item.x : sum / double(others.size()));
      }
      std::vector<double> left = wanted, right = wanted;
      for (size_t i = 1; i < row.size(); ++i)
        left[i] = std::max(
            left[i], left[i - 1] + distance(items[row[i - 1]], items[row[i]]));
      for (size_t i = row.size(); i-- > 1;)
        right[i - 1] =
            std::min(right[i - 1],
                     right[i] - distance(items[row[i - 1]], items[row[i]]));
      for (size_t i = 0; i < row.size(); ++i)
        items[row[i]].x = (left[i] + right[i]) / 2;
    }
  }

  ArrayRef<LayoutNode> nodes;
  std::vector<unsigned> rowOf;
  std::vector<Item> items; // the nodes first
  std::vector<std::vector<unsigned>> rows, chains;
};

Layout Layers::take() {
  Layout layout;
  double left = 0, right = 0;
  for (const Item &item : items) {
    left = std::min(left, item.x - item.width / 2);
    right = std::max(right, item.x + item.width / 2);
  }
  std::vector<double> middle(rows.size());
  double top = 0;
  for (auto [row, members] : llvm::enumerate(rows)) {
    double height = 0;
    for (unsigned item : members)
      if (item < nodes.size())
        height = std::max(height, nodes[item].height);
    middle[row] = top + height / 2;
    top += height + gapDown;
  }
  layout.width = right - left;
  layout.height = std::max(0.0, top - gapDown);
  for (size_t i = 0; i < nodes.size(); ++i)
    layout.centers.push_back({items[i].x - left, middle[rowOf[i]]});
  for (const std::vector<unsigned> &chain : chains) {
    LayoutEdge edge{chain.front(), chain.back(), {}};
    Point from = layout.centers[edge.from], to = layout.centers[edge.to];
    edge.points.push_back({from.x, from.y + nodes[edge.from].height / 2});
    for (unsigned item : ArrayRef(chain).drop_front().drop_back())
      edge.points.push_back({items[item].x - left, middle[items[item].row]});
    edge.points.push_back({to.x, to.y - nodes[edge.to].height / 2});
    layout.edges.push_back(std::move(edge));
  }
  return layout;
}

} // namespace

Layout mlc::cli::layOut(ArrayRef<LayoutNode> nodes) {
  return Layers(nodes).take();
}
