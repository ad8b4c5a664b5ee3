"""Runs a model with ONNX Runtime for `mlc compare`, which carries this script.

arguments: MODEL FOLDER [plain]; "plain" has the model run as it is, without ONNX Runtime's optimizations
FOLDER/request.json: {"inputs": [name...], "layers": [node name...]}
FOLDER/in<i>.npy: the inputs. Written: FOLDER/out<i>.npy and FOLDER/layer<i>.npy,
then FOLDER/reply.json: {"version", "outputs": [name...], "layers": [name...], "read_by"}
with the layers that the model has, in the order in which it computes them, and for each
the layers and outputs (counted behind the layers) that are next to depend on it.
"""

import json
import os
import sys

import numpy as np
import onnxruntime


def with_outputs(path, names):
    """The model with further outputs for the nodes (or, where they have no
    name, first outputs) called `names`; {tensor: name} of those it has; who reads them."""
    import onnx

    model = onnx.load(path)
    own = {value.name for value in model.graph.output}
    found = {}
    for node in model.graph.node:
        name = node.name or node.output[0]
        if name in names and node.output[0] not in own:
            found[node.output[0]] = name
    read_by = nearest_readers(model.graph, [*found, *(v.name for v in model.graph.output)])
    for tensor in found:
        model.graph.output.append(onnx.ValueInfoProto(name=tensor))
    return model.SerializeToString(), found, read_by[: len(found)]


def nearest_readers(graph, tensors):
    """For each of `tensors`, the positions in it of those that are computed
    from it without another of them in between."""
    position = {tensor: i for i, tensor in enumerate(tensors)}
    readers = {}
    for node in graph.node:
        for name in node.input:
            readers.setdefault(name, []).append(node)
    nearest = {}
    for node in reversed(graph.node):
        for tensor in node.output:
            found = set()
            for reader in readers.get(tensor, []):
                for result in reader.output:
                    found |= {position[result]} if result in position else nearest.get(result, set())
            nearest[tensor] = found
    return [sorted(nearest.get(tensor, ())) for tensor in tensors]


def main(path, folder, how=""):
    with open(os.path.join(folder, "request.json")) as file:
        request = json.load(file)
    layers, read_by = {}, []
    source = path
    if request["layers"]:
        source, layers, read_by = with_outputs(path, set(request["layers"]))
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    if layers or how == "plain":
        # Fused nodes would leave some of them uncomputed.
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])
    feed = {name: np.load(os.path.join(folder, f"in{i}.npy"))
            for i, name in enumerate(request["inputs"])}
    names = [value.name for value in session.get_outputs()]
    results = dict(zip(names, session.run(names, feed)))
    outputs = [name for name in names if name not in layers]
    for kind, kept in (("out", outputs), ("layer", layers)):
        for i, name in enumerate(kept):
            np.save(os.path.join(folder, f"{kind}{i}.npy"), np.asarray(results[name], order="C"))
    reply = {"version": onnxruntime.__version__, "outputs": outputs,
             "layers": list(layers.values()), "read_by": read_by}
    with open(os.path.join(folder, "reply.json"), "w") as file:
        json.dump(reply, file)


main(*sys.argv[1:])
