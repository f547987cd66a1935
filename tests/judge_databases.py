"""The databases that answers can be kept in: SQLite, and PostgreSQL where it can be started."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from oddkernel_benchmarks.postgresql import NotHere, private_cluster

KINDS = ("sqlite", "postgresql")


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    """The address of a private PostgreSQL server; the tests that need one say why they did not run without."""
    try:
        context = private_cluster()
        server = context.__enter__()
    except NotHere as reason:
        pytest.skip(f"not on PostgreSQL: {reason}")
    yield server.address
    context.__exit__(None, None, None)


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of a database; on PostgreSQL it is shared by a module's tests, as studies share one."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'answers.sqlite3'}"
    found: str = request.getfixturevalue("cluster")
    return found
