"""Sizes of dims, in all worlds at once.

A graph is made for three worlds, which differ in the sizes of its open dims. A `Dim` has the size
in each of them, so that a model's attributes can be chosen to be valid in all."""

WORLDS = 3


class Dim:
    __slots__ = ("sizes", "symbol", "open")

    def __init__(self, sizes, open=False, symbol=None):
        self.sizes, self.open, self.symbol = tuple(sizes), open, symbol

    def __eq__(self, other):
        return self.sizes == dim(other).sizes and self.open == dim(other).open

    def __hash__(self):
        return hash((self.sizes, self.open))

    def _with(self, other, operation):
        other = dim(other)
        return Dim([operation(a, b) for a, b in zip(self.sizes, other.sizes)],
                   self.open or other.open)

    def __add__(self, other):
        return self._with(other, lambda a, b: a + b)

    def __sub__(self, other):
        return self._with(other, lambda a, b: a - b)

    def __mul__(self, other):
        return self._with(other, lambda a, b: a * b)

    def __floordiv__(self, other):
        return self._with(other, lambda a, b: a // b)

    __radd__, __rmul__ = __add__, __mul__

    def ceil_div(self, other):
        return self._with(other, lambda a, b: -(-a // b))

    def at_most(self, other):
        return self._with(other, min)

    def at_least(self, other):
        return self._with(other, max)

    def scaled(self, factor):
        return Dim([int(a * factor) for a in self.sizes], self.open)

    @property
    def smallest(self):
        return min(self.sizes)

    @property
    def largest(self):
        return max(self.sizes)

    def divides(self, by):
        return all(size % by == 0 for size in self.sizes)

    def is_one(self):
        return not self.open and self.sizes[0] == 1

    def __repr__(self):
        return self.symbol or (str(self.sizes) if self.open else str(self.sizes[0]))


def dim(value):
    return value if isinstance(value, Dim) else Dim([value] * WORLDS)


def shape_of(*values):
    return tuple(dim(value) for value in values)


def count(shape):
    """The number of elements, a Dim."""
    result = dim(1)
    for size in shape:
        result = result * size
    return result


def broadcast(*shapes):
    """The shape of tensors that are broadcast together, or None where they cannot be in every
    world, or would only because an open dim happens to be 1."""
    rank = max(len(shape) for shape in shapes)
    result = []
    for position in range(rank):
        wide = dim(1)
        for shape in shapes:
            at = position - (rank - len(shape))
            if at < 0 or shape[at].is_one():
                continue
            if wide.is_one():
                wide = shape[at]
            elif wide.sizes != shape[at].sizes:
                return None
            elif wide.open and not shape[at].open:
                wide = shape[at]
        result.append(wide)
    return tuple(result)
