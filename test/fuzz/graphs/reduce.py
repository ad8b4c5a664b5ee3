"""Makes a failing graph small while it keeps failing in the same way."""

import numpy as np
import onnx

import elements
import exact


def failures_of(answer):
    """The failures in a worker's answer."""
    from subject import Failure
    if answer[0] == "done":
        return answer[1].failures
    if answer[0] == "dead":
        return [Failure(answer[1], answer[2])]
    return []


class Reducer:
    def __init__(self, worker, failure, modes, limit=150):
        self.worker, self.key, self.modes, self.left = worker, failure.key(), modes, limit

    def fails(self, model, feeds):
        if self.left <= 0:
            return None
        try:
            onnx.checker.check_model(model, full_check=True)
        except Exception:
            return None
        self.left -= 1
        self.worker.ask("model", model.SerializeToString(), feeds, self.modes)
        for failure in failures_of(self.worker.wait()):
            if failure.key() == self.key:
                return failure
        return None

    def reduce(self, model, feeds):
        """(model, feeds, failure) as small as was found; None where it does not fail again."""
        failure = self.fails(model, feeds)
        if failure is None:
            return None
        best = model, feeds, failure
        for single in range(len(feeds)):
            if len(feeds) > 1 and (again := self.fails(model, [feeds[single]])):
                best = model, [feeds[single]], again
                break
        changed = True
        while changed and self.left > 0:
            changed = False
            for step in (one_output, without_nodes, cut_front, cut_behind, without_attributes,
                         fixed_dims, simpler_feeds):
                for candidate in step(*best[:2]):
                    again = self.fails(*candidate)
                    if again:
                        best = *candidate, again
                        changed = True
                        break
        return best


def rebuilt(model, nodes, outputs, feeds, values=None, infos=None):
    """The model of these nodes and outputs; what they read and nothing makes becomes an input,
    with what it was in `values`."""
    made = {n for node in nodes for n in node.output}
    read = {n for node in nodes for n in node.input if n} | set(outputs) - made
    old = {v.name: v for v in [*model.graph.input, *model.graph.output]}
    initializers = [t for t in model.graph.initializer if t.name in read]
    known = made | {t.name for t in initializers}
    inputs, more = [], {}
    for name in sorted(read - known):
        if name in {v.name for v in model.graph.input}:
            inputs.append(old[name])
            continue
        if values is None or name not in values[0] or name not in infos:
            return None
        type = infos[name].type.tensor_type.elem_type
        arrays = [v[name].astype(elements.numpy_type(elements.name_of(type))) for v in values]
        shape = [n[0] if len(set(n)) == 1 else f"{name}_{i}"
                 for i, n in enumerate(zip(*[a.shape for a in arrays]))]
        inputs.append(onnx.helper.make_tensor_value_info(name, type, shape))
        more[name] = arrays
    results = []
    for name in outputs:
        if name not in made or name not in old and name not in infos:
            return None
        results.append(old[name] if name in old else infos[name])
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    for field in ("node", "input", "output", "initializer", "value_info"):
        copy.graph.ClearField(field)
    copy.graph.node.extend(nodes)
    copy.graph.input.extend(inputs)
    copy.graph.output.extend(results)
    copy.graph.initializer.extend(initializers)
    kept = {v.name for v in inputs}
    feeds = [{**{n: a for n, a in feed.items() if n in kept},
              **{n: arrays[i] for n, arrays in more.items()}} for i, feed in enumerate(feeds)]
    return copy, feeds


def live(nodes, outputs):
    """Nodes on which the outputs depend."""
    needed, kept = set(outputs), []
    for node in reversed(nodes):
        if needed & set(node.output):
            kept.append(node)
            needed |= set(node.input)
    return kept[::-1]


