//===- BeforeGraphs.cpp - Linear graphs that may be one contraction -------===//

#include "rewrites/Generate/BeforeGraphs.h"
#include "dialects/Graph/PointwiseOps.h"
#include "dialects/Graph/ReductionOps.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

namespace mlc::generate {

std::string BeforeGraph::name() const {
  std::string joined = llvm::join(steps, "_");
  switch (shape) {
  case Shape::Chain:
    return joined;
  case Shape::Results:
    return "split_" + joined;
  case Shape::Sum:
    return (numActivations > 1 ? "sum_of_inputs_" : "sum_") + joined;
  }
  llvm_unreachable("unknown shape");
}

/// Whether `special` is `general` with particular attributes.
static bool isSpecialCase(StringRef special, StringRef general) {
  if (special == general)
    return true;
  static constexpr std::pair<const char *, const char *> cases[] = {
      {"finely_grouped_conv", "conv"},
      {"plain_conv", "conv"},
      {"depthwise_conv", "conv"},
      {"undilated_conv", "plain_conv"},
      {"valid_conv", "undilated_conv"},
      {"same_conv", "undilated_conv"},
      {"point_conv", "valid_conv"},
      {"point_conv", "same_conv"},
      {"valid_average_pool", "average_pool"}};
  return llvm::any_of(cases, [&](const auto &one) {
    return special == one.first && isSpecialCase(one.second, general);
  });
}

bool BeforeGraph::isInstanceOf(const BeforeGraph &other) const {
  return shape == Shape::Chain && other.shape == Shape::Chain &&
         contraction == other.contraction &&
         steps.size() == other.steps.size() &&
         llvm::all_of(llvm::zip(steps, other.steps), [](const auto &pair) {
           return isSpecialCase(std::get<0>(pair), std::get<1>(pair));
         });
}

bool BeforeGraph::contains(const BeforeGraph &other) const {
  if (shape != Shape::Chain || other.shape != Shape::Chain ||
      contraction != other.contraction || other.steps.size() >= steps.size())
    return false;
  for (size_t at = 0; at + other.steps.size() <= steps.size(); ++at)
    if (llvm::all_of(llvm::enumerate(other.steps), [&](const auto &entry) {
          return isSpecialCase(steps[at + entry.index()], entry.value());
        }))
      return true;
  return false;
}

namespace {

/// One operator of the list. Convolutions differ in how free their attributes
/// are.
enum class Step {
  GroupedConv,       // any attributes, groups g
  FinelyGroupedConv, // groups m * l
  Conv,              // any attributes, one group
  UndilatedConv,
  ValidConv, // no padding, no dilation
  SameConv,  // odd kernel, stride 1, padded to keep its size
  PointConv, // 1x1
  DepthwiseConv,
  BatchNorm,
  Scale, // of each channel
  Shift,
  AveragePool,      // padding counts
  ValidAveragePool, // no padding, so that it does not matter
  Residual,         // plus the input
  Pad,              // zeros around
};

const char *nameOf(Step step) {
  switch (step) {
  case Step::GroupedConv:
    return "conv";
  case Step::FinelyGroupedConv:
    return "finely_grouped_conv";
  case Step::Conv:
    return "plain_conv";
  case Step::UndilatedConv:
    return "undilated_conv";
  case Step::ValidConv:
    return "valid_conv";
  case Step::SameConv:
    return "same_conv";
  case Step::PointConv:
    return "point_conv";
  case Step::DepthwiseConv:
    return "depthwise_conv";
  case Step::BatchNorm:
    return "batch_norm";
  case Step::Scale:
    return "scale";
  case Step::Shift:
    return "bias";
  case Step::AveragePool:
    return "average_pool";
  case Step::ValidAveragePool:
    return "valid_average_pool";
  case Step::Residual:
    return "residual";
  case Step::Pad:
    return "pad";
  }
  llvm_unreachable("unknown step");
}

bool isConv(Step step) { return step <= Step::DepthwiseConv; }
bool isWindow(Step step) {
  return isConv(step) || step == Step::AveragePool ||
         step == Step::ValidAveragePool || step == Step::Pad;
}

/// The window of two windows in sequence.
SketchWindow compose(const SketchWindow &a, const SketchWindow &b) {
  SketchWindow c;
  for (unsigned i = 0; i < 2; ++i) {
    // Taps of b are a's stride apart, so gaps between taps are equal only if
    // one of the two has a single tap or neither has gaps.
    bool aIsPoint = a.kernel[i].isConstant(1);
    c.kernel[i] = a.kernel[i] + a.strides[i] * (b.kernel[i] - 1);
    c.dilations[i] = a.dilations[i];
    if (aIsPoint) {
      c.kernel[i] = b.kernel[i];
      c.dilations[i] = b.dilations[i] * a.strides[i];
    }
    if (b.kernel[i].isConstant(1))
      c.kernel[i] = a.kernel[i];
    c.strides[i] = a.strides[i] * b.strides[i];
    for (unsigned side : {i, i + 2})
      c.pads[side] = a.pads[side] + a.strides[i] * b.pads[side];
  }
  return c;
}

/// A border of e and f taps around.
SketchWindow enlarge(SketchWindow w, IntExpr e, IntExpr f) {
  for (unsigned i = 0; i < 2; ++i) {
    IntExpr by = i ? f : e;
    w.kernel[i] = w.kernel[i] + by * 2;
    for (unsigned side : {i, i + 2})
      w.pads[side] = w.pads[side] + by * w.dilations[i];
  }
  return w;
}

/// Builds graphs over images [n, channels, h, w].
class ImageGraph {
public:
  explicit ImageGraph(MLIRContext *context) : s(context, "before") {}

