"""The zygote: a Python that has imported everything, of which Spark's workers are forks. MUNTIN_ZYGOTE=off does without."""
