"""Messages of the page on troubleshooting are those that the code above them brings about."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "troubleshooting.md"
CASES = re.findall(r"```python\n(.*?)```\s*```text\n(.*?)```", PAGE.read_text(), flags=re.DOTALL)
# Digits depend on rounding, such as the smallest eigenvalue of a singular matrix.
NUMBERS = re.compile(r"-?\d+\.?\d*(e[-+]?\d+)?")


def messages(code: str) -> list[str]:
    """What the code warns of and raises, as it is printed."""
    said: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            exec(code, {})
        except Exception as error:
            said.append(f"{type(error).__name__}: {error}")
    return [f"{w.category.__name__}: {w.message}" for w in caught] + said


@pytest.mark.parametrize(("code", "message"), CASES, ids=lambda text: text.split(":")[0][:30])
def test_the_message_is_the_one_on_the_page(code, message):
    said = [NUMBERS.sub("#", text) for text in messages(code)]
    assert NUMBERS.sub("#", message.strip()) in said


def test_every_case_has_a_message():
    assert len(CASES) == PAGE.read_text().count("```python") == 10
