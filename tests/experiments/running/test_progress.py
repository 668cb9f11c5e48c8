"""How far a run is: lines, a bar, or nothing."""

import pytest

from kernelcoding.experiments.running import progress
from kernelcoding.experiments.running.progress import (
    ProgressBar,
    ProgressLines,
    rough_duration,
    watched,
)
from kernelcoding.records import ResultRecord

RESULT = ResultRecord("x", "t/kSC/None/0", "t", "kSC", value=93.456)


def test_progress_tells_how_long_it_will_take(capsys):
    lines = ProgressLines(4)
    lines.start -= 30.0
    lines.done(RESULT)
    text = capsys.readouterr().err
    assert "[1/4] t/kSC/None/0: 93.5 after 30 s, about 2 min left" in text
    assert [rough_duration(s) for s in (3.2, 89, 300, 7500)] == [
        "3 s",
        "89 s",
        "5 min",
        "2 h 5 min",
    ]
    with watched(1, show=False) as silent:
        silent.begin()
        silent.done(RESULT)
        silent.say("nothing")
    with watched(1, show=True) as shown:  # no terminal here
        assert isinstance(shown, ProgressLines)
    assert capsys.readouterr().err == ""


def test_the_bar_counts_results(capsys):
    pytest.importorskip("rich")
    bar = progress._rich_bar()
    with bar:
        shown = ProgressBar(bar, bar.add_task("reading data", total=2))
        shown.say("[1] of two")  # no markup
        shown.begin()
        shown.done(RESULT)
    (task,) = bar.tasks
    assert task.completed == 1
    assert task.description == "t/kSC/None/0: 93.5"
    assert "[1] of two" in capsys.readouterr().err
