//===- BoostedTrees.cpp - Regression trees, by XGBoost --------------------===//

#include "tools/mlc/BoostedTrees.h"
#include "tools/mlc/Failure.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include <dlfcn.h>
#include <fmt/format.h>
#include <numeric>
#include <xgboost/c_api.h>

using namespace mlc;
using namespace mlc::cli;
namespace json = llvm::json;

namespace {

/// The functions that are used of the library.
struct Xgboost {
#define MLC_XGBOOST(name) decltype(&::name) name = nullptr;
#define MLC_XGBOOST_FUNCTIONS                                                  \
  MLC_XGBOOST(XGBGetLastError)                                                 \
  MLC_XGBOOST(XGDMatrixCreateFromMat)                                          \
  MLC_XGBOOST(XGDMatrixSetFloatInfo)                                           \
  MLC_XGBOOST(XGDMatrixFree)                                                   \
  MLC_XGBOOST(XGBoosterCreate)                                                 \
  MLC_XGBOOST(XGBoosterSetParam)                                               \
  MLC_XGBOOST(XGBoosterUpdateOneIter)                                          \
  MLC_XGBOOST(XGBoosterSaveModelToBuffer)                                      \
  MLC_XGBOOST(XGBoosterFree)
  MLC_XGBOOST_FUNCTIONS
#undef MLC_XGBOOST

  llvm::Error load();
  llvm::Error check(int status) const {
    return status == 0 ? llvm::Error::success()
                       : fail(Exit::Device,
                              llvm::Twine("XGBoost: ") + XGBGetLastError());
  }
};

} // namespace

llvm::Error Xgboost::load() {
  void *library = dlopen("libxgboost.so.0", RTLD_NOW | RTLD_LOCAL);
  if (!library)
    library = dlopen("libxgboost.so", RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return fail(Exit::Device,
                llvm::Twine("learning needs XGBoost's library: ") + dlerror() +
                    "; install Debian's libxgboost0");
#define MLC_XGBOOST(function)                                                  \
  function = reinterpret_cast<decltype(function)>(dlsym(library, #function));  \
  if (!function)                                                               \
    return fail(Exit::Device, "XGBoost's library has no " #function            \
                              "; install Debian's libxgboost0 (1.7)");
  MLC_XGBOOST_FUNCTIONS
#undef MLC_XGBOOST
  return llvm::Error::success();
}

static constexpr int boostRounds = 80;

/// One thread, and no samples drawn, so that the trees do not vary.
static constexpr std::pair<const char *, const char *> boostParameters[] = {
    {"objective", "reg:squarederror"},
    {"tree_method", "exact"},
    {"max_depth", "4"},
    {"eta", "0.08"},
    {"min_child_weight", "3"},
    {"lambda", "2"},
    {"nthread", "1"},
    {"seed", "0"},
    {"verbosity", "0"},
};

/// A tree of XGBoost's JSON, with its nodes in preorder.
static std::optional<RegressionTree> convertTree(const json::Value &value) {
  const json::Object *tree = value.getAsObject();
  if (!tree)
    return std::nullopt;
  const json::Array *left = tree->getArray("left_children"),
                    *right = tree->getArray("right_children"),
                    *features = tree->getArray("split_indices"),
                    *values = tree->getArray("split_conditions");
  if (!left || !right || !features || !values)
    return std::nullopt;
  RegressionTree made;
  bool isGood = true;
  auto number = [&](const json::Array *array, int64_t index) {
    auto found = index >= 0 && index < int64_t(array->size())
                     ? (*array)[size_t(index)].getAsNumber()
                     : std::nullopt;
    isGood &= found.has_value();
    return found.value_or(-1);
  };
  auto add = [&](auto &&self, int64_t from) -> int32_t {
    const auto index = int32_t(made.nodes.size());
    // A node more than there are would be a circle.
    isGood &= made.nodes.size() < left->size();
    if (!isGood)
      return index;
    made.nodes.push_back({-1, float(number(values, from))});
    const auto child = int64_t(number(left, from));
    if (child < 0)
      return index;
    made.nodes[index].feature = int32_t(number(features, from));
    const int32_t below = self(self, child),
                  other = self(self, int64_t(number(right, from)));
    made.nodes[index].left = below;
    made.nodes[index].right = other;
    return index;
  };
  add(add, 0);
  return isGood ? std::optional(std::move(made)) : std::nullopt;
}

static llvm::Expected<std::vector<RegressionTree>>
convertModel(llvm::StringRef text) {
  auto model = json::parse(text);
  if (!model)
    return model.takeError();
  const json::Object *at = model->getAsObject();
  for (const char *key : {"learner", "gradient_booster", "model"})
    at = at ? at->getObject(key) : nullptr;
  const json::Array *trees = at ? at->getArray("trees") : nullptr;
  std::vector<RegressionTree> all;
  for (size_t i = 0; trees && i < trees->size(); ++i)
    if (auto tree = convertTree((*trees)[i]))
      all.push_back(std::move(*tree));
  if (!trees || all.size() != trees->size())
    return fail(Exit::Device, "XGBoost's library writes another form of trees; "
                              "install Debian's libxgboost0 (1.7)");
  return all;
}

llvm::Expected<BoostedTrees>
BoostedTrees::learn(llvm::ArrayRef<std::vector<float>> rows,
                    llvm::ArrayRef<float> labels) {
  Xgboost library;
  if (llvm::Error error = library.load())
    return std::move(error);
  std::vector<float> all;
  for (const std::vector<float> &row : rows)
    llvm::append_range(all, row);
  BoostedTrees result;
  // Both read this text.
  const std::string base =
      fmt::format("{:.9g}", std::accumulate(labels.begin(), labels.end(), 0.0) /
                                double(labels.size()));
  (void)llvm::to_float(base, result.base);
  DMatrixHandle matrix = nullptr;
  BoosterHandle booster = nullptr;
  auto release = llvm::make_scope_exit([&] {
    if (booster)
      library.XGBoosterFree(booster);
    if (matrix)
      library.XGDMatrixFree(matrix);
  });
  auto check = [&](int status) { return library.check(status); };
  if (auto error = check(library.XGDMatrixCreateFromMat(
          all.data(), rows.size(), rows.front().size(),
          std::numeric_limits<float>::quiet_NaN(), &matrix)))
    return std::move(error);
  if (auto error = check(library.XGDMatrixSetFloatInfo(
          matrix, "label", labels.data(), labels.size())))
    return std::move(error);
  if (auto error = check(library.XGBoosterCreate(&matrix, 1, &booster)))
    return std::move(error);
  for (const auto &[name, value] : boostParameters)
    if (auto error = check(library.XGBoosterSetParam(booster, name, value)))
      return std::move(error);
  if (auto error =
          check(library.XGBoosterSetParam(booster, "base_score", base.c_str())))
    return std::move(error);
  for (int round = 0; round < boostRounds; ++round)
    if (auto error =
            check(library.XGBoosterUpdateOneIter(booster, round, matrix)))
      return std::move(error);
  bst_ulong length = 0;
  const char *text = nullptr;
  if (auto error = check(library.XGBoosterSaveModelToBuffer(
          booster, R"({"format": "json"})", &length, &text)))
    return std::move(error);
  auto trees = convertModel({text, size_t(length)});
  if (!trees)
    return trees.takeError();
  result.trees = std::move(*trees);
  return result;
}
