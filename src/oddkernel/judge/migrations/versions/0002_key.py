"""A sitting can be opened again with a key that its browser chose."""

from __future__ import annotations

from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Add the hash of the key; sittings that began earlier get one when their browser comes back."""
    op.execute("ALTER TABLE sitting ADD COLUMN key TEXT")
    op.execute("CREATE INDEX sittings_of_key ON sitting (key)")
