"""What people say about themselves, apart from their answers."""

from __future__ import annotations

from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Create the table; the value is JSON: a text, a number, or null for a question that was skipped."""
    op.execute(
        """CREATE TABLE about (
            sitting TEXT NOT NULL REFERENCES sitting (id),
            name TEXT NOT NULL,
            value TEXT NOT NULL,
            client_id TEXT NOT NULL,
            answered_at TEXT NOT NULL,
            stored_at TEXT NOT NULL,
            PRIMARY KEY (sitting, name),
            UNIQUE (sitting, client_id)
        )"""
    )
