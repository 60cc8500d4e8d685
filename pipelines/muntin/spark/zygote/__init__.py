"""The zygote: a Python that has imported everything, of which Spark's workers are forks. MUNTIN_READY_PYTHON=off does without."""
