"""Results are kept while all together weigh no more than a limit."""

from muntin.store.local_files import kept


def counted(most: int):
    asked: list[int] = []

    @kept(most, lambda found: found)
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


# a1  a2  b1  a3      two with the first argument a are kept: a1 goes
def test_newer_ones_take_the_place_of_older_ones_with_the_same_first_argument() -> None:
    asked: list[tuple[str, int]] = []

    @kept(10, lambda _: 1, newest=2)
    def made(name: str, number: int) -> int:
        asked.append((name, number))
        return number

    for name, number in [("a", 1), ("a", 2), ("b", 1), ("a", 3), ("a", 3), ("a", 2), ("b", 1), ("a", 1)]:
        assert made(name, number) == number
    assert asked == [("a", 1), ("a", 2), ("b", 1), ("a", 3), ("a", 1)]
    for number in range(20):  # those that weigh too much go, too, whatever their names
        assert made(str(number), number) == number
    assert made("a", 1) == 1
    assert asked[-1] == ("a", 1)
