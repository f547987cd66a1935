"""Questions have a form: which is odd, which of two is more like the first, which is the most central."""

from __future__ import annotations

from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Add the form; earlier questions asked for the odd one."""
    op.execute("ALTER TABLE question ADD COLUMN form TEXT NOT NULL DEFAULT 'odd'")
