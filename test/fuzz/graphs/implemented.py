"""The operators that standard.py and its parts compute, by name."""

IMPLEMENTED = {}


def implements(*ops):
    def register(make):
        IMPLEMENTED.update(dict.fromkeys(ops, make))
        return make
    return register
