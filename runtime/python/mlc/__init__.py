"""mlc: compile ONNX models through proved rewrites, and run them.

    import mlc
    model = mlc.compile("model.onnx", dims={"N": 1})
    result = model(pixels)                       # one output: an array
    outputs = model.run({"x": pixels})           # {name: array}

    model.save("model.mlca")
    model = mlc.load("model.mlca")               # needs no compiler

    trainer = mlc.Trainer("model.onnx", loss="cross-entropy", optimizer="adamw", batch=32)
    trainer.fit("samples.npz", steps=1000)
    trainer.export("trained.onnx")

Arrays go in and come out as numpy's; anything with `__dlpack__` on the CPU is
taken without a copy. docs/Python.md says more.
"""

from ._compiler import Comparison, Optimized, compare, compile, optimize
from ._errors import (BadFileError, CodegenError, DeviceError, DifferenceError, Error, InternalError, ResourceError,
                      UnknownError, UnsupportedError, UsageError)
from ._model import Memory, Model, Port, Run, Session, StepCost, load
from ._library import devices, version
from ._pipeline import Pipeline, Stages
from ._ranks import Ranks
from ._fit import Progress
from ._trainer import Samples, Trainer

__all__ = ["BadFileError", "CodegenError", "Comparison", "DeviceError", "DifferenceError", "Error", "InternalError",
           "Memory", "Model", "Optimized", "Pipeline", "Port", "Progress", "Ranks", "ResourceError", "Run", "Samples", "Session", "Stages",
           "StepCost", "Trainer", "UnknownError", "UnsupportedError", "UsageError", "compare", "compile", "devices", "load", "optimize", "version"]

# Tracebacks name what callers can catch: mlc.UsageError, not mlc._errors.UsageError.
for _name in __all__:
    if isinstance(globals()[_name], type):
        globals()[_name].__module__ = __name__
