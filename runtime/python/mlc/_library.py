"""libmlc_runtime through its C ABI (runtime/mlc_runtime.h)."""

import ctypes
import functools
import os
import pathlib
from typing import Any

from ._errors import DeviceError, UsageError, error

# numpy knows "bfloat16" once ml_dtypes has been imported.
DTYPES = ["float32", "float16", "bfloat16", "float64", "int8", "int16", "int32", "int64",
          "uint8", "uint16", "uint32", "uint64", "bool"]
MAX_RANK = 16
HOST, DEVICE = 0, 1

PACKAGE = pathlib.Path(__file__).resolve().parent


class CPort(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("type", ctypes.c_int), ("rank", ctypes.c_size_t),
                ("dims", ctypes.POINTER(ctypes.c_int64)), ("dim_texts", ctypes.POINTER(ctypes.c_char_p))]


class CTensor(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("rank", ctypes.c_size_t), ("dims", ctypes.c_int64 * MAX_RANK),
                ("data", ctypes.c_void_p), ("bytes", ctypes.c_size_t)]


class COptions(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("threads", ctypes.c_uint32), ("flags", ctypes.c_uint32),
                ("device", ctypes.c_char_p), ("stream", ctypes.c_void_p), ("ranks", ctypes.c_void_p)]


class CRanksOptions(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("timeout", ctypes.c_double), ("folder", ctypes.c_char_p),
                ("device", ctypes.c_char_p), ("groups", ctypes.c_size_t)]


class CAxis(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("ranks", ctypes.c_size_t)]


class CSplit(ctypes.Structure):
    _fields_ = [("dim", ctypes.c_size_t), ("axis", ctypes.c_size_t), ("unit", ctypes.c_uint64)]


class CMemory(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64)
                for name in ("arena_bytes", "lower_bound_bytes", "scratch_bytes", "allocated_bytes")]


class CCost(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64)
                for name in ("bytes_read", "bytes_written", "operations", "contraction_operations")]


class CTrainerOptions(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("threads", ctypes.c_uint32), ("device", ctypes.c_char_p),
                ("ranks", ctypes.c_void_p), ("name", ctypes.c_char_p)]


class CTrainedState(ctypes.Structure):
    _fields_ = [("port", CPort), ("role", ctypes.c_char_p), ("owner", ctypes.c_char_p)]


class CPipelineSizes(ctypes.Structure):
    _fields_ = [("stages", ctypes.c_size_t), ("micro_batches", ctypes.c_size_t), ("ranks", ctypes.c_size_t)]


class CStep(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("kind", ctypes.c_char_p), ("node_count", ctypes.c_size_t),
                ("nodes", ctypes.POINTER(ctypes.c_char_p)), ("text", ctypes.c_char_p)]


