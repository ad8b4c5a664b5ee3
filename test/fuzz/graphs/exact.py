"""The first judge: onnx's reference implementation in double, rounded to each value's type.

Every value is also computed with random rounding errors of the size that an implementation may
make: how far the results then stray says what a difference means. Elements on which the strayed
results do not even agree in kind (a comparison of nearly equal numbers, a cast out of range) are
undecided, and nothing is said of them."""

import warnings

import numpy as np
import onnx
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpFunction

import elements

# Nodes that compute no new numbers, or exactly what they should: no error of their own.
EXACT = set("""Abs And ArgMax ArgMin Cast CastLike Ceil Clip Concat Constant ConstantOfShape
    DepthToSpace Dropout Equal Expand EyeLike Flatten Floor Gather GlobalMaxPool Greater
    GreaterOrEqual Hardmax Identity IsInf IsNaN Less LessOrEqual Max MaxPool Min Mod Neg Not OneHot
    Or Pad ReduceMax ReduceMin Relu Reshape Round Shape Sign Size Slice SpaceToDepth Split Squeeze
    ThresholdedRelu Tile TopK Transpose Trilu Unsqueeze Where Xor MatMulInteger""".split())
# One operation that IEEE 754 rounds correctly.
ROUNDED = set("Add Sub Mul Div Sqrt Reciprocal LeakyRelu PRelu Shrink Range".split())
# Functions of one element.
FUNCTIONS = set("""Exp Log Tanh Sigmoid Erf Sin Cos Tan Sinh Cosh Softplus Softsign HardSwish Mish
    Elu Celu Selu HardSigmoid Gelu Swish Pow""".split())
# Where the sign of a zero is not the standard's matter.
FREE_ZEROS = {"Max", "Min", "Relu", "Clip", "MaxPool", "ReduceMax", "ReduceMin", "GlobalMaxPool",
              "ThresholdedRelu"}
RUNS = 3


class Cannot(Exception):
    """A judge has nothing to say on a model."""


def widened(array):
    """Floats as double."""
    array = np.asarray(array)
    return array.astype(np.float64) if elements.is_float(array.dtype.name) else array


class Exact:
    def __init__(self, model):
        try:
            inferred = onnx.shape_inference.infer_shapes(model)
            self.evaluator = ReferenceEvaluator(model)
        except Exception as error:
            raise Cannot(f"reference: {error}") from error
        graph = inferred.graph
        self.types = {v.name: elements.name_of(v.type.tensor_type.elem_type)
                      for v in [*graph.value_info, *graph.input, *graph.output]}
        self.nodes = list(zip(self.evaluator.rt_nodes_, model.graph.node))
        self.outputs = [v.name for v in model.graph.output]

    def run(self, feed, strays=None):
        """Values by name. With the random generator `strays`, errors are added."""
        values = {name: widened(array) for name, array in self.evaluator.rt_inits_.items()}
        values.update((name, widened(array)) for name, array in feed.items())
        values[""] = None
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for implementation, node in self.nodes:
                inputs = [values[name] for name in node.input]
                try:
                    results = self._apply(implementation, node, inputs, strays)
                except Exception as error:
                    raise Cannot(f"reference: {node.op_type}: {error}") from error
                for name, result in zip(node.output, results):
                    if name:
                        values[name] = self._rounded(node, name, np.asarray(result), strays)
        return values

    def _apply(self, implementation, node, inputs, strays):
        op = node.op_type
        if op in ("Cast", "CastLike"):
            return [cast(inputs[0], self.types[node.output[0]], strays)]
        if strays is not None and op not in EXACT | ROUNDED | FUNCTIONS:
            inputs = [self._stray(x, 2 * elements.unit_roundoff(self.types.get(
                          node.output[0], "float32")), strays)
                      if x is not None and elements.is_float(self.types.get(name, "int64"))
                      else x for x, name in zip(inputs, node.input)]
        if isinstance(implementation, OpFunction):
            return implementation.run(*inputs)
        return implementation.run(*inputs)

    def _stray(self, x, amount, strays):
        return x * (1 + amount * strays.uniform(-1, 1, x.shape))

    def _rounded(self, node, name, result, strays):
        type = self.types.get(name)
        if not elements.is_float(type or ""):
            return result
        result = np.asarray(result, np.float64)
        op = node.op_type
        if strays is not None and op not in EXACT:
            unit = elements.unit_roundoff(type)
            small = type in ("float16", "bfloat16")
            ulps = 2 if op in ROUNDED or (op in FUNCTIONS and small) else 8
            noise = self._stray(result, ulps * unit, strays)
            # Below the normal numbers, errors are as large as at their edge.
            least = elements.smallest_subnormal(type)
            near = (np.abs(result) < 4 * elements.smallest_normal(type)) & (result != 0)
            result = np.where(near, noise + least * strays.choice([-1, 0, 1], result.shape), noise)
        rounded = result.astype(elements.numpy_type(type)).astype(np.float64)
        if strays is not None and op not in EXACT - FREE_ZEROS:
            flip = (rounded == 0) & (strays.random(rounded.shape) < 0.5)
            if op in FREE_ZEROS or op not in ROUNDED | FUNCTIONS:
                rounded = np.where(flip, -rounded, rounded)
        return rounded


