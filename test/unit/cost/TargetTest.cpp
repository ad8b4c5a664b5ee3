//===- TargetTest.cpp - Target descriptions -------------------------------===//

#include "codegen/target/Target.h"
#include "codegen/target/TargetFile.h"
#include "llvm/ADT/STLExtras.h"
#include <catch2/catch.hpp>
#include <cmath>

using namespace mlc;

namespace {

std::string replaced(llvm::StringRef text, llvm::StringRef from,
                     llvm::StringRef to) {
  size_t at = text.find(from);
  REQUIRE(at != llvm::StringRef::npos);
  return (text.take_front(at) + to + text.drop_front(at + from.size())).str();
}

std::string errorOf(llvm::Expected<Target> target) {
  REQUIRE(!target);
  return llvm::toString(target.takeError());
}

} // namespace

TEST_CASE("every known target is described, every number with a source") {
  for (llvm::StringRef name : knownTargets()) {
    INFO(name.str());
    Target target = llvm::cantFail(parseTarget(name));
    CHECK(target.hasCode() == !name.starts_with("gpu"));
    CHECK(!target.description.empty());
    CHECK(target.sources.size() == (target.cost.predictionError > 0 ? 11 : 10));
    for (const auto &[key, source] : target.sources)
      CHECK(source.size() > 10);
    CHECK(!std::isfinite(target.cost.memory.back().bytes));
  }
}

TEST_CASE("a written target is read back") {
  for (const EmbeddedTargetFile &file : embeddedTargetFiles()) {
    Target target = llvm::cantFail(readTarget(file.text));
    std::string text = writeTarget(target);
    CHECK(writeTarget(llvm::cantFail(readTarget(text))) == text);
  }
}

TEST_CASE("wrong target files are refused by key") {
  std::string good = writeTarget(llvm::cantFail(parseTarget("gpu:v100")));
  CHECK(errorOf(readTarget("{")).find("not JSON") != std::string::npos);
  CHECK(errorOf(readTarget("[]")).find("object") != std::string::npos);
  auto refuses = [&](llvm::StringRef from, llvm::StringRef to,
                     llvm::StringRef key) {
    std::string error = errorOf(readTarget(replaced(good, from, to)));
    INFO(error);
    CHECK(llvm::StringRef(error).contains(key));
  };
  refuses("\"units\"", "\"unit\"", "cost.units");
  refuses("\"value\": 80", "\"value\": -80", "cost.units");
  refuses("\"value\": 80", "\"value\": \"80\"", "cost.units");
  refuses("\"description\"", "\"extra\": 1, \"description\"", "extra");
  refuses("[\n          null", "[\n          1", "cost.memory");
  refuses("6291456", "\"6 MB\"", "cost.memory");
  refuses("\"source\"", "\"sauce\"", "source");
  CHECK(errorOf(parseTarget("gpu:none")).find("gpu:v100") != std::string::npos);
  CHECK(errorOf(parseTarget("missing.json")).find("missing.json") !=
        std::string::npos);
}
