"""The page in a real browser: Chromium without a window, driven by Playwright."""

import shutil

import numpy as np
import pytest

from helpers import records
from helpers.pages import GAPS, letters, pixels, some_of, watched_pages
from kernelcoding.report import write_report

playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
pytest.importorskip("jinja2")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
if CHROMIUM is None:
    pytest.skip("Chromium is not installed (apt-get install chromium)", allow_module_level=True)
ARGUMENTS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    folder = tmp_path_factory.mktemp("browser")
    for name, made in records.EXPERIMENTS.items():
        lines = some_of(made(np.random.default_rng(7)))
        records.write(folder / "runs" / f"{name}.jsonl", lines)
    with (folder / "runs" / "virus.jsonl").open("a") as file:
        file.write('{"kind": "result", "sch')
    evil = "<script>document.title = 'owned'</script><img src=x onerror=\"document.title='owned'\">"
    lines = [records.result("evil", evil, evil, 0, 50.0, configuration={evil: evil})]
    records.write(folder / "runs" / "evil.jsonl", lines)
    records.write(folder / "runs" / "letters.jsonl", letters())
    return write_report(folder / "runs", folder / "report.html").as_uri()


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=[*ARGUMENTS])
        yield browser
        browser.close()


@pytest.fixture
def opened(browser, address):
    """Pages of a test's own, which it may change."""
    with watched_pages(browser, address) as open_page:
        yield open_page


@pytest.fixture(scope="module")
def reloaded(browser, address):
    """One page for many tests, loaded anew by each."""
    with watched_pages(browser, address) as open_page:
        page = open_page()

        def load():
            page.goto(address)
            return page

        yield load


@pytest.fixture(scope="module")
def untouched(browser, address):
    """One page that no test changes but for its width: a function of the width."""
    with watched_pages(browser, address) as open_page:
        page = open_page()

        def at(width=1280):
            page.set_viewport_size({"width": width, "height": 800})
            return page

        yield at


def column(page, table, index):
    return page.eval_on_selector_all(
        f"{table} tbody tr", f"rows => rows.map(row => row.cells[{index}].innerText.trim())"
    )


def head(page, table, name):
    return page.locator(f"{table} thead button", has_text=name)


GROUND = "getComputedStyle(document.body).backgroundColor"


def ground(page):
    return page.evaluate(GROUND)


def turns(page, colour):
    """The page has this ground in a moment: a busy browser takes one to paint."""
    page.wait_for_function(f"colour => {GROUND} === colour", arg=colour, timeout=5000)
    return True


def test_loads_quietly_and_runs_no_foreign_script(untouched):
    page = untouched()
    assert page.title().startswith("Kernel coding")
    assert page.locator("section.experiment").count() == 6
    assert "cut short" in page.locator(".notice").first.inner_text()
    broken = "images => images.filter(image => image.naturalWidth === 0).length"
    assert page.eval_on_selector_all("img", broken) == 0


TABLE = "#x-yaleb-t1 > .scroll table"


def test_sorting_by_click(reloaded):
    page = reloaded()
    before = column(page, TABLE, 0)
    values = [float(cell.split()[0]) for cell in column(page, TABLE, 2)]
    button = head(page, TABLE, "Accuracy")
    cell = button.locator("xpath=..")
    for state, order in (
        ("descending", np.argsort(values)[::-1]),
        ("ascending", np.argsort(values)),
    ):
        button.click()
        assert cell.get_attribute("aria-sort") == state
        assert column(page, TABLE, 0) == [before[i] for i in order]
    assert "Sorted by Accuracy, %, ascending" in page.locator(".announce").inner_text().replace(
        "\u00a0", " "
    )
    button.click()
    assert cell.get_attribute("aria-sort") == "none"
    assert column(page, TABLE, 0) == before


def test_sorting_by_keyboard_with_missing_numbers_last(reloaded):
    page = reloaded()
    head(page, TABLE, "Accuracy").click()
    assert column(page, TABLE, 3)[0] == "—"  # the control comes first now
    head(page, TABLE, "Paper").focus()
    for key, reverse in (("Enter", True), ("Space", False)):
        page.keyboard.press(key)
        cells = column(page, TABLE, 3)
        assert cells[-1] == "—"
        assert cells[:-1] == sorted(cells[:-1], key=float, reverse=reverse)
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    states = page.eval_on_selector_all(
        f"{TABLE} th[aria-sort]", "heads => heads.map(head => head.getAttribute('aria-sort'))"
    )
    assert [state for state in states if state != "none"] == ["descending"]


