"""Quality: staged windows are held against a suite of expectations before anyone can read them.

    suite = load_suite("expectations/flights_last_6_hours.json")
    report = validate(None, suite, files=staged, window="last_6_hours", keys=["origin"], rows=216)
    report.raise_if_critical()

With a session of Spark instead of None, Spark judges. Importing this package imports neither Spark nor Great
Expectations.
"""

from muntin.quality.suite import load_suite
from muntin.quality.validation import validate

__all__ = ["load_suite", "validate"]
