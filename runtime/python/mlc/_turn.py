"""Whose turn it is on a session."""

import functools
import os
import threading

from ._errors import UsageError


class Turn:
    """Held by a thread for as long as it uses a session or a trainer, `with session._turn:`. It may be taken again by the
    thread that holds it; another one is refused, and so is a forked child, which has none of its threads."""

    def __init__(self, what: str = "session", made_by: str = "model.session()"):
        self._lock = threading.RLock()
        self._process = os.getpid()
        self._what, self._made_by = what, made_by

    def is_here(self) -> bool:
        """Whether the session was made in this process."""
        return self._process == os.getpid()

    def _require_here(self) -> None:
        if not self.is_here():
            raise UsageError(f"the {self._what} was made before this process was forked, and its threads are not here; make "
                             f"one in this process with {self._made_by}, or start processes by multiprocessing's \"spawn\"")

    def __enter__(self) -> None:
        self._require_here()
        if not self._lock.acquire(blocking=False):
            raise UsageError(f"another thread is using the {self._what}; make one for each thread with {self._made_by}, or "
                             "let them take turns")

    def wait(self) -> threading.RLock:
        """The same, but another thread is waited for: `with turn.wait():`."""
        self._require_here()
        return self._lock

    def __exit__(self, *_) -> None:
        self._lock.release()


def taking_turns(method):
    """Of a session: nobody else may use it meanwhile."""
    @functools.wraps(method)
    def held(self, *arguments, **named):
        with self._turn:
            return method(self, *arguments, **named)
    return held
