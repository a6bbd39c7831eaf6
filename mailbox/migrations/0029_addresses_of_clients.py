from django.db import migrations, models

# Django would rebuild the table on SQLite: a copy of the whole journal, without its triggers.
FORWARDS = "ALTER TABLE mailbox_auditevent ADD COLUMN address text NOT NULL DEFAULT ''"
BACKWARDS = "ALTER TABLE mailbox_auditevent DROP COLUMN address"


class Migration(migrations.Migration):

    dependencies = [
        ('mailbox', '0028_last_passes'),
    ]

    operations = [
        migrations.RunSQL(
            FORWARDS,
            BACKWARDS,
            state_operations=[
                migrations.AddField(
                    model_name='auditevent',
                    name='address',
                    field=models.TextField(blank=True, db_default='', default=''),
                ),
            ],
        ),
    ]
