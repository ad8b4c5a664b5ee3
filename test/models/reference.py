"""What ONNX Runtime says of a model file, on seeded noise."""

import numpy as np
import onnx
from turns import onnxruntime_session


def run_on_noise(path, shapes=None):
    """Outputs of a model whose inputs are float32 tensors, of these shapes or of
    fixed dims."""
    session = onnxruntime_session(path, threads=1)
    rng = np.random.default_rng(0)
    inputs = session.get_inputs()
    feed = {i.name: rng.standard_normal(shape).astype(np.float32)
            for i, shape in zip(inputs, shapes or [i.shape for i in inputs], strict=True)}
    return session.run(None, feed)


def exported(tools, folder, model):
    """The operators that mlc writes for `model`, once imported; the file is valid
    and gives the same results."""
    path, result = folder / "m.onnx", folder / "o.onnx"
    onnx.save(model, path)
    done = tools.run("mlc-translate", path, "-o", result)
    assert done.returncode == 0, done.stderr
    made = onnx.load(result)
    onnx.checker.check_model(made, full_check=True)
    shapes = [[dim.dim_value for dim in i.type.tensor_type.shape.dim] for i in model.graph.input]
    for want, got in zip(run_on_noise(path, shapes), run_on_noise(result, shapes), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)
    return [node.op_type for node in made.graph.node]
