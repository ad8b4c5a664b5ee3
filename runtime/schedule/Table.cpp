//===- Table.cpp - A training step as a table of actions ------------------===//

#include "runtime/schedule/Table.h"
#include "runtime/Text.h"

#include <algorithm>

using namespace mlc::runtime;
using namespace mlc::runtime::schedule;

namespace {
struct KindRow {
  const char *text;
  bool hasMicroBatch, isCompute;
};
constexpr KindRow rows[] = {
#define ACTION(NAME, TEXT, HAS_MICRO_BATCH, IS_COMPUTE)                        \
  {TEXT, HAS_MICRO_BATCH, IS_COMPUTE},
#include "runtime/schedule/Actions.def"
};
constexpr std::string_view kOverlap = "OVERLAP_F_B";
} // namespace

const char *schedule::toText(ActionKind kind) {
  return rows[size_t(kind)].text;
}

bool schedule::hasMicroBatch(ActionKind kind) {
  return rows[size_t(kind)].hasMicroBatch;
}

bool schedule::isCompute(ActionKind kind) {
  return rows[size_t(kind)].isCompute;
}

bool schedule::isSend(ActionKind kind) {
  return kind == ActionKind::SendForward || kind == ActionKind::SendBackward;
}

bool schedule::isReceive(ActionKind kind) {
  return kind == ActionKind::ReceiveForward ||
         kind == ActionKind::ReceiveBackward;
}

int32_t schedule::peerOf(const Action &action) {
  if (action.peer != kNone)
    return action.peer;
  const bool goesOn = action.kind == ActionKind::SendForward ||
                      action.kind == ActionKind::ReceiveBackward;
  return goesOn ? action.stage + 1 : action.stage - 1;
}

//===----------------------------------------------------------------------===//
// Counting
//===----------------------------------------------------------------------===//

/// One more than the largest number that `get` returns for an action.
template <typename Get>
static int32_t countNumbers(const Table &table, Get get) {
  int32_t count = 0;
  for (const std::vector<Action> &actions : table.ranks)
    for (const Action &action : actions)
      count = std::max(count, get(action) + 1);
  return count;
}

int32_t Table::countStages() const {
  return countNumbers(*this, [](const Action &action) { return action.stage; });
}

int32_t Table::countMicroBatches() const {
  return countNumbers(*this, [](const Action &action) {
    return hasMicroBatch(action.kind) ? action.microBatch : kNone;
  });
}

int32_t Table::countSlices() const {
  return std::max(1, countNumbers(*this, [](const Action &action) {
                    return action.slice;
                  }));
}

int64_t Table::countActions() const {
  int64_t count = 0;
  for (const std::vector<Action> &actions : ranks)
    count += int64_t(actions.size());
  return count;
}

