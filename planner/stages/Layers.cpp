//===- Layers.cpp - The layers of a network, as numbers -------------------===//

#include "planner/stages/Layers.h"
#include "runtime/Text.h"

#include <charconv>
#include <cmath>
#include <map>
#include <set>

using namespace mlc;
using namespace mlc::planner;
using runtime::printable;
using runtime::Status;

namespace {

/// The cells of a line, without blanks around them.
std::vector<std::string_view> cellsOf(std::string_view line) {
  std::vector<std::string_view> cells;
  for (;;) {
    const size_t comma = line.find(',');
    std::string_view cell = line.substr(0, comma);
    while (!cell.empty() && (cell.back() == ' ' || cell.back() == '\r'))
      cell.remove_suffix(1);
    while (!cell.empty() && cell.front() == ' ')
      cell.remove_prefix(1);
    cells.push_back(cell);
    if (comma == std::string_view::npos)
      return cells;
    line.remove_prefix(comma + 1);
  }
}

/// Calls `row` with the number and the cells of each line below the first,
/// which must be `names`.
template <typename Row>
Status forEachRow(const LayerGraph::Text &file, const std::string &names,
                  Row row) {
  std::string_view text = file.text;
  // The mark of UTF-8.
  if (text.substr(0, 3) == "\xef\xbb\xbf")
    text.remove_prefix(3);
  const std::string name = printable(file.name) + ": ";
  const size_t count = cellsOf(names).size();
  size_t number = 0;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    const std::vector<std::string_view> cells = cellsOf(line);
    ++number;
    if (cells.size() == 1 && cells[0].empty())
      continue;
    const std::string where = name + "line " + std::to_string(number) + ": ";
    if (number == 1) {
      if (cells != cellsOf(names))
        return Status::badFile(where + "is '" +
                               printable(std::string(line.substr(0, 80))) +
                               "', and the first line must be " + names);
      continue;
    }
    if (cells.size() != count)
      return Status::badFile(where + "has " + std::to_string(cells.size()) +
                             (cells.size() == 1 ? " cell" : " cells") +
                             ", not " + std::to_string(count) + ": " + names);
    if (Status status = row(where, cells); !status.ok())
      return status;
  }
  return number
             ? Status::success()
             : Status::badFile(name + "is empty; its first line is " + names);
}

/// A number from 0 on.
Status readNumber(const std::string &where, std::string_view cell,
                  double factor, double &number) {
  auto [end, error] =
      std::from_chars(cell.data(), cell.data() + cell.size(), number);
  if (error != std::errc() || end != cell.data() + cell.size() ||
      !std::isfinite(number) || number < 0)
    return Status::badFile(where + "'" + printable(std::string(cell)) +
                           "' is no number from 0 on");
  number *= factor;
  return Status::success();
}

/// A place for each layer, after those that it reads, and otherwise in the
/// order of the file; fewer where layers read each other in a circle.
std::vector<size_t>
orderOf(size_t count, const std::vector<std::pair<size_t, size_t>> &edges) {
  std::vector<size_t> missing(count);
  std::vector<std::vector<size_t>> readers(count);
  for (auto [from, to] : edges) {
    readers[from].push_back(to);
    ++missing[to];
  }
  std::set<size_t> ready;
  for (size_t i = 0; i < count; ++i)
    if (!missing[i])
      ready.insert(i);
  std::vector<size_t> order;
  while (!ready.empty()) {
    const size_t next = *ready.begin();
    ready.erase(ready.begin());
    order.push_back(next);
    for (size_t reader : readers[next])
      if (--missing[reader] == 0)
        ready.insert(reader);
  }
  return order;
}

} // namespace

Status LayerGraph::parse(const Text &layers, const Text &edges,
                         LayerGraph &graph) {
  std::vector<Layer> found;
  std::map<std::string, size_t, std::less<>> places;
  Status status = forEachRow(
      layers,
      "layer,operator,forward_ms,backward_ms,activation_bytes,parameter_bytes",
      [&](const std::string &where,
          const std::vector<std::string_view> &cells) {
        Layer layer;
        layer.name = cells[0];
        if (!places.emplace(layer.name, found.size()).second)
          return Status::badFile(where + "layer " + printable(layer.name) +
                                 " is there twice");
        Status status = readNumber(where, cells[2], 1e-3, layer.forwardSeconds);
        if (status.ok())
          status = readNumber(where, cells[3], 1e-3, layer.backwardSeconds);
        if (status.ok())
          status = readNumber(where, cells[4], 1, layer.outputBytes);
        if (status.ok())
          status = readNumber(where, cells[5], 1, layer.weightBytes);
        found.push_back(std::move(layer));
        return status;
      });
  if (status.ok() && found.empty())
    status = Status::badFile(printable(layers.name) + ": has no layers");
  std::vector<std::pair<size_t, size_t>> read;
  if (status.ok())
    status = forEachRow(edges, "from,to",
                        [&](const std::string &where,
                            const std::vector<std::string_view> &cells) {
                          size_t ends[2];
                          for (int i = 0; i < 2; ++i) {
                            auto it = places.find(cells[i]);
                            if (it == places.end())
                              return Status::badFile(
                                  where + "there is no layer '" +
                                  printable(std::string(cells[i])) + "'");
                            ends[i] = it->second;
                          }
                          read.emplace_back(ends[0], ends[1]);
                          return Status::success();
                        });
  if (!status.ok())
    return status;
  const std::vector<size_t> order = orderOf(found.size(), read);
  if (order.size() < found.size()) {
    const std::set<size_t> placed(order.begin(), order.end());
    size_t inCircle = 0;
    while (placed.count(inCircle))
      ++inCircle;
    return Status::badFile(printable(edges.name) + ": layer " +
                           printable(found[inCircle].name) +
                           " reads itself, or what reads it, in a circle");
  }
  graph = {};
  std::vector<size_t> placeOf(found.size());
  for (size_t place = 0; place < order.size(); ++place) {
    placeOf[order[place]] = place;
    graph.layers.push_back(std::move(found[order[place]]));
  }
  for (auto [from, to] : read)
    graph.edges.emplace_back(placeOf[from], placeOf[to]);
  return status;
}

std::vector<Layer> LayerGraph::chain(size_t mostTensors) const {
  // Behind which layer the last reader of each one is.
  std::vector<size_t> lastReader(layers.size());
  for (size_t i = 0; i < layers.size(); ++i)
    lastReader[i] = i;
  for (auto [from, to] : edges)
    lastReader[from] = std::max(lastReader[from], to);
  std::vector<Layer> blocks;
  Layer block;
  std::set<size_t> open; // layers with later readers
  for (size_t i = 0; i < layers.size(); ++i) {
    const Layer &layer = layers[i];
    block.name += (block.name.empty() ? "" : "+") + layer.name;
    block.forwardSeconds += layer.forwardSeconds;
    block.backwardSeconds += layer.backwardSeconds;
    block.weightBytes += layer.weightBytes;
    if (lastReader[i] > i)
      open.insert(i);
    for (auto it = open.begin(); it != open.end();)
      it = lastReader[*it] <= i ? open.erase(it) : std::next(it);
    const bool isLast = i + 1 == layers.size();
    if (open.size() > mostTensors && !isLast)
      continue;
    for (size_t crossing : open)
      block.outputBytes += layers[crossing].outputBytes;
    blocks.push_back(std::move(block));
    block = {};
  }
  return blocks;
}
