"""Arrays from what callers have. Nothing is converted silently."""

import array
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
    try:
        given = np.asarray(value)
    except ValueError as failure:
        raise UsageError(f"{what} is no array: {failure}") from None
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
    with np.errstate(over="ignore"):
        made = given.astype(dtype)
    if not np.array_equal(np.isfinite(given), np.isfinite(made.astype(np.float64))):
        raise UsageError(f"{what} holds numbers beyond {dtype.name}")
    return made


def _is_typed(value: Any) -> bool:
    """Whether numbers in `value` have types of their own, which lists of Python's
    numbers have not."""
    if isinstance(value, (list, tuple)):
        return any(map(_is_typed, value))
    return hasattr(value, "dtype") or hasattr(value, "__array__") or \
        isinstance(value, (array.array, bytearray, bytes, memoryview))


def as_array(what: str, value: Any, name: str, rank: int, may_copy: bool = True) -> np.ndarray:
    """`value` as a dense row-major array of the type called `name`. Without
    `may_copy` it is the memory of `value` itself."""
    dtype, made = dtype_of(name), False
    if isinstance(value, np.ma.MaskedArray):
        raise UsageError(f"{what} is a masked array; fill what is masked")
    if isinstance(value, (np.ndarray, np.generic)):
        taken = np.asarray(value)
    elif hasattr(value, "__dlpack__"):
        taken = _from_dlpack(what, value)
    elif isinstance(value, (list, tuple)) and _is_typed(value):
        raise UsageError(f"{what} is a list of what has a type of its own; give one numpy array")
    elif _is_typed(value) and not isinstance(value, (list, tuple)):
        taken = np.asarray(value)
    else:
        taken, made = _from_python(what, value, dtype), True
    if taken.dtype != dtype and taken.dtype == dtype.newbyteorder():
        raise UsageError(f"{what} is in the other byte order; give x.astype({dtype.name!r})")
    if taken.dtype != dtype:
        raise UsageError(f"{what} is {taken.dtype.name}, the model takes {dtype.name}; convert it, for example with "
                         f"x.astype({dtype.name!r})")
    if taken.ndim != rank:
        raise UsageError(f"{what} has {taken.ndim} dims, the model takes {rank}")
    if not may_copy and (made or not taken.flags.c_contiguous):
        raise UsageError(f"{what} is not dense and row-major, so that later runs would not see its changes; bind "
                         "np.ascontiguousarray(x), or use run")
    # np.ascontiguousarray would make a vector of a scalar.
    return np.asarray(taken, order="C")


def number_of(dtype: np.dtype) -> int:
    """The mlc_dtype."""
    return DTYPES.index(dtype.name)


def dims_of(dense: np.ndarray) -> ctypes.Array:
    return (ctypes.c_int64 * max(1, dense.ndim))(*dense.shape)


def address_of(dense: np.ndarray) -> int:
    return dense.ctypes.data


def memory_of(view: np.ndarray) -> Any:
    """What every view of a view_of keeps alive."""
    while isinstance(view, np.ndarray) and view.base is not None:
        view = view.base
    return getattr(view, "obj", view)


def view_of(tensor: Any, owner: Any) -> np.ndarray:
    """An array to read the memory of a CTensor by, which `owner` keeps alive."""
    dtype = dtype_of(DTYPES[tensor.type])
    shape = tuple(tensor.dims[: tensor.rank])
    if not tensor.bytes:
        return np.empty(shape, dtype)
    memory = (ctypes.c_char * tensor.bytes).from_address(tensor.data)
    memory.owner = owner  # numpy keeps `memory`
    view = np.frombuffer(memory, dtype).reshape(shape)
    view.flags.writeable = False
    return view


def aligned(shape: tuple[int, ...], name: str) -> np.ndarray:
    """An array at a multiple of 64 bytes, into which outputs are computed without
    a copy."""
    dtype = dtype_of(name)
    count = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    memory = np.empty(count + 64, np.uint8)
    start = -memory.ctypes.data % 64
    return memory[start:start + count].view(dtype).reshape(shape)
