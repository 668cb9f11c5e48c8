"""Windows of tasks hold few of them at a time and change nothing in the tree of merges."""

import dask
import pytest

from kernelcoding.distributed import reduction, samples
from kernelcoding.distributed.reduction import FEWEST, WIDTH, Tree, tree, windows


def bracketed(left, right):
    """A merge whose answer tells the order of all merges."""
    return f"({left}{right})"


def whole(names):
    """The plain definition: levels of groups, merged from the left."""
    while len(names) > 1:
        groups = [names[i : i + WIDTH] for i in range(0, len(names), WIDTH)]
        names = [group[0] if len(group) == 1 else joined(group) for group in groups]
    return names[0]


def joined(group):
    answer = group[0]
    for name in group[1:]:
        answer = bracketed(answer, name)
    return answer


@pytest.mark.parametrize("count", [1, 7, 8, 9, 63, 64, 65, 72, 73, 512, 513, 577, 4097])
def test_answers_as_they_come_are_merged_in_the_order_of_the_tree(count):
    names = [f"{number}," for number in range(count)]
    answers = Tree(bracketed)
    for name in names:
        answers.add(name)
    assert answers.root() == whole(names)


@pytest.mark.parametrize("threads", [1, 5])
@pytest.mark.parametrize("count", [5, 64, 65, 130, 600])
def test_windows_do_not_change_the_tree(count, threads, monkeypatch):
    monkeypatch.setattr(reduction, "count_threads", lambda: threads)
    names = [f"{number}," for number in range(count)]
    answers, most = Tree(bracketed), 0
    for some in windows([dask.delayed(name) for name in names]):
        most = max(most, len(some))
        answers.add(tree(some, bracketed).compute(scheduler="synchronous"))
    assert answers.root() == whole(names)
    assert most == min(count, FEWEST if threads == 1 else FEWEST * WIDTH)


def test_a_state_is_sent_once_for_all_windows(monkeypatch):
    persisted = []
    monkeypatch.setattr(samples, "persisted", lambda *parts: persisted.extend(parts) or parts)
    sender = samples.Sender()
    large, small = object(), object()
    sender.sent((large,), often=False)
    assert not persisted
    sender.sent((large, small), often=False)
    assert len(persisted) == 1  # it came again
    sender.sent((large, small), often=True)
    assert len(persisted) == 2
