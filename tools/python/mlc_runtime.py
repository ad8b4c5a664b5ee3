"""mlc's runtime from Python, through its C ABI (runtime/mlc_runtime.h).

    model = Artifact(library, "model.mlca")
    session = Session(model, threads=1)
    outputs = session({"x": array})
"""

import ctypes
import json

import numpy as np

# numpy knows "bfloat16" once ml_dtypes has been imported.
DTYPES = ["float32", "float16", "bfloat16", "float64", "int8", "int16", "int32", "int64",
          "uint8", "uint16", "uint32", "uint64", "bool"]
MAX_RANK = 16


class Port(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("type", ctypes.c_int), ("rank", ctypes.c_size_t),
                ("dims", ctypes.POINTER(ctypes.c_int64)),
                ("dim_texts", ctypes.POINTER(ctypes.c_char_p))]


class Tensor(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("rank", ctypes.c_size_t),
                ("dims", ctypes.c_int64 * MAX_RANK), ("data", ctypes.c_void_p),
                ("bytes", ctypes.c_size_t)]


class Options(ctypes.Structure):
    _fields_ = [("threads", ctypes.c_uint32), ("flags", ctypes.c_uint32)]


class Memory(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64)
                for name in ("arena_bytes", "lower_bound_bytes", "scratch_bytes", "allocated_bytes")]


class RuntimeFailure(Exception):
    def __init__(self, status, message):
        super().__init__(message)
        self.status = status


def load_library(build):
    """The shared runtime in the build folder `build`."""
    library = ctypes.CDLL(f"{build}/lib/libmlc_runtime.so")
    library.mlc_last_error.restype = ctypes.c_char_p
    library.mlc_artifact_metadata.restype = ctypes.c_char_p
    library.mlc_artifact_manifest.restype = ctypes.POINTER(ctypes.c_char)
    for name in ("mlc_artifact_input_count", "mlc_artifact_output_count"):
        getattr(library, name).restype = ctypes.c_size_t
    library.mlc_session_allocation_count.restype = ctypes.c_uint64
    return library


class Artifact:
    def __init__(self, library, path):
        self.library = library
        self.handle = ctypes.c_void_p()
        self.check(library.mlc_artifact_open(
            str(path).encode(), ctypes.c_uint32(0), ctypes.byref(self.handle)))
        self.inputs = self._ports(library.mlc_artifact_input_count, library.mlc_artifact_input)
        self.outputs = self._ports(library.mlc_artifact_output_count, library.mlc_artifact_output)
        size = ctypes.c_size_t()
        text = library.mlc_artifact_manifest(self.handle, ctypes.byref(size))
        self.manifest = json.loads(text[: size.value] or "{}")

    def __del__(self):
        if getattr(self, "handle", None):
            self.library.mlc_artifact_close(self.handle)

    def metadata(self, key):
        """The model's own metadata entry `key`, or None."""
        value = self.library.mlc_artifact_metadata(self.handle, key.encode())
        return value.decode() if value is not None else None

    def check(self, status):
        if status:
            raise RuntimeFailure(status, self.library.mlc_last_error().decode())

    def _ports(self, count, get):
        """[(name, dtype, [dim texts])] of the inputs or outputs."""
        ports = []
        for index in range(count(self.handle)):
            port = Port()
            self.check(get(self.handle, ctypes.c_size_t(index), ctypes.byref(port)))
            texts = [port.dim_texts[i].decode() for i in range(port.rank)]
            ports.append((port.name.decode(), DTYPES[port.type], texts))
        return ports


class Session:
    def __init__(self, artifact, threads=1):
        self.artifact = artifact
        self.library = artifact.library
        self.handle = ctypes.c_void_p()
        options = Options(threads, 0)
        artifact.check(self.library.mlc_session_create(
            artifact.handle, ctypes.byref(options), ctypes.byref(self.handle)))
        self.bound = []

    def __del__(self):
        if getattr(self, "handle", None):
            self.library.mlc_session_destroy(self.handle)

    def bind(self, arrays):
        """Binds {name: array}; the session reads the arrays on every run."""
        self.bound = []
        for index, (name, dtype, _) in enumerate(self.artifact.inputs):
            # np.ascontiguousarray would make a vector of a scalar.
            array = np.asarray(arrays[name], dtype=dtype, order="C")
            dims = (ctypes.c_int64 * max(1, array.ndim))(*array.shape)
            self.artifact.check(self.library.mlc_session_bind_input(
                self.handle, ctypes.c_size_t(index), DTYPES.index(array.dtype.name),
                ctypes.c_size_t(array.ndim), dims, array.ctypes.data_as(ctypes.c_void_p)))
            self.bound.append(array)

    def run(self):
        self.artifact.check(self.library.mlc_session_run(self.handle))

    def results(self):
        arrays = []
        for index in range(len(self.artifact.outputs)):
            tensor = Tensor()
            self.artifact.check(self.library.mlc_session_output(
                self.handle, ctypes.c_size_t(index), ctypes.byref(tensor)))
            dtype = np.dtype(DTYPES[tensor.type])
            data = ctypes.string_at(tensor.data, tensor.bytes) if tensor.bytes else b""
            arrays.append(np.frombuffer(data, dtype).reshape(tensor.dims[: tensor.rank]))
        return arrays

    def __call__(self, arrays):
        self.bind(arrays)
        self.run()
        return self.results()

    def memory(self):
        memory = Memory()
        self.artifact.check(self.library.mlc_session_memory(self.handle, ctypes.byref(memory)))
        return {name: getattr(memory, name) for name, _ in Memory._fields_}
