"""The page on one's own data: what it says, and that a browser shows it without complaints."""

import re
import shutil
from dataclasses import replace
from html import escape

import numpy as np
import pytest

import kernelcoding as kc
from kernelcoding.own_data.evaluation import evaluated
from kernelcoding.report import write_evaluation

pytest.importorskip("jinja2")
EVIL = "<script>document.title = 'owned'</script>"


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    rng = np.random.default_rng(0)
    kinds = np.arange(120) % 3
    samples = rng.normal(size=(120, 4)) + 1.2 * np.eye(4)[kinds]
    labels = np.array(["a", EVIL, "c"])[kinds]
    model = kc.ResidualClassifier(kc.KernelSparseCoder(alpha=0.1)).fit(samples[:60], labels[:60])
    found = evaluated(model, samples[60:], labels[60:], {}, "test.csv", f"Model {EVIL}")
    path = tmp_path_factory.mktemp("page") / "page.html"
    return found, write_evaluation(found, path)


def test_the_page_says_it_all_and_escapes_it(page):
    found, path = page
    text = path.read_text(encoding="utf-8")
    for words in ("of labels are right", "95 % interval", "Confusion matrix", "Calibration",
                  "Coverage against rejection", "Strongest atoms", "Residual by class",
                  "in the arrays of the model", f"{found.accuracy:.1f}"):  # fmt: skip
        assert words in text, words
    assert EVIL not in text
    assert escape(EVIL, quote=False).split("'")[0] in text
    assert not re.search(r"(src|href)=\"https?://", text)


def test_no_axis_goes_beyond_all_samples(page):
    found, path = page
    right = write_evaluation(
        replace(found, coverage=((50.0, 100.0), (100.0, 100.0)), calibration=()),
        path.with_name("right.html"),
    )
    chart = re.search(r'<svg class="chart".*?</svg>', right.read_text(encoding="utf-8"))[0]
    ticks = [float(tick) for tick in re.findall(r'class="y">([0-9.]+)<', chart)]
    assert max(ticks) == 100
    assert len(ticks) >= 3


def test_a_browser_shows_it(page):
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        pytest.skip("Chromium is not installed (apt-get install chromium)")
    complaints, requests = [], []
    address = page[1].as_uri()
    with playwright.sync_playwright() as driver:
        arguments = ["--headless", "--no-sandbox", "--disable-gpu"]
        browser = driver.chromium.launch(executable_path=chromium, args=arguments)
        for width in (1280, 360):
            shown = browser.new_page(viewport={"width": width, "height": 800})
            shown.on("console", lambda message: complaints.append(message.text))
            shown.on("pageerror", lambda error: complaints.append(str(error)))
            shown.on("request", lambda request: requests.append(request.url))
            shown.goto(address)
            assert shown.title() != "owned"
            assert shown.locator("svg.matrix").is_visible()
            assert shown.locator("#trust svg.chart").count() == 2
            assert shown.locator(".card").count() >= 5
            # Nothing is wider than the window; tables and matrices scroll in their own boxes.
            assert shown.evaluate("document.documentElement.scrollWidth") <= width
            cut = "tiles => tiles.filter(t => t.scrollWidth > t.clientWidth + 1).length"
            whole = ".tile, .tile dd, .bar-value, .strip .bar-label"
            assert shown.eval_on_selector_all(whole, cut) == 0
            shown.locator("#classes button.sort").nth(1).click()
            order = shown.locator("#classes th[aria-sort='descending']")
            assert order.count() == 1
        browser.close()
    assert complaints == []
    assert {url for url in requests if not url.startswith("data:")} == {address}
