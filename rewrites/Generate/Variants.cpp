//===- Variants.cpp - Operators and leaves of graphs ----------------------===//

#include "rewrites/Generate/Variants.h"
#include "llvm/ADT/STLExtras.h"
#include <set>

namespace mlc::generate {

namespace {

/// "s" for one spatial dim, "s, s_w" for two: the second has its own symbols.
/// Numbers and dims of operands are unchanged.
std::string spatial(const std::string &symbol, unsigned rank) {
  bool isSymbol = symbol.find_first_of("0123456789X") == std::string::npos;
  return rank == 1 ? symbol : symbol + ", " + symbol + (isSymbol ? "_w" : "");
}

/// All begins, then all ends.
std::string pads(const std::string &pad, unsigned rank) {
  return spatial(pad, rank) + ", " + spatial(pad, rank);
}

std::string window(const std::string &kernel, const std::string &stride,
                   const std::string &pad, unsigned rank,
                   const std::string &more = "") {
  return "kernel = #mlc.dims<[" + spatial(kernel, rank) +
         "]>, strides = #mlc.dims<[" + spatial(stride, rank) +
         "]>, pads = #mlc.dims<[" + pads(pad, rank) +
         "]>, dilations = #mlc.dims<[" + spatial("1", rank) +
         "]>, ceil_pads = #mlc.dims<[" + spatial("0", rank) + "]>" + more;
}

std::string convolution(const std::string &stride, const std::string &pad,
                        const std::string &dilation, const std::string &groups,
                        unsigned rank) {
  return "strides = #mlc.dims<[" + spatial(stride, rank) +
         "]>, pads = #mlc.dims<[" + pads(pad, rank) +
         "]>, dilations = #mlc.dims<[" + spatial(dilation, rank) +
         "]>, groups = #mlc.int<" + groups + ">";
}

std::string reduction(const std::string &kind, const std::string &axis) {
  return "kind = \"" + kind + "\", axes = array<i64: " + axis + ">";
}

std::string dims(const std::string &list) {
  return "dims = #mlc.dims<[" + list + "]>";
}

std::string slice(const std::string &starts, const std::string &sizes) {
  std::string steps = "1";
  for (char c : starts)
    steps += c == ',' ? ", 1" : "";
  return "starts = #mlc.dims<[" + starts + "]>, sizes = #mlc.dims<[" + sizes +
         "]>, steps = #mlc.dims<[" + steps + "]>";
}

std::string padding(const std::string &low, const std::string &high) {
  return "low = #mlc.dims<[" + low + "]>, high = #mlc.dims<[" + high +
         "]>, mode = \"constant\", value = #mlc.real<0.0>";
}

class Builder {
public:
  std::vector<Variant> variants;

  Variant &add(const std::string &op, const std::string &name, unsigned arity,
               const std::string &leafSets, std::vector<Step> steps) {
    variants.push_back({op, name, arity, leafSets, std::move(steps)});
    return variants.back();
  }
  void unary(const std::string &op, const std::string &leafSets,
             const std::string &attributes = "") {
    add(op, op, 1, leafSets, {{op, {"x"}, attributes}}).isPointwise = true;
  }
  void binary(const std::string &op, const std::string &leafSets,
              bool isCommutative) {
    Variant &v = add(op, op, 2, leafSets, {{op, {"x", "y"}, ""}});
    v.isPointwise = true;
    v.isCommutative = isCommutative;
  }
  void one(const std::string &op, const std::string &name,
           const std::string &leafSets, const std::string &mlcOp,
           const std::string &attributes, const std::string &lifted = "") {
    Variant &v = add(op, name, 1, leafSets, {{mlcOp, {"x"}, attributes}});
    if (!lifted.empty())
      v.lifted = {{mlcOp, {"x"}, lifted}};
  }

