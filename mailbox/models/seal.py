from __future__ import annotations

from typing import ClassVar

from django.db import models

from mailbox.database.managers import managed_by
from mailbox.words import sealed
from mailbox.words.sealed import Block


class SealQuerySet(models.QuerySet["Seal"]):
    def newest(self) -> Seal | None:
        """Return the seal of the newest block; None before the first."""
        return self.order_by("-last_id").first()

    def after(self, block: Block | None) -> Seal | None:
        """Return the seal that follows ``block``, or the first seal; None if there is none."""
        seals = self if block is None else self.filter(first_id__gt=block.first_id)
        return seals.order_by("first_id").first()

    def over(self, row: int) -> Seal | None:
        """Return the seal of the block that the row with this id belongs to; None if it is not sealed."""
        return self.filter(last_id__gte=row, first_id__lte=row).first()


class SealHead(models.Model):
    """The newest block, in the only row. It tells that seals were deleted where no file has the head."""

    last_id = models.BigIntegerField()  # of the block's last row
    hash = models.CharField(max_length=64)

    def __str__(self) -> str:
        return f"row {self.last_id}"


class Seal(models.Model):
    """The seal of a block of journal rows: all rows with an id from ``first_id`` to ``last_id``.

    ``first_id`` is the id after the block before, also if no row has it: a row inserted there later breaks the seal.
    """

    first_id = models.BigIntegerField(unique=True)
    last_id = models.BigIntegerField(unique=True)  # of the block's last row
    count = models.PositiveIntegerField()  # rows; ids that were rolled back belong to no row
    root = models.CharField(max_length=64)  # the Merkle root of the rows, in hexadecimal
    previous = models.CharField(max_length=64, unique=True)  # the hash of the block before; `NO_BLOCK` for the first
    sealed_at = models.DateTimeField()
    signature = models.CharField(max_length=128)  # Ed25519, in hexadecimal
    form = models.PositiveSmallIntegerField()  # which columns the hash of a row covers: `sealed.FORMS`
    marks = models.BinaryField()  # for each row its id and the first 8 bytes of its hash, so that a wrong row is named
    key = models.CharField(max_length=64)  # the public key of the signature, in hexadecimal

    objects: ClassVar[SealQuerySet] = managed_by(SealQuerySet)

    def __str__(self) -> str:
        return f"rows {self.first_id} to {self.last_id}"

    @property
    def block(self) -> Block:
        """The block as it is hashed and signed. Raises TypeError for a value of a wrong type."""
        return Block(
            form=self.form,
            first_id=self.first_id,
            last_id=self.last_id,
            count=self.count,
            root=self.root,
            previous=self.previous,
            sealed_at=str(sealed.plain(self.sealed_at)),
            marks=bytes(self.marks),
            key=self.key,
            signature=self.signature,
        )
