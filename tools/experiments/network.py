"""A graph under construction, with weights drawn from a seed.

Every weight has a stream of its own (seed and name), so that the same seed
gives the same bytes and one more weight changes no other. Scales keep
activations finite through the deepest of the models: He's for convolutions and
products, batch norms that are close to what training leaves behind.
"""

import zlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 17
IR_VERSION = 8


class Network:
    """Nodes are added in order; a value is its tensor's name, and its dims are
    known (`dims[name]`), so that a builder need not repeat them."""

    def __init__(self, name, seed):
        self.name = name
        self.seed = seed
        self.nodes = []
        self.initializers = {}
        self.inputs = []
        self.dims = {}
        self.counts = {}

    # Values

    def input(self, name, dims):
        self.inputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, dims))
        self.dims[name] = list(dims)
        return name

    def constant(self, name, array):
        if name not in self.initializers:
            self.initializers[name] = numpy_helper.from_array(np.ascontiguousarray(array), name)
        self.dims[name] = list(np.shape(array))
        return name

    def normal(self, name, shape, scale):
        """A weight: the same one each time that its name is used."""
        if name in self.initializers:
            assert self.dims[name] == list(shape), f"{name} has two shapes"
            return name
        rng = np.random.default_rng([self.seed, zlib.crc32(name.encode())])
        return self.constant(name, rng.standard_normal(shape, np.float32) * np.float32(scale))

    def uniform(self, name, shape, low, high):
        rng = np.random.default_rng([self.seed, zlib.crc32(name.encode())])
        return self.constant(name, rng.uniform(low, high, shape).astype(np.float32))

    def fresh(self, base):
        self.counts[base] = self.counts.get(base, 0) + 1
        return f"{base}_{self.counts[base]}"

    def node(self, op, inputs, dims, name=None, **attributes):
        """One node with one result of `dims`, called after the node."""
        name = name or self.fresh(op)
        self.nodes.append(helper.make_node(op, inputs, [name], name=name, **attributes))
        self.dims[name] = list(dims)
        return name

    # Operators on images [n, c, h, w]

    def _window(self, x, kernel, stride, pads):
        n, _, *space = self.dims[x]
        top, left, bottom, right = pads
        sizes = [(space[0] + top + bottom - kernel[0]) // stride + 1,
                 (space[1] + left + right - kernel[1]) // stride + 1]
        assert min(sizes) > 0, f"the window {kernel} does not fit {self.dims[x]}"
        return n, sizes

    def conv(self, x, name, channels, kernel, stride=1, pads=None, groups=1, bias=False, gain=2.0):
        """`pads`: None for half the kernel on each side, or four numbers."""
        kernel = (kernel, kernel) if isinstance(kernel, int) else kernel
        pads = [k // 2 for k in kernel] * 2 if pads is None else pads
        n, sizes = self._window(x, kernel, stride, pads)
        terms = self.dims[x][1] // groups
        fan = terms * kernel[0] * kernel[1]
        inputs = [x, self.normal(f"{name}.weight", [channels, terms, *kernel], np.sqrt(gain / fan))]
        if bias:
            inputs.append(self.normal(f"{name}.bias", [channels], 0.1))
        return self.node("Conv", inputs, [n, channels, *sizes], name, kernel_shape=kernel,
                         strides=[stride] * 2, pads=pads, group=groups)

    def batch_norm(self, x, name, scale=1.0):
        c = self.dims[x][1]
        inputs = [x, self.uniform(f"{name}.scale", [c], 0.7 * scale, 1.3 * scale),
                  self.normal(f"{name}.bias", [c], 0.1), self.normal(f"{name}.mean", [c], 0.1),
                  self.uniform(f"{name}.variance", [c], 0.7, 1.3)]
        return self.node("BatchNormalization", inputs, self.dims[x], name, epsilon=1e-5)

    def pool(self, kind, x, kernel, stride, pads=(0, 0, 0, 0)):
        """kind is Max or Average; borders do not count."""
        n, sizes = self._window(x, (kernel, kernel), stride, pads)
        return self.node(f"{kind}Pool", [x], [n, self.dims[x][1], *sizes],
                         kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=list(pads))

    def global_pool(self, x):
        """Mean of each channel: [n, c]."""
        n, c = self.dims[x][:2]
        mean = self.node("GlobalAveragePool", [x], [n, c, 1, 1])
        return self.node("Flatten", [mean], [n, c])

    # Operators on any dims

    def relu(self, x):
        return self.unary("Relu", x)

    def unary(self, op, x):
        return self.node(op, [x], self.dims[x])

    def binary(self, op, a, b):
        return self.node(op, [a, b], np.broadcast_shapes(self.dims[a], self.dims[b]))

    def add(self, a, b):
        return self.binary("Add", a, b)

    def mul(self, a, b):
        return self.binary("Mul", a, b)

    def concat(self, parts, axis):
        dims = list(self.dims[parts[0]])
        dims[axis] = sum(self.dims[part][axis] for part in parts)
        return self.node("Concat", parts, dims, axis=axis)

    def matmul(self, a, b):
        *batch, rows, _ = self.dims[a]
        return self.node("MatMul", [a, b], [*batch, rows, self.dims[b][-1]])

    def linear(self, x, name, columns, gain=1.0, bias=True):
        """x W + b on the last dim."""
        rows = self.dims[x][-1]
        weight = self.normal(f"{name}.weight", [rows, columns], np.sqrt(gain / rows))
        y = self.matmul(x, weight)
        return self.add(y, self.normal(f"{name}.bias", [columns], 0.1)) if bias else y

    def reshape(self, x, dims):
        shape = self.constant("dims_" + "x".join(map(str, dims)), np.array(dims, np.int64))
        return self.node("Reshape", [x, shape], dims)

    def transpose(self, x, permutation):
        return self.node("Transpose", [x], [self.dims[x][i] for i in permutation], perm=permutation)

    def scaled(self, x, factor):
        return self.mul(x, self.constant(f"factor_{factor:g}", np.float32(factor)))

    def slice(self, x, axis, begin, end):
        dims = list(self.dims[x])
        dims[axis] = end - begin
        ints = [self.constant(f"int_{v}", np.array([v], np.int64)) for v in (begin, end, axis)]
        return self.node("Slice", [x, *ints], dims)

    # The whole

    def model(self, *outputs):
        """The finished model; it is checked, its declared dims too."""
        made = [helper.make_tensor_value_info(o, TensorProto.FLOAT, self.dims[o]) for o in outputs]
        graph = helper.make_graph(self.nodes, self.name, self.inputs, made,
                                  list(self.initializers.values()))
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)],
                                  ir_version=IR_VERSION, producer_name="mlc experiments")
        onnx.checker.check_model(model)
        return model
