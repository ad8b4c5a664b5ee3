"""Models in stages, and what runs them."""

import ctypes
import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from . import _arrays, _check as check, _ranks
from ._library import COptions, CPipelineSizes, CTensor, call, library
from ._turn import Turn, taking_turns

_FLUSH_DENORMALS = 1


@dataclasses.dataclass(frozen=True)
class Stages:
    """How a model is cut: its stages, the parts of a batch, and the ranks that run
    the stages, if it is not one."""

    count: int
    micro_batches: int
    ranks: int


def stages_of(handle: ctypes.c_void_p) -> Stages | None:
    """What the artifact says; None if it is whole."""
    sizes = CPipelineSizes()
    call("mlc_artifact_pipeline", handle, ctypes.byref(sizes))
    return Stages(sizes.stages, sizes.micro_batches, sizes.ranks) if sizes.stages else None


class Pipeline:
    """What runs a model in stages (`mlc.compile(..., stages=2)`), as a session does
    others: `model.session()` makes it. Without `ranks` the stages run in turn; with
    them, as many as the model has, each rank runs its stages, and all call `run`
    with the same inputs and have the outputs."""

    def __init__(self, model: Any, *, threads: int = 0, device: str | None = None, flush_denormals: bool = False,
                 ranks: _ranks.Ranks | None = None):
        self.model = model
        self._handle = ctypes.c_void_p()
        flags = _FLUSH_DENORMALS * check.switch("flush_denormals", flush_denormals)
        options = COptions(ctypes.sizeof(COptions), check.threads(threads), flags, check.device(device), None,
                           _ranks.handle_of(ranks))
        call("mlc_pipeline_create", model._handle, ctypes.byref(options), ctypes.byref(self._handle))
        self._turn = Turn("pipeline")
        self._ranks = ranks  # lives as long

    def __del__(self):
        if getattr(self, "_handle", None):
            library().mlc_pipeline_destroy(self._handle)

    @taking_turns
    def run(self, inputs: Mapping[str, Any] | Sequence[Any]) -> dict[str, np.ndarray]:
        """Runs a batch, {name: array} or arrays in the order of the model's inputs,
        which its micro-batches divide; returns {name: array}."""
        ports = self.model.inputs
        named = check.inputs(inputs, [port.name for port in ports])
        arrays = [_arrays.as_array(f"input '{port.name}'", named[port.name], port.dtype, len(port.dims), may_copy=True)
                  for port in ports]
        for index, array in enumerate(arrays):
            call("mlc_pipeline_bind_input", self._handle, index, _arrays.number_of(array.dtype), array.ndim,
                 _arrays.dims_of(array), _arrays.address_of(array))
        call("mlc_pipeline_run", self._handle)
        results = {}
        for index, port in enumerate(self.model.outputs):
            tensor = CTensor()
            call("mlc_pipeline_output", self._handle, index, ctypes.byref(tensor))
            results[port.name] = _arrays.view_of(tensor, self).copy()
        return results

    @property
    def allocations(self) -> int:
        """How often it has allocated or planned; constant while dims repeat."""
        return library().mlc_pipeline_allocation_count(self._handle)
