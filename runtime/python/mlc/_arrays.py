"""Arrays from what callers have. Nothing is converted silently."""

import ctypes
from typing import Any

import numpy as np

from ._errors import UsageError
from ._library import DTYPES

_CPU = 1  # kDLCPU


def dtype_of(name: str) -> np.dtype:
    """numpy's dtype; bfloat16 is ml_dtypes'."""
    if name == "bfloat16":
        try:
            import ml_dtypes
        except ImportError:
            raise UsageError("bfloat16 arrays need the package ml_dtypes; install it") from None
        return np.dtype(ml_dtypes.bfloat16)
    return np.dtype(name)


def _from_dlpack(what: str, value: Any) -> np.ndarray:
    device = value.__dlpack_device__()[0]
    if int(device) != _CPU:
        raise UsageError(f"{what} lies on a device (DLPack type {int(device)}), and this session runs on the CPU; copy "
                         "it to the CPU")
    try:
        return np.from_dlpack(value)
    except (TypeError, RuntimeError, BufferError, ValueError) as failure:
        raise UsageError(f"{what} cannot be taken through DLPack: {failure}; give a numpy array") from None


def _from_python(what: str, value: Any, dtype: np.dtype) -> np.ndarray:
    """Numbers and lists of them: floats are rounded to the type, as literals
    are; what would lose more than that is refused."""
    given = np.asarray(value)
    if given.size == 0 and given.dtype == np.float64:
        return given.astype(dtype)
    kinds = {"b": "b", "i": "iu", "u": "iu", "f": "iuf", "V": "iuf"}
    if given.dtype.kind not in kinds[dtype.kind]:
        raise UsageError(f"{what} is made of {given.dtype.name}, the model takes {dtype.name}; give such numbers")
    if given.dtype.kind in "iu":
        with np.errstate(over="ignore"):
            made = given.astype(dtype)
        if any(int(a) != int(b) if np.isfinite(b) else True
               for a, b in zip(given.ravel().tolist(), made.astype(object).ravel().tolist())):
            raise UsageError(f"{what} holds integers that {dtype.name} does not have")
        return made
    return given.astype(dtype)


def as_array(what: str, value: Any, name: str, rank: int) -> np.ndarray:
    """`value` as a dense row-major array of the type called `name`."""
    dtype = dtype_of(name)
    if isinstance(value, (np.ndarray, np.generic)):
        array = np.asarray(value)
    elif hasattr(value, "__dlpack__"):
        array = _from_dlpack(what, value)
    else:
        array = _from_python(what, value, dtype)
    if array.dtype != dtype:
        raise UsageError(f"{what} is {array.dtype.name}, the model takes {dtype.name}; convert it, for example with "
                         f"x.astype({dtype.name!r})")
    if array.ndim != rank:
        raise UsageError(f"{what} has {array.ndim} dims, the model takes {rank}")
    # np.ascontiguousarray would make a vector of a scalar.
    return np.asarray(array, order="C")


def number_of(dtype: np.dtype) -> int:
    """The mlc_dtype."""
    return DTYPES.index(dtype.name)


def dims_of(array: np.ndarray) -> ctypes.Array:
    return (ctypes.c_int64 * max(1, array.ndim))(*array.shape)


def address_of(array: np.ndarray) -> int:
    return array.ctypes.data


def view_of(tensor: Any, owner: Any) -> np.ndarray:
    """An array on the memory of a CTensor, which `owner` keeps alive."""
    dtype = dtype_of(DTYPES[tensor.type])
    shape = tuple(tensor.dims[: tensor.rank])
    if not tensor.bytes:
        return np.empty(shape, dtype)
    memory = (ctypes.c_char * tensor.bytes).from_address(tensor.data)
    memory.owner = owner  # numpy keeps `memory`
    return np.frombuffer(memory, dtype).reshape(shape)


def aligned(shape: tuple[int, ...], name: str) -> np.ndarray:
    """An array at a multiple of 64 bytes, into which outputs are computed without
    a copy."""
    dtype = dtype_of(name)
    count = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    memory = np.empty(count + 64, np.uint8)
    start = -memory.ctypes.data % 64
    return memory[start:start + count].view(dtype).reshape(shape)
