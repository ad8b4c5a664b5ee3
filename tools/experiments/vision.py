"""Convolutional networks, from the papers that introduced them.

Each takes the width's divisor (1 is the paper's network) and the side of the
picture. All give logits, before the softmax, for one picture.
"""

import numpy as np

CLASSES = 1000


def classify(g, x, divisor):
    return g.linear(g.global_pool(x), "classifier", CLASSES // divisor)


# Residual networks 


def conv_bn(g, x, name, channels, kernel, stride=1, groups=1, scale=1.0, pads=None):
    x = g.conv(x, name, channels, kernel, stride, pads, groups)
    return g.batch_norm(x, f"{name}.bn", scale)


def stem(g, x, channels):
    x = g.relu(conv_bn(g, x, "stem", channels, 7, 2))
    return g.pool("Max", x, 3, 2, (1, 1, 1, 1))


def bottleneck(g, x, name, width, channels, stride, groups):
    """1x1, 3x3, 1x1 beside the identity, or a projection where dims change."""
    y = g.relu(conv_bn(g, x, f"{name}.reduce", width, 1))
    y = g.relu(conv_bn(g, y, f"{name}.conv", width, 3, stride, groups))
    # A damped branch, as after training: sums of many blocks stay small.
    y = conv_bn(g, y, f"{name}.expand", channels, 1, scale=0.3)
    if g.dims[x][1] != channels or stride != 1:
        x = conv_bn(g, x, f"{name}.projection", channels, 1, stride)
    return g.relu(g.add(y, x))


def residual(g, divisor, side, width, groups):
    x = stem(g, g.input("image", [1, 3, side, side]), 64 // divisor)
    for stage, blocks in enumerate((3, 4, 6, 3)):
        for block in range(blocks):
            stride = 2 if stage and not block else 1
            x = bottleneck(g, x, f"stage{stage}.{block}", (width << stage) // divisor,
                           (256 << stage) // divisor, stride, groups)
    return classify(g, x, divisor)


def resnet50(g, divisor, side):
    """He et al. 2016: bottlenecks, with the stride in the 3x3 convolution."""
    return residual(g, divisor, side, 64, 1)


def resnext50(g, divisor, side):
    """Xie et al. 2017, 32x4d: 32 groups of 4 channels in the first stage."""
    return residual(g, divisor, side, 128, 32 // divisor)


def resnet18_parallel(g, divisor, side):
    """ResNet-18 of He et al. with their option C, every shortcut a projection:
    the block's 3x3 convolution and the 1x1 beside it read one input."""
    x = stem(g, g.input("image", [1, 3, side, side]), 64 // divisor)
    for stage in range(4):
        channels = (64 << stage) // divisor
        for block in range(2):
            name, stride = f"stage{stage}.{block}", 2 if stage and not block else 1
            y = g.relu(conv_bn(g, x, f"{name}.first", channels, 3, stride))
            y = conv_bn(g, y, f"{name}.second", channels, 3, scale=0.5)
            x = conv_bn(g, x, f"{name}.projection", channels, 1, stride)
            x = g.relu(g.add(y, x))
    return classify(g, x, divisor)


# VGG, SqueezeNet, MobileNet


def vgg19(g, divisor, side):
    """Simonyan and Zisserman 2015, configuration E."""
    x = g.input("image", [1, 3, side, side])
    for stage, (convs, channels) in enumerate(((2, 64), (2, 128), (4, 256), (4, 512), (4, 512))):
        for i in range(convs):
            x = g.relu(g.conv(x, f"conv{stage}.{i}", channels // divisor, 3, bias=True))
        x = g.pool("Max", x, 2, 2)
    n, c, h, w = g.dims[x]
    x = g.node("Flatten", [x], [n, c * h * w])
    for name in ("fc6", "fc7"):
        x = g.relu(g.linear(x, name, 4096 // divisor, gain=2.0))
    return g.linear(x, "fc8", CLASSES // divisor)


def squeezenet(g, divisor, side):
    """SqueezeNet 1.1 (Iandola et al. 2016, and the authors' release notes)."""

    def fire(x, name, squeeze, expand):
        x = g.relu(g.conv(x, f"{name}.squeeze", squeeze // divisor, 1, bias=True))
        parts = [g.relu(g.conv(x, f"{name}.expand{k}x{k}", expand // divisor, k, bias=True))
                 for k in (1, 3)]
        return g.concat(parts, 1)

    x = g.relu(g.conv(g.input("image", [1, 3, side, side]), "conv1", 64 // divisor, 3, 2,
                      [0, 0, 0, 0], bias=True))
    fires = iter(((16, 64), (16, 64), (32, 128), (32, 128), (48, 192), (48, 192), (64, 256), (64, 256)))
    number = 2
    for count in (2, 2, 4):
        # Windows at the far border are partial in the original (ceil mode).
        odd = (g.dims[x][2] - 3) % 2
        x = g.pool("Max", x, 3, 2, (0, 0, odd, odd))
        for _ in range(count):
            x = fire(x, f"fire{number}", *next(fires))
            number += 1
    x = g.relu(g.conv(x, "conv10", CLASSES // divisor, 1, bias=True))
    return g.global_pool(x)


def mobilenet_v2(g, divisor, side):
    """Sandler et al. 2018, width 1.0: inverted residuals with ReLU6."""

    def relu6(x):
        bounds = [g.constant("zero", np.float32(0)), g.constant("six", np.float32(6))]
        return g.node("Clip", [x, *bounds], g.dims[x])

    def inverted(x, name, expansion, channels, stride):
        inside = g.dims[x][1] * expansion
        y = x
        if expansion != 1:
            y = relu6(conv_bn(g, y, f"{name}.expand", inside, 1))
        y = relu6(conv_bn(g, y, f"{name}.depthwise", inside, 3, stride, inside))
        y = conv_bn(g, y, f"{name}.project", channels, 1)
        return g.add(x, y) if g.dims[x] == g.dims[y] else y

    x = relu6(conv_bn(g, g.input("image", [1, 3, side, side]), "stem", 32 // divisor, 3, 2))
    table = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1),
             (6, 160, 3, 2), (6, 320, 1, 1))
    for stage, (expansion, channels, count, stride) in enumerate(table):
        for i in range(count):
            x = inverted(x, f"stage{stage}.{i}", expansion, channels // divisor,
                         1 if i else stride)
    x = relu6(conv_bn(g, x, "head", 1280 // divisor, 1))
    return classify(g, x, divisor)


# Inception-v3


class Inception:
    """Modules of Szegedy et al. 2016; every convolution has a batch norm and a
    rectifier."""

    def __init__(self, g, divisor):
        self.g = g
        self.divisor = divisor

    def conv(self, x, name, channels, kernel, stride=1, pads=None):
        y = conv_bn(self.g, x, name, channels // self.divisor, kernel, stride, pads=pads)
        return self.g.relu(y)

    def chain(self, x, name, *steps):
        """Convolutions (channels, kernel[, stride, pads]) behind one another."""
        for i, step in enumerate(steps):
            x = self.conv(x, f"{name}.{i}", *step)
        return x

    def pooled(self, x, name, channels):
        return self.conv(self.g.pool("Average", x, 3, 1, (1, 1, 1, 1)), f"{name}.pool", channels, 1)

    def a(self, x, name, pool):
        """Figure 5: 5x5 as two 3x3 (the release keeps one 5x5)."""
        return self.g.concat([
            self.conv(x, f"{name}.1x1", 64, 1),
            self.chain(x, f"{name}.5x5", (48, 1), (64, 5)),
            self.chain(x, f"{name}.3x3", (64, 1), (96, 3), (96, 3)),
            self.pooled(x, name, pool)], 1)

    def reduce_a(self, x, name):
        none = [0, 0, 0, 0]
        return self.g.concat([
            self.conv(x, f"{name}.3x3", 384, 3, 2, none),
            self.chain(x, f"{name}.double", (64, 1), (96, 3), (96, 3, 2, none)),
            self.g.pool("Max", x, 3, 2)], 1)

    def b(self, x, name, c):
        """Figure 6: 7x7 as 1x7 and 7x1."""
        row, column = (1, 7), (7, 1)
        return self.g.concat([
            self.conv(x, f"{name}.1x1", 192, 1),
            self.chain(x, f"{name}.7x7", (c, 1), (c, row), (192, column)),
            self.chain(x, f"{name}.double", (c, 1), (c, column), (c, row), (c, column), (192, row)),
            self.pooled(x, name, 192)], 1)

    def reduce_b(self, x, name):
        none = [0, 0, 0, 0]
        return self.g.concat([
            self.chain(x, f"{name}.3x3", (192, 1), (320, 3, 2, none)),
            self.chain(x, f"{name}.7x7", (192, 1), (192, (1, 7)), (192, (7, 1)), (192, 3, 2, none)),
            self.g.pool("Max", x, 3, 2)], 1)

    def c(self, x, name):
        """Figure 7: branches that end in 1x3 and 3x1 side by side."""
        three = self.conv(x, f"{name}.3x3", 384, 1)
        double = self.chain(x, f"{name}.double", (448, 1), (384, 3))
        return self.g.concat(
            [self.conv(x, f"{name}.1x1", 320, 1)]
            + [self.conv(branch, f"{branch_name}.{k[0]}x{k[1]}", 384, k)
               for branch, branch_name in ((three, f"{name}.3x3"), (double, f"{name}.double"))
               for k in ((1, 3), (3, 1))]
            + [self.pooled(x, name, 192)], 1)


def inception_v3(g, divisor, side):
    """Szegedy et al. 2016, without the auxiliary classifier."""
    m = Inception(g, divisor)
    none = [0, 0, 0, 0]
    x = g.input("image", [1, 3, side, side])
    x = m.chain(x, "stem", (32, 3, 2, none), (32, 3, 1, none), (64, 3))
    x = g.pool("Max", x, 3, 2)
    x = m.chain(x, "stem2", (80, 1), (192, 3, 1, none))
    x = g.pool("Max", x, 3, 2)
    for i, pool in enumerate((32, 64, 64)):
        x = m.a(x, f"a{i}", pool)
    x = m.reduce_a(x, "reduce_a")
    for i, c in enumerate((128, 160, 160, 192)):
        x = m.b(x, f"b{i}", c)
    x = m.reduce_b(x, "reduce_b")
    for i in range(2):
        x = m.c(x, f"c{i}")
    return classify(g, x, divisor)


# NasNet-A


class NasNet:
    """The two cells of Zoph et al. 2018, figure 4. A separable convolution is
    rectifier, depthwise, 1x1, batch norm; it stands once, as in TASO's graph."""

    def __init__(self, g):
        self.g = g

    def squeeze(self, x, name, channels):
        return conv_bn(self.g, self.g.relu(x), name, channels, 1)

    def separable(self, x, name, kernel, stride=1):
        g, channels = self.g, self.g.dims[x][1]
        x = g.conv(g.relu(x), f"{name}.depthwise", channels, kernel, stride, groups=channels)
        # Half: two branches are added behind it.
        return conv_bn(g, x, f"{name}.pointwise", channels, 1, scale=0.7)

    def pool(self, kind, x, stride=1):
        return self.g.pool(kind, x, 3, stride, (1, 1, 1, 1))

    def inputs(self, previous, current, name, channels):
        """Both inputs with `channels` channels and the size of `current`."""
        if self.g.dims[previous][2] != self.g.dims[current][2]:
            # The factorized reduction of the release, as one strided 1x1.
            previous = conv_bn(self.g, self.g.relu(previous), f"{name}.reduce",
                               channels, 1, 2, pads=[0, 0, 0, 0])
        else:
            previous = self.squeeze(previous, f"{name}.previous", channels)
        return previous, self.squeeze(current, f"{name}.current", channels)

    def normal(self, previous, current, name, channels):
        g = self.g
        p, c = self.inputs(previous, current, name, channels)
        return g.concat([
            g.add(self.separable(c, f"{name}.0", 3), c),
            g.add(self.separable(p, f"{name}.1", 3), self.separable(c, f"{name}.2", 5)),
            g.add(self.pool("Average", c), p),
            g.add(self.pool("Average", p), self.pool("Average", p)),
            g.add(self.separable(p, f"{name}.3", 5), self.separable(p, f"{name}.4", 3))], 1)

    def reduction(self, previous, current, name, channels):
        g = self.g
        p, c = self.inputs(previous, current, name, channels)
        first = g.add(self.separable(p, f"{name}.0", 7, 2), self.separable(c, f"{name}.1", 5, 2))
        second = g.add(self.pool("Max", c, 2), self.separable(p, f"{name}.2", 7, 2))
        third = g.add(self.pool("Average", c, 2), self.separable(p, f"{name}.3", 5, 2))
        fourth = g.add(self.pool("Max", c, 2), self.separable(first, f"{name}.4", 3))
        fifth = g.add(self.pool("Average", first), second)
        return g.concat([second, third, fourth, fifth], 1)


def nasnet_a(g, divisor, side):
    """NasNet-A as TASO and TENSAT searched it: a 7x7 stem, then three times
    five normal cells and a reduction, from 128 channels; with the batch norms
    of the paper, which TASO's graph leaves out."""
    cells = NasNet(g)
    x = stem(g, g.input("image", [1, 3, side, side]), 64 // divisor)
    channels = 128 // divisor
    for stack in range(3):
        previous = current = x
        for i in range(5):
            name = f"stack{stack}.{i}"
            previous, current = current, cells.normal(previous, current, name, channels)
        channels *= 2
        x = cells.reduction(previous, current, f"reduction{stack}", channels)
    return classify(g, g.relu(x), divisor)
