//===- Report.cpp - The report of nodes that cannot be compiled -----------===//

#include "passes/Import/ImportReport.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <map>

using llvm::ArrayRef;
using llvm::StringRef;

namespace mlc {

/// `text`, or its beginning: names in a model may have any length.
static std::string shortened(StringRef text) {
  constexpr size_t shown = 400;
  return text.size() <= shown ? text.str()
                              : (text.take_front(shown) + "...").str();
}

static std::string operatorOf(const UnsupportedNode &node) {
  return shortened((node.domain.empty() ? "" : node.domain + ".") + node.op);
}

/// What helps where no way of its own is known.
static StringRef generalRemedy(StringRef reason) {
  if (!reason.contains("depends on data"))
    return "docs/OnnxOperators.md lists what can be compiled";
  return reason.contains("shape")
             ? "have the exporter give it a fixed size, or end the model "
               "before it"
             : "have the exporter give it a constant, or end the model before "
               "it";
}

std::vector<std::string> remediesOf(const UnsupportedNode &node,
                                    DescribeRemedy describe) {
  std::vector<std::string> texts;
  for (const Remedy &remedy : node.remedies)
    texts.push_back(describe(remedy));
  // A reason may end with one.
  StringRef own = StringRef(node.reason).split("; ").second;
  if (texts.empty())
    texts.push_back((own.empty() ? generalRemedy(node.reason) : own).str());
  return texts;
}

void dropDimRemedies(ImportReport &report,
                     llvm::function_ref<bool(StringRef)> isFixed) {
  if (!llvm::all_of(report.symbols, isFixed))
    return;
  for (UnsupportedNode &node : report.unsupported)
    llvm::erase_if(node.remedies, [](const Remedy &remedy) {
      return remedy.kind == Remedy::Kind::FixDim && remedy.subject.empty();
    });
}

/// The reason and what to do about it.
static std::string reasonWithRemedy(const UnsupportedNode &node,
                                    DescribeRemedy describe) {
  std::string reason = shortened(node.reason);
  if (!node.remedies.empty())
    return withRemedies(std::move(reason), node.remedies, describe);
  if (StringRef(reason).contains("; "))
    return reason;
  return reason + "; " + generalRemedy(node.reason).str();
}

namespace {
/// Nodes of one operator that are refused for the same reason.
struct Refusal {
  std::string op, reason;
  size_t count = 0;
  std::vector<std::string> lines; // the first
};
} // namespace

static std::string lineOf(const UnsupportedNode &node, StringRef op) {
  constexpr size_t shown = 20;
  std::string text = shortened(node.name) + ": " + op.str();
  if (node.opset == 0) // inputs have no opset
    return text;
  std::string types =
      llvm::join(ArrayRef(node.inputTypes).take_front(shown), ", ");
  return text + " of opset " + std::to_string(node.opset) + " on (" +
         shortened(types) + ")";
}

static std::vector<Refusal> groupRefusals(const ImportReport &report,
                                          DescribeRemedy describe) {
  constexpr size_t shown = 3;
  llvm::MapVector<std::pair<std::string, std::string>, Refusal,
                  std::map<std::pair<std::string, std::string>, unsigned>>
      groups;
  for (const UnsupportedNode &node : report.unsupported) {
    std::string op = operatorOf(node);
    Refusal &group = groups[{op, node.reason}];
    group.op = op;
    group.reason = reasonWithRemedy(node, describe);
    ++group.count;
    std::string line = lineOf(node, op);
    if (group.lines.size() < shown && !llvm::is_contained(group.lines, line))
      group.lines.push_back(std::move(line));
  }
  std::vector<Refusal> sorted;
  for (auto &[key, group] : groups)
    sorted.push_back(std::move(group));
  llvm::stable_sort(sorted, [](const Refusal &a, const Refusal &b) {
    return a.count > b.count;
  });
  return sorted;
}

std::string countUnsupported(StringRef file, const ImportReport &report) {
  llvm::MapVector<std::string, size_t, std::map<std::string, unsigned>> counts;
  for (const UnsupportedNode &node : report.unsupported)
    ++counts[operatorOf(node)];
  auto totals = counts.takeVector();
  llvm::stable_sort(
      totals, [](const auto &a, const auto &b) { return a.second > b.second; });
  constexpr size_t shown = 20;
  size_t count = report.unsupported.size();
  std::string text = (file + ": " + llvm::Twine(count) +
                      (count == 1 ? " node" : " nodes") + " cannot be compiled")
                         .str();
  StringRef separator = ": ";
  for (const auto &[op, number] : ArrayRef(totals).take_front(shown)) {
    text += separator.str() + std::to_string(number) + " " + op;
    separator = ", ";
  }
  if (totals.size() > shown)
    text += " and " + std::to_string(totals.size() - shown) + " operators more";
  return text;
}

std::string listUnsupported(StringRef file, const ImportReport &report,
                            DescribeRemedy describe) {
  constexpr size_t shown = 50;
  const std::string start = file.empty() ? "" : (file + ": ").str();
  std::vector<Refusal> groups = groupRefusals(report, describe);
  const Remedy all[] = {Remedy{Remedy::Kind::ListAll}};
  std::string text;
  for (const Refusal &group : ArrayRef(groups).take_front(shown)) {
    text += start + group.op + ": " + group.reason + "\n";
    for (const std::string &line : group.lines)
      text += start + line + "\n";
    if (group.count > group.lines.size())
      text += withRemedies(
                  start + std::to_string(group.count - group.lines.size()) +
                      " more like these",
                  all, describe) +
              "\n";
  }
  if (groups.size() > shown)
    text += withRemedies(start + std::to_string(groups.size() - shown) +
                             " reasons more",
                         all, describe) +
            "\n";
  return text;
}

} // namespace mlc
