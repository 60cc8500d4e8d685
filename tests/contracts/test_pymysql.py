"""PyMySQL: what a new minor version may move without a word. See `tests/contracts/private-names.md`."""

import struct

from pymysql.connections import Connection, MySQLResult
from pymysql.cursors import SSCursor
from pymysql.protocol import FieldDescriptorPacket


def test_fields_of_an_answer_have_signs_and_character_sets() -> None:
    names = b"".join(bytes([len(each)]) + each for each in (b"def", b"shop", b"o", b"o", b"n", b"n"))
    field = FieldDescriptorPacket(names + struct.pack("<xHIBHBxx", 63, 20, 8, 32, 0), "utf8")
    assert (field.name, field.type_code, field.flags, field.length, field.charsetnr, field.scale) == ("n", 8, 32, 20, 63, 0)


def test_a_cursor_has_its_answer_which_may_be_left() -> None:
    connection = Connection(defer_connect=True)
    assert SSCursor(connection)._result is None
    assert MySQLResult(connection).unbuffered_active is False
