"""Runs under way."""

import numpy as np

from ._errors import Error
from ._library import call, library


class Owner:
    """Of a handle of the library, which is closed with the object: no copies."""

    def __reduce__(self):
        raise TypeError(f"an mlc.{type(self).__name__} cannot be copied or pickled; share it, or make another")


class Run(Owner):
    """A run under way, as `Session.run_async` makes it. Who drops it waits for it
    with the session's next call."""

    def __init__(self, session: "Session"):
        self._session = session
        self._result: dict[str, np.ndarray] | None = None
        self._failure: Error | None = None

    def done(self) -> bool:
        """Whether `result` would not wait."""
        return self._is_finished() or not library().mlc_session_is_running(self._session._handle)

    def _is_finished(self) -> bool:
        return self._result is not None or self._failure is not None

    def _finish(self) -> None:
        # Where an interrupt ends this, the next call waits again.
        with self._session._turn.wait():
            if self._is_finished():
                return
            try:
                call("mlc_session_wait", self._session._handle)
                self._result = self._session._outputs(copy=True)
            except Error as failure:
                self._failure = failure

    def result(self) -> dict[str, np.ndarray]:
        """Waits, and returns what `Session.run` returns or raises what it raises."""
        self._finish()
        if self._failure:
            raise self._failure
        return self._result
