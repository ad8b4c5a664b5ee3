//===- Trail.cpp - Trails as text -----------------------------------------===//

#include "rewrites/ProofLog/Trail.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/Support/Format.h"

using namespace mlc;
using llvm::StringRef;
namespace json = llvm::json;

static constexpr StringRef attributeName = "mlc.trail";

std::string TrailStep::bindings() const {
  std::string text;
  // Both maps are sorted; a name is in only one of them.
  std::map<std::string, std::string> all = integers;
  all.insert(reals.begin(), reals.end());
  for (const auto &[symbol, value] : all)
    text += (text.empty() ? "" : ", ") + symbol + " = " + value;
  return text;
}

std::string mlc::placeOf(mlir::Location loc) {
  if (auto name = llvm::dyn_cast<mlir::NameLoc>(loc))
    return name.getName().str();
  if (auto fused = llvm::dyn_cast<mlir::FusedLoc>(loc))
    for (mlir::Location part : fused.getLocations())
      if (std::string name = placeOf(part); !name.empty())
        return name;
  return "";
}

std::string mlc::realText(RealAttr real) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.17g", real.getDouble());
  return text;
}

//===----------------------------------------------------------------------===//
// To JSON
//===----------------------------------------------------------------------===//

static json::Array termsToJson(llvm::ArrayRef<TermId> terms) {
  json::Array array;
  for (TermId term : terms) {
    if (term == noTerm)
      array.push_back(nullptr);
    else
      array.push_back(static_cast<int64_t>(term));
  }
  return array;
}

static json::Object symbolsToJson(const std::map<std::string, std::string> &m) {
  json::Object object;
  for (const auto &[symbol, value] : m)
    object[symbol] = value;
  return object;
}

static json::Object stepToJson(const TrailStep &step) {
  return json::Object{{"rule", step.rule},
                      {"hash", step.hash},
                      {"arguments", termsToJson(step.arguments)},
                      {"before", termsToJson(step.before)},
                      {"integers", symbolsToJson(step.integers)},
                      {"reals", symbolsToJson(step.reals)},
                      {"places", json::Array(step.places)},
                      {"gain", step.gainSeconds}};
}

json::Value mlc::toJson(llvm::ArrayRef<Trail> trails) {
  json::Array array;
  for (const Trail &trail : trails) {
    json::Array steps, chosen;
    for (const TrailStep &step : trail.steps)
      steps.push_back(stepToJson(step));
    for (const ChosenOperator &op : trail.chosen) {
      std::vector<TermId> terms{op.term};
      terms.insert(terms.end(), op.operands.begin(), op.operands.end());
      chosen.push_back(termsToJson(terms));
    }
    array.push_back(json::Object{{"function", trail.function},
                                 {"steps", std::move(steps)},
                                 {"chosen", std::move(chosen)},
                                 {"outputs", termsToJson(trail.outputs)}});
  }
  return array;
}

//===----------------------------------------------------------------------===//
// From JSON
//===----------------------------------------------------------------------===//

// The forms that json::fromJSON looks up by argument.
namespace mlc {

static bool fromJSON(const json::Value &value, std::vector<TermId> &terms,
                     json::Path path) {
  const json::Array *array = value.getAsArray();
  if (!array) {
    path.report("expected array of terms");
    return false;
  }
  terms.clear();
  for (size_t i = 0; i < array->size(); ++i) {
    const json::Value &entry = (*array)[i];
    std::optional<int64_t> term = entry.getAsInteger();
    bool isAbsent = entry.kind() == json::Value::Null;
    if (!isAbsent && (!term || *term < 0 || *term >= noTerm)) {
      path.index(i).report("expected number of a term");
      return false;
    }
    terms.push_back(isAbsent ? noTerm : static_cast<TermId>(*term));
  }
  return true;
}

static bool fromJSON(const json::Value &value, ChosenOperator &op,
                     json::Path path) {
  std::vector<TermId> terms;
  if (!fromJSON(value, terms, path))
    return false;
  if (terms.empty() || llvm::is_contained(terms, noTerm)) {
    path.report("expected a term and its operands");
    return false;
  }
  op.term = terms.front();
  op.operands.assign(terms.begin() + 1, terms.end());
  return true;
}

static bool fromJSON(const json::Value &value, TrailStep &step,
                     json::Path path) {
  json::ObjectMapper map(value, path);
  if (!map || !map.map("rule", step.rule) || !map.map("hash", step.hash) ||
      !map.map("integers", step.integers) || !map.map("reals", step.reals) ||
      !map.map("places", step.places) || !map.map("gain", step.gainSeconds))
    return false;
  const json::Object &object = *value.getAsObject();
  for (auto [name, terms] : {std::pair("arguments", &step.arguments),
                             std::pair("before", &step.before)}) {
    const json::Value *entry = object.get(name);
    if (!entry) {
      path.field(name).report("missing value");
      return false;
    }
    if (!fromJSON(*entry, *terms, path.field(name)))
      return false;
  }
  return true;
}

static bool fromJSON(const json::Value &value, Trail &trail, json::Path path) {
  json::ObjectMapper map(value, path);
  if (!map || !map.map("function", trail.function) ||
      !map.map("steps", trail.steps) || !map.map("chosen", trail.chosen))
    return false;
  const json::Value *outputs = value.getAsObject()->get("outputs");
  if (!outputs) {
    path.field("outputs").report("missing value");
    return false;
  }
  return fromJSON(*outputs, trail.outputs, path.field("outputs"));
}

} // namespace mlc

llvm::Expected<std::vector<Trail>> mlc::parseTrails(StringRef text) {
  return json::parse<std::vector<Trail>>(text, "trail");
}

//===----------------------------------------------------------------------===//
// On a module
//===----------------------------------------------------------------------===//

void mlc::setTrails(mlir::ModuleOp module, llvm::ArrayRef<Trail> trails) {
  std::string text;
  llvm::raw_string_ostream(text) << toJson(trails);
  module->setAttr(attributeName,
                  mlir::StringAttr::get(module.getContext(), text));
}

llvm::Expected<std::vector<Trail>> mlc::getTrails(mlir::ModuleOp module) {
  auto attribute = module->getAttrOfType<mlir::StringAttr>(attributeName);
  if (!attribute)
    return std::vector<Trail>();
  return parseTrails(attribute.getValue());
}