bool Table::hasTransfers() const {
  for (const std::vector<Action> &actions : ranks)
    for (const Action &action : actions)
      if (isSend(action.kind) || isReceive(action.kind))
        return true;
  return false;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

std::string schedule::toString(const Action &action) {
  std::string text = std::to_string(action.stage) + toText(action.kind);
  if (action.microBatch != kNone)
    text += std::to_string(action.microBatch);
  if (action.slice != kNone)
    text += '.' + std::to_string(action.slice);
  if (action.peer != kNone)
    text += (isSend(action.kind) ? '>' : '<') + std::to_string(action.peer);
  if (action.version != kNone)
    text += '@' + std::to_string(action.version);
  return text;
}

std::string Table::text() const {
  std::string text;
  for (const std::vector<Action> &actions : ranks) {
    for (size_t i = 0; i < actions.size(); ++i) {
      const int32_t overlap = actions[i].overlap;
      const bool begins =
          overlap != kNone && (i == 0 || actions[i - 1].overlap != overlap);
      const bool ends = overlap != kNone && (i + 1 == actions.size() ||
                                             actions[i + 1].overlap != overlap);
      if (i)
        text += overlap != kNone && !begins ? ';' : ',';
      text += begins ? "(" : "";
      text += toString(actions[i]);
      if (ends)
        text.append(")").append(kOverlap);
    }
    text += '\n';
  }
  return text;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace {

bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isSpace(char c) { return c == ' ' || c == '\t' || c == '\r'; }

std::string_view trim(std::string_view text) {
  while (!text.empty() && isSpace(text.front()))
    text.remove_prefix(1);
  while (!text.empty() && isSpace(text.back()))
    text.remove_suffix(1);
  return text;
}

/// The characters before `separator`; they and it leave `text`.
std::string_view takeUntil(std::string_view &text, char separator) {
  const std::string_view part = text.substr(0, text.find(separator));
  text.remove_prefix(std::min(text.size(), part.size() + 1));
  return part;
}

std::string quoted(std::string_view text) {
  constexpr size_t most = 40;
  return "'" + printable(text.substr(0, most)) +
         (text.size() > most ? "...'" : "'");
}

/// Reads one cell. Errors say what is wrong, not where.
class CellReader {
public:
  CellReader(std::string_view cell, int32_t overlap,
             std::vector<Action> &actions)
      : cell(cell), overlap(overlap), actions(actions) {}

  /// Adds the actions of the cell; `isGroup` says whether they may overlap.
  Status read(bool &isGroup) {
    isGroup = cell.front() == '(';
    if (!isGroup)
      return readAction(cell, kNone);
    const size_t end = cell.find(')');
    if (end == std::string_view::npos || trim(cell.substr(end + 1)) != kOverlap)
      return wrong("actions that overlap look like (0F7;7B3)OVERLAP_F_B");
    std::string_view inside = cell.substr(1, end - 1);
    do {
      if (Status status = readAction(trim(takeUntil(inside, ';')), overlap);
          !status.ok())
        return status;
      if (!isCompute(actions.back().kind) ||
          !hasMicroBatch(actions.back().kind))
        return wrong("only F, I, W and B overlap; give the others cells of "
                     "their own");
    } while (!inside.empty());
    return Status::success();
  }

private:
  Status wrong(const std::string &what) const {
    return Status::badFile(quoted(cell) + ": " + what);
  }

  /// Takes a number below `most` from `text`, which begins with a digit.
  Status takeNumber(std::string_view &text, const char *what, int64_t most,
                    int32_t &number) const {
    int64_t value = 0;
    for (; !text.empty() && isDigit(text.front()); text.remove_prefix(1)) {
      value = value * 10 + (text.front() - '0');
      if (value >= most)
        return wrong(std::string("the ") + what + " is too large; give up to " +
                     std::to_string(most - 1));
    }
    number = int32_t(value);
    return Status::success();
  }

  /// Takes a number after `sign`, if there is one.
  Status takeAfter(char sign, const char *what, std::string_view &text,
                   int32_t &number) const {
    if (text.empty() || text.front() != sign)
      return Status::success();
    text.remove_prefix(1);
    if (text.empty() || !isDigit(text.front()))
      return wrong(std::string("a ") + what + " is a number after " + sign);
    return takeNumber(text, what,
                      sign == '<' || sign == '>' ? kMaxStages : kMaxNumbers,
                      number);
  }

  Status takeKind(std::string_view &text, ActionKind &kind) const {
    const std::string_view name =
        text.substr(0, text.find_first_of("0123456789.@<>"));
    text.remove_prefix(name.size());
    std::string known;
    for (size_t i = 0; i < std::size(rows); ++i) {
      if (name == rows[i].text) {
        kind = ActionKind(i);
        return Status::success();
      }
      known.append(known.empty() ? "" : ", ").append(rows[i].text);
    }
    return wrong(
        (name.empty() ? "no kind follows the stage"
                      : "there is no action " + quoted(name)) +
        "; kinds are in upper case, without spaces around them: " + known);
  }

  Status readAction(std::string_view text, int32_t group) {
    if (text.empty() || !isDigit(text.front()))
      return wrong("expected an action: stage, kind, micro-batch, as 2F0");
    Action action;
    action.overlap = group;
    if (Status status = takeNumber(text, "stage", kMaxStages, action.stage);
        !status.ok())
      return status;
    if (Status status = takeKind(text, action.kind); !status.ok())
      return status;
    if (Status status = readNumbers(text, action); !status.ok())
      return status;
    if (!text.empty())
      return wrong("what is " + quoted(text) + "? Separate actions by commas");
    actions.push_back(action);
    return Status::success();
  }

  /// Micro-batch, slice, version.
  Status readNumbers(std::string_view &text, Action &action) const {
    const std::string name = toText(action.kind);
    const bool hasNumber = !text.empty() && isDigit(text.front());
    if (hasMicroBatch(action.kind) && !hasNumber)
      return wrong(name + " needs a micro-batch, as 2" + name + "0");
    if (hasNumber && !hasMicroBatch(action.kind) &&
        action.kind != ActionKind::Step)
      return wrong(name + " belongs to no micro-batch; leave the number out");
    if (hasNumber)
      if (Status status = takeNumber(
              text, action.kind == ActionKind::Step ? "version" : "micro-batch",
              kMaxNumbers, action.microBatch);
          !status.ok())
        return status;
    if (!hasMicroBatch(action.kind) && !text.empty() &&
        (text.front() == '.' || text.front() == '@'))
      return wrong(name + " has no slice and reads no version; leave them out");
    if (Status status = takeAfter('.', "slice", text, action.slice);
        !status.ok())
      return status;
    if (isSend(action.kind) || isReceive(action.kind))
      if (Status status = takeAfter(isSend(action.kind) ? '>' : '<', "stage",
                                    text, action.peer);
          !status.ok())
        return status;
    return takeAfter('@', "version", text, action.version);
  }

  std::string_view cell;
  int32_t overlap;
  std::vector<Action> &actions;
};

/// Reads the line of a rank; `most` actions are left for it.
Status readLine(std::string_view line, int64_t most,
                std::vector<Action> &actions) {
  if (trim(line).empty())
    return Status::badFile("the line is empty, and each line is a rank; give "
                           "it actions, or remove it");
  int32_t groups = 0;
  for (int64_t number = 1; !line.empty(); ++number) {
    const std::string_view cell = trim(takeUntil(line, ','));
    if (cell.empty())
      continue;
    bool isGroup = false;
    Status status = CellReader(cell, groups, actions).read(isGroup);
    if (status.ok() && int64_t(actions.size()) > most)
      status = Status::badFile("there are more than " +
                               std::to_string(kMaxActions) + " actions");
    if (!status.ok())
      return Status::badFile("cell " + std::to_string(number) + ": " +
                             status.message);
    groups += isGroup;
  }
  return actions.empty() ? Status::badFile("the rank has no action; give each "
                                           "rank a line of actions")
                         : Status::success();
}

/// Numbers that the actions cannot reach would make others take memory for
/// what is not there.
Status checkNumbers(const Table &table) {
  const int64_t stages = table.countStages(),
                microBatches = std::max(1, table.countMicroBatches()),
                slices = table.countSlices(),
                most = 4096 + 16 * table.countActions();
  if (stages * microBatches <= most && stages * microBatches * slices <= most)
    return Status::success();
  return Status::badFile(std::to_string(table.countActions()) +
                         " actions cannot run " + std::to_string(stages) +
                         " stages for " + std::to_string(microBatches) +
                         " micro-batches of " + std::to_string(slices) +
                         " slices; number them from 0, without gaps");
}

} // namespace

Status Table::parse(std::string_view text, Table &table) {
  table.ranks.clear();
  // Blank lines may follow the last rank.
  while (!text.empty() && (text.back() == '\n' || isSpace(text.back())))
    text.remove_suffix(1);
  int64_t actions = 0;
  while (!text.empty()) {
    const std::string line = "line " + std::to_string(table.ranks.size() + 1);
    if (table.ranks.size() == size_t(kMaxRanks))
      return Status::badFile(line + ": there are more than " +
                             std::to_string(kMaxRanks) + " ranks");
    table.ranks.emplace_back();
    if (Status status = readLine(takeUntil(text, '\n'), kMaxActions - actions,
                                 table.ranks.back());
        !status.ok())
      return Status::badFile(line + ", " + status.message);
    actions += int64_t(table.ranks.back().size());
  }
  if (table.ranks.empty())
    return Status::badFile("there is no rank; give each rank a line of "
                           "actions");
  return checkNumbers(table);
}
