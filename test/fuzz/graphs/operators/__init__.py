"""What can be made of each operator, by family. Importing this fills the table."""

from operators import (contractions, movement, normalization, picking, pointwise, reductions,  # noqa: F401
                       shapes, windows)
from operators.table import COMPOSITES, ENTRIES, entries  # noqa: F401
