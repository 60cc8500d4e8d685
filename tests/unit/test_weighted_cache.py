"""Results are kept while all together weigh no more than a limit."""

from muntin.files.weighted_cache import WeightedCache, weighted_cache


def counted(most: int):
    asked: list[int] = []

    @weighted_cache(most, lambda number: number)
    def same(number: int) -> int:
        """Itself."""
        asked.append(number)
        return number

    return same, asked


# weights  3  4  5      3 + 4 + 5 is too much: 3 goes
def test_the_one_asked_for_longest_ago_goes_first() -> None:
    same, asked = counted(10)
    assert [same(number) for number in (3, 4, 5, 4, 5, 3)] == [3, 4, 5, 4, 5, 3]
    assert asked == [3, 4, 5, 3]


def test_what_was_asked_for_stays_longer() -> None:
    same, asked = counted(10)
    for number in (3, 4, 3, 5, 3):
        same(number)
    assert asked == [3, 4, 5]


def test_many_light_ones_are_kept() -> None:
    same, asked = counted(10**9)
    for _ in range(2):
        for number in range(2000):
            same(number)
    assert len(asked) == 2000


def test_the_last_one_is_kept_whatever_it_weighs() -> None:
    same, asked = counted(10)
    assert (same(100), same(100), same(1), same(100)) == (100, 100, 1, 100)
    assert asked == [100, 1, 100]


def test_all_is_forgotten() -> None:
    same, asked = counted(10)
    same(3)
    same.cache_clear()
    for number in (3, 4, 3, 4):
        same(number)
    assert asked == [3, 3, 4]
    assert same.__doc__ == "Itself."


# a: 3   b: 4   a: 5      the second value of a takes the place of the first: all weigh 9
def test_a_key_has_one_value() -> None:
    cache = WeightedCache[str, int](10, lambda number: number)
    for key, value in [("a", 3), ("b", 4), ("a", 5)]:
        assert cache.keep(key, value) == value
    assert [*cache] == ["b", "a"]
    assert (cache.get("a"), cache.get("b"), cache.get("c")) == (5, 4, None)