  Sketch s;
  std::vector<SketchWindow> windows;
  std::vector<IntExpr> groups;

  Value input(StringRef name, IntExpr channels) {
    return s.argument(
        name, {s.symbol("n"), channels, s.symbol("h"), s.symbol("w")}, false);
  }

  /// Channels of an input whose first step is `step`.
  IntExpr inputChannels(Step step, StringRef suffix = "") {
    if (step == Step::GroupedConv)
      return symbol("cg", suffix) * s.symbol("g");
    if (step == Step::FinelyGroupedConv)
      return symbol("cg", suffix) * s.symbol("l") * s.symbol("m");
    return symbol("c", suffix);
  }

  SketchWindow window(Step step, StringRef suffix) {
    IntExpr zero = s.integer(0), one = s.integer(1);
    SketchWindow w;
    w.kernel = {symbol("p", suffix), symbol("q", suffix)};
    w.strides = {symbol("sh", suffix), symbol("sw", suffix)};
    w.dilations = {symbol("dh", suffix), symbol("dw", suffix)};
    w.pads = {symbol("pt", suffix), symbol("pl", suffix), symbol("pb", suffix),
              symbol("pr", suffix)};
    if (step == Step::PointConv) {
      w.kernel = w.strides = w.dilations = {one, one};
      w.pads = {zero, zero, zero, zero};
    }
    if (step == Step::ValidConv || step == Step::ValidAveragePool) {
      w.dilations = {one, one};
      w.pads = {zero, zero, zero, zero};
    }
    if (step == Step::SameConv) {
      IntExpr e = symbol("e", suffix), f = symbol("f", suffix);
      w.kernel = {e * 2 + 1, f * 2 + 1};
      w.strides = w.dilations = {one, one};
      w.pads = {e, f, e, f};
    }
    if (step == Step::AveragePool || step == Step::UndilatedConv)
      w.dilations = {one, one};
    if (step == Step::Pad)
      w.kernel = w.strides = w.dilations = {one, one};
    return w;
  }

  Value apply(Step step, Value x, Value input, StringRef suffix,
              IntExpr outputs = IntExpr()) {
    SketchWindow w = window(step, suffix);
    return apply(step, x, input, suffix, w, outputs);
  }

