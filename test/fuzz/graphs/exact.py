"""The first judge: onnx's reference implementation in double, rounded to each value's type.

Every value is also computed with random rounding errors of the size that an implementation may
make: how far the results then stray says what a difference means. Elements on which the strayed
results do not even agree in kind (a comparison of nearly equal numbers, a cast out of range, a sum
that may overflow on the way) are undecided, and nothing is said of them."""

import warnings

import numpy as np
import onnx
from onnx.reference import ReferenceEvaluator

import elements
import standard
import windows

# Nodes that compute no new numbers, or exactly what they should: no error of their own.
EXACT = set("""Abs And ArgMax ArgMin Cast CastLike Ceil Clip Concat Constant ConstantOfShape
    DepthToSpace Dropout Equal Expand EyeLike Flatten Floor Gather GatherElements GatherND GlobalMaxPool Greater
    GreaterOrEqual Hardmax Identity IsInf IsNaN Less LessOrEqual Max MaxPool Min Mod Neg Not OneHot
    Or Pad ReduceMax ReduceMin Relu Reshape Round Shape Sign Size Slice SpaceToDepth Split Squeeze
    ThresholdedRelu Tile TopK Transpose Trilu Unsqueeze Where Xor MatMulInteger""".split())
# One operation that IEEE 754 rounds correctly.
ROUNDED = set("Add Sub Mul Div Sqrt Reciprocal LeakyRelu PRelu Shrink Range".split())
# Functions of one element.
FUNCTIONS = set("""Exp Log Tanh Sigmoid Erf Sin Cos Tan Sinh Cosh Softplus Softsign HardSwish Mish
    Elu Celu Selu HardSigmoid Gelu Swish Pow""".split())
# Sums of products, whose errors are as large as those of the sum of magnitudes.
SUMS = set("""MatMul Gemm Conv ConvTranspose ReduceSum ReduceMean ReduceL1 ReduceSumSquare
    AveragePool GlobalAveragePool CumSum Sum Mean""".split())
CONTRACTIONS = {"MatMul", "Gemm", "Conv", "ConvTranspose"}
# Of those, the ones that divide the sum by how many there are.
MEANS = {"ReduceMean", "AveragePool", "GlobalAveragePool", "Mean"}
NORMS = set("""LayerNormalization GroupNormalization InstanceNormalization
    MeanVarianceNormalization LpNormalization RMSNormalization""".split())
# Of integers, what these are is nobody's matter.
MEANINGLESS = {"ReduceLogSum", "ReduceLogSumExp"}
# Of integers, what these are is nobody's matter where they have no room.
ROOMY = {"ReduceL2", "ReduceMean"}
# Where the sign of a zero is not the standard's matter.
FREE_ZEROS = {"Max", "Min", "Relu", "Clip", "MaxPool", "ReduceMax", "ReduceMin", "GlobalMaxPool",
              "ThresholdedRelu", "Elu", "Selu", "Celu"}
# What a value that may be anything is, in each of the strayed runs.
ANYTHING = [np.nan, np.inf, -np.inf, 1.0, 0.0, -1.0]


class Cannot(Exception):
    """A judge has nothing to say on a model."""


