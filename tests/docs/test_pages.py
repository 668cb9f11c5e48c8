"""Code of the README and of every page runs as pasted: pages from top to bottom, these by block."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ALONE = ("README.md", "docs/index.md", "docs/howto/choose.md")  # each block by itself
ELSEWHERE = ("docs/troubleshooting.md", "docs/scale.md")  # run by test_messages, tests/distributed
PAGES = sorted(
    str(page.relative_to(ROOT))
    for page in [ROOT / "README.md", *ROOT.glob("docs/*.md"), *ROOT.glob("docs/howto/*.md")]
    if "```python" in page.read_text()
)
BLOCKS = {
    page: re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(), re.DOTALL | re.MULTILINE)
    for page in PAGES
}
SINGLE = [(page, number) for page in ALONE for number in range(len(BLOCKS[page]))]


@pytest.fixture(autouse=True)
def _quietly(tmp_path, monkeypatch):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("Agg")
    monkeypatch.chdir(tmp_path)
    yield
    pyplot.close("all")


@pytest.mark.parametrize(("page", "number"), SINGLE)
def test_a_block_runs_by_itself(page, number):
    exec(BLOCKS[page][number], {})


@pytest.mark.parametrize("page", [p for p in PAGES if p not in ALONE + ELSEWHERE])
def test_a_page_runs_from_top_to_bottom(page):
    names: dict[str, object] = {}
    for block in BLOCKS[page]:
        exec(block, names)


def test_pages_are_found():
    assert len(PAGES) >= 18
    assert set(ALONE + ELSEWHERE) <= set(PAGES)
