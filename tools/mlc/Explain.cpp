//===- Explain.cpp - Explains the search on a model -----------------------===//

#include "tools/mlc/Explain.h"
#include "rewrites/ProofLog/Replay.h"
#include "runtime/Text.h"
#include "simulator/timeline/Xml.h"
#include "tools/mlc/ExplainParts.h"
#include "tools/mlc/GraphDrawing.h"
#include "llvm/ADT/IntEqClasses.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

using namespace mlc;
using namespace mlc::cli;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
using mlc::simulator::escapeXml;

/// A step's rule, found by name and hash.
static Rule *findRule(RuleSet &rules, const TrailStep &step) {
  for (Rule &rule : rules.rules)
    if (rule.getName() == step.rule && rule.hash == step.hash)
      return &rule;
  return nullptr;
}

static std::string microseconds(double seconds) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.1f us", seconds * 1e6);
  return text;
}

/// "saves 1.2 us" or "costs 0.3 us"; "prepares another" for a step that does
/// neither.
static std::string gainText(double seconds) {
  if (seconds == 0)
    return "prepares another";
  return (seconds > 0 ? "saves " : "costs ") + microseconds(std::abs(seconds));
}

/// Groups the steps of a trail: a step without gain of its own joins the next
/// step that shares a place with it, or else the last such step before it.
/// Groups are in the order of their first steps.
static std::vector<std::vector<size_t>> stepsThatPay(const Trail &trail) {
  const size_t count = trail.steps.size();
  auto meet = [&](size_t i, size_t j) {
    return llvm::any_of(trail.steps[i].places, [&](const std::string &place) {
      return llvm::is_contained(trail.steps[j].places, place);
    });
  };
  llvm::IntEqClasses classes(count);
  for (size_t i = 0; i < count; ++i) {
    if (trail.steps[i].gainSeconds > 0)
      continue;
    size_t other = i + 1;
    while (other < count && !meet(i, other))
      ++other;
    for (size_t j = i; other == count && j-- > 0;)
      if (meet(i, j))
        other = j;
    if (other < count)
      classes.join(i, other);
  }
  classes.compress();
  std::vector<std::vector<size_t>> groups(classes.getNumClasses());
  for (size_t i = 0; i < count; ++i)
    groups[classes[i]].push_back(i);
  return groups;
}

static void printPlace(llvm::raw_ostream &os, const TrailStep &step) {
  os << runtime::printable(step.rule);
  if (!step.places.empty())
    os << " at " << runtime::printable(llvm::join(step.places, ", "));
}

static void printDetails(llvm::raw_ostream &os, const TrailStep &step,
                         Rule *rule) {
  if (rule && !rule->getText().empty())
    os << "     " << rule->getText() << '\n';
  if (rule)
    if (std::string condition = rule->conditionText(); !condition.empty())
      os << "     condition: " << condition << '\n';
  if (std::string bindings = step.bindings(); !bindings.empty())
    os << "     with " << runtime::printable(bindings) << '\n';
}

void mlc::cli::printSteps(llvm::raw_ostream &os, const Trail &trail,
                          RuleSet *rules) {
  os << "rewrites (" << trail.steps.size() << "):\n";
  for (const std::vector<size_t> &group : stepsThatPay(trail)) {
    double gain = 0;
    os << "  ";
    for (size_t i : group)
      os << (i == group.front() ? "" : ", ") << i + 1;
    os << ". ";
    for (size_t i : group) {
      os << (i == group.front() ? "" : ", then ");
      printPlace(os, trail.steps[i]);
      gain += trail.steps[i].gainSeconds;
    }
    os << " (" << gainText(gain) << (group.size() > 1 ? " together)\n" : ")\n");
    for (size_t i : group)
      printDetails(os, trail.steps[i],
                   rules ? findRule(*rules, trail.steps[i]) : nullptr);
  }
}

Expected<Explanation> Explanation::make(mlir::func::FuncOp before,
                                        const Trail &trail, RuleSet &rules,
                                        const CostModel &cost) {
  Explanation explanation;
  explanation.trail = trail;
  explanation.rules = &rules;
  mlir::OwningOpRef<mlir::func::FuncOp> after = before.clone();
  if (Error error = replayTrail(
          *after, trail, [&](const TrailStep &step) -> Expected<Rule *> {
            if (Rule *rule = findRule(rules, step))
              return rule;
            return llvm::createStringError("the rule is not there");
          }))
    return error;
  std::vector<Rule *> used;
  for (const TrailStep &step : trail.steps)
    used.push_back(findRule(rules, step));
  explanation.parts = findParts(before, *after, trail, used);
  explanation.choices = findChoices(*after, rules, cost);
  return explanation;
}

static void printChoice(llvm::raw_ostream &os, const Choice &choice) {
  llvm::ListSeparator separator(", then ");
  os << "  ";
  for (const TrailStep &step : choice.steps) {
    os << separator;
    printPlace(os, step);
  }
  os << " (" << microseconds(choice.lossSeconds) << " slower";
  if (choice.places > 1)
    os << "; the best of " << choice.places << " places";
  os << ")\n";
}

void Explanation::print(llvm::raw_ostream &os) const {
  printSteps(os, trail, rules);
  if (choices.empty())
    return;
  os << "possible, but slower on this target:\n";
  constexpr size_t shown = 12;
  for (const Choice &choice : llvm::ArrayRef(choices).take_front(shown))
    printChoice(os, choice);
  if (choices.size() > shown)
    os << "  and " << choices.size() - shown << " kinds more\n";
}

/// "steps 1, 2: rule_a, rule_b; this and 15 more places".
std::string Explanation::captionOf(const DrawnPart &part) const {
  if (part.steps.empty())
    return "nothing was rewritten";
  std::string text = part.steps.size() == 1 ? "step " : "steps ";
  constexpr size_t shown = 8;
  std::vector<std::string> names;
  for (auto [i, step] : llvm::enumerate(part.steps)) {
    if (i < shown)
      text += (i ? ", " : "") + std::to_string(step + 1);
    else if (i == shown)
      text += ", …";
    const std::string &name = trail.steps[step].rule;
    if (!llvm::is_contained(names, name))
      names.push_back(name);
  }
  text += ": " + llvm::join(names, ", ");
  if (part.count > 1)
    text += "; this and " + std::to_string(part.count - 1) +
            (part.count == 2 ? " place more" : " places more");
  return text;
}

void Explanation::drawSvg(llvm::raw_ostream &os) const {
  std::vector<Picture> pictures;
  std::vector<std::string> captions;
  for (const DrawnPart &part : parts) {
    pictures.push_back(draw(part));
    captions.push_back(captionOf(part));
  }
  if (parts.empty()) {
    pictures.emplace_back();
    captions.push_back("nothing was rewritten");
  }
  writeSvg(os, pictures, captions);
}

void Explanation::writeHtml(llvm::raw_ostream &os, StringRef title) const {
  os << "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'>"
     << "<title>" << escapeXml(title) << "</title>\n"
     << "<style>body{font-family:system-ui,sans-serif;margin:2em;color:#1f2328}"
        "pre{background:#f6f8fa;padding:1em;overflow-x:auto}"
        ".drawing{overflow-x:auto}</style></head><body>\n<h1>"
     << escapeXml(title) << "</h1>\n<p>Red: what was there. Green: what took "
     << "its place. Weights, and what is computed from them alone, are left "
        "out.</p>\n<div class='drawing'>\n";
  drawSvg(os);
  std::string text;
  llvm::raw_string_ostream steps(text);
  print(steps);
  os << "</div>\n<pre>" << escapeXml(text) << "</pre>\n</body></html>\n";
}