_P, _N, _TEXT = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p
_DIMS = ctypes.POINTER(ctypes.c_int64)
_TENSORS, _REAL, _COUNT = ctypes.POINTER(CTensor), ctypes.POINTER(ctypes.c_double), ctypes.c_uint64
# Functions by result; None: an mlc_status.
_FUNCTIONS = {
    "mlc_last_error": (_TEXT, []),
    "mlc_version": (_TEXT, []),
    "mlc_device_count": (_N, []),
    "mlc_device_name": (_TEXT, [_N]),
    "mlc_artifact_open": (None, [_TEXT, ctypes.c_uint32, ctypes.POINTER(_P)]),
    "mlc_artifact_open_memory": (None, [_TEXT, _N, ctypes.c_uint32, ctypes.POINTER(_P)]),
    "mlc_artifact_close": (_P, [_P]),
    "mlc_artifact_manifest": (_P, [_P, ctypes.POINTER(_N)]),
    "mlc_artifact_metadata_count": (_N, [_P]),
    "mlc_artifact_metadata_at": (None, [_P, _N, ctypes.POINTER(_TEXT), ctypes.POINTER(_TEXT)]),
    "mlc_artifact_input_count": (_N, [_P]),
    "mlc_artifact_output_count": (_N, [_P]),
    "mlc_artifact_parameter_count": (_N, [_P]),
    "mlc_artifact_input": (None, [_P, _N, ctypes.POINTER(CPort)]),
    "mlc_artifact_output": (None, [_P, _N, ctypes.POINTER(CPort)]),
    "mlc_artifact_parameter": (None, [_P, _N, ctypes.POINTER(CPort)]),
    "mlc_artifact_entry_count": (_N, [_P]),
    "mlc_artifact_entry_name": (_TEXT, [_P, _N]),
    "mlc_artifact_entry": (None, [_P, _N, ctypes.POINTER(_P)]),
    "mlc_artifact_state_count": (_N, [_P]),
    "mlc_artifact_state": (None, [_P, _N, ctypes.POINTER(CPort)]),
    "mlc_artifact_axis_count": (_N, [_P]),
    "mlc_artifact_axis": (None, [_P, _N, ctypes.POINTER(CAxis)]),
    "mlc_artifact_splits": (None, [_P, ctypes.c_int, _N, ctypes.POINTER(ctypes.POINTER(CSplit)), ctypes.POINTER(_N)]),
    "mlc_artifact_pipeline": (None, [_P, ctypes.POINTER(CPipelineSizes)]),
    "mlc_pipeline_create": (None, [_P, ctypes.POINTER(COptions), ctypes.POINTER(_P)]),
    "mlc_pipeline_destroy": (_P, [_P]),
    "mlc_pipeline_bind_input": (None, [_P, _N, ctypes.c_int, _N, _DIMS, _P]),
    "mlc_pipeline_run": (None, [_P]),
    "mlc_pipeline_output": (None, [_P, _N, ctypes.POINTER(CTensor)]),
    "mlc_pipeline_allocation_count": (_COUNT, [_P]),
    "mlc_ranks_open": (None, [_TEXT, ctypes.POINTER(CRanksOptions), ctypes.POINTER(_P)]),
    "mlc_ranks_open_threads": (None, [_N, ctypes.POINTER(CRanksOptions), ctypes.POINTER(_P)]),
    "mlc_ranks_close": (_P, [_P]),
    "mlc_ranks_rank": (_N, [_P]),
    "mlc_ranks_count": (_N, [_P]),
    "mlc_ranks_finish": (None, [_P]),
    "mlc_ranks_abort": (_P, [_P, ctypes.c_int]),
    "mlc_artifact_step_count": (_N, [_P]),
    "mlc_artifact_step": (None, [_P, _N, ctypes.POINTER(CStep)]),
    "mlc_session_create": (None, [_P, ctypes.POINTER(COptions), ctypes.POINTER(_P)]),
    "mlc_session_destroy": (_P, [_P]),
    "mlc_session_bind_input": (None, [_P, _N, ctypes.c_int, _N, _DIMS, _P, ctypes.c_int]),
    "mlc_session_bind_output": (None, [_P, _N, _P, _N, ctypes.c_int]),
    "mlc_session_set_parameter": (None, [_P, _N, ctypes.c_int, _N, _DIMS, _P, ctypes.c_int]),
    "mlc_session_parameter": (None, [_P, _N, ctypes.POINTER(CTensor)]),
    "mlc_session_entry": (None, [_P, _N, ctypes.POINTER(_P)]),
    "mlc_session_state": (None, [_P, _N, ctypes.POINTER(CTensor)]),
    "mlc_session_set_state": (None, [_P, _N, ctypes.c_int, _N, _DIMS, _P, ctypes.c_int]),
    "mlc_session_reset_states": (None, [_P]),
    "mlc_session_save_states": (None, [_P, _TEXT]),
    "mlc_session_load_states": (None, [_P, _TEXT]),
    "mlc_session_run": (None, [_P]),
    "mlc_session_run_async": (None, [_P]),
    "mlc_session_stream": (None, [_P, ctypes.POINTER(_P)]),
    "mlc_session_enqueue": (None, [_P]),
    "mlc_session_wait": (None, [_P]),
    "mlc_session_is_running": (ctypes.c_int, [_P]),
    "mlc_session_output": (None, [_P, _N, ctypes.POINTER(CTensor)]),
    "mlc_session_memory": (None, [_P, ctypes.POINTER(CMemory)]),
    "mlc_session_allocation_count": (ctypes.c_uint64, [_P]),
    "mlc_session_step_cost": (None, [_P, _N, ctypes.POINTER(CCost)]),
    "mlc_session_step_ns": (None, [_P, _N, ctypes.POINTER(ctypes.c_uint64)]),
    "mlc_trainer_create": (None, [_P, ctypes.POINTER(CTrainerOptions), ctypes.POINTER(_P)]),
    "mlc_trainer_destroy": (_P, [_P]),
    "mlc_trainer_input_count": (_N, [_P]),
    "mlc_trainer_input": (None, [_P, _N, ctypes.POINTER(CPort)]),
    "mlc_trainer_batches_of_step": (_N, [_P]),
    "mlc_trainer_step": (None, [_P, _TENSORS, ctypes.c_double, _REAL]),
    "mlc_trainer_evaluate": (None, [_P, _TENSORS, _REAL, _REAL]),
    "mlc_samples_open": (None, [_P, _TEXT, ctypes.POINTER(_P)]),
    "mlc_samples_copy": (None, [_P, _TENSORS, ctypes.POINTER(_P)]),
    "mlc_samples_close": (_P, [_P]),
    "mlc_samples_count": (_N, [_P]),
    "mlc_trainer_step_samples": (None, [_P, _P, _COUNT, ctypes.c_double, _REAL]),
    "mlc_trainer_evaluate_samples": (None, [_P, _P, _REAL]),
    "mlc_trainer_steps": (_COUNT, [_P]),
    "mlc_trainer_skipped": (_COUNT, [_P]),
    "mlc_trainer_loss_scale": (ctypes.c_double, [_P]),
    "mlc_learning_rate": (ctypes.c_double, [ctypes.c_int, ctypes.c_double, _COUNT, _COUNT, _COUNT]),
    "mlc_trainer_state_count": (_N, [_P]),
    "mlc_trainer_state": (None, [_P, _N, ctypes.POINTER(CTrainedState)]),
    "mlc_trainer_get_state": (None, [_P, _N, ctypes.POINTER(CTensor)]),
    "mlc_trainer_set_state": (None, [_P, _N, ctypes.POINTER(CTensor)]),
    "mlc_trainer_save": (None, [_P, _P, _COUNT, _TEXT]),
    "mlc_trainer_load": (None, [_P, _P, _COUNT, _TEXT]),
    "mlc_training_log_open": (None, [_P, _TEXT, ctypes.POINTER(_P)]),
    "mlc_training_log_write": (None, [_P, _P, ctypes.c_double, ctypes.c_double, ctypes.c_double, _REAL]),
    "mlc_training_log_close": (_P, [_P]),
}


