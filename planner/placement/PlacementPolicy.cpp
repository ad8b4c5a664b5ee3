//===- PlacementPolicy.cpp - A network that draws placements --------------===//

#include "planner/placement/PlacementPolicy.h"

#include <Eigen/Dense>
#include <cmath>

using namespace mlc::planner;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

using Matrix = Eigen::Map<MatrixXd>;
using ConstMatrix = Eigen::Map<const MatrixXd>;

/// Where the parameters are, as matrices one behind the other.
struct PolicyShape {
  Index inputs = 0, hidden = 0, devices = 0;

  enum Part : uint8_t { Encoder, Decoder, Devices, Keys, Query, Score, Output };
  std::pair<Index, Index> size(Part part) const {
    switch (part) {
    case Encoder: // the last column is the bias
      return {4 * hidden, inputs + hidden + 1};
    case Decoder: // reads the device before, and what the encoder says here
      return {4 * hidden, 3 * hidden + 1};
    case Devices: // and none
      return {hidden, devices + 1};
    case Keys:
    case Query:
      return {hidden, hidden};
    case Score:
      return {hidden, 1};
    case Output: // reads the decoder and what it looks at
      return {devices, 2 * hidden + 1};
    }
    return {0, 0};
  }
  Index begin(Part part) const {
    Index sum = 0;
    for (int before = 0; before < part; ++before)
      sum += size(Part(before)).first * size(Part(before)).second;
    return sum;
  }
  Index count() const {
    return begin(Output) + size(Output).first * size(Output).second;
  }
  ConstMatrix of(Part part, const std::vector<double> &values) const {
    const auto [rows, columns] = size(part);
    return {values.data() + begin(part), rows, columns};
  }
  Matrix of(Part part, std::vector<double> &values) const {
    const auto [rows, columns] = size(part);
    return {values.data() + begin(part), rows, columns};
  }
};

/// What a step of an LSTM leaves for its gradient.
struct LstmStep {
  VectorXd input; ///< with the hidden state before, and 1
  VectorXd in, forget, out, candidate, before, cell, hidden;
};

LstmStep stepLstm(const ConstMatrix &weights, const VectorXd &input,
                  const VectorXd &hidden, const VectorXd &cell) {
  const Index size = hidden.size();
  LstmStep step;
  step.input.resize(input.size() + size + 1);
  step.input << input, hidden, 1;
  const VectorXd sums = weights * step.input;
  auto gate = [&](Index number) {
    return ((-sums.segment(number * size, size).array()).exp() + 1)
        .inverse()
        .matrix();
  };
  step.in = gate(0);
  step.forget = gate(1);
  step.out = gate(2);
  step.candidate = sums.segment(3 * size, size).array().tanh();
  step.before = cell;
  step.cell =
      step.forget.cwiseProduct(cell) + step.in.cwiseProduct(step.candidate);
  step.hidden = step.out.array() * step.cell.array().tanh();
  return step;
}

/// From gradients of the hidden state and the cell to those of the input and of
/// the state before, which take their place.
VectorXd backLstm(const ConstMatrix &weights, const LstmStep &step,
                  Matrix gradient, VectorXd &hidden, VectorXd &cell) {
  const Index size = hidden.size();
  const Eigen::ArrayXd tanh = step.cell.array().tanh(), in = step.in,
                       forget = step.forget, out = step.out,
                       candidate = step.candidate;
  const Eigen::ArrayXd atCell =
      cell.array() + hidden.array() * out * (1 - tanh.square());
  VectorXd sums(4 * size);
  sums << (atCell * candidate * in * (1 - in)).matrix(),
      (atCell * step.before.array() * forget * (1 - forget)).matrix(),
      (hidden.array() * tanh * out * (1 - out)).matrix(),
      (atCell * in * (1 - candidate.square())).matrix();
  gradient.noalias() += sums * step.input.transpose();
  const VectorXd input = weights.transpose() * sums;
  cell = (atCell * forget).matrix();
  const Index own = input.size() - size - 1;
  hidden = input.segment(own, size);
  return input.head(own);
}

/// A placement as it is drawn, or read, with what the gradient needs.
struct PolicyRun {
  std::vector<LstmStep> encoder, decoder;
  MatrixXd encoded, keys;               ///< a column for each group
  std::vector<MatrixXd> activations;    ///< of the attention
  std::vector<VectorXd> looks, outputs; ///< shares; decoder, context and 1
  std::vector<VectorXd> probabilities;
  Placement placement;
  double logProbability = 0;
};

} // namespace

namespace mlc::planner {

struct PlacementPolicy::State {
  PolicyShape shape;
  MatrixXd features; ///< a column for each group
  std::vector<double> parameters;

  PolicyRun run(const Placement *given, std::mt19937_64 *random) const;
  void decode(PolicyRun &run, Index group, int32_t before) const;
  void back(const PolicyRun &run, double factor,
            std::vector<double> &gradient) const;
};

} // namespace mlc::planner

/// A step of the decoder: the probabilities of a group's devices.
void PlacementPolicy::State::decode(PolicyRun &run, Index group,
                                    int32_t before) const {
  const Index size = shape.hidden;
  VectorXd input(2 * size);
  input << shape.of(PolicyShape::Devices, parameters).col(before),
      run.encoded.col(group);
  const LstmStep &last = group ? run.decoder.back() : run.encoder.back();
  run.decoder.push_back(stepLstm(shape.of(PolicyShape::Decoder, parameters),
                                 input, last.hidden, last.cell));
  const VectorXd &hidden = run.decoder.back().hidden;
  const VectorXd query = shape.of(PolicyShape::Query, parameters) * hidden;
  run.activations.push_back(
      (run.keys.colwise() + query).array().tanh().matrix());
  auto softmax = [](const VectorXd &scores) {
    const Eigen::ArrayXd powers = (scores.array() - scores.maxCoeff()).exp();
    return VectorXd(powers / powers.sum());
  };
  run.looks.push_back(softmax(run.activations.back().transpose() *
                              shape.of(PolicyShape::Score, parameters).col(0)));
  VectorXd output(2 * size + 1);
  output << hidden, run.encoded * run.looks.back(), 1;
  run.outputs.push_back(output);
  run.probabilities.push_back(
      softmax(shape.of(PolicyShape::Output, parameters) * output));
}

