"""Entries of a model, and the states that they share."""

import ctypes
import os
from typing import Any

import numpy as np

from . import _arrays, _check as check
from ._errors import UsageError
from ._library import HOST, CTensor, call, library, path_of
from ._turn import taking_turns


class Entries:
    """What `mlc.Model` has of entries."""

    @property
    def entries(self) -> tuple[str, ...]:
        """Names of the model's entries; the first is what it is by itself."""
        return tuple(library().mlc_artifact_entry_name(self._handle, index).decode()
                     for index in range(library().mlc_artifact_entry_count(self._handle)))

    def _entry_index(self, name: str) -> int:
        if check.text("entry", name) not in self.entries:
            raise UsageError(f"there is no entry '{name}'; the model has {', '.join(self.entries)}")
        return self.entries.index(name)

    def entry(self, name: str) -> "Entries":
        """The same model as another entry: its inputs, outputs and steps."""
        handle = ctypes.c_void_p()
        call("mlc_artifact_entry", self._handle, self._entry_index(name), ctypes.byref(handle))
        return type(self)._of(handle, self)


class States:
    """What `mlc.Session` has of states. Sessions that share states are used by one
    thread at a time; others are refused."""

    @taking_turns
    def entry(self, name: str) -> "States":
        """A session of another entry of the model, over this one's states."""
        self._settle()
        model, handle = self.model.entry(name), ctypes.c_void_p()
        call("mlc_session_entry", self._handle, self.model._entry_index(name), ctypes.byref(handle))
        return type(self)._of(model, handle, self._given_stream)

    def _state_index(self, name: str) -> int:
        for index, port in enumerate(self.model.states):
            if port.name == name:
                return index
        names = ", ".join(port.name for port in self.model.states)
        raise UsageError(f"there is no state '{name}'; the model has {names or 'none'}")

    @taking_turns
    def state(self, name: str) -> np.ndarray:
        """What a state holds now, copied."""
        self._settle()
        tensor = CTensor()
        call("mlc_session_state", self._handle, self._state_index(name), ctypes.byref(tensor))
        return _arrays.view_of(tensor, self).copy()

    @taking_turns
    def set_state(self, name: str, value: Any) -> None:
        """Sets a state; the array is copied."""
        self._settle()
        index = self._state_index(name)
        port = self.model.states[index]
        array = _arrays.as_array(f"state '{name}'", value, port.dtype, len(port.dims))
        call("mlc_session_set_state", self._handle, index, _arrays.number_of(array.dtype), array.ndim,
             _arrays.dims_of(array), _arrays.address_of(array), HOST)

    @taking_turns
    def reset_states(self) -> None:
        """Gives all states what they held when the session was made."""
        self._settle()
        call("mlc_session_reset_states", self._handle)

    @taking_turns
    def save_states(self, path: str | os.PathLike) -> None:
        """Writes all states into a .npz file, whole or not at all."""
        self._settle()
        call("mlc_session_save_states", self._handle, path_of("a file", path))

    @taking_turns
    def load_states(self, path: str | os.PathLike) -> None:
        """Sets all states from a .npz file, or none where something is wrong with it."""
        self._settle()
        call("mlc_session_load_states", self._handle, path_of("a file", path))