def one_output(model, feeds):
    outputs = [v.name for v in model.graph.output]
    nodes = list(model.graph.node)
    if len(outputs) > 1:
        for name in outputs:
            yield rebuilt(model, live(nodes, [name]), [name], feeds)
        for name in outputs:
            rest = [o for o in outputs if o != name]
            yield rebuilt(model, live(nodes, rest), rest, feeds)
    elif len(live(nodes, outputs)) < len(nodes):
        yield rebuilt(model, live(nodes, outputs), outputs, feeds)


def infos_of(model):
    """ValueInfoProto by name, as shape inference finds them."""
    graph = onnx.shape_inference.infer_shapes(model).graph
    return {v.name: v for v in [*graph.value_info, *graph.input, *graph.output]}


def values_of(model, feeds):
    try:
        judge = exact.Exact(model)
        return [judge.run(feed) for feed in feeds]
    except exact.Cannot:
        return None


def cut_front(model, feeds):
    """Values become inputs, the latest first."""
    values, infos = values_of(model, feeds), infos_of(model)
    if values is None:
        return
    outputs = [v.name for v in model.graph.output]
    nodes = list(model.graph.node)
    for at in reversed(range(len(nodes) - 1)):
        rest = [n for i, n in enumerate(nodes) if i > at]
        made = rebuilt(model, live(rest, outputs), outputs, feeds, values, infos)
        if made:
            yield made
    for at in range(len(nodes)):
        if set(nodes[at].output) & set(outputs):
            continue
        rest = nodes[:at] + nodes[at + 1:]
        made = rebuilt(model, live(rest, outputs), outputs, feeds, values, infos)
        if made:
            yield made


def cut_behind(model, feeds):
    """The last nodes go; a value before them becomes the output."""
    infos, nodes = infos_of(model), list(model.graph.node)
    outputs = {v.name for v in model.graph.output}
    for node in nodes[:-1]:
        for name in node.output:
            if name and name not in outputs:
                candidate = rebuilt(model, live(nodes, [name]), [name], feeds, None, infos)
                if candidate:
                    yield candidate


def without_nodes(model, feeds):
    """A node goes, what reads its result reads its input instead."""
    nodes = list(model.graph.node)
    outputs = [v.name for v in model.graph.output]
    for at, node in enumerate(nodes):
        if len(node.output) != 1 or not node.input or node.output[0] in outputs:
            continue
        for instead in dict.fromkeys(n for n in node.input if n):
            rest = []
            for other in nodes[:at] + nodes[at + 1:]:
                copy = onnx.NodeProto()
                copy.CopyFrom(other)
                copy.input[:] = [instead if n == node.output[0] else n for n in other.input]
                rest.append(copy)
            made = rebuilt(model, live(rest, outputs), outputs, feeds)
            if made:
                yield made


def without_attributes(model, feeds):
    for at, node in enumerate(model.graph.node):
        for attribute in node.attribute:
            copy = onnx.ModelProto()
            copy.CopyFrom(model)
            del copy.graph.node[at].attribute[:]
            copy.graph.node[at].attribute.extend(
                a for a in node.attribute if a.name != attribute.name)
            yield copy, feeds


def fixed_dims(model, feeds):
    """Open dims get the sizes of the first feed."""
    if len(feeds) != 1 or not any(d.dim_param for v in model.graph.input
                                  for d in v.type.tensor_type.shape.dim):
        return
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    for value in copy.graph.input:
        shape = value.type.tensor_type.shape
        for d, size in zip(shape.dim, feeds[0][value.name].shape):
            d.dim_value = size
    yield copy, feeds


def simpler_feeds(model, feeds):
    """Inputs of small whole numbers, one after the other."""
    for name in feeds[0]:
        if name.startswith("v") and feeds[0][name].dtype.kind in "fiuV" or \
                feeds[0][name].dtype.name == "bfloat16":
            simple = [{**feed, name: (np.arange(feed[name].size) % 3 + 1).reshape(
                feed[name].shape).astype(feed[name].dtype)} for feed in feeds]
            if any(simple[0][name].tobytes() != feed[name].tobytes() for feed in feeds[:1]):
                yield model, simple
