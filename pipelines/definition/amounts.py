"""Numbers of things, for people."""


def many(count: int, noun: str) -> str:
    """A number of things.

    >>> many(1, "batch"), many(1200, "row"), many(2, "batch")
    ('1 batch', '1,200 rows', '2 batches')
    """
    plural = f"{noun}es" if noun.endswith(("ch", "sh", "s", "x")) else f"{noun}s"
    return f"{count:,} {noun if count == 1 else plural}"
