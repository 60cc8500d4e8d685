"""Messages of Kafka as files: ranges of offsets have addresses, which are read as Parquet files that never
change.
"""
