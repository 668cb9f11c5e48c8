"""Parts and wholes: what is compiled once, what is not compiled at all, and who is told."""

import logging
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numba.core import errors, types
from numba.core.registry import cpu_target

from kernelcoding._compiled import jit, linking

pytestmark = pytest.mark.skipif(
    not hasattr(jit.njit(lambda: 0), "py_func"), reason="nothing is compiled"
)


def make():
    """Two wholes that share a part, which calls another."""

    @jit.part
    def double(x):
        return 2.0 * x

    @jit.part
    def sum_of_doubles(values):
        total = 0.0
        for value in values:
            total += double(value)
        return total

    @jit.compiled
    def first(values):
        return sum_of_doubles(values)

    @jit.compiled
    def second(values):
        return -sum_of_doubles(values) + double(values[0])

    return first, second, sum_of_doubles


def test_the_installed_numba_was_tested():
    assert jit.linking() is not None, "test linking.py with this Numba, then move jit.NEWEST"


def test_a_whole_keeps_its_parts_to_itself():
    first, second, inner = make()
    values = np.arange(4.0)
    assert (first(values), second(values)) == (12.0, -12.0)
    for whole in (first, second):
        (found,) = whole.overloads.values()
        visible = [
            function.name
            for function in found.library._final_module.functions
            if not function.is_declaration and function.linkage.name != "internal"
        ]
        assert visible
        assert all(whole.__name__ in name for name in visible)
    with pytest.raises(TypeError, match="sum_of_doubles is a part"):
        inner(values)


def test_a_version_that_is_not_known_compiles_as_ever(monkeypatch):
    monkeypatch.setattr(jit, "linking", lambda: None)
    first, second, _ = make()
    assert (first(np.arange(4.0)), second(np.arange(4.0))) == (12.0, -12.0)


def test_equal_options_are_equal():
    linking = jit.linking()
    plain = linking.Flags()
    same, other = linking.QuickFlags(plain), linking.QuickFlags(plain)
    same.nrt = plain.options["nrt"].default
    other.fastmath = True
    assert same == plain == same
    assert hash(same) == hash(plain)
    assert plain != other != same


@pytest.mark.parametrize("is_terminal", [True, False])
def test_a_long_wait_is_explained_once(is_terminal, monkeypatch, caplog):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: is_terminal, raising=False)
    monkeypatch.setattr(jit, "LONG", 0.0)
    jit._tell.cache_clear()
    caplog.set_level(logging.INFO, "kernelcoding")
    first, second, _ = make()
    first(np.arange(3.0))
    second(np.arange(3.0))
    (record,) = [one for one in caplog.records if one.name == "kernelcoding"]
    assert "warm-up" in record.getMessage()
    # Without any set-up of logging, warnings alone are seen.
    assert (record.levelno == logging.WARNING) is is_terminal


def test_threads_that_compile_at_once_leave_numba_as_it_was():
    before = types.Function.get_call_type
    wholes = [whole for _ in range(3) for whole in make()[:2]]
    with ThreadPoolExecutor(len(wholes)) as pool:
        found = list(pool.map(lambda whole: whole(np.arange(1.0, 4.0)), wholes))
    assert found == [12.0, -10.0] * 3
    assert types.Function.get_call_type is before


def test_numba_is_asked_once_per_operation_and_types(monkeypatch):
    asked = []

    def look_up(function, context, args, kws):
        asked.append(args)
        if args == (types.unicode_type,):
            raise errors.TypingError("no such operation")
        return f"signature of {args}"

    monkeypatch.setattr(types.BaseFunction, "get_call_type", look_up)
    known = types.Function(cpu_target.typing_context._get_global_type(abs).templates[0])
    with linking.remembered_types():
        for kind in (types.int64, types.float64) * 2:
            assert known.get_call_type(None, (kind,), {}) == f"signature of {(kind,)}"
        for _ in range(2):
            with pytest.raises(errors.TypingError, match="no such operation"):
                known.get_call_type(None, (types.unicode_type,), {})
    assert asked == [(types.int64,), (types.float64,), (types.unicode_type,)]