def cast(x, to, strays):
    """ONNX's Cast; what it leaves open is drawn at random."""
    target = elements.numpy_type(to)
    if elements.is_float(to):
        return widened(x.astype(target))
    if to == "bool" or x.dtype.kind != "f":
        return x.astype(target)
    low, high = elements.integer_bounds(to)
    truncated = np.trunc(x)
    fits = (truncated >= low) & (truncated < float(high) + 1)
    with np.errstate(all="ignore"):
        inside = np.where(fits, truncated, 0).astype(target)
    if strays is None:
        return inside
    return np.where(fits, inside, strays.integers(0, 100, x.shape).astype(target))


class Verdict:
    """What one output may be: an interval around the exact results, or anything."""

    def __init__(self, exact, strayed, type):
        self.exact, self.type = exact, type
        self.undecided = np.zeros(exact.shape, bool)
        self.allowance = np.zeros(exact.shape)
        self.free_sign = np.zeros(exact.shape, bool)
        if not elements.is_float(type):
            for other in strayed:
                self.undecided |= other != exact
            return
        with np.errstate(all="ignore"):
            for other in strayed:
                difference = np.abs(other - exact)
                same = (other == exact) | (np.isnan(other) & np.isnan(exact))
                finite = np.isfinite(other) & np.isfinite(exact)
                self.undecided |= ~same & ~finite
                self.allowance = np.maximum(
                    self.allowance, np.where(finite & ~same, difference, 0))
                self.free_sign |= np.signbit(other) != np.signbit(exact)
        # Few draws see a part of the largest error only.
        self.allowance *= 8

    def accepts(self, result, around=None):
        """Elements of `result` that are right; `around`: in comparison with that instead."""
        exact = self.exact if around is None else widened(around)
        result = widened(result)
        if result.shape != exact.shape:
            return np.zeros(exact.shape, bool) if exact.size else np.array(False)
        if not elements.is_float(self.type):
            return (result == exact) | self.undecided
        with np.errstate(all="ignore"):
            close = np.abs(result - exact) <= self.allowance
            equal = (result == exact) | (np.isnan(result) & np.isnan(exact))
        signs = (result != 0) | (exact != 0) | self.free_sign | (self.allowance > 0) \
            | (np.signbit(result) == np.signbit(exact))
        return ((close | equal) & signs) | self.undecided


def judge(model, feeds, seed=0):
    """For each feed, a Verdict for each output."""
    exact = Exact(model)
    strays = np.random.default_rng(seed)
    verdicts = []
    for feed in feeds:
        base = exact.run(feed)
        runs = [exact.run(feed, strays) for _ in range(RUNS)]
        verdicts.append({name: Verdict(base[name], [run[name] for run in runs], exact.types[name])
                         for name in exact.outputs})
    return verdicts