def places(kind: str, name: str) -> list[pathlib.Path]:
    """Where a file of mlc's may be: the build that MLC_BUILD names, the package
    itself, the build of the source tree that the package lies in."""
    build = os.environ.get("MLC_BUILD")
    return [*([pathlib.Path(build) / kind / name] if build else []), PACKAGE / name,
            PACKAGE.parents[2] / "build" / kind / name]


@functools.cache
def library() -> ctypes.CDLL:
    """The runtime, loaded when it is first needed."""
    found = next((path for path in places("lib", "libmlc_runtime.so") if path.exists()), None)
    try:
        loaded = ctypes.CDLL(str(found or "libmlc_runtime.so"))
    except OSError as failure:
        raise DeviceError(f"mlc's runtime library cannot be loaded ({failure}); install mlc's wheel, or set MLC_BUILD "
                          "to a build of mlc") from None
    for name, (result, arguments) in _FUNCTIONS.items():
        function = getattr(loaded, name)
        function.restype, function.argtypes = ctypes.c_int if result is None else result, arguments
    return loaded


def call(name: str, *arguments) -> None:
    """Calls a function that returns an mlc_status."""
    if status := getattr(library(), name)(*arguments):
        raise error(status, library().mlc_last_error().decode())


def path_of(what: str, path: Any) -> bytes:
    """A path for the C ABI."""
    try:
        name = os.fsencode(path)
    except TypeError:
        raise UsageError(f"{what}: expected a path, not {type(path).__name__}") from None
    if b"\0" in name:
        raise UsageError(f"{what}: a path cannot hold NUL")
    return name


def version() -> str:
    """The runtime's version."""
    return library().mlc_version().decode()


def devices() -> list[str]:
    """What sessions can run on; the first is the default."""
    return [library().mlc_device_name(i).decode() for i in range(library().mlc_device_count())]