CODES = "#x-letters-t1 > .scroll table"


def test_gaps_are_sorted_as_numbers(reloaded):
    page = reloaded()
    button = head(page, CODES, "Gap")
    known = sorted((name for name in GAPS if GAPS[name] is not None), key=GAPS.get)
    for order in (known[::-1], known):
        button.press("Enter")
        assert column(page, CODES, 0) == [*order, "SVC"]
    assert head(page, CODES, "Error").is_visible()
    assert page.locator("#x-letters-t1 > .reading").is_visible()


def test_a_full_table_fits_a_desktop_and_only_what_scrolls_takes_focus(untouched):
    box = "#x-letters-t1 > .scroll"
    for width, is_stop in ((1280, False), (375, True)):
        page = untouched(width)
        page.wait_for_function(
            "([box, isStop]) => document.querySelector(box).hasAttribute('tabindex') === isStop",
            arg=[box, is_stop],
        )
        overflow = page.eval_on_selector(box, "node => node.scrollWidth > node.clientWidth")
        assert overflow is is_stop


@pytest.mark.parametrize("place", ["#x-letters-t1", "#x-virus-t1"], ids=["short", "long"])
def test_what_the_axes_of_a_confusion_mean_covers_no_class(untouched, place):
    overlaps, outside = untouched().eval_on_selector(
        f"{place} svg.matrix",
        """picture => {
            const boxes = [...picture.querySelectorAll('text')].map(node =>
                [node.classList.contains('name'), node.textContent, node.getBoundingClientRect()]);
            const crosses = (a, b) => a.left < b.right && b.left < a.right
                && a.top < b.bottom && b.top < a.bottom;
            const frame = picture.getBoundingClientRect();
            const axes = boxes.filter(([isAxis]) => isAxis);
            return [
                axes.flatMap(([, words, box]) => boxes.filter(([, other, its]) =>
                    words !== other && crosses(box, its)).map(([, other]) => [words, other])),
                boxes.filter(([, , box]) => box.left < frame.left || box.right > frame.right + 1
                    || box.top < frame.top).map(([, words]) => words)];
        }""",
    )
    assert overlaps == []
    assert outside == []


def test_words_are_sorted_as_words(reloaded):
    page = reloaded()
    head(page, TABLE, "Method").click()
    names = column(page, TABLE, 0)
    assert names == sorted(names, key=str.lower)


def test_theme_follows_the_system_and_the_switch(opened):
    light, dark = opened(scheme="light"), opened(scheme="dark")
    pale, deep = ground(light), ground(dark)
    assert pale != deep
    light.get_by_role("radio", name="Dark").check()
    assert turns(light, deep)
    light.reload()
    assert turns(light, deep)  # remembered
    light.get_by_role("radio", name="Dark").focus()
    light.keyboard.press("ArrowLeft")
    assert turns(light, pale)
    light.get_by_role("radio", name="Auto").check()
    light.emulate_media(color_scheme="dark")
    assert turns(light, deep)


@pytest.fixture(scope="module")
def unfolded(browser, address):
    """One page with everything open: a function of the width."""
    with watched_pages(browser, address) as open_page:
        page = open_page()
        page.evaluate("document.querySelectorAll('details').forEach(fold => { fold.open = true; })")

        def at(width):
            page.set_viewport_size({"width": width, "height": 800})
            return page

        yield at


