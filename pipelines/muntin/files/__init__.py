"""The file layer: a path is of a local disk or of an object store, and both have the same verbs."""
