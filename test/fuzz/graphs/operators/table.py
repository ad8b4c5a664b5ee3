"""The table of generators: one entry per ONNX operator that mlc supports."""

import dataclasses
from typing import Callable

import elements


@dataclasses.dataclass(frozen=True)
class Entry:
    op: str
    make: Callable  # (builder, op): adds nodes, or raises Skip
    weight: float
    first: int  # opsets in which the operator exists
    last: int


ENTRIES = {}


def operator(*names, weight=1.0):
    """Registers a generator for operators of these names."""
    def register(make):
        for name in names:
            opsets = [o for o in range(7, 25) if elements.schema(name, o) is not None]
            assert opsets and name not in ENTRIES, name
            ENTRIES[name] = Entry(name, make, weight, opsets[0], opsets[-1])
        return make
    return register


COMPOSITES = []


def composite(make):
    """Registers a generator of several nodes that belong together."""
    COMPOSITES.append(make)
    return make


def entries(opset):
    return [e for e in ENTRIES.values() if e.first <= opset <= e.last]
