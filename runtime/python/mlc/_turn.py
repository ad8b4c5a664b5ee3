"""Whose turn it is on a session."""

import functools
import os
import threading

from ._errors import UsageError


class Turn:
    """Held by a thread for as long as it uses a session, `with session._turn:`. It may be taken again by the thread that
    holds it; another one is refused, and so is a forked child, which has none of the session's threads."""

    def __init__(self):
        self._lock = threading.RLock()
        self._process = os.getpid()

    def is_here(self) -> bool:
        """Whether the session was made in this process."""
        return self._process == os.getpid()

    def _require_here(self) -> None:
        if not self.is_here():
            raise UsageError("the session was made before this process was forked, and its threads are not here; make one "
                             "in this process with model.session(), or start processes by multiprocessing's \"spawn\"")

    def __enter__(self) -> None:
        self._require_here()
        if not self._lock.acquire(blocking=False):
            raise UsageError("another thread is using the session; make one for each thread with model.session(), or let "
                             "them take turns")

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
