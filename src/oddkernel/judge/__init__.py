"""The page where people answer, and the server behind it; needs the extra ``oddkernel[judge]``."""

from __future__ import annotations

from importlib.util import find_spec


def check_installed() -> None:
    """Raise an ImportError that says what to install, unless all is there."""
    missing = [name for name in ("fastapi", "uvicorn", "sqlalchemy", "alembic") if find_spec(name) is None]
    if missing:
        raise ImportError(f'the judging page needs {", ".join(missing)}: pip install "oddkernel[judge]"')
