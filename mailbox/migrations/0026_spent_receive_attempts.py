"""Let a receive attempt name the rows of one receive call for ever, also after they have ended or were acknowledged.

Earlier versions let a client use the id again after the end. Of the rows that shared a place in one attempt, the newest
keeps the id. The others lose it: no client can repeat their call.

The previous version runs beside this schema. If a client uses a spent id there, the constraint stops the receive. The
client reads an internal error, and nothing is taken.
"""

from django.db import migrations, models
from django.db.models import F, Q, Window
from django.db.models.functions import RowNumber

PLACE = ("receive_attempt_id", "receive_index")


def keep_the_newest(apps, schema_editor) -> None:
    """Clear the id of older rows, in one statement for each table."""
    unacknowledged_first = F("delivery").desc()  # "delivered" before "acked": its client may still repeat the call
    lease, result = apps.get_model("mailbox", "Lease"), apps.get_model("mailbox", "Result")
    _clear_older(lease, "holder", F("id").desc())
    _clear_older(result, "sender", unacknowledged_first, F("delivered_at").desc(), F("id").desc())


def _clear_older(model, caller, *newest_first) -> None:
    number = Window(RowNumber(), partition_by=[caller, *PLACE], order_by=newest_first)
    numbered = model.objects.filter(receive_attempt_id__isnull=False).annotate(number=number)
    older = numbered.filter(number__gt=1).values("id")
    model.objects.filter(id__in=older).update(receive_attempt_id=None)


def unique(model, caller, condition):
    name = f"{model}_receive_attempt_unique"
    constraint = models.UniqueConstraint(fields=[caller, *PLACE], condition=condition, name=name)
    return migrations.AddConstraint(model_name=model, constraint=constraint)


class Migration(migrations.Migration):
    dependencies = [("mailbox", "0025_jobs_by_their_new_names")]
    operations = [
        migrations.RemoveConstraint(model_name="lease", name="lease_receive_attempt_unique"),
        migrations.RemoveConstraint(model_name="result", name="result_receive_attempt_unique"),
        migrations.RunPython(keep_the_newest, migrations.RunPython.noop),
        unique("lease", "holder", Q(receive_attempt_id__isnull=False)),
        unique("result", "sender", Q(receive_attempt_id__isnull=False)),
    ]
