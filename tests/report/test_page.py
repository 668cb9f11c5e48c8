"""The page: complete, escaped, self-contained, the same every time."""

import base64
import builtins
import hashlib
import re
from html.parser import HTMLParser

import numpy as np
import pytest

from helpers import records
from kernelcoding.report import write_report
from kernelcoding.report.line_styles import COLOURS

pytest.importorskip("jinja2")
VOID = {"meta", "link", "img", "input", "br"}
EVIL = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>&amp;{{ 7*7 }}"


class Page(HTMLParser):
    """Elements with their attributes, and the text of tables; complains about broken nesting."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.open, self.tables, self.words = [], [], [], []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)
        if tag == "table":
            self.tables.append([])
        if tag == "tr":
            self.tables[-1].append([])
        if tag in ("td", "th"):
            self.tables[-1][-1].append("")

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)
        if "table" in self.open and {"td", "th"} & set(self.open):
            self.tables[-1][-1][-1] += data

    def all(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]

    def table(self, heading):
        """The first table with this column, as dictionaries by column."""
        rows = next(t for t in self.tables if heading in [clean(cell) for cell in t[0]])
        names = [clean(cell) for cell in rows[0]]
        return [dict(zip(names, map(clean, row), strict=True)) for row in rows[1:]]


def clean(words):
    return " ".join(words.split())


def written(tmp_path, lines, name="x"):
    records.write(tmp_path / "runs" / f"{name}.jsonl", lines)
    return write_report(tmp_path / "runs", tmp_path / "out.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    records.write_runs(folder / "runs")
    return write_report(folder / "runs", folder / "new" / "report.html").read_text("utf-8")


@pytest.fixture(scope="module")
def page(text):
    return Page(text)


def test_structure(page):
    assert page.elements[0] == ("html", {"lang": "en"})
    (skip,) = [a for a in page.all("a") if a.get("class") == "skip"]
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert skip["href"][1:] in ids
    for attributes in page.all("a"):
        assert attributes["href"][0] == "#"
        assert attributes["href"][1:] in ids  # every number finds its record
    assert len(page.all("h1")) == len(page.all("main")) == 1
    for attributes in page.all("img"):
        assert attributes["alt"]
    for attributes in page.all("svg"):
        assert attributes.get("aria-label") or attributes.get("aria-hidden") == "true"


def test_every_sortable_heading_is_a_button(page):
    sortable = [a for a in page.all("th") if a.get("scope") == "col" and "aria-sort" in a]
    buttons = [a for a in page.all("button") if a.get("class") == "sort"]
    assert len(sortable) == len(buttons) > 50
    assert all(a["aria-sort"] == "none" for a in sortable)
    assert all(a["type"] == "button" for a in page.all("button"))


def test_nothing_is_fetched(text, page):
    for _, attributes in page.elements:
        assert "style" not in attributes  # the policy would refuse it
        assert not [name for name in attributes if name.startswith("on")]
        for name in ("src", "href"):
            assert attributes.get(name, "#").startswith(("#", "data:image/", "data:,"))
    assert "http://" not in text
    assert "https://" not in text
    assert not re.search(r"url\(|@import|xlink", text)


def test_policy_admits_our_style_and_script_only(text, page):
    (policy,) = [a["content"] for a in page.all("meta") if "http-equiv" in a]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    for tag in ("style", "script"):
        (content,) = re.findall(f"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy


def test_numbers_are_those_of_the_records(page):
    lines = records.yaleb(np.random.default_rng(7))[1:]
    tables = [t for t in page.tables if clean(t[0][0]) == "Method" and len(t) == 6]
    titles = ("570 atoms, 1-NN on codes", "All samples, residual rule")
    for table, name in zip(tables, titles, strict=True):
        names = [clean(cell) for cell in table[0]]
        for row in table[1:]:
            cells = dict(zip(names, map(clean, row), strict=True))
            mine = [x for x in lines if x["table"] == name and x["method"] == cells["Method"]]
            values = np.array([x["value"] for x in mine])
            spread = f" ± {values.std(ddof=1):.1f}" if len(values) > 1 else ""
            assert cells["Accuracy, %"] == f"{values.mean():.1f}{spread}"
            assert cells["Splits"] == str(len(values))
            paper = mine[0]["paper"]
            assert cells["Paper, %"] == ("—" if paper is None else f"{paper:.1f}")
            if paper is not None:
                gap, width = values.mean() - paper, values.std(ddof=1)
                word = "within spread" if abs(gap) <= width else "better" if gap > 0 else "below"
                assert cells["Verdict"].endswith(word)
                assert cells["Verdict"][0] in "▲≈▼"
                assert cells["Difference"].lstrip("+\u2212") == f"{abs(gap):.1f}"
            else:
                assert cells["Verdict"] == "—"


def test_overview_counts_what_the_tables_say(page):
    rows = page.table("Experiment")
    verdicts = [clean(cell) for table in page.tables for row in table for cell in row]
    for word, heading in (("better", "Better"), ("below", "Below")):
        said = sum(int(row[heading]) for row in rows if row[heading] != "—")
        assert said == sum(cell in (f"▲ {word}", f"▼ {word}") for cell in verdicts)
    assert [row["Records"] for row in rows] == ["3", "162", "30", "42"]
    assert rows[0]["Paper's best, %"] == "—"


def test_curves_only_where_there_are_several_sizes(page):
    labels = [a.get("aria-label", "") for a in page.all("svg")]
    curves = [label for label in labels if "percent against the number of atoms" in label]
    assert len(curves) == 2  # wide and narrow, of one table
    titles = "".join(page.words)
    assert "kSC, paper: 500, 53.4" in titles


def test_curve_points_lie_where_the_means_are(tmp_path):
    values = {10: 20.0, 30: 60.0, 50: 40.0}
    lines = [records.result("x", "t", "a", 0, v, size=s) for s, v in values.items()]
    text = written(tmp_path, lines)
    chart = re.search(r'<svg class="chart wide".*?</svg>', text, re.DOTALL).group()
    points = re.search(r'class="line" d="M([^"]+)"', chart).group(1)
    x, y = np.array([pair.split() for pair in points.split("L")], dtype=float).T
    np.testing.assert_allclose((x[1] - x[0]), (x[2] - x[1]), atol=0.2)
    np.testing.assert_allclose((y[0] - y[1]), 2 * (y[0] - y[2]), atol=0.3)  # 40 against 20
    assert y[1] < y[2] < y[0]  # pixels grow downwards


def test_methods_without_a_number_of_atoms_are_lines_across_curves(tmp_path):
    lines = [records.result("x", "t", "a", 0, 20.0 + s, size=s) for s in (10, 30)]
    lines.append(records.result("x", "t", "machine", 0, 40.0))
    text = written(tmp_path, lines)
    assert "Thin lines across: methods without a number of atoms." in text
    for chart in re.findall(r'<svg class="chart (?:wide|narrow)".*?</svg>', text, re.DOTALL):
        across = re.search(r'class="series s1 level".*?class="line" d="M([^"]+)"', chart, re.DOTALL)
        curve = re.search(r'class="line" d="M([^"]+)"', chart).group(1)
        first, last = (np.array(p.split(), dtype=float) for p in across.group(1).split("L"))
        start, end = (np.array(p.split(), dtype=float) for p in curve.split("L"))
        assert first[1] == last[1]
        np.testing.assert_allclose([first[0], last[0]], [start[0], end[0]])
        np.testing.assert_allclose(first[1], (start[1] + end[1]) / 2, atol=0.1)  # 40 of 30 and 50


def test_records_behind_a_number(page):
    words = clean("".join(page.words))
    for expected in ("yaleb.jsonl, line 2", "scikit-learn", "1.6.0", "2026-11-16T05:00:00Z"):
        assert expected in words
    # alpha differs between splits, so it stands in their rows; the kernel is said once.
    assert any("alpha" in [clean(c) for c in t[0]] for t in page.tables)
    assert not any("kernel" in [clean(c) for c in t[0]] for t in page.tables)


def test_confusions_are_summed_over_splits(tmp_path):
    counts = [[[3, 1], [0, 2]], [[1, 1], [5, 0]]]
    lines = [
        records.result(
            "x", "t", "a", split, 1.0, artifacts={"classes": ["cat", "dog"], "confusion": matrix}
        )
        for split, matrix in enumerate(counts)
    ]
    text = written(tmp_path, lines)
    total = np.sum(counts, axis=0)
    for row, truth in enumerate(("cat", "dog")):
        for column, answer in enumerate(("cat", "dog")):
            share = 100 * total[row, column] / total[row].sum()
            words = f"{truth} taken for {answer}: {total[row, column]} ({share:.1f} %)"
            assert words in text


def test_class_values_are_means_and_the_best_is_bold(tmp_path):
    lines = [
        records.result("x", "t", m, s, 1.0, artifacts={"per_class": {"cat": v, "dog": 1.0}})
        for m, s, v in (("a", 0, 10.0), ("a", 1, 20.0), ("b", 0, 16.0))
    ]
    rows = Page(text := written(tmp_path, lines)).table("Class")
    assert rows == [
        {"Class": "cat", "a": "15.0", "b": "16.0"},
        {"Class": "dog", "a": "1.0", "b": "1.0"},
    ]
    assert 'data-order="16.0" class="number best"' in text


def test_a_control_is_never_credited(tmp_path):
    """The control is right more often, on the whole and in one class; the best is another."""
    values = {"kSC": (80.0, 70.0), "twin": (95.0, 60.0), "kLLC": (85.0, 60.0)}
    lines = [
        records.result("x", "t", method, 0, cat, artifacts={"per_class": {"cat": cat, "dog": dog}})
        | ({"control_of": "kSC"} if method == "twin" else {})
        for method, (cat, dog) in values.items()
    ]
    text = written(tmp_path, lines)
    (overview,) = Page(text).table("Best, %")
    assert (overview["Best, %"], overview["by"]) == ("85.0", "kLLC")
    bold = re.findall(r'data-order="([\d.]+)" class="number best"', text)
    assert bold == ["85.0", "70.0"]


def test_memory_of_the_process_is_not_shown_as_a_method_s(tmp_path):
    lines = [
        records.result("x", "t", method, 0, 50.0, peak_memory_mb=memory)
        for method, memory in (("a", 6543.25), ("b", 6544.25))
    ]
    text = written(tmp_path, lines)
    assert "654" not in text
    headings = [clean(cell).lower() for table in Page(text).tables for cell in table[0]]
    assert not any("memory" in heading or "mb" in heading for heading in headings)


def test_queries_with_their_atoms(page):
    alts = [attributes["alt"] for attributes in page.all("img")]
    assert alts.count("Query, 0") == 1
    assert sum(alt.startswith("Atom, ") for alt in alts) == 36
    assert sum(bool(re.fullmatch(r"Atom \d+", alt)) for alt in alts) == 64
    words = clean("".join(page.words))
    assert "✗ predicted 1" in words
    assert "and 2 larger ones" in words


def test_everything_is_escaped(tmp_path):
    lines = [
        records.header(EVIL, title=EVIL, protocol=EVIL, paper=EVIL, metric=EVIL),
        *(
            records.result(
                EVIL,
                EVIL,
                EVIL,
                split,
                50.0 + size,
                size=size,
                finished=EVIL,
                seed=EVIL,
                configuration={EVIL: EVIL, "varies": f"{EVIL}{split}"},
                versions={EVIL: EVIL},
                key=f"{size}{split}",
                artifacts={
                    "objective_history": [2.0, 1.0],
                    "objective_steps": [EVIL, EVIL],
                    "kernel_history": [2.0, 1.0],
                    "classes": [EVIL],
                    "confusion": [[1]],
                    "per_class": {EVIL: 1.0},
                    "atom_images": [EVIL, "https://x.org/a.png"],
                    "examples": [
                        {
                            "query": {"label": EVIL, "predicted": EVIL, "image": EVIL},
                            "atoms": [{"weight": 1.0, "label": EVIL, "image": EVIL}],
                            "residuals": {EVIL: 1.0},
                        }
                    ],
                },
            )
            for split in (0, 1)
            for size in (1, 2)
        ),
    ]
    text = written(tmp_path, lines)
    page = Page(text)
    assert len(page.all("script")) == 1
    assert page.all("img") == []
    assert "x.org" not in text
    assert not [name for _, attributes in page.elements for name in attributes if name[:2] == "on"]
    assert "".join(page.words).count(EVIL) > 20  # shown as it is
    assert "{{ 7*7 }}" in text  # and never run as a template


def test_missing_pieces_are_absent(tmp_path):
    line = {"kind": "result", "schema": 1, "method": "a", "artifacts": None}
    text = written(tmp_path, [line])
    for word in (
        "Atoms and codes",
        "Classes",
        "Learning, step",
        "Time and sparsity",
        "None",
        "nan",
    ):
        assert word not in text.split("<script>")[0].split("</style>")[1]
    (row,) = Page(text).table("Method")
    assert row == {"Method": "a", "Splits": "0"}
    assert "Results" in text


def test_notices_stand_on_the_page(tmp_path):
    path = records.write(tmp_path / "x.jsonl", [records.result("x", "t", "a", 0, 1.0)])
    path.write_bytes(path.read_bytes() + b'{"kind": "res')
    text = write_report(path, tmp_path / "out.html").read_text("utf-8")
    assert "the last line (2) is cut short and was left out" in text
    assert "Quick run." not in text


def test_quick_runs_say_so(text):
    assert text.count("<strong>Quick run.</strong>") == 1


def test_the_same_records_give_the_same_page(tmp_path, text):
    records.write_runs(tmp_path / "runs")
    assert write_report(tmp_path / "runs", tmp_path / "r.html").read_text("utf-8") == text
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["r.html"]


def test_a_failed_report_leaves_the_old_one(tmp_path):
    out = tmp_path / "r.html"
    out.write_text("old")
    with pytest.raises(ValueError, match="No records in the folder"):
        write_report(tmp_path, out)
    assert out.read_text() == "old"


def test_without_jinja2_a_sentence_says_so(tmp_path, monkeypatch):
    records.write_runs(tmp_path, ("digits",))
    true_import = builtins.__import__

    def importing(name, *arguments):
        if name == "jinja2":
            raise ModuleNotFoundError(name)
        return true_import(name, *arguments)

    monkeypatch.setattr(builtins, "__import__", importing)
    with pytest.raises(ImportError, match=r"needs jinja2.*kernelcoding\[report\]"):
        write_report(tmp_path, tmp_path / "r.html")


def luminance(colour):
    channels = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return linear @ [0.2126, 0.7152, 0.0722]


def contrast(a, b):
    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_colours_can_be_read(text, scheme):
    """Contrast of WCAG 2.2, level AA: 4.5 for text, 3 for lines."""
    pairs = re.findall(r"--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)", text)
    colours = {name: values[scheme] for name, *values in pairs}
    for ground in ("ground", "surface", "raised"):
        for name in ("text", "muted", "accent", "better", "within", "below"):
            assert contrast(colours[name], colours[ground]) >= 4.5, (name, ground)
    for index in range(COLOURS):
        assert contrast(colours[f"c{index}"], colours["surface"]) >= 3, index
    assert contrast(colours["heat"], colours["heat-on"]) >= 4.5