  Value apply(Step step, Value x, Value input, StringRef suffix,
              const SketchWindow &w, IntExpr outputs) {
    Sketch::Dims dims = Sketch::dimsOf(x);
    if (dims.size() != 4)
      return {};
    if (isWindow(step))
      windows.push_back(w);
    if (isConv(step))
      return conv(step, x, suffix, w, outputs);
    IntExpr channels = dims[1], one = s.integer(1), zero = s.integer(0);
    auto vector = [&](StringRef name) {
      return s.argument((name + suffix).str(), {channels}, true);
    };
    auto perChannel = [&](StringRef name) {
      Value v =
          s.argument((name + suffix).str(), {one, channels, one, one}, true);
      return s.broadcast(v, dims);
    };
    switch (step) {
    case Step::BatchNorm: {
      Value scale = vector("scale"), bias = vector("bias"),
            mean = vector("mean"), variance = vector("variance");
      return s.op<BatchNormOp>(
          {x, scale, bias, mean, variance},
          RealAttr::getSymbolic(x.getContext(), ("eps" + suffix).str()));
    }
    case Step::Scale:
      return s.op<MulOp>({x, perChannel("factor")});
    case Step::Shift:
      return s.op<AddOp>({x, perChannel("offset")});
    case Step::AveragePool:
    case Step::ValidAveragePool:
      return s.averagePool(x, w, true);
    case Step::Residual:
      // The dims must be equal without a condition.
      if (dims != Sketch::dimsOf(input))
        return {};
      return s.op<AddOp>({x, input});
    case Step::Pad:
      return s.zeroPad(x, {zero, zero, w.pads[0], w.pads[1]},
                       {zero, zero, w.pads[2], w.pads[3]});
    default:
      llvm_unreachable("convolutions are built above");
    }
  }

private:
  IntExpr symbol(StringRef name, StringRef suffix) {
    return s.symbol((name + suffix).str());
  }

