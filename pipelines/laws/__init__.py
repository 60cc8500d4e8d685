"""What every aggregate must obey, yours too: `laws.check(my_aggregate, example_values)` finds what breaks it, if anything does.

The engine cuts rows into states wherever a batch, a frame or a file ends, and combines them as a window asks. What a
window holds may not depend on the cuts; the laws say so, one by one.
"""

from pipelines.errors import LawError
from pipelines.laws.check import check, prove

__all__ = ["LawError", "check", "prove"]
