"""The laws of aggregates. `laws.check(my_aggregate, example_values)` searches for a law that your aggregate
breaks.

The engine cuts rows into states where a batch, a frame or a file ends, and combines the states of a window. A
result must not depend on the cuts: that is what the laws say.
"""

from muntin.laws.check import check

__all__ = ["check"]
