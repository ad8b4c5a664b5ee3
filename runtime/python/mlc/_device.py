"""Arrays in a GPU's memory and streams, as other packages have them."""

import math
from typing import Any

import numpy as np

from . import _arrays
from ._errors import UsageError


class DeviceArray:
    """A dense row-major array in a device's memory, of which there is an address
    here: what `__cuda_array_interface__` says of a torch or CuPy array. `owner`
    keeps the memory alive."""

    def __init__(self, address: int, shape: tuple[int, ...], dtype: np.dtype, owner: Any):
        self.address, self.shape, self.dtype, self.owner = address, shape, dtype, owner
        self.ndim, self.nbytes = len(shape), math.prod(shape) * dtype.itemsize

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {"version": 3, "shape": self.shape, "typestr": self.dtype.str, "data": (self.address, False),
                "strides": None}


def is_on_device(value: Any) -> bool:
    return hasattr(value, "__cuda_array_interface__")


def as_device_array(what: str, value: Any, name: str, rank: int, *, is_written: bool = False) -> DeviceArray:
    """`value` as an array of the type called `name`; nothing is copied."""
    given, dtype = value.__cuda_array_interface__, _arrays.dtype_of(name)
    shape = tuple(int(dim) for dim in given["shape"])
    address, is_constant = given["data"]
    # bfloat16 is none of numpy's types.
    if given["typestr"] != dtype.str and not (name == "bfloat16" and given["typestr"] in ("<V2", "|V2")):
        raise UsageError(f"{what} is made of {given['typestr']}, the model takes {name} ({dtype.str})")
    if len(shape) != rank:
        raise UsageError(f"{what} has {len(shape)} dims, the model takes {rank}")
    dense = tuple(math.prod(shape[d + 1:]) * dtype.itemsize for d in range(rank))
    if given.get("strides") not in (None, dense) or given.get("mask") is not None:
        raise UsageError(f"{what} is not dense and row-major; copy it on the device")
    if is_written and is_constant:
        raise UsageError(f"{what} is read-only")
    return DeviceArray(int(address or 0), shape, dtype, value)


def stream_of(value: Any) -> int | None:
    """The handle of a CUDA stream: a number, or an object with `__cuda_stream__`."""
    if value is None:
        return None
    if hasattr(value, "__cuda_stream__"):
        value = value.__cuda_stream__()[1]
    if not isinstance(value, int) or isinstance(value, bool) or not 0 < value < 2**64:
        raise UsageError(f"stream: expected the handle of a CUDA stream, or an object with __cuda_stream__, not "
                         f"{value!r}")
    return value
