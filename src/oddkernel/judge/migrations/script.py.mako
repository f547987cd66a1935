"""${message}"""

from __future__ import annotations

from alembic import op

revision = ${repr(up_revision)}
down_revision = ${repr(down_revision)}


def upgrade() -> None:
    """Change the tables, in SQL that SQLite and PostgreSQL understand alike."""
    op.execute("")
