"""The judges of a graph's results, and what follows from where they agree."""

import numpy as np
import onnx
import onnxruntime

import elements
import exact
import explained
from exact import Cannot

MAX_SHOWN = 3


class Runtime:
    """ONNX Runtime without optimizations. Its Python binding has no bfloat16: such inputs and
    outputs pass as float32."""

    def __init__(self, model):
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 4
        self.model = without_bfloat16(model)
        try:
            self.session = onnxruntime.InferenceSession(
                self.model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        except Exception as error:
            raise Cannot(f"ONNX Runtime: {error}") from error
        self.inputs = {i.name for i in self.session.get_inputs()}
        self.types = {v.name: elements.name_of(v.type.tensor_type.elem_type)
                      for v in model.graph.output}

    def __call__(self, feed):
        feed = {name: array.astype(np.float32) if array.dtype.name == "bfloat16" else array
                for name, array in feed.items() if name in self.inputs}
        names = [o.name for o in self.session.get_outputs()]
        try:
            results = self.session.run(None, feed)
        except Exception as error:
            raise Cannot(f"ONNX Runtime: {error}") from error
        return {name: result.astype(elements.numpy_type(self.types[name]))
                for name, result in zip(names, map(np.asarray, results))}


def without_bfloat16(model):
    bfloat16 = onnx.TensorProto.BFLOAT16
    ports = [v for v in [*model.graph.input, *model.graph.output]
             if v.type.tensor_type.elem_type == bfloat16]
    if not ports:
        return model
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    inputs = {v.name for v in copy.graph.input if v.type.tensor_type.elem_type == bfloat16}
    outputs = {v.name for v in copy.graph.output if v.type.tensor_type.elem_type == bfloat16}
    inner = {name: name + "/bfloat16" for name in inputs | outputs}
    for node in copy.graph.node:
        for names in (node.input, node.output):
            names[:] = [inner.get(name, name) for name in names]
    for value in [*copy.graph.input, *copy.graph.output]:
        if value.name in inner:
            value.type.tensor_type.elem_type = onnx.TensorProto.FLOAT
    first = [onnx.helper.make_node("Cast", [n], [inner[n]], to=bfloat16) for n in sorted(inputs)]
    last = [onnx.helper.make_node("Cast", [inner[n]], [n], to=onnx.TensorProto.FLOAT)
            for n in sorted(outputs - inputs)]
    nodes = [*first, *copy.graph.node, *last]
    del copy.graph.node[:]
    copy.graph.node.extend(nodes)
    return copy


class Court:
    def __init__(self, model, feeds):
        self.model, self.feeds = model, feeds
        self.verdicts = self.runtime_results = None
        self.cannot = {}
        self.guilty = {}
        self.makers = {name: node.op_type for node in model.graph.node for name in node.output}
        if all(same(feed, feeds[0]) for feed in feeds[1:]):
            self.feeds = feeds[:1]
        try:
            self.verdicts = exact.judge(model, self.feeds)
        except Cannot as error:
            self.cannot["reference"] = str(error)
        try:
            runtime = Runtime(model)
            self.runtime_results = [runtime(feed) for feed in self.feeds]
        except Cannot as error:
            self.cannot["ONNX Runtime"] = str(error)

    def compare(self, outcome, results, world, stage, where):
        from subject import Failure
        if self.verdicts is None and self.runtime_results is None:
            return
        for name, result in results.items():
            verdict = self.verdicts[world][name] if self.verdicts else None
            other = self.runtime_results[world].get(name) if self.runtime_results else None
            if stage == "optimized" and other is not None and other.shape == result.shape \
                    and plainly_equal(result, other).all():
                continue  # ONNX Runtime has its ways with both files
            kind, text = self._compare(outcome, result, verdict, other, stage)
            if kind == "wrong" and stage == "optimized" and other is None:
                # Judged by the reference alone, but run by ONNX Runtime, with its own ways.
                disputes = self._disputed(world, name)
                if disputes and all(explained.find(d) for d in disputes):
                    outcome.explained += [explained.find(d) for d in disputes]
                    continue
            if kind == "split":
                disputes = self._disputed(world, name)
                # Entries blame ONNX Runtime: mlc must be with the reference.
                accepted = verdict is not None and verdict.accepts(result).all()
                if disputes and accepted and all(explained.find(d) for d in disputes):
                    outcome.explained += [explained.find(d) for d in disputes]
                    continue
                agreed = verdict is not None and other.shape == result.shape \
                    and (verdict.accepts(result) | (result == other)).all()
                if not disputes and agreed:
                    # Each node alone is right, and both go the same way: what they round, or keep
                    # as float32 between nodes of half precision, has led away from the reference.
                    outcome.explained.append("led_away_together")
                    continue
                kind = "unexplained split"
                text += "\nthe judges differ at " + (", ".join(
                    f"{d.op} ({d.node.name or d.node.output[0]})" for d in disputes
                    if not explained.find(d)) or "no unexplained node")
            if kind:
                outcome.failures.append(
                    Failure(kind, where, f"{name} of {self.makers.get(name)}: {text}", world, name))

    def _compare(self, outcome, result, verdict, other, stage):
        """(kind, text): None, "wrong" or "split"."""
        reference = verdict.exact if verdict else other
        if tuple(result.shape) != tuple(reference.shape):
            return "wrong shape", f"{result.shape} instead of {reference.shape}"
        type = verdict.type if verdict else other.dtype.name
        if result.dtype.name != type:
            return "wrong type", f"{result.dtype} instead of {type}"
        if verdict is None:
            right = plainly_equal(result, other)
            outcome.judged["ONNX Runtime"] = outcome.judged.get("ONNX Runtime", 0) + right.size
            return (None, "") if right.all() else ("wrong", shown(result, right, other, None))
        mine = verdict.accepts(result)
        outcome.judged["reference"] = outcome.judged.get("reference", 0) + mine.size
        outcome.undecided += int(verdict.undecided.sum())
        if other is None:
            return (None, "") if mine.all() else ("wrong", shown(result, mine, None, verdict))
        outcome.judged["ONNX Runtime"] = outcome.judged.get("ONNX Runtime", 0) + mine.size
        if other.shape != result.shape:
            return "split", f"ONNX Runtime makes {other.shape}, the reference {result.shape}"
        theirs = verdict.accepts(other, slack=4)  # who is not the one to be judged
        both = verdict.accepts(result, around=other)
        # What mlc optimized is run by ONNX Runtime, with its own ways.
        wrong = ~mine & ~both if stage == "optimized" else ~mine & (theirs | ~both)
        if wrong.any():
            return "wrong", shown(result, ~wrong, other, verdict)
        if stage == "optimized":
            return None, ""
        if not (mine.all() and theirs.all()):
            return "split", shown(result, mine & theirs, other, verdict)
        return None, ""

    def _disputed(self, world, name):
        """Nodes that `name` comes from at which ONNX Runtime and the reference differ when given
        the same inputs."""
        if world not in self.guilty:
            self.guilty[world] = self._all_disputed(world)
        sources = {name}
        for node in reversed(self.model.graph.node):
            if sources & set(node.output):
                sources |= set(node.input)
        return [d for d in self.guilty[world] if sources & set(d.node.output)]

    def _all_disputed(self, world):
        found = []
        judge = exact.Exact(self.model)
        values = judge.run(self.feeds[world])
        opset = judge.opset
        constants = {t.name: t for t in self.model.graph.initializer}
        for node in self.model.graph.node:
            inputs = {n: values[n] for n in node.input if n and values.get(n) is not None}
            alone = single_node(node, inputs, judge.types, constants, opset,
                                self.model.ir_version)
            feed = {n: a.astype(elements.numpy_type(judge.types[n])) if n in judge.types else a
                    for n, a in inputs.items() if n not in constants}
            try:
                verdicts = exact.judge(alone, [feed])[0]
                results = Runtime(alone)(feed)
            except Cannot:
                continue
            for name, verdict in verdicts.items():
                if not verdict.accepts(results[name]).all():
                    found.append(explained.Dispute(node, inputs, verdict.type,
                                                   exact.widened(results[name]), verdict.exact))
                    break
        return found


def single_node(node, inputs, types, constants, opset, ir_version):
    def info(name, shape):
        return onnx.helper.make_tensor_value_info(name, elements.proto_type(types[name]), shape)
    graph = onnx.helper.make_graph(
        [node], "one", [info(n, a.shape) for n, a in inputs.items() if n not in constants],
        [info(n, None) for n in node.output if n], [constants[n] for n in inputs if n in constants])
    return onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", opset)],
                                  ir_version=ir_version)


def same(a, b):
    return all(x.shape == b[n].shape and x.tobytes() == b[n].tobytes() for n, x in a.items())


def plainly_equal(result, other):
    """Where there is one judge without a measure of errors: a hundred roundings."""
    if not elements.is_float(other.dtype.name):
        return result == other
    with np.errstate(all="ignore"):
        a, b = exact.widened(result), exact.widened(other)
        scale = np.max(np.abs(b[np.isfinite(b)]), initial=0)
        room = 100 * elements.unit_roundoff(other.dtype.name) * scale
        return (np.abs(a - b) <= room) | (a == b) | (np.isnan(a) & np.isnan(b))


def shown(result, right, other, verdict):
    lines = [f"{(~right).sum()} of {right.size} elements differ"]
    for at in [()] if right.ndim == 0 else list(zip(*np.nonzero(~right)))[:MAX_SHOWN]:
        line = f"  {list(map(int, at))}: mlc {result[at]!s}"
        if other is not None and other.shape == result.shape:
            line += f", ONNX Runtime {other[at]!s}"
        if verdict is not None:
            line += f", reference {verdict.exact[at]!s} +- {verdict.allowance[at]:.2g}"
        lines.append(line)
    return "\n".join(lines)
