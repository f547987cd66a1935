"""Threads while solving: one for small problems, and afterwards as many as before."""

from __future__ import annotations

import sys

import pytest
from problems import random_problem
from threadpoolctl import threadpool_info, threadpool_limits

from oddkernel.problem.point import Point
from oddkernel.solvers import Newton, solve, threads
from oddkernel.solvers.threads import fitting_threads


def blas_threads() -> set[int]:
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


def by_library() -> dict[str, int]:
    return {each["filepath"]: each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"}


def test_a_small_problem_takes_one_thread() -> None:
    seen: list[set[int]] = []

    def look(step: int, point: Point) -> None:
        seen.append(blas_threads())

    with threadpool_limits(2, "blas"):
        before = blas_threads()
        solve(random_problem(0).dual(), Newton(), progress=look)
        assert seen[0] == {1}
        assert blas_threads() == before


def test_a_large_problem_takes_the_threads_of_one_library(monkeypatch) -> None:
    monkeypatch.setattr(threads, "WORTH", 0)
    with threadpool_limits(2, "blas"):
        before = by_library()
        with fitting_threads(random_problem(0).dual()):
            inside = by_library()
        assert by_library() == before
    scipys = {path for path in inside if "scipy.libs" in path or "/scipy/" in path} if len(inside) > 1 else set()
    assert inside == {path: 1 if path in scipys else number for path, number in before.items()}


def test_a_small_problem_beside_a_large_one(monkeypatch) -> None:
    with threadpool_limits(2, "blas"):
        before = by_library()
        with threads.one_library():
            with threads.one_thread():
                assert blas_threads() == {1}
            inside = by_library()
            assert len(inside) == 1 or 1 in inside.values()
            assert max(inside.values()) == max(before.values())
        assert by_library() == before


def test_the_last_one_restores() -> None:
    dual = random_problem(0).dual()
    with threadpool_limits(2, "blas"):
        before = blas_threads()
        first, second = fitting_threads(dual), fitting_threads(dual)
        first.__enter__()
        second.__enter__()
        first.__exit__(None, None, None)
        assert blas_threads() == {1}
        second.__exit__(None, None, None)
        assert blas_threads() == before


def test_an_error_restores() -> None:
    with threadpool_limits(2, "blas"):
        before = blas_threads()
        with pytest.raises(ZeroDivisionError), fitting_threads(random_problem(0).dual()):
            raise ZeroDivisionError
        assert blas_threads() == before


def test_libraries_that_come_with_a_later_import_are_limited(monkeypatch) -> None:
    with fitting_threads(random_problem(0).dual()):
        known = threads._libraries(len(sys.modules))
    monkeypatch.setitem(sys.modules, "brings_a_library", threads)
    assert threads._libraries(len(sys.modules)) is not known
