"""Timing calls that take turns, so that all of them meet the same machine."""

import statistics
import time

import onnxruntime

# What may be timed; "cpu" on a machine that others use.
CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}


def take_turns(calls, runs, warm_up=3, clock=time.perf_counter, in_a_row=1, lead_ms=0):
    """Median, least and 95 % times in ms of each call. With time.process_time as
    the clock: of the processor, which others that use the machine take no part
    in; for calls that run on one thread. In its turn a call is timed `in_a_row`
    times, after it was called for `lead_ms`, so that its threads are awake."""
    times = [[] for _ in calls]
    for turn in range(-(-(runs + warm_up) // in_a_row)):
        for call, kept in zip(calls, times):
            awake = time.perf_counter() + lead_ms / 1e3
            while time.perf_counter() < awake:
                call()
            for i in range(turn * in_a_row, (turn + 1) * in_a_row):
                start = clock()
                call()
                if i >= warm_up:
                    kept.append((clock() - start) * 1e3)
    return [{"median_ms": statistics.median(t), "min_ms": min(t),
             "p95_ms": sorted(t)[int(0.95 * (len(t) - 1))]} for t in times]


def onnxruntime_session(path, threads):
    """A session with all of ONNX Runtime's own optimizations."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    # Its workers would spin on while the others take their turns.
    options.add_session_config_entry("session.force_spinning_stop", "1")
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
