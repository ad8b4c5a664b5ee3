//===- TimingCache.cpp - Measured times of operators ----------------------===//

#include "rewrites/Cost/TimingCache.h"
#include "codegen/target/Json.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace mlc;
namespace json = llvm::json;

std::string mlc::operatorSignature(Operation *op) {
  std::string text = op->getName().getStringRef().str() + " ";
  llvm::raw_string_ostream os(text);
  op->getAttrDictionary().print(os);
  os << " : (";
  llvm::interleaveComma(op->getOperandTypes(), os);
  os << ") -> ";
  llvm::interleaveComma(op->getResultTypes(), os);
  return text;
}

std::optional<double> TimingCache::find(Operation *op) const {
  auto it = timings.find(operatorSignature(op));
  return it == timings.end() ? std::nullopt : std::optional(it->second);
}

llvm::Expected<TimingCache> TimingCache::parse(StringRef text) {
  llvm::Expected<json::Value> value = parseJson(text);
  if (!value)
    return llvm::createStringError("not JSON: " +
                                   llvm::toString(value.takeError()));
  const json::Object *object = value->getAsObject();
  std::optional<StringRef> target =
      object ? object->getString("target") : std::nullopt;
  const json::Array *entries = object ? object->getArray("timings") : nullptr;
  if (!target || !entries)
    return llvm::createStringError("not a timing cache; expected an object "
                                   "with \"target\" and \"timings\"");
  TimingCache cache;
  cache.target = target->str();
  for (auto [index, entry] : llvm::enumerate(*entries)) {
    const json::Object *timing = entry.getAsObject();
    std::optional<StringRef> name =
        timing ? timing->getString("operator") : std::nullopt;
    std::optional<double> seconds =
        timing ? timing->getNumber("seconds") : std::nullopt;
    if (!name || !seconds || !(*seconds > 0) || *seconds > 1e6)
      return llvm::createStringError(
          "\"timings\"[" + llvm::Twine(index) +
          "]: expected an \"operator\" and its \"seconds\" above 0");
    cache.timings[name->str()] = *seconds;
  }
  if (const json::Value *learned = object->get("learned")) {
    const json::Object *model = learned->getAsObject();
    if (!model)
      return llvm::createStringError("\"learned\": expected an object");
    auto read = LearnedCosts::parse(*model);
    if (!read)
      return read.takeError();
    cache.learned = std::move(*read);
  }
  return cache;
}

std::string TimingCache::write() const {
  json::Array entries;
  for (const auto &[name, seconds] : timings)
    entries.push_back(json::Object{{"operator", name}, {"seconds", seconds}});
  json::Object file{{"target", target}, {"timings", std::move(entries)}};
  std::string text;
  llvm::raw_string_ostream os(text);
  // Trees are numbers for machines, on one line.
  if (learned)
    file["learned"] = learned->write();
  os << llvm::formatv(learned ? "{0}\n" : "{0:2}\n",
                      json::Value(std::move(file)));
  return text;
}
