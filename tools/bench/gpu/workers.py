"""A worker process with a watchdog."""

import contextlib
import json
import os
import pathlib
import selectors
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent


def environment():
    """Without what would lead to another library than the packed one."""
    return {name: value for name, value in os.environ.items() if name not in ("MLC_BUILD", "PYTHONPATH")}


def end(process):
    """Ends a process with all that it has started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


class Worker:
    """Started by the first request, and again by the first one after it was ended."""

    def __init__(self, folder, device):
        self.command = [sys.executable, HERE, "worker", folder, device]
        self.process, self.log = None, None

    def start(self):
        self.log = tempfile.TemporaryFile("w+", errors="replace")
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log,
                                        env=environment(), start_new_session=True)
        self.pending = b""

    def ask(self, request, limit):
        """The answer; what says that the case hangs or has ended the process."""
        if self.process is None:
            self.start()
        try:
            self.process.stdin.write(json.dumps(request).encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            return self.crashed()
        line = self.read_line(limit)
        if line is None:
            self.stop()
            return {"status": "hung", "reason": f"no answer after {limit:.0f} s; the process was ended"}
        if not line:
            return self.crashed()
        answer = json.loads(line)
        if answer.pop("is_lost", False):  # a failed kernel takes the process's device with it
            self.stop()
        return answer

    def read_line(self, limit):
        """A line, b"" at the end of the output, None if `limit` seconds bring none."""
        until = time.monotonic() + limit
        with selectors.DefaultSelector() as selector:
            selector.register(self.process.stdout, selectors.EVENT_READ)
            while b"\n" not in self.pending:
                left = until - time.monotonic()
                if left <= 0 or not selector.select(left):
                    return None
                more = os.read(self.process.stdout.fileno(), 65536)
                if not more:
                    return b""
                self.pending += more
        line, _, self.pending = self.pending.partition(b"\n")
        return line

    def crashed(self):
        code = self.process.wait()
        self.log.seek(0)
        said = [line for line in self.log.read().splitlines() if line.strip()]
        self.stop()
        return {"status": "crashed", "reason": f"the process ended with {code}: {(said or ['no message'])[-1][:300]}"}

    def stop(self):
        if self.process is None:
            return
        end(self.process)
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        self.process.stdout.close()
        self.log.close()
        self.process = None
