"""The tables of version 1.0.0. The hub refuses a database of an earlier version, which 1.0.0 has to migrate first."""

import agentcards.fields
import agentcards.models.validation
import django.core.validators
import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    replaces = [
        ("agentcards", "0001_initial"),
        ("agentcards", "0002_profile_names_and_card_owners"),
        ("agentcards", "0003_base_urls_of_remote_agents"),
        ("agentcards", "0004_remote_calls"),
        ("agentcards", "0005_remote_outages"),
        ("agentcards", "0006_sealed_remote_urls"),
        ("agentcards", "0007_official_cards"),
        ("agentcards", "0008_remote_conversations"),
    ]

    dependencies = [("mailbox", "0001_squashed_0044_sums_of_all_minutes")]

    operations = [
        migrations.CreateModel(
            name="AgentCard",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("job_id", models.CharField(max_length=200, unique=True)),
                ("name", models.CharField(max_length=200, unique=True)),
                ("description", models.TextField()),
                ("skills", models.JSONField(default=list)),
                ("registered_at", models.DateTimeField()),
                ("registered_by", models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name="+", to="mailbox.agent")),
            ],
        ),
        migrations.CreateModel(
            name="RemoteCard",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("url", models.CharField(max_length=600, unique=True)),
                ("document", models.TextField()),
                ("fetched_at", models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name="Tool",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=200, unique=True, validators=[agentcards.models.validation.validate_storable])),
                ("description", models.TextField(blank=True, validators=[django.core.validators.MaxLengthValidator(20000), agentcards.models.validation.validate_storable])),
                ("tags", models.JSONField(blank=True, default=list, validators=[agentcards.models.validation.validate_names])),
                ("is_default", models.BooleanField(default=False)),
            ],
        ),
        migrations.CreateModel(
            name="AgentProfile",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("description", models.TextField(blank=True, validators=[django.core.validators.MaxLengthValidator(20000), agentcards.models.validation.validate_storable])),
                ("persona_archetype", models.CharField(blank=True, max_length=100, validators=[agentcards.models.validation.validate_storable])),
                ("skill_bundles", models.JSONField(blank=True, default=list, validators=[agentcards.models.validation.validate_names])),
                ("default_project", models.CharField(blank=True, max_length=200, validators=[agentcards.models.validation.validate_storable])),
                ("tool_permissions", models.JSONField(blank=True, null=True, validators=[agentcards.models.validation.validate_names])),
                ("wallet_address", models.CharField(blank=True, max_length=200, validators=[agentcards.models.validation.validate_storable])),
                ("remote_url", agentcards.fields.SealedUrlField(blank=True, max_length=500, validators=[agentcards.models.validation.validate_base_url])),
                ("agent", models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name="profile", to="mailbox.agent")),
                ("name", models.CharField(blank=True, max_length=200, validators=[agentcards.models.validation.validate_storable])),
                ("card_for_0_3", models.BooleanField(db_default=True, default=True)),
                ("card_version", models.CharField(blank=True, db_default="", default="", max_length=100, validators=[agentcards.models.validation.validate_storable])),
                ("changed_at", models.DateTimeField(editable=False, null=True)),
                ("documentation_url", models.CharField(blank=True, db_default="", default="", max_length=500, validators=[agentcards.models.validation.validate_web_url])),
                ("extended_card", models.BooleanField(db_default=True, default=True)),
                ("extended_tools", models.JSONField(blank=True, db_default=models.Value([], models.JSONField()), default=list, validators=[agentcards.models.validation.validate_names])),
                ("extensions", models.JSONField(blank=True, db_default=models.Value([], models.JSONField()), default=list, validators=[agentcards.models.validation.validate_extensions])),
                ("icon_url", models.CharField(blank=True, db_default="", default="", max_length=500, validators=[agentcards.models.validation.validate_web_url])),
                ("input_modes", models.JSONField(blank=True, db_default=models.Value([], models.JSONField()), default=list, validators=[agentcards.models.validation.validate_media_types])),
                ("output_modes", models.JSONField(blank=True, db_default=models.Value([], models.JSONField()), default=list, validators=[agentcards.models.validation.validate_media_types])),
                ("push_notifications", models.BooleanField(db_default=True, default=True)),
                ("streaming", models.BooleanField(db_default=True, default=True)),
                ("card_key", agentcards.fields.SealedKeyField(blank=True, db_default="", default="", editable=False, max_length=4000, validators=[agentcards.models.validation.validate_key])),
                ("card_url", agentcards.fields.SealedUrlField(blank=True, db_default="", default="", max_length=500, validators=[agentcards.models.validation.validate_base_url])),
            ],
        ),
        migrations.CreateModel(
            name="RemoteCall",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("base_url", agentcards.fields.SealedUrlField(max_length=500)),
                ("remote_task_id", models.CharField(max_length=500, null=True)),
                ("began_at", models.DateTimeField()),
                ("gives_up_at", models.DateTimeField()),
                ("next_look_at", models.DateTimeField(null=True)),
                ("messages_seen", models.PositiveIntegerField(default=0)),
                ("lease", models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name="remote_call", to="mailbox.lease")),
                ("protocol", models.CharField(choices=[("corvid", "Corvid"), ("official", "Official")], db_default="corvid", default="corvid", max_length=10)),
            ],
            options={
                "indexes": [
                    models.Index(fields=["next_look_at"], name="remote_call_due"),
                ],
            },
        ),
        migrations.CreateModel(
            name="RemoteOutage",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("base_url", models.CharField(max_length=500)),
                ("since", models.DateTimeField()),
                ("next_call_at", models.DateTimeField()),
                ("agent", models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name="remote_outage", to="mailbox.agent")),
            ],
        ),
        migrations.CreateModel(
            name="RemoteConversation",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("interface_url", models.CharField(max_length=500)),
                ("binding", models.CharField(max_length=20)),
                ("tenant", models.CharField(default="", max_length=200)),
                ("streams", models.BooleanField()),
                ("key_header", models.CharField(max_length=100)),
                ("is_hub", models.BooleanField()),
                ("remote_task_id", models.CharField(max_length=500, null=True)),
                ("remote_context_id", models.CharField(default="", max_length=500)),
                ("told_turn", models.PositiveIntegerField(default=0)),
                ("asked", models.CharField(default="", max_length=600)),
                ("has_ended", models.BooleanField(default=False)),
                ("next_look_at", models.DateTimeField(null=True)),
                ("task", models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name="remote_conversation", to="mailbox.task")),
            ],
        ),
    ]
