"""Trains a small convolutional network on the handwritten digits that scikit-learn carries.

    python digits.py [OUT.onnx]

It needs mlc, onnx and the package scikit-learn (of which only the file of digits is read).
"""

import importlib.util
import pathlib
import sys

import mlc
import numpy as np
from onnx import TensorProto, helper, numpy_helper


def digits():
    """1,797 images of 8 x 8 pixels and their classes, shuffled: 1,437 to train on, the others to validate."""
    found = importlib.util.find_spec("sklearn")
    if found is None:
        raise SystemExit("digits.py: the digits are in scikit-learn; pip install scikit-learn")
    table = np.loadtxt(pathlib.Path(found.origin).parent / "datasets/data/digits.csv.gz", delimiter=",", dtype=np.float32)
    table = table[np.random.default_rng(0).permutation(len(table))]
    images, labels = table[:, :64].reshape(-1, 1, 8, 8) / 16, table[:, 64].astype(np.int64)
    return [{"image": images[part], "target": labels[part]} for part in (slice(1437), slice(1437, None))]


def network():
    """Two convolutions and a dense layer, with random weights."""
    rng = np.random.default_rng(1)
    shapes = {"w1": (16, 1, 3, 3), "w2": (32, 16, 3, 3), "w3": (512, 10)}
    weights = {name: rng.normal(0, (2 / np.prod(shape[1:])) ** 0.5, shape) for name, shape in shapes.items()}
    weights["w3"] *= 0.1
    weights |= {"b1": np.zeros(16), "b2": np.zeros(32), "b3": np.zeros(10)}
    node = helper.make_node
    graph = helper.make_graph(
        [node("Conv", ["image", "w1", "b1"], ["c1"], pads=[1] * 4), node("Relu", ["c1"], ["r1"]),
         node("Conv", ["r1", "w2", "b2"], ["c2"], pads=[1] * 4), node("Relu", ["c2"], ["r2"]),
         node("MaxPool", ["r2"], ["p"], kernel_shape=[2, 2], strides=[2, 2]), node("Flatten", ["p"], ["f"]),
         node("Gemm", ["f", "w3", "b3"], ["scores"])], "digits",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["n", 1, 8, 8])],
        [helper.make_tensor_value_info("scores", TensorProto.FLOAT, ["n", 10])],
        [numpy_helper.from_array(value.astype(np.float32), name) for name, value in weights.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def main(out="digits.onnx"):
    training, validation = digits()
    trainer = mlc.Trainer(network(), loss="cross-entropy", optimizer="adamw", learning_rate=0.003, schedule="cosine", batch=32)
    classifier = mlc.compile(network(), parameters=list(trainer.state_dict())).session()

    def validate(now):
        if now.held_out_loss is not None:  # the end of an epoch
            for name, value in trainer.state_dict().items():
                classifier.set_parameter(name, value)
            scores = classifier.run({"image": validation["image"]})["scores"]
            print(f"step {now.step}: validation loss {now.held_out_loss:.4f}, accuracy "
                  f"{np.mean(scores.argmax(1) == validation['target']):.1%}, {now.samples_per_second:.0f} samples/s")

    trainer.fit(training, epochs=10, evaluate=validation, evaluate_every=1437 // 32, callbacks=validate)
    trainer.export(out)
    print(f"wrote {out}")


if __name__ == "__main__":
    main(*sys.argv[1:])
