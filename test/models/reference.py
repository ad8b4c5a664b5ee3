"""What ONNX Runtime says of a model file, on seeded noise."""

import numpy as np
from turns import onnxruntime_session


def run_on_noise(path):
    """Outputs of a model whose inputs are float32 tensors of fixed dims."""
    session = onnxruntime_session(path, threads=1)
    rng = np.random.default_rng(0)
    feed = {i.name: rng.standard_normal(i.shape).astype(np.float32) for i in session.get_inputs()}
    return session.run(None, feed)