PolicyRun PlacementPolicy::State::run(const Placement *given,
                                      std::mt19937_64 *random) const {
  const Index groups = features.cols(), size = shape.hidden;
  PolicyRun run;
  run.encoded.resize(size, groups);
  VectorXd hidden = VectorXd::Zero(size), cell = hidden;
  for (Index group = 0; group < groups; ++group) {
    run.encoder.push_back(stepLstm(shape.of(PolicyShape::Encoder, parameters),
                                   features.col(group), hidden, cell));
    hidden = run.encoder.back().hidden;
    cell = run.encoder.back().cell;
    run.encoded.col(group) = hidden;
  }
  run.keys = shape.of(PolicyShape::Keys, parameters) * run.encoded;
  auto before = int32_t(shape.devices);
  for (Index group = 0; group < groups; ++group) {
    decode(run, group, before);
    const VectorXd &shares = run.probabilities.back();
    if (given) {
      before = (*given)[size_t(group)];
    } else {
      // 53 bits, as of any standard library.
      double left = double((*random)() >> 11) * 0x1p-53;
      for (before = 0; before + 1 < shape.devices; ++before)
        if ((left -= shares(before)) < 0)
          break;
    }
    run.placement.push_back(before);
    run.logProbability += std::log(shares(before));
  }
  return run;
}

void PlacementPolicy::State::back(const PolicyRun &run, double factor,
                                  std::vector<double> &gradient) const {
  const Index groups = features.cols(), size = shape.hidden;
  using Shape = PolicyShape;
  const ConstMatrix output = shape.of(Shape::Output, parameters),
                    query = shape.of(Shape::Query, parameters),
                    score = shape.of(Shape::Score, parameters),
                    keys = shape.of(Shape::Keys, parameters);
  MatrixXd atEncoded = MatrixXd::Zero(size, groups), atKeys = atEncoded;
  VectorXd hidden = VectorXd::Zero(size), cell = hidden;
  for (Index group = groups; group-- > 0;) {
    VectorXd logits = -factor * run.probabilities[group];
    logits(run.placement[group]) += factor;
    shape.of(Shape::Output, gradient).noalias() +=
        logits * run.outputs[group].transpose();
    const VectorXd atOutput = output.transpose() * logits,
                   context = atOutput.segment(size, size),
                   look = run.encoded.transpose() * context;
    const VectorXd &shares = run.looks[group];
    atEncoded.noalias() += context * shares.transpose();
    const VectorXd scores =
        (shares.array() * (look.array() - shares.dot(look))).matrix();
    const MatrixXd &active = run.activations[group];
    shape.of(Shape::Score, gradient).noalias() += active * scores;
    const MatrixXd inner =
        (score * scores.transpose()).array() * (1 - active.array().square());
    atKeys += inner;
    const VectorXd atQuery = inner.rowwise().sum();
    const LstmStep &step = run.decoder[group];
    shape.of(Shape::Query, gradient).noalias() +=
        atQuery * step.hidden.transpose();
    hidden += atOutput.head(size) + query.transpose() * atQuery;
    const VectorXd input =
        backLstm(shape.of(Shape::Decoder, parameters), step,
                 shape.of(Shape::Decoder, gradient), hidden, cell);
    const int32_t before =
        group ? run.placement[group - 1] : int32_t(shape.devices);
    shape.of(Shape::Devices, gradient).col(before) += input.head(size);
    atEncoded.col(group) += input.tail(size);
  }
  shape.of(Shape::Keys, gradient).noalias() += atKeys * run.encoded.transpose();
  atEncoded.noalias() += keys.transpose() * atKeys;
  // The decoder begins with the encoder's last state.
  for (Index group = groups; group-- > 0;) {
    hidden += atEncoded.col(group);
    backLstm(shape.of(Shape::Encoder, parameters), run.encoder[group],
             shape.of(Shape::Encoder, gradient), hidden, cell);
  }
}

PlacementPolicy::PlacementPolicy(const GroupFeatures &features, int32_t devices,
                                 int32_t hidden, uint64_t seed)
    : state(std::make_unique<State>()) {
  state->shape = {Index(features.front().size()), hidden, devices};
  state->features.resize(state->shape.inputs, Index(features.size()));
  for (size_t group = 0; group < features.size(); ++group)
    for (size_t i = 0; i < features[group].size(); ++i)
      state->features(Index(i), Index(group)) = features[group][i];
  std::mt19937_64 random(seed);
  state->parameters.resize(size_t(state->shape.count()));
  for (double &parameter : state->parameters)
    parameter = 0.16 * (double(random() >> 11) * 0x1p-53 - 0.5);
}

PlacementPolicy::~PlacementPolicy() = default;

Placement PlacementPolicy::draw(std::mt19937_64 &random) const {
  return state->run(nullptr, &random).placement;
}

double PlacementPolicy::logProbability(const Placement &placement) const {
  return state->run(&placement, nullptr).logProbability;
}

void PlacementPolicy::addGradient(const Placement &placement, double factor,
                                  std::vector<double> &gradient) const {
  state->back(state->run(&placement, nullptr), factor, gradient);
}

std::vector<double> &PlacementPolicy::parameters() { return state->parameters; }
