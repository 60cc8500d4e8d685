"""The engine alone: no Spark, no files. Random cases against the oracle, histories against clean runs, tables of examples."""