def flushed(x):
    """With zeros in place of float32's denormal numbers."""
    return np.where(np.abs(x) < 2.0 ** -126, 0, x) if x.dtype.kind == "f" else x


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
        for node in graph.node:  # shape inference does not know all functions
            for name in node.output:
                self.types.setdefault(name, self.types.get(node.input[0] if node.input else ""))
        self.nodes = list(zip(self.evaluator.rt_nodes_, model.graph.node))
        self.outputs = [v.name for v in model.graph.output]
        self.opset = next(o.version for o in model.opset_import if o.domain == "")
        # Values that come from computations with errors.
        self.inexact = set()
        for _, node in self.nodes:
            if node.op_type not in EXACT or self.inexact & set(node.input):
                self.inexact |= set(node.output)

    def run(self, feed, strays=None, stray_run=None):
        """Values by name. With the random generator `strays`, errors are added, in a different
        way in each of the runs 0 to 5."""
        self.stray_run = stray_run
        self.beside_infinite = {}  # by value: where channels that fill a block may be NaN
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
                if strays is not None:
                    results = self._spread(node, inputs, results)
                for name, result in zip(node.output, results):
                    if name:
                        values[name] = self._rounded(node, name, np.asarray(result), strays)
        if strays is None:
            self.base = values
        return values

    def _spread(self, node, inputs, results):
        """Convolutions fill their channels up to a block with weights of 0, by which infinity is
        NaN; the next one multiplies that by 0, too."""
        known = [self.beside_infinite[n] for n in node.input if n in self.beside_infinite]
        result = np.asarray(results[0]) if results else np.zeros(0)
        if node.op_type != "Conv":
            for spread in known:
                if result.ndim > 2:
                    same = spread.shape[::2] == result.shape[::2] and \
                        spread.shape[2:] == result.shape[2:]
                    whole = np.full((result.shape[0], 1, *result.shape[2:]), spread.any())
                    before = self.beside_infinite.get(node.output[0], False)
                    self.beside_infinite[node.output[0]] = before | (spread if same else whole)
            return results
        x, weight = inputs[:2]
        infinite = ~np.isfinite(x).all(axis=1, keepdims=True)
        for spread in known:
            infinite = infinite | spread
        if infinite.any():
            attributes = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
            attributes["group"] = 1
            ones = np.ones((1, 1, *weight.shape[2:]))
            near = windows.conv([infinite.astype(np.float64), ones], attributes, self.opset)[0] > 0
            self.beside_infinite[node.output[0]] = near
            if known:
                return [np.where(near, ANYTHING[self.stray_run], result)]
        return results

    def _apply(self, implementation, node, inputs, strays):
        op = node.op_type
        if op in ("Cast", "CastLike"):
            return [cast(inputs[0], self.types[node.output[0]], self.stray_run)]
        compute = self._implementation(implementation, node)
        if strays is not None and inputs and inputs[0] is not None \
                and (op in MEANINGLESS | ROOMY) and inputs[0].dtype.kind != "f" \
                and (op in MEANINGLESS or overflows(inputs[0])):
            return [any_integers(compute(inputs)[0], self.stray_run)]
        if strays is not None and op == "Pow" and inputs[0].dtype.kind != "f":
            result, bounds = compute(inputs)[0], np.iinfo(inputs[0].dtype)
            real = inputs[0].astype(np.float64) ** inputs[1].astype(np.float64)
            fits = (real >= bounds.min) & (real <= bounds.max)
            return [np.where(fits, result, any_integers(result, self.stray_run))]
        if strays is not None and op in ("Hardmax", "ArgMax", "ArgMin", "TopK") \
                and inputs[0].dtype.kind == "f" \
                and (np.isnan(inputs[0]) & ~np.isnan(self.base[node.input[0]])).any():
            # Where NaN may be, anything may be the largest.
            return [np.full_like(x, self.stray_run) for x in compute(inputs)]
        if strays is not None and op in ("Sin", "Cos", "Tan") and node.input[0] in self.inexact:
            # Where the argument is off by more than a period, any angle's.
            unit = elements.unit_roundoff(self.types[node.input[0]])
            off = np.abs(inputs[0]) * unit > 0.1
            angle = np.array([1.5, -1.5, 0.0, 3.0, 1.2, -1.2])[self.stray_run]
            return compute([np.where(off, angle, inputs[0])])
        if strays is None or op in EXACT | ROUNDED | FUNCTIONS \
                or not elements.is_float(self.types[node.output[0]]):
            return compute(inputs)
        type = self.types[node.output[0]]
        unit = elements.unit_roundoff(type)
        if op in CONTRACTIONS and self.stray_run % 2:
            # Of constant factors, denormal ones may count as 0.
            inputs = [flushed(x) if i < 2 else x for i, x in enumerate(inputs)]
        if op in SUMS:
            return [self._strayed_sum(compute, node, inputs, unit, strays)]
        resizes = op in ("Resize", "Upsample")
        if resizes and not np.isfinite(inputs[0]).all():
            # Whether a neighbour of weight 0 counts is nobody's matter.
            return [np.full_like(x, ANYTHING[self.stray_run]) for x in compute(inputs)]
        if op == "ReduceProd":
            # One order of factors overflows, or vanishes, where another one does not.
            size = np.abs(inputs[0])
            over = ~(compute([np.maximum(size, 1), *inputs[1:]])[0] < elements.largest(type) * 0.99)
            small = np.where(size == 0, np.inf, np.minimum(size, 1))
            over |= compute([small, *inputs[1:]])[0] < elements.smallest_normal(type)
            if over.any():
                return [np.where(over, ANYTHING[self.stray_run], compute(inputs)[0])]
        if op == "BatchNormalization":
            # With the mean folded into the bias, numbers may overflow on the way, or lose bits.
            over = ~np.isfinite(standard.folded(node, self.opset, narrowed(inputs, type))[0])
            over |= ((inputs[1] != 0) & (np.abs(inputs[1]) < 1e-30)).any()
            result = np.where(over, ANYTHING[self.stray_run], compute(inputs)[0])
            return [result + 4 * unit * self._folded_size(inputs, node)
                    * self._noise(result.shape, strays)]
        if self.stray_run % 2 == 0:
            # Scales of Resize are sizes rather than numbers; weights are differences of places.
            touched = 1 if resizes else len(inputs)
            places = max(inputs[0].shape, default=1) if resizes else 1
            amount = 2 * unit * places * (8 if op in NORMS else 1)
            return compute([self._stray(x, amount, strays)
                            if i < touched and x is not None and x.dtype.kind == "f" else x
                            for i, x in enumerate(inputs)])
        # In every other run, what overflows or vanishes on the way in the type itself does so.
        narrow = narrowed(inputs, type)
        return standard.folded(node, self.opset, narrow) or compute(narrow)

    def _implementation(self, implementation, node):
        attributes = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
        known = standard.find(node.op_type, attributes, self.opset)
        if known is None:
            return lambda inputs: implementation.run(*inputs)
        attributes["element"] = self.types[node.output[0]]
        attributes["drift"] = {0: 1, 1: -1}.get(self.stray_run, 0)
        return lambda inputs: known(inputs, attributes, self.opset)

    def _strayed_sum(self, compute, node, inputs, unit, strays):
        """The result with an error for the sum of magnitudes; where that overflows, anything."""
        result = np.asarray(compute(inputs)[0])
        # From the fourth on, inputs are no numbers that are added, but in these.
        added = len(inputs) if node.op_type in ("Sum", "Mean") else 3
        sizes = [x if x is None or x.dtype.kind != "f" or i >= added else
                 np.where(np.isfinite(x), np.abs(x), 0) for i, x in enumerate(inputs)]
        if node.op_type == "Gemm":
            compute = lambda x: standard.gemm(x, magnitudes(node), self.opset)
        size = np.abs(np.asarray(compute(sizes)[0]))
        strayed = result + 4 * unit * size * self._noise(result.shape, strays)
        # A sum may overflow before it is scaled or divided.
        if node.op_type in MEANS:
            kernel = next((list(a.ints) for a in node.attribute if a.name == "kernel_shape"), [])
            size = size * max(1, inputs[0].size / max(size.size, 1), len(inputs), np.prod(kernel))
        if node.op_type == "Gemm":
            size = size / min(1, magnitudes(node).get("alpha", 1) or 1)
        over = ~(size < elements.largest(self.types[node.output[0]]) * 0.99)
        if node.op_type == "ConvTranspose":
            over |= self._beside_infinite_weight(node, inputs, result)
        if node.op_type == "Conv" and inputs[1].shape[2:] == (3, 3):
            over |= beside_infinity(inputs[0], result)
        if self.stray_run >= 3:
            return np.where(over, ANYTHING[self.stray_run], strayed)
        # Each element is NaN and both infinities in turn, its neighbours something else.
        first = np.random.default_rng(result.size).integers(3, size=result.shape)
        return np.where(over, np.take(ANYTHING[:3], first + self.stray_run, mode="wrap"), strayed)

    def _beside_infinite_weight(self, node, inputs, result):
        """Whether zeros between and around the elements are multiplied is nobody's matter."""
        x, weight = inputs[:2]
        groups = next((a.i for a in node.attribute if a.name == "group"), 1)
        parts = weight.reshape(groups, weight.shape[0] // groups, weight.shape[1], -1)
        channels = ~np.isfinite(parts).all(axis=(1, 3)).reshape(-1)
        return np.broadcast_to(channels.reshape(1, -1, *[1] * (x.ndim - 2)), result.shape)

    def _folded_size(self, inputs, node):
        """What is added up where a normalization is x times a number and another one."""
        x, scale, bias, mean, variance = inputs[:5]
        epsilon = next((a.f for a in node.attribute if a.name == "epsilon"), standard.EPSILON)
        factor = scale / np.sqrt(variance + epsilon)
        factor, rest = (np.abs(v).reshape(-1, *[1] * (x.ndim - 2))
                        for v in (factor, np.abs(bias) + np.abs(mean * factor)))
        size = np.abs(x) * factor + rest
        return np.where(np.isfinite(size), size, 0)

    def _noise(self, shape, strays):
        """Errors in [-1, 1]: as large as they may be in one run, as small in the next, so that
        what is beside a step is seen to be; then in turns, so that neighbours do not tie."""
        if self.stray_run < 2:
            return np.full(shape, 1.0 - 2 * self.stray_run)
        if self.stray_run < 4:
            return (-1.0) ** (np.indices(shape).sum(axis=0) + self.stray_run)
        return strays.uniform(-1, 1, shape)

    def _stray(self, x, amount, strays):
        return x * (1 + amount * self._noise(x.shape, strays))

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
            if op in NORMS:  # of which all elements share an error of a long sum
                ulps *= max(1, result.size ** 0.5 / 32)
            noise = self._stray(result, ulps * unit, strays)
            if op in ("LogSoftmax", "HardSigmoid"):  # of a sum around 1
                noise = noise + 2 * unit * self._noise(result.shape, strays)
            if op == "HardSwish":  # the sum, by x
                noise = noise + 2 * unit * 4 * self._noise(result.shape, strays)
            # Below the normal numbers, errors are as large as at their edge; times x.
            least = elements.smallest_subnormal(type) * (100 if op in ("Mish", "Swish") else 1)
            near = (np.abs(result) < 4 * elements.smallest_normal(type)) & (result != 0)
            steps = np.round(1.5 * self._noise(result.shape, strays))
            result = np.where(near, noise + least * steps, noise)
        rounded = result.astype(elements.numpy_type(type)).astype(np.float64)
        if strays is not None and op not in EXACT - FREE_ZEROS:
            flip = (rounded == 0) & (strays.random(rounded.shape) < 0.5)
            other = -self.base[name]
            if self.stray_run == 0 and other.shape == rounded.shape:
                flip = (rounded == 0) & (np.signbit(rounded) != np.signbit(other))
            if op in FREE_ZEROS or op not in ROUNDED | FUNCTIONS:
                rounded = np.where(flip, -rounded, rounded)
        return rounded


def any_integers(like, stray_run):
    bounds = np.iinfo(like.dtype)
    if stray_run < 3:
        return np.full_like(like, [bounds.min, bounds.max, 1][stray_run])
    return np.random.default_rng(stray_run).integers(bounds.min, bounds.max, like.shape, like.dtype,
                                                     endpoint=True)


def narrowed(inputs, type):
    """Floats as what a machine computes with for results of `type`."""
    native = np.float64 if type == "float64" else np.float32
    return [x.astype(native) if x is not None and x.dtype.kind == "f" else x for x in inputs]


def magnitudes(node):
    """A node's attributes, numbers without their signs."""
    attributes = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
    return {n: abs(v) if isinstance(v, float) else v for n, v in attributes.items()}


def overflows(x):
    """Whether the squares of these integers are beyond their type."""
    return (x.astype(np.float64) ** 2).sum() > np.iinfo(x.dtype).max


def beside_infinity(x, result):
    """Results of a 3 by 3 convolution that Winograd adds infinite or no numbers to, in a tile."""
    infinite = ~np.isfinite(x).all(axis=1, keepdims=True)
    if not infinite.any():
        return np.zeros(result.shape, bool)
    reach = 8
    spread = np.zeros((x.shape[0], 1, *(s + 2 * reach for s in x.shape[2:])), bool)
    for n, _, *at in np.argwhere(infinite):
        spread[(n, 0, *(slice(i, i + 2 * reach + 1) for i in at))] = True
    if result.shape[2:] > spread.shape[2:]:
        return np.ones(result.shape, bool)
    crop = spread[(..., *(slice(reach, reach + s) for s in result.shape[2:]))]
    if crop.shape[2:] != result.shape[2:]:
        return np.ones(result.shape, bool)
    return np.broadcast_to(crop, result.shape)


def cast(x, to, stray_run=None):
    """ONNX's Cast; what it leaves open differs in each strayed run."""
    target = elements.numpy_type(to)
    if elements.is_float(to):
        return widened(x.astype(target))
    if to == "bool" or x.dtype.kind != "f":
        return x.astype(target)
    low, high = elements.integer_bounds(to)
    truncated = np.trunc(x)
    fits = (truncated >= low) & (truncated < float(high) + 1)
    if stray_run is not None:  # what nearly does not fit may not
        fits &= (np.trunc(x * (1 + 1e-5)) >= low) & (np.trunc(x * (1 + 1e-5)) < float(high) + 1)
    with np.errstate(all="ignore"):
        # Where it does not fit, a number that nothing else is likely to be.
        inside = np.where(fits, truncated.astype(target), np.array(high // 7, target))
    if stray_run is None:
        return inside
    if stray_run < 3:
        return np.where(fits, inside, np.array([high, high // 3, low or 1][stray_run], target))
    # Sums and comparisons may take the three for the same: what machines do, what mlc does, and anything.
    if stray_run == 3:
        whole = np.where(np.isfinite(x) & (np.abs(x) < 2.0 ** 63), truncated, 0).astype(np.int64)
        return np.where(fits, inside, whole.astype(target))
    if stray_run == 4:  # what mlc documents
        nearest = np.where(np.isnan(x), np.array(0, target), np.where(x > 0, np.array(high, target), np.array(low, target)))
        return np.where(fits, inside, nearest)
    other = np.random.default_rng(stray_run).integers(low, high, x.shape, target, endpoint=True)
    return np.where(fits, inside, other)


class Verdict:
    """What one output may be: an interval around the exact results, or anything."""

    def __init__(self, exact, strayed, type, inexact):
        self.exact, self.type, self.inexact = exact, type, inexact
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
            if inexact:
                least = 4 * elements.unit_roundoff(type) * np.abs(exact)
                self.allowance = np.maximum(self.allowance, np.where(
                    np.isfinite(exact), least, 0))

    def accepts(self, result, around=None, slack=1):
        """Elements of `result` that are right; `around`: in comparison with that instead;
        `slack`: with so much larger errors."""
        exact = self.exact if around is None else widened(around)
        result = widened(result)
        if result.shape != exact.shape:
            return np.zeros(exact.shape, bool) if exact.size else np.array(False)
        if not elements.is_float(self.type):
            return (result == exact) | self.undecided
        with np.errstate(all="ignore"):
            allowance = self.allowance * slack
            if around is not None and self.inexact and elements.is_float(self.type):
                # Two computations of what the reference calls infinite or no number.
                room = 32 * elements.unit_roundoff(self.type) * np.abs(exact)
                allowance = np.where(np.isfinite(self.exact), allowance, room)
            close = np.abs(result - exact) <= allowance
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
        runs = [exact.run(feed, strays, i) for i in range(len(ANYTHING))]
        verdicts.append({name: Verdict(base[name], [run[name] for run in runs], exact.types[name],
                                   name in exact.inexact)
                         for name in exact.outputs})
    return verdicts