  void pointwise();
  void contractions();
  void windows();
  void reductions();
  void movement();
};

void Builder::pointwise() {
  binary("add", "MBC", true);
  binary("mul", "MBC", true);
  binary("sub", "MBC", false);
  binary("div", "MB", false);
  binary("max", "MC", true);
  binary("min", "M", true);
  unary("relu", "MBC");
  unary("neg", "MBC");
  unary("exp", "MBC");
  unary("sigmoid", "MC");
  // Odd and increasing functions have identities to find; next to convolutions
  // one such function represents all.
  const char *leafSets = "MC";
  for (const ScalarFunction &f : scalarFunctions())
    if (f.isSigmoidal()) {
      unary(f.mnemonic.str(), leafSets);
      leafSets = "M";
    }
  unary("abs", "M");
  unary("sqrt", "M");
  unary("reciprocal", "M");
  add("scale", "scale", 1, "MBC",
      {{"fill", {}, dims("X") + ", value = #mlc.real<t>, type = f32"},
       {"mul", {"x", "%0"}, ""}})
      .isPointwise = true;
}

void Builder::contractions() {
  add("matmul", "matmul", 2, "M", {{"matmul", {"x", "y"}, ""}});
  add("batch_matmul", "batch_matmul", 2, "B", {{"matmul", {"x", "y"}, ""}});
  auto conv = [&](const std::string &op, const std::string &name,
                  const std::string &stride, const std::string &dilation,
                  const std::string &groups) {
    auto steps = [&](unsigned rank) -> std::vector<Step> {
      return {{"conv",
               {"x", "y"},
               convolution(stride, "p", dilation, groups, rank)}};
    };
    add(op, name, 2, "C", steps(1)).lifted = steps(2);
  };
  conv("conv", "conv", "1", "1", "1");
  conv("conv", "conv_strided", "s", "dl", "1");
  conv("group_conv", "group_conv", "s", "1", "g");
  conv("depthwise_conv", "depthwise_conv", "1", "1", "X1");
}

void Builder::windows() {
  auto pool = [&](const std::string &op, const std::string &name,
                  const std::string &stride, const std::string &more = "") {
    one(op, name, "C", op, window("kp", stride, "pp", 1, more),
        window("kp", stride, "pp", 2, more));
  };
  pool("max_pool", "max_pool", "s");
  pool("max_pool", "max_pool_dense", "1");
  pool("avg_pool", "avg_pool", "s", ", count_include_pad = true");
  pool("avg_pool", "avg_pool_inside", "1", ", count_include_pad = false");
  one("global_avg_pool", "global_avg_pool", "C", "reduce",
      reduction("mean", "2"), reduction("mean", "2, 3"));
  one("global_max_pool", "global_max_pool", "C", "reduce",
      reduction("max", "2"), reduction("max", "2, 3"));
  add("batch_norm", "batch_norm", 1, "C",
      {{"batch_norm",
        {"x", "@scale [X1]", "@bias [X1]", "@mean [X1]", "@variance [X1]"},
        "epsilon = #mlc.real<eps>"}});
  for (const char *op : {"add", "mul"}) {
    std::string name = std::string("channel_") + op,
                constant = *op == 'a' ? "@bias" : "@gain";
    auto steps = [&](const char *constantDims) -> std::vector<Step> {
      return {{"broadcast", {constant + constantDims}, dims("X")},
              {op, {"x", "%0"}, ""}};
    };
    add(name, name, 1, "C", steps(" [1, X1, 1]")).lifted =
        steps(" [1, X1, 1, 1]");
  }
}

void Builder::reductions() {
  for (const char *kind : {"sum", "mean", "max"}) {
    std::string op = std::string("reduce_") + kind;
    one(op, op + "_rows", "M", "reduce", reduction(kind, "0"));
    one(op, op + "_columns", "M", "reduce", reduction(kind, "1"));
    one(op, op + "_last", "B", "reduce", reduction(kind, "2"));
    one(op, op + "_middle", "B", "reduce", reduction(kind, "1"));
    one(op, op + "_channels", "C", "reduce", reduction(kind, "1"));
  }
  one("softmax", "softmax_rows", "M", "softmax", "axis = 0 : i64");
  one("softmax", "softmax_columns", "M", "softmax", "axis = 1 : i64");
  one("softmax", "softmax_last", "B", "softmax", "axis = 2 : i64");
  one("softmax", "softmax_channels", "C", "softmax", "axis = 1 : i64");
}

void Builder::movement() {
  auto concat = [&](const std::string &name, const std::string &leafSets,
                    const std::string &axis) {
    add("concat", name, 2, leafSets,
        {{"concat", {"x", "y"}, "axis = " + axis + " : i64"}});
  };
  concat("concat_rows", "M", "0");
  concat("concat_columns", "M", "1");
  concat("concat_batch", "B", "0");
  concat("concat_last", "B", "2");
  concat("concat_outer", "C", "0");
  concat("concat_channels", "C", "1");
  auto split = [&](const std::string &name, const std::string &leafSets,
                   const std::string &starts, const std::string &sizes) {
    one("split", name, leafSets, "slice", slice(starts, sizes));
  };
  split("first_rows", "M", "0, 0", "a, X1");
  split("last_rows", "M", "a, 0", "X0 - a, X1");
  split("first_columns", "M", "0, 0", "X0, b");
  split("last_columns", "M", "0, b", "X0, X1 - b");
  split("first_part", "B", "0, 0, 0", "X0, X1, b");
  split("last_part", "B", "0, 0, b", "X0, X1, X2 - b");
  auto splitChannels = [&](const std::string &name, const std::string &start,
                           const std::string &size) {
    auto attributes = [&](const std::string &zero, const std::string &rest) {
      return slice("0, " + start + zero, "X0, " + size + rest);
    };
    one("split", name, "C", "slice", attributes(", 0", ", X2"),
        attributes(", 0, 0", ", X2, X3"));
  };
  splitChannels("first_channels", "0", "g * cg");
  splitChannels("last_channels", "g * cg", "X1 - g * cg");
  one("slice", "slice", "M", "slice", slice("0, m", "X0, X1 - m"));
  one("pad", "pad", "M", "pad", padding("0, p", "0, q"));
  one("pad", "pad_width", "C", "pad", padding("0, 0, pw", "0, 0, pw"),
      padding("0, 0, pw, pw_w", "0, 0, pw, pw_w"));
  one("transpose", "transpose", "M", "transpose",
      "permutation = array<i64: 1, 0>");
  one("transpose", "transpose_last", "B", "transpose",
      "permutation = array<i64: 0, 2, 1>");
  one("transpose", "transpose_first", "B", "transpose",
      "permutation = array<i64: 1, 0, 2>");
  one("transpose", "channels_last", "C", "transpose",
      "permutation = array<i64: 0, 2, 1>",
      "permutation = array<i64: 0, 2, 3, 1>");
  one("reshape", "flatten", "M", "reshape", dims("X0 * X1, 1"));
  one("reshape", "merge_outer", "B", "reshape", dims("1, X0 * X1, X2"));
  one("reshape", "split_outer", "B", "reshape", dims("e, floordiv(X1, e), X2"));
  one("broadcast", "broadcast_rows", "M", "broadcast", dims("a, X1"));
  one("broadcast", "broadcast_columns", "M", "broadcast", dims("X0, b"));
  one("broadcast", "broadcast_last", "B", "broadcast", dims("X0, X1, b"));
  one("broadcast", "broadcast_width", "C", "broadcast", dims("X0, X1, h"),
      dims("X0, X1, h, h_w"));
}

/// Rows of `table` are instantiations; columns are named by `symbols`.
std::vector<Assignment>
sizesOf(const std::vector<std::string> &symbols,
        const std::vector<std::vector<int64_t>> &table) {
  // Scales of both signs; the last instantiation is the positive one.
  static const double scales[] = {0.75, -1.25, 1.5, -0.5, 2.0, 0.625, 1.25};
  std::vector<Assignment> result;
  for (auto [i, row] : llvm::enumerate(table)) {
    Assignment assignment;
    for (auto [symbol, value] : llvm::zip(symbols, row))
      assignment.integers[symbol] = value;
    assignment.reals["t"] = scales[i % std::size(scales)];
    assignment.reals["eps"] = 0.125 * static_cast<double>(i + 1);
    result.push_back(std::move(assignment));
  }
  return result;
}

} // namespace

std::optional<int64_t> Assignment::evaluate(IntExpr expr) const {
  return expr.evaluate([&](llvm::StringRef name) -> std::optional<int64_t> {
    auto it = integers.find(name);
    return it == integers.end() ? std::nullopt : std::optional(it->second);
  });
}

const std::vector<Variant> &allVariants() {
  static const std::vector<Variant> variants = [] {
    Builder builder;
    builder.pointwise();
    builder.contractions();
    builder.windows();
    builder.reductions();
    builder.movement();
    return builder.variants;
  }();
  return variants;
}

const std::vector<LeafSet> &leafSets() {
  // Dims of one row are distinct; windows (k, kp) are smaller than half of h;
  // pads are both above and below half the kernel; strides are one and more.
  static const std::vector<LeafSet> all = {
      {'M',
       "matrices",
       {{"x", "a, b"},
        {"y", "a, b"},
        {"z", "a, b"},
        {"w", "b, c"},
        {"v", "b, c"},
        {"r", "1, b"}},
       sizesOf({"a", "b", "c", "m", "p", "q"}, {{3, 4, 2, 1, 1, 2},
                                                {4, 3, 5, 2, 2, 1},
                                                {2, 5, 3, 3, 1, 3},
                                                {5, 2, 4, 1, 3, 0},
                                                {3, 7, 2, 4, 0, 1},
                                                {6, 4, 3, 2, 2, 1},
                                                {4, 5, 3, 3, 1, 2}})},
      {'B',
       "batches of matrices",
       {{"x", "e, a, b"}, {"y", "e, a, b"}, {"w", "e, b, c"}, {"v", "e, b, c"}},
       sizesOf({"e", "a", "b", "c"}, {{2, 3, 4, 5},
                                      {3, 2, 5, 4},
                                      {2, 4, 3, 5},
                                      {4, 3, 2, 5},
                                      {3, 5, 2, 4},
                                      {2, 4, 5, 3},
                                      {3, 2, 4, 5}})},
      {'C',
       "channels in one spatial dim",
       {{"x", "n, g * cg, h"},
        {"y", "n, g * cg, h"},
        {"w", "g * og, g * cg, k"},
        {"v", "g * og, g * cg, k"},
        {"wg", "g * og, cg, k"},
        {"wd", "g * cg, 1, k"}},
       sizesOf(
           {"n", "g", "cg", "og", "h", "k", "s", "p", "dl", "kp", "pp", "pw"},
           {{2, 2, 2, 3, 9, 3, 2, 1, 2, 2, 1, 1},
            {3, 3, 1, 2, 11, 2, 2, 2, 1, 3, 1, 2},
            {2, 2, 3, 1, 12, 3, 3, 0, 2, 4, 2, 1},
            {2, 2, 2, 4, 10, 2, 1, 0, 3, 3, 0, 0},
            {3, 2, 1, 3, 9, 4, 2, 3, 1, 2, 1, 2},
            {2, 3, 2, 1, 13, 5, 3, 1, 1, 3, 2, 1},
            {2, 2, 2, 3, 10, 3, 2, 2, 2, 3, 1, 2}})}};
  return all;
}

std::vector<std::string> operatorNames() {
  std::set<std::string> names;
  for (const Variant &variant : allVariants())
    names.insert(variant.op);
  return {names.begin(), names.end()};
}

} // namespace mlc::generate