@pytest.mark.parametrize("width", [320, 375, 768, 1280])
def test_only_tables_scroll_sideways(unfolded, width):
    page = unfolded(width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    # What reaches beyond the page must lie in a box that scrolls.
    outside = page.evaluate(
        """() => [...document.querySelectorAll('main *')].filter(node =>
            node.getBoundingClientRect().right > innerWidth + 1 && node.tagName !== 'text'
            && !node.closest('.scroll, svg, caption')).map(node => node.outerHTML.slice(0, 80))"""
    )
    assert outside == []


def test_each_width_has_its_chart(untouched):
    for width, shown, hidden in ((1280, "wide", "narrow"), (360, "narrow", "wide")):
        page = untouched(width)
        assert page.locator(f"svg.chart.{shown}").first.is_visible()
        assert not page.locator(f"svg.chart.{hidden}").first.is_visible()


@pytest.mark.parametrize("width", [320, 375])
def test_legends_can_be_read_and_touched_on_a_phone(untouched, width):
    """One key per line, its words whole, as large as text and as high as a finger."""
    page = untouched(width)
    keys = page.locator("button.key").evaluate_all(
        """nodes => nodes.filter(node => node.offsetParent).map(node => {
            const box = node.getBoundingClientRect(), words = document.createRange();
            words.selectNodeContents(node);
            const inner = words.getBoundingClientRect();
            return {
                text: node.innerText, top: box.top, left: box.left, right: box.right,
                height: box.height, size: parseFloat(getComputedStyle(node).fontSize),
                cut: Math.max(0, inner.right - box.right, inner.bottom - box.bottom),
                legend: [...document.querySelectorAll('.legend')].indexOf(node.parentElement),
            }})"""
    )
    assert len(keys) > 5
    for key in keys:
        assert key["text"]
        assert key["cut"] <= 1, key
        assert key["size"] >= 12.5, key
        assert key["height"] >= 24, key
        assert 0 <= key["left"] < key["right"] <= width, key
    places = [(key["legend"], round(key["top"])) for key in keys]
    assert len(set(places)) == len(places)


def test_legends_hide_and_show_lines(reloaded):
    page = reloaded()
    figures = page.locator("#x-fmd-t1 .figures")
    key = figures.locator("button.key", has_text="kBOW")
    line = figures.locator(f"svg.wide g[data-series='{key.get_attribute('data-series')}']").first
    key.press("Enter")
    assert key.get_attribute("aria-pressed") == "false"
    assert not line.is_visible()
    key.click()
    assert line.is_visible()


def test_a_key_in_focus_brings_its_line_forward(reloaded):
    figures = reloaded().locator("#x-letters-t2 .figures")
    key = figures.locator("button.key", has_text="control")
    lines = figures.locator("svg.wide g[data-series]")
    faded = "nodes => nodes.filter(node => getComputedStyle(node).opacity < 1).length"
    key.focus()
    own = figures.locator(f"svg.wide g[data-series='{key.get_attribute('data-series')}']").count()
    assert own == 2  # the line and its name
    assert lines.evaluate_all(faded) == lines.count() - own > 0
    key.blur()
    assert lines.evaluate_all(faded) == 0


def test_controls_are_dashed_in_the_colour_of_their_method(untouched):
    page = untouched()
    style = """node => [getComputedStyle(node).stroke, getComputedStyle(node).strokeDasharray]"""
    found = {}
    for key in page.locator("#x-letters-t2 button.key").all():
        found[key.inner_text()] = key.locator("path.line").evaluate(style)
    assert found["l-SkSC, control"][0] == found["l-SkSC"][0] != found["kSC"][0]
    assert found["l-SkSC, control"][1] != found["l-SkSC"][1] == "none"


def test_a_number_leads_to_its_record(opened):
    page = opened()
    link = page.locator(f"{TABLE} td.value a").nth(2)
    target = page.locator(link.get_attribute("href"))
    assert not target.is_visible()
    link.press("Enter")
    target.get_by_text("Configuration").wait_for(state="visible", timeout=5000)
    assert target.locator("summary").evaluate("node => node === document.activeElement")
    value = target.locator("summary span").inner_text().split()[0]
    assert value == link.inner_text()
    box = target.bounding_box()
    assert -2 <= box["y"] < 800
    fragment = link.get_attribute("href")
    assert opened(fragment=fragment).locator(fragment).get_by_text("Versions").is_visible()


def test_keyboard_starts_at_the_skip_link_and_focus_is_seen(reloaded):
    page = reloaded()
    page.keyboard.press("Tab")
    active = "document.activeElement.className"
    assert page.evaluate(active) == "skip"
    assert page.locator(".skip").bounding_box()["y"] >= 0
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    head(page, TABLE, "Method").focus()
    page.keyboard.press("Tab")
    outline = "getComputedStyle(document.activeElement).outlineStyle"
    assert page.evaluate(outline) == "solid"


def test_paper_gets_the_whole_tables(opened):
    page = opened()
    page.emulate_media(media="print", color_scheme="dark")
    assert ground(page) == "rgb(255, 255, 255)"
    assert not page.locator("nav").is_visible()
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("#x-fmd-t1 details.fold table").first.is_visible()
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert not page.locator("#x-fmd-t1 details.fold table").first.is_visible()
    assert page.pdf()[:5] == b"%PDF-"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_screenshot_is_not_blank(opened, scheme):
    page = opened(scheme=scheme)
    page.locator("#x-fmd-t1").scroll_into_view_if_needed()
    full = page.screenshot()
    page.evaluate("document.body.replaceChildren()")
    empty = page.screenshot()
    assert len(np.unique(pixels(full))) > 20
    assert len(full) > 5 * len(empty)
