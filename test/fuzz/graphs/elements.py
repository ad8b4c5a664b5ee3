"""Element types: names as numpy writes them, ONNX's numbers, and how precise they are."""

import functools

import ml_dtypes  # makes numpy know bfloat16
import numpy as np
import onnx
from onnx import defs

FLOATS = ["float32", "float16", "bfloat16", "float64"]
SIGNED = ["int8", "int16", "int32", "int64"]
UNSIGNED = ["uint8", "uint16", "uint32", "uint64"]
INTEGERS = SIGNED + UNSIGNED
NUMBERS = FLOATS + INTEGERS
ALL = NUMBERS + ["bool"]

_NUMPY = {name: np.dtype(name) for name in ALL if name != "bfloat16"}
_NUMPY["bfloat16"] = np.dtype(ml_dtypes.bfloat16)
_PROTO = {name: getattr(onnx.TensorProto, {"float32": "FLOAT", "float64": "DOUBLE"}.get(
    name, name.upper())) for name in ALL}
_NAMES = {number: name for name, number in _PROTO.items()}
_SCHEMA = {"float32": "float", "float64": "double"}
# Explicit significand bits, the implicit one included.
_PRECISION = {"float16": 11, "bfloat16": 8, "float32": 24, "float64": 53}


def numpy_type(name):
    return _NUMPY[name]


def proto_type(name):
    return _PROTO[name]


def name_of(proto_number):
    """The name, or None where mlc has no such type."""
    return _NAMES.get(proto_number)


def is_float(name):
    return name in _PRECISION


def unit_roundoff(name):
    return 2.0 ** -_PRECISION[name]


def smallest_normal(name):
    return float(ml_dtypes.finfo(_NUMPY[name]).smallest_normal)


def smallest_subnormal(name):
    return float(ml_dtypes.finfo(_NUMPY[name]).smallest_subnormal)


def largest(name):
    return float(ml_dtypes.finfo(_NUMPY[name]).max)


def integer_bounds(name):
    info = np.iinfo(name)
    return int(info.min), int(info.max)


@functools.lru_cache(None)
def schema(op, opset):
    """The schema in force at `opset`, or None."""
    try:
        found = defs.get_schema(op, opset, "")
    except defs.SchemaError:
        return None
    return None if found.deprecated else found


def _types(found, formal):
    names = {formal.type_str}
    for constraint in found.type_constraints:
        if constraint.type_param_str == formal.type_str:
            names = set(constraint.allowed_type_strs)
    return tuple(name for name in ALL if f"tensor({_SCHEMA.get(name, name)})" in names)


@functools.lru_cache(None)
def allowed(op, opset, index=0):
    """Element types that ONNX allows for an operator's input, of those mlc has."""
    found = schema(op, opset)
    return _types(found, found.inputs[min(index, len(found.inputs) - 1)])


@functools.lru_cache(None)
def produced(op, opset, index=0):
    """Element types that ONNX allows for an operator's result."""
    found = schema(op, opset)
    return _types(found, found.outputs[min(index, len(found.outputs) - 1)])
