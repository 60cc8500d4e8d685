"""Window kinds, one a file: parameters, checks, and the assigner that turns sorted frames into ranges."""

from pipelines.windows.kind import Assignment, Window
from pipelines.windows.session import Session, session
from pipelines.windows.sliding import Sliding, sliding
from pipelines.windows.tumbling import Tumbling, tumbling

__all__ = ["Assignment", "Session", "Sliding", "Tumbling", "Window", "session", "sliding", "tumbling"]
