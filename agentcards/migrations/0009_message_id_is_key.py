from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('agentcards', '0001_squashed_0008_remote_conversations'),
    ]

    operations = [
        migrations.AddField(
            model_name='agentprofile',
            name='message_id_is_key',
            field=models.BooleanField(db_default=False, default=False),
        ),
    ]
