"""What ONNX Runtime says of a model file, on seeded noise."""

import numpy as np
import onnxruntime


def run_on_noise(path):
    """Outputs of a model whose inputs are float32 tensors of fixed dims."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    rng = np.random.default_rng(0)
    feed = {i.name: rng.standard_normal(i.shape).astype(np.float32) for i in session.get_inputs()}
    return session.run(None, feed)
