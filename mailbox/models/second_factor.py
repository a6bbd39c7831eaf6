from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings
from django_otp.plugins.otp_static.models import StaticDevice
from django_otp.plugins.otp_totp.models import TOTPDevice

from mailbox.words import secret_box
from mailbox.words.secret_box import UnreadableSecretError

if TYPE_CHECKING:
    from django.db.models import Manager


class SecondFactor(TOTPDevice):  # type: ignore[misc]  # its package has no types
    """The authenticator app of a person, by RFC 6238. Its row keeps the key sealed.

    A person has at most one confirmed row, and at most one row that waits for its first code.
    """

    if TYPE_CHECKING:
        objects: Manager[SecondFactor]

    class Meta:
        proxy = True

    @property
    def bin_key(self) -> bytes:
        """The key of the codes. Raises `UnreadableSecretError` if the hub has lost its SECRET_KEY."""
        return secret_box.unseal_key(self.key)

    @property
    def is_readable(self) -> bool:
        """Whether the key can be decrypted. If the hub has lost its SECRET_KEY, the recovery codes still count."""
        try:
            return bool(self.bin_key)
        except UnreadableSecretError:
            return False

    @property
    def address(self) -> str:
        """The address that an authenticator app reads from the QR code."""
        address: str = self.config_url
        return address

    def _read_str_from_settings(self, key: str) -> str | None:
        """Return the hub's name as the issuer. django-otp would read it from a setting of its own."""
        return settings.A2A_HUB_NAME if key == "OTP_TOTP_ISSUER" else None


class RecoveryCodes(StaticDevice):  # type: ignore[misc]
    """The recovery codes of a person. Its tokens are digests: the hub does not keep the codes."""

    if TYPE_CHECKING:
        objects: Manager[RecoveryCodes]

    class Meta:
        proxy = True
