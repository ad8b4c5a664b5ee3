"""Where ONNX Runtime differs from the standard, and why: docs/Judges.md tells the same to people.

An entry is a function of a `Dispute` that says whether this very difference is the one explained.
In all of them the reference is right (standard.py has what onnx's own is wrong about), so that a
difference is explained only where mlc's result is the reference's."""

import dataclasses

import numpy as np

import elements

ENTRIES = []
HALF = ("float16", "bfloat16")


@dataclasses.dataclass
class Dispute:
    """A node on which the judges differ, given the same inputs."""
    node: object
    inputs: dict  # arrays by name, floats as double
    type: str  # of the first output that differs
    runtime: np.ndarray
    reference: np.ndarray

    @property
    def op(self):
        return self.node.op_type

    def first(self):
        return next(iter(self.inputs.values()))

    def has_nan(self):
        return any(x.dtype.kind == "f" and np.isnan(x).any() for x in self.inputs.values())


def explains(*ops):
    def register(test):
        ENTRIES.append((ops, test))
        return test
    return register


def find(dispute):
    """The name of the entry for it, or None."""
    for ops, test in ENTRIES:
        if dispute.op in ops and test(dispute):
            return test.__name__
    return None


@explains("MaxPool", "GlobalMaxPool", "ReduceMax", "ReduceMin", "ArgMax", "ArgMin", "TopK",
          "Hardmax", "ReduceLogSumExp")
def nan_among_extrema(d):
    return d.has_nan()


@explains("Sign")
def sign_of_nan(d):
    return d.has_nan() and d.type in HALF


@explains("Where")
def sign_of_chosen_zero(d):
    differs = d.runtime != d.reference
    return not (differs & ~(np.isnan(d.runtime) & np.isnan(d.reference))).any()


@explains("Celu", "Elu", "Selu", "LeakyRelu", "PRelu", "ThresholdedRelu", "HardSwish", "Softsign",
          "Tanh")
def sign_of_computed_zero(d):
    return ((d.runtime == d.reference) | (np.isnan(d.runtime) & np.isnan(d.reference))).all()


@explains("Sigmoid", "Tanh", "Elu", "Celu", "Selu", "Gelu", "Mish", "Softplus", "HardSwish", "Erf",
          "Exp", "Log", "Softmax", "LogSoftmax", "Sin", "Cos", "Tan", "Sinh", "Cosh", "Swish",
          "Softsign", "Pow")
def approximated_function(d):
    """Within a few roundings of numbers around 1, as polynomials are; relative to the result where
    that is larger."""
    if not elements.is_float(d.type):
        return False
    room = 16 * elements.unit_roundoff("float32" if d.type in HALF else d.type)
    if d.type in HALF:
        room = 4 * elements.unit_roundoff(d.type)
    with np.errstate(all="ignore"):
        close = np.abs(d.runtime - d.reference) <= room * np.maximum(1, np.abs(d.reference))
    return (close | (d.runtime == d.reference)
            | (np.isnan(d.runtime) & np.isnan(d.reference))).all()


@explains("ArgMax", "ArgMin", "ReduceSum", "ReduceMean", "ReduceProd", "ReduceMax", "ReduceMin",
          "ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceLogSum", "ReduceLogSumExp",
          "MatMulInteger", "MatMul", "Gemm")
def reduced_nothing(d):
    return any(x.size == 0 for x in d.inputs.values())


@explains("Resize")
def nan_beside_weight_zero(d):
    """Interpolation with a weight of 0."""
    return not np.isfinite(d.first()).all()


@explains("LogSoftmax", "Softmax")
def infinity_among_exponents(d):
    """Infinity minus infinity is not a number, and so is every element of such a row."""
    return not np.isfinite(d.first()).all()


@explains("Mod")
def remainder_of_large_integers(d):
    return d.type in ("int64", "uint64") and any(a.name == "fmod" and a.i for a in d.node.attribute)


@explains("ReduceMean", "ReduceSum", "ReduceProd", "ReduceSumSquare", "ReduceL1", "ReduceL2",
          "Shrink", "Pow")
def sum_of_large_integers(d):
    return d.type in ("int64", "uint64", "int32", "uint32")


@explains("Clip")
def infinity_without_bound(d):
    """Half precisions have no bound where none is given."""
    return np.isinf(d.first()).any()


@explains("MatMulInteger")
def saturated_pairs(d):
    """uint8 by int8 on machines with AVX2 alone: sums of two products saturate to 16 bits."""
    kinds = [x.dtype.name for x in d.inputs.values()][:2]
    return kinds == ["uint8", "int8"]


@explains("MeanVarianceNormalization")
def variance_as_a_difference(d):
    """The mean of squares less the square of the mean: nothing is left of it, or less."""
    return True


@explains("GroupNormalization", "LayerNormalization", "InstanceNormalization")
def squares_that_overflow(d):
    """The mean of squares less the square of the mean."""
    with np.errstate(all="ignore"):
        close = np.abs(d.runtime - d.reference) <= 1e-4 * np.abs(d.reference)
    return (close | ~np.isfinite(d.runtime) | (d.runtime == d.reference)).all()


@explains("LRN")
def not_a_number_that_stays(d):
    """The sum over a window slides on by what comes in less what goes out, which NaN never does."""
    return not np.isfinite(d.first()).all()


@explains("MaxPool", "GlobalMaxPool")
def lowest_number_for_infinity(d):
    if not elements.is_float(d.type):
        return False
    lowest = -elements.largest(d.type)
    return ((d.runtime == d.reference) | (d.runtime == lowest)).all()


@explains("Dropout")
def mask_of_nothing_dropped(d):
    """The mask of the elements kept, which are all outside of training."""
    return d.type == "bool" and d.reference.all() and not d.runtime.any()


@explains("LayerNormalization", "GroupNormalization", "Shrink", "Gelu", "HardSwish")
def float64_in_float32(d):
    with np.errstate(all="ignore"):
        close = np.abs(d.runtime - d.reference) <= 1e-5 * (1 + np.abs(d.reference))
    overflows = ~np.isfinite(d.runtime) | ~np.isfinite(d.reference)
    return d.type == "float64" and (close | overflows).all()
