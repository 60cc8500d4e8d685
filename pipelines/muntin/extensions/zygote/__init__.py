"""The zygote: a Python that has imported everything, of which Spark's workers are forks.

MUNTIN_ZYGOTE=off does without.
"""

DAEMON = "muntin.extensions.zygote.daemon"
"""The module of Spark's `spark.python.daemon.module`: workers are forks of it, so that a session's first task
waits for no import.
"""
