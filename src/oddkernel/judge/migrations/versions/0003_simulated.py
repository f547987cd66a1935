"""A sitting may be that of a simulated person, whose answers come faster than they claim."""

from __future__ import annotations

from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Add the mark; sittings that began earlier count as those of people."""
    op.execute("ALTER TABLE sitting ADD COLUMN simulated INTEGER NOT NULL DEFAULT 0")
