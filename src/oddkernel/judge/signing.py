"""Keyed hashes of a study's secret: the experimenter's token, signed cookies, ids of media files."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence


def fingerprint(key: str) -> str:
    """The hash of a browser's key or an invitation, which the database holds instead of the key itself."""
    return hashlib.sha256(key.encode()).hexdigest()


class Keys:
    """Keyed hashes (HMAC) with one secret, the same after every start.

    Examples
    --------
    >>> keys = Keys("secret")
    >>> cookie = keys.sign("a sitting's id")
    >>> keys.signed(cookie), keys.signed(cookie[:-1])
    ("a sitting's id", None)
    """

    def __init__(self, secret: str) -> None:
        self._secret = secret.encode()

    def _hash(self, purpose: str, text: str) -> str:
        return hmac.new(self._secret, f"{purpose}:{text}".encode(), hashlib.sha256).hexdigest()

    @property
    def token(self) -> str:
        """The token that opens the experimenter's page."""
        return self._hash("token", "experimenter")[:32]

    def opens(self, token: str | None) -> bool:
        """Whether this is the token."""
        return token is not None and hmac.compare_digest(token.encode(), self.token.encode())

    def sign(self, text: str) -> str:
        """The text with its signature, which needs the secret."""
        return f"{text}.{self._hash('sitting', text)}"

    def signed(self, cookie: str | None) -> str | None:
        """The text of a cookie with a valid signature, else None."""
        text, _, claimed = (cookie or "").rpartition(".")
        right = hmac.compare_digest(claimed.encode(), self._hash("sitting", text).encode())
        return text if text and right else None

    def tag(self, text: str) -> str:
        """A short keyed hash of a text, which reveals nothing about it."""
        return self._hash("tag", text)[:16]

    def simulation(self, participant: str) -> str:
        """What proves that a participant is simulated: whoever runs the study can make it, participants can't."""
        return self._hash("simulated", participant)

    def media(self, names: Sequence[str]) -> dict[str, str]:
        """The items' names by ids, keyed hashes that reveal nothing about the items."""
        return {self._hash("media", name)[:32]: name for name in names}
