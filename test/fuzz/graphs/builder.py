"""A graph that is made node by node, valid in every world."""

import random

import numpy as np
import onnx
from onnx import helper, numpy_helper

import contents
import elements
from dims import WORLDS, Dim, broadcast, count, dim

MAX_ELEMENTS = 6000
MAX_RANK = 5


class Skip(Exception):
    """An operator finds nothing here that it could take."""


class Value:
    __slots__ = ("name", "type", "shape", "used", "origin", "constant")

    def __init__(self, name, type, shape, origin, constant=None):
        self.name, self.type, self.shape = name, type, tuple(dim(d) for d in shape)
        self.used, self.origin, self.constant = 0, origin, constant

    @property
    def rank(self):
        return len(self.shape)

    @property
    def is_open(self):
        return any(d.open for d in self.shape)


class Builder:
    def __init__(self, seed, opset=None):
        self.rng = random.Random(seed)
        self.numbers = np.random.default_rng(seed)
        self.opset = opset or self.rng.choice(list(range(7, 24)) * 3 + [13, 17, 21, 24])
        self.style = self.rng.choices(list(contents.STYLES), contents.STYLES.values())[0]
        # Half of the graphs have one float type, so that long chains form.
        self.favourite = self.rng.choice(["float32"] * 6 + elements.FLOATS + [None] * 4)
        self.values, self.nodes, self.inputs, self.initializers = [], [], [], []
        self.feeds = [{} for _ in range(WORLDS)]
        self.symbols = [self._symbol(i) for i in range(self.rng.choice([0, 1, 1, 2, 2, 3]))]
        self.dim_names = {symbol.sizes: symbol.symbol for symbol in self.symbols}

    def chance(self, probability):
        return self.rng.random() < probability

    def pick(self, options):
        return self.rng.choice(list(options))

    #--- Dims and shapes

    def _symbol(self, index):
        menu = [1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 17]
        sizes = self.rng.sample(menu, WORLDS)
        if self.chance(0.15):
            sizes[self.rng.randrange(WORLDS)] = 0
        return Dim(sizes, True, "NMK"[index])

    def size(self):
        if self.symbols and self.chance(0.35):
            return self.pick(self.symbols)
        if self.chance(0.03):
            return dim(0)
        return dim(self.rng.choice([1, 1, 2, 2, 3, 3, 4, 4, 5, 6, 7, 8, 8, 9, 12, 16, 17]))

    def shape(self, low=0, high=4):
        for _ in range(20):
            rank = self.rng.choice([r for r in (0, 1, 2, 2, 3, 3, 4, 4, 5) if low <= r <= high])
            shape = tuple(self.size() for _ in range(rank))
            if count(shape).largest <= MAX_ELEMENTS:
                return shape
        raise Skip

    def axis(self, rank, since=11):
        """(the axis, as it is written): negative in half of the cases where that is allowed."""
        if rank == 0:
            raise Skip
        axis = self.rng.randrange(rank)
        return axis, axis - rank if self.opset >= since and self.chance(0.5) else axis

    def axes(self, rank, since=11, least=1):
        if rank < least:
            raise Skip
        axes = self.rng.sample(range(rank), self.rng.randint(least, rank))
        return axes, [a - rank if self.opset >= since and self.chance(0.5) else a for a in axes]

    #--- Values

    def fresh(self, type, shape, limits=None, constant=None, array=None):
        """A new graph input, or an initializer or Constant. `limits` bound the elements, in each
        world its own pair where they are a list."""
        shape = tuple(dim(d) for d in shape)
        if count(shape).largest > 4 * MAX_ELEMENTS:
            raise Skip
        name = f"v{len(self.values)}"
        may_be_constant = not any(d.open for d in shape)
        if constant is None:
            constant = self.chance(0.45)
        bounds = limits if isinstance(limits, list) else [limits] * WORLDS
        if array is None and constant and may_be_constant:
            bound = bounds[0]
            if bound is not None:
                bound = (max(b[0] for b in bounds), min(b[1] for b in bounds))
            array = contents.array(type, [d.sizes[0] for d in shape], self.numbers, self.style,
                                   bound)
        if array is not None:
            array = np.asarray(array)
            tensor = numpy_helper.from_array(array, name)
            if self.chance(0.15) and type in elements.produced("Constant", self.opset):
                self.nodes.append(helper.make_node("Constant", [], [name], value=tensor))
            else:
                self.initializers.append(tensor)
            value = Value(name, type, shape, "constant", array)
        else:
            for world in range(WORLDS):
                self.feeds[world][name] = contents.array(
                    type, [d.sizes[world] for d in shape], self.numbers, self.style, bounds[world])
            value = Value(name, type, shape, "input")
            self.inputs.append(value)
        self.values.append(value)
        return value

    def type_of(self, types):
        types = list(types)
        if not types:
            raise Skip
        if self.favourite in types and self.chance(0.6):
            return self.favourite
        if "float32" in types and self.chance(0.3):
            return "float32"
        return self.pick(types)

    def candidates(self, types, low, high, where):
        return [v for v in self.values
                if v.origin != "constant" and v.type in types and low <= v.rank <= high
                and (where is None or where(v))]

    def take(self, types=elements.ALL, low=0, high=MAX_RANK, where=None, shape=None):
        """A value: mostly a recent one, else a fresh one."""
        found = self.candidates(types, low, high, where)
        if found and self.chance(0.93):
            found = [v for v in found if not v.used and v.origin == "node"] or found \
                if self.chance(0.7) else found
            return found[-1 - int(abs(self.rng.gauss(0, 1.2))) % len(found)]
        for _ in range(8):
            value_shape = shape() if shape else self.shape(low, high)
            probe = Value("", self.type_of(types), value_shape, "input")
            if where is None or where(probe):
                return self.fresh(probe.type, value_shape, constant=self.chance(0.1))
        raise Skip

    def exactly(self, type, shape, limits=None):
        """A value of this type and shape."""
        found = [v for v in self.values if v.type == type and v.shape == tuple(shape)]
        if found and limits is None and self.chance(0.4):
            return self.pick(found)
        return self.fresh(type, shape, limits)

    def partner(self, type, shape, one_way=False, limits=None):
        """A value that broadcasts with `shape`; one_way: to `shape`, without enlarging it."""
        if limits is None and self.chance(0.45):
            found = [v for v in self.values if v.type == type
                     and (both := broadcast(shape, v.shape)) is not None
                     and (not one_way or both == tuple(shape))
                     and count(both).largest <= MAX_ELEMENTS]
            if found:
                return self.pick(found)
        result = [d if self.chance(0.65) else dim(1) for d in shape]
        if self.chance(0.3):
            result = result[self.rng.randint(0, len(result)):]
        elif not one_way and len(result) < 4 and self.chance(0.15):
            result = [self.size()] + result
        if not one_way and self.chance(0.3):
            wide = [self.size() if dim(s).is_one() and self.chance(0.4) else d
                    for s, d in zip(shape[len(shape) - len(result):], result)]
            if len(wide) == len(result) and broadcast(shape, wide):
                result = wide
        return self.fresh(type, result, limits)

    def list(self, numbers, type="int64"):
        """Numbers that an operator takes as an input: axes, sizes."""
        return self.fresh(type, [len(numbers)], array=np.array(numbers, type))

    def scalar(self, number, type="int64"):
        return self.fresh(type, [], array=np.array(number, elements.numpy_type(type)))

    #--- Nodes

    def emit(self, op, inputs, results, **attributes):
        """Adds a node; `results` are (type, shape) pairs. Returns its values."""
        results = [(type, tuple(dim(d) for d in shape)) for type, shape in results]
        for _, shape in results:
            if len(shape) > 7 or count(shape).largest > 4 * MAX_ELEMENTS \
                    or any(d.smallest < 0 for d in shape):
                raise Skip
        for i, value in enumerate(inputs):
            if value and value.type not in elements.allowed(op, self.opset, i):
                raise Skip
        if any(type not in elements.produced(op, self.opset, i)
               for i, (type, _) in enumerate(results)):
            raise Skip
        made = []
        for type, shape in results:
            made.append(Value(f"v{len(self.values)}", type, shape, "node"))
            self.values.append(made[-1])
        names = [value.name if value else "" for value in inputs]
        while names and not names[-1]:
            names.pop()
        for value in inputs:
            if value:
                value.used += 1
        attributes = {k: v for k, v in attributes.items() if v is not None}
        self.nodes.append(helper.make_node(op, names, [v.name for v in made], **attributes))
        if self.chance(0.8):
            self.nodes[-1].name = f"n{len(self.nodes)}"
        return made

    def checkpoint(self):
        return [len(x) for x in (self.values, self.nodes, self.inputs, self.initializers)], \
            [(v, v.used) for v in self.values]

    def restore(self, checkpoint):
        """Forgets what was added since."""
        lengths, uses = checkpoint
        for items, length in zip((self.values, self.nodes, self.inputs, self.initializers),
                                 lengths):
            del items[length:]
        for value, used in uses:
            value.used = used
        names = {v.name for v in self.inputs}
        self.feeds = [{k: a for k, a in feed.items() if k in names} for feed in self.feeds]

    #--- The model

    def model(self):
        outputs = [v for v in self.values if v.origin == "node"
                   and (not v.used or self.chance(0.12))]
        live = {name for node in self.nodes for name in node.input} | {v.name for v in outputs}
        inputs = [v for v in self.inputs if v.name in live or self.chance(0.3)]
        kept = {v.name for v in inputs}
        self.feeds = [{k: a for k, a in feed.items() if k in kept} for feed in self.feeds]
        graph = helper.make_graph(
            [n for n in self.nodes if n.op_type != "Constant" or n.output[0] in live], "fuzz",
            [self._info(v, [self._dim_name(d) for d in v.shape]) for v in inputs],
            [self._info(v, [None if d.open else d.sizes[0] for d in v.shape]) for v in outputs],
            [t for t in self.initializers if t.name in live],
            doc_string="made by fuzz-graphs")
        model = helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", self.opset)],
            ir_version=self.rng.randint(*ir_versions(self.opset)), producer_name="fuzz-graphs",
            producer_version="1", domain="test.mlc", model_version=7, doc_string="a valid graph")
        helper.set_model_props(model, {"made by": "fuzz-graphs", "style": self.style})
        return model

    def _dim_name(self, size):
        """What an input declares: a number, or a name that is the same for the same sizes."""
        if not size.open:
            return size.sizes[0]
        return size.symbol or self.dim_names.setdefault(size.sizes, f"D{len(self.dim_names)}")

    @staticmethod
    def _info(value, shape):
        return helper.make_tensor_value_info(value.name, elements.proto_type(value.type), shape)


def ir_versions(opset):
    """IR versions that go with an opset; from 4 on initializers need not be inputs."""
    least = {**{n: 4 for n in range(7, 10)}, 10: 5, 11: 6, 12: 7, 13: 7, 14: 7, 15: 8, 16: 8,
             17: 8, 18: 8, 19: 9, 20: 9, 21: 10, 22: 10, 23: 11, 24: 12}[opset]
    return least, max(least, 11)