  Value conv(Step step, Value x, StringRef suffix, const SketchWindow &w,
             IntExpr outputs) {
    IntExpr channels = Sketch::dimsOf(x)[1], g = s.integer(1);
    IntExpr inner = channels;
    if (!outputs)
      outputs = step == Step::SameConv ? channels : symbol("o", suffix);
    if (step == Step::GroupedConv || step == Step::FinelyGroupedConv) {
      g = step == Step::GroupedConv ? s.symbol("g")
                                    : s.symbol("l") * s.symbol("m");
      std::optional<IntExpr> each = channels.exactDiv(g);
      if (!each)
        return {};
      inner = *each;
      outputs = symbol("og", suffix) * g;
    }
    if (step == Step::DepthwiseConv) {
      g = outputs = channels;
      inner = s.integer(1);
    }
    Value weight = s.argument(("w" + suffix).str(),
                              {outputs, inner, w.kernel[0], w.kernel[1]}, true);
    groups.push_back(g);
    return s.conv(x, weight, w, g);
  }
};

/// Group counts for one convolution that replaces the steps, finest first.
std::vector<IntExpr> groupsFor(const Sketch &s, ArrayRef<Step> steps,
                               IntExpr channels) {
  std::vector<IntExpr> result;
  IntExpr one = s.integer(1);
  bool hasPlain = false, hasGrouped = false, hasFine = false;
  for (Step step : steps) {
    hasPlain |= isConv(step) && step != Step::DepthwiseConv;
    hasGrouped |= step == Step::GroupedConv;
    hasFine |= step == Step::FinelyGroupedConv;
  }
  bool isOneConv = llvm::count_if(steps, [](Step step) {
                     return isConv(step) && step != Step::DepthwiseConv;
                   }) == 1;
  if (!hasPlain)
    result.push_back(channels);
  if (isOneConv && hasGrouped)
    result.push_back(s.symbol("g"));
  if (isOneConv && hasFine) {
    result.push_back(s.symbol("l") * s.symbol("m"));
    result.push_back(s.symbol("m"));
  }
  result.push_back(one);
  return result;
}

std::vector<std::string> namesOf(ArrayRef<Step> steps) {
  std::vector<std::string> names;
  for (Step step : steps)
    names.push_back(nameOf(step));
  return names;
}

std::optional<BeforeGraph> imageChain(MLIRContext *context,
                                      ArrayRef<Step> steps) {
  ImageGraph graph(context);
  IntExpr channels = graph.inputChannels(steps.front());
  Value x = graph.input("x", channels), y = x;
  for (auto [i, step] : llvm::enumerate(steps))
    y = graph.apply(step, y, x, suffixOf(i));
  BeforeGraph result;
  result.function = graph.s.finish({y});
  // A border alone does not justify a convolution.
  bool isContraction = llvm::any_of(
      steps, [](Step step) { return isWindow(step) && step != Step::Pad; });
  // The input plus itself is just its double.
  if (!result.function || !isContraction || steps[0] == Step::Residual)
    return std::nullopt;
  SketchWindow all = graph.windows.front();
  for (const SketchWindow &w : llvm::drop_begin(graph.windows))
    all = compose(all, w);
  result.windows.push_back(all);
  if (steps.size() == 1 && isConv(steps[0]))
    result.windows.push_back(
        enlarge(all, graph.s.symbol("e"), graph.s.symbol("f")));
  result.groups = groupsFor(graph.s, steps, channels);
  result.steps = namesOf(steps);
  result.numOps = steps.size();
  result.arguments = graph.s.getArguments();
  return result;
}

/// Parallel branches on one shared input or on one input each.
std::optional<BeforeGraph> imageBranches(MLIRContext *context,
                                         ArrayRef<Step> steps,
                                         BeforeGraph::Shape shape,
                                         bool isCentred, bool ownInputs) {
  bool isSum = shape == BeforeGraph::Shape::Sum;
  ImageGraph graph(context);
  SmallVector<Value> inputs, results;
  for (size_t i = 0; i < (ownInputs ? steps.size() : 1); ++i)
    inputs.push_back(graph.input(
        "x" + suffixOf(i),
        graph.inputChannels(steps[i], ownInputs ? suffixOf(i) : "")));
  SketchWindow small = graph.window(steps[0], "");
  SketchWindow large = enlarge(small, graph.s.symbol("e"), graph.s.symbol("f"));
  for (auto [i, step] : llvm::enumerate(steps)) {
    Value x = inputs[ownInputs ? i : 0];
    IntExpr outputs;
    if (isSum && step == Step::Conv)
      outputs = graph.s.symbol("o");
    // Depthwise branches and pools keep the input's channels.
    if (isSum && steps.front() != Step::Conv && step == Step::Conv)
      outputs = Sketch::dimsOf(x)[1];
    results.push_back(graph.apply(step, x, x, suffixOf(i),
                                  isCentred && i > 0 ? large : small, outputs));
  }
  BeforeGraph result;
  unsigned numOps = steps.size();
  if (isSum) {
    Value sum = results[0];
    for (Value y : llvm::drop_begin(results)) {
      sum = graph.s.op<AddOp>({sum, y});
      ++numOps;
    }
    results = {sum};
  }
  result.function = graph.s.finish(results);
  if (!result.function)
    return std::nullopt;
  result.shape = shape;
  result.windows = {isCentred ? large : small};
  result.groups =
      isSum && !ownInputs
          ? groupsFor(graph.s, steps.front(), graph.inputChannels(steps[0]))
          : std::vector<IntExpr>{graph.s.integer(1)};
  result.steps = namesOf(steps);
  if (isCentred)
    result.steps.push_back("centred");
  result.numOps = numOps;
  result.numActivations = inputs.size();
  result.arguments = graph.s.getArguments();
  return result;
}

void addImages(MLIRContext *context, unsigned maxOps,
               std::vector<BeforeGraph> &out) {
  auto add = [&](std::optional<BeforeGraph> graph) {
    if (graph && graph->numOps <= maxOps)
      out.push_back(std::move(*graph));
  };
  constexpr Step last = Step::Pad;
  std::vector<std::vector<Step>> chains{{}};
  for (size_t i = 0; i < chains.size(); ++i) {
    if (!chains[i].empty())
      add(imageChain(context, chains[i]));
    if (chains[i].size() == maxOps)
      continue;
    for (int step = 0; step <= static_cast<int>(last); ++step) {
      chains.push_back(chains[i]);
      chains.back().push_back(static_cast<Step>(step));
    }
  }
  using Shape = BeforeGraph::Shape;
  for (bool isCentred : {false, true}) {
    for (Shape shape : {Shape::Results, Shape::Sum})
      for (auto [first, second] : {std::pair(Step::Conv, Step::Conv),
                                   std::pair(Step::Conv, Step::AveragePool),
                                   std::pair(Step::AveragePool, Step::Conv)})
        // Branches with the same window may be in either order.
        if (isCentred || first == Step::Conv)
          add(imageBranches(context, {first, second}, shape, isCentred, false));
    add(imageBranches(context, {Step::Conv, Step::Conv, Step::Conv},
                      Shape::Results, isCentred, false));
    for (Step step : {Step::GroupedConv, Step::DepthwiseConv})
      add(imageBranches(context, {step, step}, Shape::Sum, isCentred, false));
    add(imageBranches(context, {Step::Conv, Step::Conv}, Shape::Sum, isCentred,
                      true));
  }
}

} // namespace

std::vector<BeforeGraph> enumerateBeforeGraphs(MLIRContext *context,
                                               unsigned maxOps) {
  std::vector<BeforeGraph> graphs;
  addImages(context, maxOps, graphs);
  addMatrixGraphs(context, maxOps, graphs);
  return graphs;
}

} // namespace mlc::generate
