"""Numbers and settings as the page writes them."""

from kernelcoding.records import Summary
from kernelcoding.report import formats


def test_numbers_are_written_one_way():
    assert formats.decimal(96.94) == "96.9"
    assert formats.decimal(-0.04) == "0.0"
    assert formats.decimal(-1.25, 2) == "\u22121.25"
    assert formats.decimal(12345.6) == "12\u202f345.6"
    assert formats.decimal(None) == "—"
    signed = [formats.signed(x) for x in (0.5, -0.5, 0.01, None)]
    assert signed == ["+0.5", "\u22120.5", "0.0", "—"]
    assert formats.interval(Summary(96.94, 0.41, 5)) == "96.9\u202f±\u202f0.4"
    assert formats.interval(Summary(96.94, None, 1)) == "96.9"
    assert [formats.duration(x) for x in (12.34, 600, 7200)] == ["12.3 s", "10.0 min", "2.0 h"]
    assert [formats.counted(n, "split") for n in (1, 2)] == ["1 split", "2 splits"]
    assert formats.setting_text({"a": [1, "é"]}) == '{"a": [1, "é"]}'
    assert [formats.places(x) for x in ([0.5, None], [12], [2000.0], [])] == [2, 1, 0, 2]


def test_numbers_of_any_size_are_short():
    assert formats.decimal(1e308) == "1.0·10³⁰⁸"
    assert formats.decimal(-2.5e17, 3) == "\u22122.5·10¹⁷"
    assert formats.signed(1e20) == "+1.0·10²⁰"
    assert formats.size(1e300) == "1.0·10³⁰⁰"
    assert formats.duration(1e308) == "2.8·10³⁰⁴ h"
    assert formats.duration(float("inf")) == "—"
    assert [formats.finite(x) for x in (None, float("nan"), 2.0)] == [None, None, 2.0]
