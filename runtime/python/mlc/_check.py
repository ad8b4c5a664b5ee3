"""Checks of what callers give: each returns the value or raises a UsageError that names the argument."""

import numbers
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ._errors import UsageError
from ._library import devices, path_of


def whole(name: str, value: Any, least: int | None = None) -> int:
    is_whole = hasattr(value, "__index__") and not isinstance(value, bool)
    try:
        number = value.__index__() if is_whole else None
    except TypeError:  # an array of several
        number = None
    if number is None or (least is not None and number < least):
        raise UsageError(f"{name}: expected a whole number{'' if least is None else f' of at least {least}'}, not {value!r}")
    return number


def threads(value: Any) -> int:
    """How many work on a run; the library knows how many there can be."""
    if whole("threads", value, 0) >= 2**32:
        raise UsageError(f"threads: {value} are more than any machine has")
    return value.__index__()


def device(value: Any) -> bytes | None:
    """A device's name for the C ABI."""
    if value is not None and (not isinstance(value, str) or "\0" in value):
        raise UsageError(f"device: expected one of {', '.join(devices())}, not {value!r}")
    return value.encode() if value else None


def number(name: str, value: Any) -> Any:
    """As an int where it is one, so that it is written without a point."""
    if isinstance(value, numbers.Integral) and not isinstance(value, bool):
        return int(value)
    try:
        if isinstance(value, (bool, str, bytes)):
            raise TypeError
        return float(value)
    except (TypeError, ValueError):
        raise UsageError(f"{name}: expected a number, not {value!r}") from None


def switch(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise UsageError(f"{name}: expected True or False, not {value!r}")
    return value


def text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise UsageError(f"{name}: expected a text, not {value!r}")
    return value


def path(name: str, value: Any) -> str:
    return os.fsdecode(path_of(name, value))


def table(name: str, value: Any) -> Mapping:
    if value is not None and not isinstance(value, Mapping):
        raise UsageError(f"{name}: expected a dict, not {value!r}")
    return value or {}


def items(name: str, value: Any, of: type | tuple[type, ...] = str) -> list:
    """A list, of texts unless `of` says something else."""
    is_text = isinstance(value, (str, bytes))
    if is_text or not isinstance(value, Iterable):
        raise UsageError(f"{name}: expected a list, not {'the text ' if is_text else ''}{value!r}")
    taken = list(value)
    if wrong := [each for each in taken if not isinstance(each, of)]:
        raise UsageError(f"{name}: expected a list of {'texts' if of is str else 'paths'}, and one is {wrong[0]!r}")
    return taken


def inputs(given: Any, names: Sequence[str]) -> Mapping[str, Any]:
    """By name, what is given by name or in the order of `names`: each once, and no other."""
    if not isinstance(given, (Mapping, Sequence, np.ndarray)):
        raise UsageError(f"inputs: expected a dict by name or a list, not {type(given).__name__}")
    if not isinstance(given, Mapping):
        if len(given) != len(names):
            raise UsageError(f"{len(given)} inputs are given, the model has {len(names)}")
        given = dict(zip(names, given))
    for name in given:
        if name not in names:
            raise UsageError(f"there is no input '{name}'; the model has {', '.join(names) or 'none'}")
    if missing := [name for name in names if name not in given]:
        raise UsageError(f"input '{missing[0]}' is missing")
    return given
