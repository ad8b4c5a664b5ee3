"""Ranks whose engine is NCCL and whose sessions are on GPUs: the test's NCCL, and the emulator as CUDA's driver."""

import os
import pathlib

DEVICES = 4


def environment(tools, cache, **more):
    """NVRTC's results are taken from `cache`, which a run on --device=emulator has filled: NVRTC itself asks libcuda.so.1 for
    more than there is of it."""
    clean = {k: v for k, v in os.environ.items() if k not in ("RANK", "WORLD_SIZE", "LOCAL_RANK")}
    return {**clean, "LD_LIBRARY_PATH": f"{tools.build}/lib/nccl:{tools.build}/lib/cuda", "MLC_CACHE": str(cache),
            "MLC_EMULATOR_DEVICES": str(DEVICES), **more}


def copies(folder):
    """Calls and bytes of each kind of copy, of each process that has written its record ($MLC_EMULATOR_CALLS)."""
    told = []
    for path in sorted(pathlib.Path(folder).iterdir()):
        rows = [line.split() for line in path.read_text().splitlines()]
        told.append({name[8:12]: (int(calls), int(size)) for name, calls, size in rows if name.startswith("cuMemcpy")})
    return told
