"""The tables of version 1.0.0. The hub refuses a database of an earlier version, which 1.0.0 has to migrate first."""

import django.db.models.deletion
import django.db.models.functions.text
import uuid
from django.conf import settings
from django.db import migrations, models

ROLES = ("viewer", "operator", "admin")

# Django would declare `bool` on SQLite. Then the same value would be an integer or a bool, by the age of the database.
BOOLEANS = (
    "ALTER TABLE mailbox_task ADD COLUMN converses boolean NOT NULL DEFAULT false",
    "ALTER TABLE mailbox_task ADD COLUMN reads_result boolean NOT NULL DEFAULT false",
    "ALTER TABLE mailbox_task ADD COLUMN turn integer NOT NULL DEFAULT 1",
    "ALTER TABLE mailbox_task ADD COLUMN is_direct boolean NOT NULL DEFAULT false",
    "ALTER TABLE mailbox_result ADD COLUMN has_more boolean NOT NULL DEFAULT false",
)
WITHOUT_BOOLEANS = (
    "ALTER TABLE mailbox_result DROP COLUMN has_more",
    "ALTER TABLE mailbox_task DROP COLUMN is_direct",
    "ALTER TABLE mailbox_task DROP COLUMN turn",
    "ALTER TABLE mailbox_task DROP COLUMN reads_result",
    "ALTER TABLE mailbox_task DROP COLUMN converses",
)

# The version before deletes webhooks with their task and does not know that deliveries name them.
WEBHOOK_OF_A_DELIVERY = (
    "ALTER TABLE mailbox_pushdelivery ADD COLUMN config_id bigint NULL"
    " REFERENCES mailbox_pushconfig (id) ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED"
)
WITHOUT_WEBHOOK = "ALTER TABLE mailbox_pushdelivery DROP COLUMN config_id"

# The journal allows one update: the data of a row becomes a tombstone with its hash. A newer row names the erased row.
# SQLite has no hash of its own; Django gives its connections SHA256. Without that function, as in SQLite's shell, each
# update fails. SQLite needs PRAGMA recursive_triggers=ON beside this, or INSERT OR REPLACE deletes unseen (a2a.E002).
SQLITE = (
    """
    CREATE TRIGGER mailbox_auditevent_append_only_delete BEFORE DELETE ON mailbox_auditevent
    BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END
    """,
    """
    CREATE TRIGGER mailbox_auditevent_append_only_update BEFORE UPDATE ON mailbox_auditevent
    WHEN NOT COALESCE((
        NEW.id IS OLD.id AND NEW.kind IS OLD.kind AND NEW.actor IS OLD.actor
        AND NEW.actor_pubkey IS OLD.actor_pubkey AND NEW.task_id IS OLD.task_id AND NEW.seq IS OLD.seq
        AND NEW.at IS OLD.at AND NEW.request_id IS OLD.request_id AND NEW.source IS OLD.source
        AND NEW.address IS OLD.address
        AND OLD.kind <> 'a2a_erased' AND substr(OLD.data, 1, 11) <> '{"erased":"'
        AND EXISTS (
            SELECT 1 FROM mailbox_auditevent backing
            WHERE backing.id = CASE WHEN json_valid(NEW.data) THEN json_extract(NEW.data, '$.by') END
              AND backing.id > OLD.id AND backing.kind = 'a2a_erased'
              AND NEW.data = '{"erased":"' || SHA256(OLD.data) || '","by":' || backing.id || '}'
              AND EXISTS (SELECT 1 FROM json_each(backing.data, '$.rows') WHERE value = OLD.id)
        )
    ), 0)
    BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END
    """,
)
SQLITE_DROP = (
    "DROP TRIGGER mailbox_auditevent_append_only_update",
    "DROP TRIGGER mailbox_auditevent_append_only_delete",
)
POSTGRESQL = (
    r"""
    CREATE FUNCTION mailbox_auditevent_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF TG_OP = 'UPDATE' THEN
        IF to_jsonb(NEW) - 'data' = to_jsonb(OLD) - 'data'
           AND OLD.kind <> 'a2a_erased' AND left(OLD.data, 11) <> '{"erased":"'
           AND NEW.data ~ '^\{"erased":"[0-9a-f]{64}","by":[1-9][0-9]{0,17}\}$' THEN
          IF EXISTS (
            SELECT 1 FROM mailbox_auditevent backing
            WHERE backing.id = substring(NEW.data FROM '"by":([0-9]+)')::bigint
              AND backing.id > OLD.id AND backing.kind = 'a2a_erased'
              AND backing.data::jsonb -> 'rows' @> to_jsonb(OLD.id)
              AND NEW.data = '{"erased":"' || encode(sha256(convert_to(OLD.data, 'UTF8')), 'hex')
                             || '","by":' || backing.id || '}'
          ) THEN
            RETURN NEW;
          END IF;
        END IF;
      END IF;
      RAISE EXCEPTION 'the journal is append-only' USING ERRCODE = 'restrict_violation';
    END $$
    """,
    """
    CREATE TRIGGER mailbox_auditevent_append_only BEFORE UPDATE OR DELETE ON mailbox_auditevent
    FOR EACH ROW EXECUTE FUNCTION mailbox_auditevent_append_only()
    """,
    """
    CREATE TRIGGER mailbox_auditevent_append_only_truncate BEFORE TRUNCATE ON mailbox_auditevent
    FOR EACH STATEMENT EXECUTE FUNCTION mailbox_auditevent_append_only()
    """,
)
POSTGRESQL_DROP = (
    "DROP TRIGGER mailbox_auditevent_append_only ON mailbox_auditevent",
    "DROP TRIGGER mailbox_auditevent_append_only_truncate ON mailbox_auditevent",
    "DROP FUNCTION mailbox_auditevent_append_only()",
)


def protect_journal(apps, schema_editor):
    for statement in POSTGRESQL if schema_editor.connection.vendor == "postgresql" else SQLITE:
        schema_editor.execute(statement)


def unprotect_journal(apps, schema_editor):
    for statement in POSTGRESQL_DROP if schema_editor.connection.vendor == "postgresql" else SQLITE_DROP:
        schema_editor.execute(statement)


def create_roles(apps, schema_editor):
    group = apps.get_model("auth", "Group")
    for name in ROLES:
        group.objects.get_or_create(name=name)


class Migration(migrations.Migration):

    initial = True

    replaces = [
        ("mailbox", "0001_initial"),
        ("mailbox", "0002_append_only_journal"),
        ("mailbox", "0003_roles"),
        ("mailbox", "0004_replay_and_waiting"),
        ("mailbox", "0005_messages"),
        ("mailbox", "0006_rate_windows"),
        ("mailbox", "0007_whole_idempotency"),
        ("mailbox", "0008_callbacks"),
        ("mailbox", "0009_public_routes"),
        ("mailbox", "0010_peers"),
        ("mailbox", "0011_cached_results_by_party_and_key"),
        ("mailbox", "0012_minute_roll_ups"),
        ("mailbox", "0013_callbacks_by_state"),
        ("mailbox", "0014_repair_plans"),
        ("mailbox", "0015_passes_of_the_retry_gate"),
        ("mailbox", "0016_backlogs_and_events_by_source"),
        ("mailbox", "0017_callbacks_given_up_or_to_come"),
        ("mailbox", "0018_lists_at_a_million"),
        ("mailbox", "0019_what_a_limit_counted"),
        ("mailbox", "0020_what_may_be_compacted"),
        ("mailbox", "0021_call_that_said_a_message"),
        ("mailbox", "0022_tasks_of_one_conversation"),
        ("mailbox", "0023_expired_replay_entries"),
        ("mailbox", "0024_the_list_a_plan_was_picked_from"),
        ("mailbox", "0025_jobs_by_their_new_names"),
        ("mailbox", "0026_spent_receive_attempts"),
        ("mailbox", "0027_delivered_results_by_sender"),
        ("mailbox", "0028_last_passes"),
        ("mailbox", "0029_addresses_of_clients"),
        ("mailbox", "0030_capped_by_sender"),
        ("mailbox", "0031_seals"),
        ("mailbox", "0032_stocks_of_agents"),
        ("mailbox", "0033_lives_of_keys"),
        ("mailbox", "0034_own_request_rates"),
        ("mailbox", "0035_signing_keys"),
        ("mailbox", "0036_second_factors"),
        ("mailbox", "0037_erasure"),
        ("mailbox", "0038_conversations"),
        ("mailbox", "0039_indexes_of_conversations"),
        ("mailbox", "0040_indexes_of_questions"),
        ("mailbox", "0041_whole_results"),
        ("mailbox", "0042_webhooks"),
        ("mailbox", "0043_indexes_of_webhooks"),
        ("mailbox", "0044_sums_of_all_minutes"),
    ]

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("auth", "0012_alter_user_first_name_max_length"),
        ("otp_static", "0003_add_timestamps"),
        ("otp_totp", "0003_add_timestamps"),
    ]

    operations = [
        migrations.CreateModel(
            name="Agent",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("display", models.CharField(max_length=200)),
                ("local", models.CharField(db_index=True, max_length=200)),
                ("pubkey", models.CharField(max_length=64, unique=True)),
                ("created_at", models.DateTimeField()),
                ("paused_at", models.DateTimeField(blank=True, null=True)),
                ("paused_reason", models.TextField(blank=True)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("display",), name="agent_display_unique"),
                    models.UniqueConstraint(django.db.models.functions.text.Lower("display"), name="agent_display_unique_ignoring_case"),
                ],
            },
        ),
        migrations.CreateModel(
            name="AuditEvent",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("kind", models.CharField(max_length=60)),
                ("actor", models.CharField(max_length=250)),
                ("actor_pubkey", models.CharField(max_length=64, null=True)),
                ("task_id", models.UUIDField(null=True)),
                ("seq", models.PositiveIntegerField(null=True)),
                ("data", models.TextField()),
                ("at", models.DateTimeField()),
                ("request_id", models.CharField(blank=True, max_length=64)),
                ("source", models.CharField(choices=[("api", "Api"), ("dashboard", "Dashboard"), ("cli", "Cli"), ("scheduler", "Scheduler"), ("local", "Local")], max_length=10)),
                ("address", models.TextField(blank=True, db_default="", default="")),
            ],
            options={
                "indexes": [
                    models.Index(condition=models.Q(("actor_pubkey__isnull", False)), fields=["actor_pubkey", "-id"], name="audit_actor"),
                    models.Index(condition=models.Q(("kind", "a2a_repair_applied")), fields=["-id"], name="audit_repairs"),
                    models.Index(condition=models.Q(("kind", "a2a_auto_retry_scheduler_scan")), fields=["-id"], name="audit_scans"),
                    models.Index(condition=models.Q(("source", "api"), _negated=True), fields=["source", "-id"], name="audit_by_source"),
                    models.Index(condition=models.Q(("kind__in", ["capability_check", "a2a_task_sent", "a2a_task_leased", "a2a_task_updated", "a2a_result_posted", "a2a_result_delivered", "a2a_result_acked"]), _negated=True), fields=["kind", "-id"], name="audit_by_kind"),
                    models.Index(condition=models.Q(("actor_pubkey", None)), fields=["actor", "-id"], name="audit_by_people"),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("task_id", "seq"), name="audit_task_seq_unique"),
                    models.CheckConstraint(condition=models.Q(("seq", None), ("task_id__isnull", False), _connector="OR"), name="audit_seq_needs_task"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Task",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("uuid", models.UUIDField(default=uuid.uuid4, unique=True)),
                ("intent_text", models.TextField()),
                ("task_kind", models.CharField(max_length=500, null=True)),
                ("parent", models.UUIDField(null=True)),
                ("deadline_ms", models.BigIntegerField(null=True)),
                ("duplicate_safety", models.CharField(max_length=10, null=True)),
                ("idempotency_key", models.CharField(max_length=500, null=True)),
                ("context_id", models.CharField(max_length=500, null=True)),
                ("metadata", models.TextField(default="{}")),
                ("source", models.CharField(default="agent", max_length=5)),
                ("work_timeout", models.DurationField(null=True)),
                ("state", models.CharField(choices=[("queued", "Queued"), ("in_flight", "In Flight"), ("interrupted", "Interrupted"), ("resolved", "Resolved")], default="queued", max_length=12)),
                ("outcome", models.CharField(choices=[("ok", "Ok"), ("partial", "Partial"), ("error", "Error"), ("cancelled", "Cancelled"), ("rejected", "Rejected"), ("expired", "Expired")], max_length=10, null=True)),
                ("attempt", models.PositiveIntegerField(default=0)),
                ("sent_at", models.DateTimeField()),
                ("queued_at", models.DateTimeField()),
                ("resolved_at", models.DateTimeField(null=True)),
                ("journal_seq", models.PositiveIntegerField(default=1)),
                ("recipient", models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="mailbox.agent")),
                ("sender", models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="mailbox.agent")),
                ("cache_key", models.CharField(max_length=64, null=True)),
                ("dialect", models.CharField(default="mailbox", max_length=20)),
                ("waits_on", models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="mailbox.task")),
                ("calls_back", models.BooleanField(db_default=False, default=False)),
                ("size", models.IntegerField(db_default=0, default=0)),
                ("awaits", models.CharField(choices=[("input", "Input"), ("authorization", "Authorization")], max_length=13, null=True)),
                ("status_at", models.DateTimeField(null=True)),
            ],
            options={
                "indexes": [
                    models.Index(condition=models.Q(("state", "queued")), fields=["sender", "queued_at", "id"], name="task_queued_by_sender"),
                    models.Index(condition=models.Q(("parent__isnull", False)), fields=["parent"], name="task_children"),
                    models.Index(condition=models.Q(("waits_on__isnull", False)), fields=["waits_on"], name="task_waiters"),
                    models.Index(condition=models.Q(("state", "queued"), ("waits_on", None)), fields=["recipient", "queued_at", "id"], name="task_lease_order"),
                    models.Index(condition=models.Q(("dialect", "mailbox"), _negated=True), fields=["dialect", "id"], name="task_by_dialect"),
                    models.Index(condition=models.Q(("idempotency_key__isnull", False)), fields=["idempotency_key", "-id"], name="task_by_idempotency_key"),
                    models.Index(condition=models.Q(("state", "queued"), ("waits_on__isnull", False)), fields=["recipient"], name="task_waiting_for"),
                    models.Index(fields=["recipient", "id"], name="task_by_recipient"),
                    models.Index(fields=["sender", "id"], name="task_by_sender"),
                    models.Index(condition=models.Q(models.Q(("outcome", "ok"), _negated=True), ("outcome__isnull", False)), fields=["outcome", "id"], name="task_not_ok"),
                    models.Index(condition=models.Q(("task_kind__isnull", False)), fields=["task_kind", "id"], name="task_by_kind"),
                    models.Index(condition=models.Q(("context_id__isnull", False)), fields=["context_id", "-id"], name="task_by_context"),
                    models.Index(condition=models.Q(("dialect", "mailbox"), _negated=True), fields=["sender", "dialect", "id"], name="task_by_sender_and_dialect"),
                    models.Index(condition=models.Q(("deadline_ms__isnull", False), ("state__in", ["queued", "interrupted"])), fields=["deadline_ms"], name="task_open_by_deadline"),
                    models.Index(condition=models.Q(("state", "interrupted")), fields=["id"], name="task_interrupted"),
                    models.Index(condition=models.Q(("dialect", "a2a")), fields=["sender", "recipient", "-status_at", "-id"], name="task_by_status_time"),
                    models.Index(condition=models.Q(("state", "interrupted")), fields=["recipient", "status_at"], name="task_questions_of"),
                    models.Index(condition=models.Q(("state", "interrupted")), fields=["sender", "status_at"], name="task_questions_to"),
                ],
                "constraints": [
                    models.CheckConstraint(condition=models.Q(models.Q(("outcome__isnull", False), ("resolved_at__isnull", False), ("state", "resolved")), models.Q(models.Q(("state", "resolved"), _negated=True), ("outcome", None), ("resolved_at", None)), _connector="OR"), name="task_resolved_at_iff_resolved"),
                    models.CheckConstraint(condition=models.Q(("deadline_ms", None), ("deadline_ms__gte", 0), _connector="OR"), name="task_deadline_not_negative"),
                    models.CheckConstraint(condition=models.Q(models.Q(("state", "in_flight"), _negated=True), ("attempt__gte", 1), _connector="OR"), name="task_in_flight_has_attempt"),
                    models.CheckConstraint(condition=models.Q(("waits_on", None), ("state", "queued"), _connector="OR"), name="task_waits_only_in_queue"),
                    models.CheckConstraint(condition=models.Q(models.Q(("duplicate_safety", None), ("idempotency_key", None)), models.Q(("duplicate_safety__in", ["unsafe", "idempotent"]), ("duplicate_safety__isnull", False), ("idempotency_key__isnull", False)), _connector="OR"), name="task_idempotency_is_whole"),
                    models.CheckConstraint(condition=models.Q(models.Q(("awaits__in", ["input", "authorization"]), ("awaits__isnull", False), ("state", "interrupted")), models.Q(models.Q(("state", "interrupted"), _negated=True), ("awaits", None)), _connector="OR"), name="task_awaits_iff_interrupted"),
                    models.UniqueConstraint(condition=models.Q(("cache_key__isnull", False), ("state__in", ["queued", "in_flight", "interrupted"]), ("waits_on", None)), fields=("cache_key",), name="task_one_leader_per_cache_key"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Result",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("status", models.CharField(choices=[("ok", "Ok"), ("error", "Error"), ("partial", "Partial")], max_length=10)),
                ("content", models.TextField(default="[]")),
                ("error_message", models.TextField(null=True)),
                ("posted_at", models.DateTimeField()),
                ("delivery", models.CharField(choices=[("pending", "Pending"), ("delivered", "Delivered"), ("acked", "Acked")], default="pending", max_length=10)),
                ("delivered_at", models.DateTimeField(null=True)),
                ("acked_at", models.DateTimeField(null=True)),
                ("receive_attempt_id", models.UUIDField(null=True)),
                ("receive_index", models.PositiveSmallIntegerField(default=0)),
                ("posted_by", models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="mailbox.agent")),
                ("recipient", models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="mailbox.agent")),
                ("sender", models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="mailbox.agent")),
                ("task", models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name="result", to="mailbox.task")),
                ("replayed_from", models.UUIDField(null=True)),
                ("shown_at", models.DateTimeField(null=True)),
            ],
            options={
                "indexes": [
                    models.Index(condition=models.Q(("delivery", "pending")), fields=["sender", "posted_at", "id"], name="result_pending_by_sender"),
                    models.Index(condition=models.Q(("status", "ok"), _negated=True), fields=["status", "id"], name="result_not_ok"),
                    models.Index(condition=models.Q(("delivery", "acked")), fields=["acked_at"], name="result_acked"),
                    models.Index(condition=models.Q(("delivery", "delivered")), fields=["delivered_at"], name="result_delivered"),
                    models.Index(condition=models.Q(("delivery", "delivered")), fields=["sender", "delivered_at", "id"], name="result_delivered_by_sender"),
                ],
                "constraints": [
                    models.CheckConstraint(condition=models.Q(models.Q(("acked_at__isnull", False), ("delivery", "acked")), models.Q(models.Q(("delivery", "acked"), _negated=True), ("acked_at", None)), _connector="OR"), name="result_acked_at_iff_acked"),
                    models.UniqueConstraint(condition=models.Q(("receive_attempt_id__isnull", False)), fields=("sender", "receive_attempt_id", "receive_index"), name="result_receive_attempt_unique"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Lease",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("lease_id", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ("attempt", models.PositiveIntegerField()),
                ("leased_at", models.DateTimeField()),
                ("last_seen_at", models.DateTimeField()),
                ("ended_at", models.DateTimeField(null=True)),
                ("end", models.CharField(choices=[("result", "Result"), ("requeue", "Requeue"), ("auto_requeue", "Auto Requeue"), ("force_error", "Force Error"), ("release", "Release"), ("cancel", "Cancel"), ("expired", "Expired"), ("asked", "Asked")], max_length=20, null=True)),
                ("receive_attempt_id", models.UUIDField(null=True)),
                ("receive_index", models.PositiveSmallIntegerField(default=0)),
                ("holder", models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="mailbox.agent")),
                ("task", models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="leases", to="mailbox.task")),
                ("times_out_at", models.DateTimeField(null=True)),
            ],
            options={
                "indexes": [
                    models.Index(condition=models.Q(("ended_at", None)), fields=["holder", "leased_at"], name="lease_live_by_holder"),
                    models.Index(condition=models.Q(("ended_at", None)), fields=["leased_at"], name="lease_live_by_age"),
                    models.Index(condition=models.Q(("ended_at", None), ("times_out_at__isnull", False)), fields=["times_out_at"], name="lease_live_by_timeout"),
                ],
                "constraints": [
                    models.UniqueConstraint(condition=models.Q(("ended_at", None)), fields=("task",), name="lease_one_live_per_task"),
                    models.UniqueConstraint(fields=("task", "attempt"), name="lease_attempt_unique"),
                    models.CheckConstraint(condition=models.Q(models.Q(("end", None), ("ended_at", None)), models.Q(("end__isnull", False), ("ended_at__isnull", False)), _connector="OR"), name="lease_end_iff_ended"),
                    models.UniqueConstraint(condition=models.Q(("receive_attempt_id__isnull", False)), fields=("holder", "receive_attempt_id", "receive_index"), name="lease_receive_attempt_unique"),
                ],
            },
        ),
        migrations.CreateModel(
            name="ApiKey",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("public_id", models.CharField(max_length=8, unique=True)),
                ("digest", models.CharField(max_length=64)),
                ("created_at", models.DateTimeField()),
                ("expires_at", models.DateTimeField(blank=True, null=True)),
                ("revoked_at", models.DateTimeField(blank=True, null=True)),
                ("last_used_at", models.DateTimeField(blank=True, null=True)),
                ("agent", models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name="keys", to="mailbox.agent")),
                ("user", models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL)),
                ("made_by", models.CharField(blank=True, db_default="", default="", max_length=8)),
                ("renews", models.BooleanField(db_default=False, default=False)),
                ("replaces", models.CharField(blank=True, db_default="", default="", max_length=8)),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(condition=models.Q(models.Q(("agent", None), ("user__isnull", False)), models.Q(("agent__isnull", False), ("user", None)), _connector="OR"), name="api_key_belongs_to_agent_or_user"),
                ],
            },
        ),
        migrations.CreateModel(
            name="CapabilityGrant",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("grant_id", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ("action", models.CharField(max_length=300)),
                ("scope", models.TextField(default="{}")),
                ("expires_at", models.DateTimeField(blank=True, null=True)),
                ("max_uses", models.PositiveIntegerField(blank=True, null=True)),
                ("uses", models.PositiveIntegerField(default=0)),
                ("granted_by", models.CharField(max_length=250)),
                ("created_at", models.DateTimeField()),
                ("revoked_at", models.DateTimeField(blank=True, null=True)),
                ("passed_on_from", models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, to="mailbox.capabilitygrant")),
                ("subject", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="grants", to="mailbox.agent")),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("max_uses", None), ("uses__lte", models.F("max_uses")), _connector="OR"), name="grant_uses_within_max"),
                ],
            },
        ),
        migrations.CreateModel(
            name="ReplayEntry",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("cache_key", models.CharField(max_length=64, unique=True)),
                ("sender_pubkey", models.CharField(max_length=64)),
                ("recipient_pubkey", models.CharField(max_length=64)),
                ("task_kind", models.TextField()),
                ("key", models.CharField(max_length=500)),
                ("source_task_id", models.UUIDField()),
                ("status", models.CharField(max_length=10)),
                ("content", models.TextField()),
                ("error_message", models.TextField(null=True)),
                ("stored_at", models.DateTimeField()),
                ("expires_at", models.DateTimeField(null=True)),
                ("hits", models.PositiveIntegerField(default=0)),
                ("last_hit_at", models.DateTimeField(null=True)),
                ("first_hit_at", models.DateTimeField(null=True)),
                ("parts", models.TextField(db_default="{}", default="{}")),
            ],
            options={
                "verbose_name_plural": "replay entries",
                "indexes": [
                    models.Index(fields=["sender_pubkey", "-id"], name="replay_by_sender"),
                    models.Index(fields=["recipient_pubkey", "-id"], name="replay_by_recipient"),
                    models.Index(fields=["key", "-id"], name="replay_by_key"),
                    models.Index(condition=models.Q(("expires_at__isnull", False)), fields=["expires_at"], name="replay_by_expiry"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Message",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("seq", models.PositiveIntegerField()),
                ("content", models.TextField()),
                ("said_at", models.DateTimeField()),
                ("task", models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="messages", to="mailbox.task")),
                ("post_attempt_id", models.UUIDField(null=True)),
                ("role", models.CharField(choices=[("agent", "Agent"), ("user", "User")], db_default="agent", default="agent", max_length=5)),
                ("message_id", models.TextField(blank=True, db_default="", default="")),
                ("extra", models.TextField(db_default="{}", default="{}")),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("task", "seq"), name="message_seq_unique"),
                ],
                "indexes": [
                    models.Index(condition=models.Q(("post_attempt_id__isnull", False)), fields=["task", "post_attempt_id"], name="message_by_attempt"),
                ],
            },
        ),
        migrations.CreateModel(
            name="RateWindow",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key", models.CharField(max_length=300, unique=True)),
                ("started_at", models.DateTimeField()),
                ("counted", models.TextField(default="[]")),
            ],
        ),
        migrations.CreateModel(
            name="PushConfig",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("url", models.TextField()),
                ("sealed_secret", models.TextField(null=True)),
                ("task", models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="push_configs", to="mailbox.task")),
                ("config_id", models.CharField(blank=True, db_default="", default="", max_length=200)),
                ("protocol", models.CharField(choices=[("callback", "Callback"), ("1.0", "V1 0"), ("0.3", "V0 3")], db_default="callback", default="callback", max_length=8)),
                ("sealed_token", models.TextField(null=True)),
                ("auth_scheme", models.TextField(null=True)),
                ("sealed_credentials", models.TextField(null=True)),
                ("told_seq", models.PositiveIntegerField(db_default=0, default=0)),
                ("told_part", models.PositiveSmallIntegerField(db_default=2, default=2)),
                ("next_attempt_at", models.DateTimeField(null=True)),
                ("failures", models.PositiveIntegerField(db_default=0, default=0)),
                ("disabled_at", models.DateTimeField(null=True)),
                ("created_at", models.DateTimeField(null=True)),
            ],
            options={
                "indexes": [
                    models.Index(condition=models.Q(("next_attempt_at__isnull", False)), fields=["next_attempt_at"], name="push_config_open"),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("task", "config_id"), name="push_config_id_unique"),
                ],
            },
        ),
        migrations.CreateModel(
            name="PushDelivery",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("delivery_id", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ("task_uuid", models.UUIDField(db_index=True)),
                ("url", models.TextField()),
                ("sealed_secret", models.TextField(null=True)),
                ("body", models.TextField()),
                ("created_at", models.DateTimeField()),
                ("state", models.CharField(choices=[("pending", "Pending"), ("telling", "Telling"), ("delivered", "Delivered"), ("disabled", "Disabled")], default="pending", max_length=10)),
                ("attempts", models.PositiveIntegerField(default=0)),
                ("forgiven", models.PositiveIntegerField(default=0)),
                ("next_attempt_at", models.DateTimeField()),
                ("delivered_at", models.DateTimeField(null=True)),
                ("sender", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+", to="mailbox.agent")),
            ],
            options={
                "verbose_name_plural": "push deliveries",
                "indexes": [
                    models.Index(condition=models.Q(("state", "pending")), fields=["next_attempt_at"], name="push_due"),
                    models.Index(condition=models.Q(("state", "pending"), ("state", "disabled"), _connector="OR"), fields=["state", "-id"], name="push_by_state"),
                    models.Index(condition=models.Q(("state", "telling")), fields=["-id"], name="push_telling"),
                ],
                            },
        ),
        migrations.CreateModel(
            name="PushAttempt",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField()),
                ("at", models.DateTimeField()),
                ("status", models.PositiveSmallIntegerField(null=True)),
                ("problem", models.TextField(blank=True)),
                ("delivery", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="log", to="mailbox.pushdelivery")),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("delivery", "number"), name="push_attempt_number_unique"),
                ],
            },
        ),
        migrations.CreateModel(
            name="PublicRoute",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("public_id", models.CharField(max_length=8, unique=True)),
                ("digest", models.CharField(max_length=64)),
                ("rate_limit", models.PositiveIntegerField()),
                ("created_at", models.DateTimeField()),
                ("revoked_at", models.DateTimeField(blank=True, null=True)),
                ("last_used_at", models.DateTimeField(blank=True, null=True)),
                ("agent", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="routes", to="mailbox.agent")),
            ],
        ),
        migrations.CreateModel(
            name="Peer",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("peer_id", models.CharField(max_length=200)),
                ("name", models.CharField(blank=True, max_length=200)),
                ("url", models.CharField(blank=True, max_length=500)),
                ("capabilities", models.TextField(default="[]")),
                ("first_seen_at", models.DateTimeField()),
                ("last_seen_at", models.DateTimeField()),
                ("left_at", models.DateTimeField(null=True)),
                ("agent", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="peers", to="mailbox.agent")),
            ],
            options={
                "indexes": [
                    models.Index(fields=["-last_seen_at", "-id"], name="peer_last_seen"),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("agent", "peer_id"), name="peer_unique_per_agent"),
                ],
            },
        ),
        migrations.CreateModel(
            name="RollUpTurn",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("queued_in", models.PositiveBigIntegerField(db_default=0, default=0)),
                ("leased", models.PositiveBigIntegerField(db_default=0, default=0)),
                ("ok", models.PositiveBigIntegerField(db_default=0, default=0)),
                ("partial", models.PositiveBigIntegerField(db_default=0, default=0)),
                ("error", models.PositiveBigIntegerField(db_default=0, default=0)),
                ("replayed", models.PositiveBigIntegerField(db_default=0, default=0)),
                ("waits", models.TextField(db_default="{}", default="{}")),
                ("runs", models.TextField(db_default="{}", default="{}")),
            ],
        ),
        migrations.CreateModel(
            name="RollUp",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("minute", models.DateTimeField()),
                ("queued_in", models.PositiveIntegerField(default=0)),
                ("leased", models.PositiveIntegerField(default=0)),
                ("ok", models.PositiveIntegerField(default=0)),
                ("partial", models.PositiveIntegerField(default=0)),
                ("error", models.PositiveIntegerField(default=0)),
                ("replayed", models.PositiveIntegerField(default=0)),
                ("waits", models.TextField(default="{}")),
                ("runs", models.TextField(default="{}")),
                ("is_open", models.BooleanField(default=False)),
                ("last_task", models.BigIntegerField(null=True)),
                ("last_lease", models.BigIntegerField(null=True)),
                ("last_result", models.BigIntegerField(null=True)),
                ("last_event", models.BigIntegerField(null=True)),
                ("agent", models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.CASCADE, related_name="+", to="mailbox.agent")),
            ],
            options={
                "indexes": [
                    models.Index(fields=["minute"], name="roll_up_minute"),
                    models.Index(condition=models.Q(("is_open", True)), fields=["minute", "agent"], name="roll_up_open"),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("agent", "minute"), name="roll_up_once_per_agent_and_minute"),
                    models.UniqueConstraint(condition=models.Q(("agent", None)), fields=("minute",), name="roll_up_once_per_minute"),
                ],
            },
        ),
        migrations.CreateModel(
            name="RepairPlan",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("token", models.UUIDField(unique=True)),
                ("verb", models.CharField(choices=[("requeue", "Requeue"), ("force_error", "Force Error")], max_length=20)),
                ("query", models.CharField(blank=True, max_length=600)),
                ("matching", models.PositiveIntegerField()),
                ("max_attempts", models.PositiveIntegerField()),
                ("state", models.CharField(choices=[("preview", "Preview"), ("applying", "Applying"), ("done", "Done"), ("discarded", "Discarded")], default="preview", max_length=10)),
                ("made_by", models.CharField(max_length=250)),
                ("made_at", models.DateTimeField()),
                ("expires_at", models.DateTimeField()),
                ("decided_by", models.CharField(blank=True, max_length=250)),
                ("decided_at", models.DateTimeField(null=True)),
                ("reason", models.CharField(blank=True, max_length=500)),
                ("message", models.TextField(blank=True)),
                ("worked_until", models.DateTimeField(null=True)),
                ("finished_at", models.DateTimeField(null=True)),
                ("after", models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="mailbox.repairplan")),
                ("among", models.CharField(blank=True, default="", max_length=600)),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(condition=models.Q(models.Q(("decided_at", None), ("state", "preview")), models.Q(models.Q(("state", "preview"), _negated=True), ("decided_at__isnull", False)), _connector="OR"), name="repair_plan_decided_iff_closed"),
                ],
            },
        ),
        migrations.CreateModel(
            name="RepairPlanRow",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("task_id", models.UUIDField()),
                ("lease_id", models.UUIDField()),
                ("intent", models.CharField(max_length=200)),
                ("sender", models.CharField(max_length=250)),
                ("holder", models.CharField(max_length=250)),
                ("attempt", models.PositiveIntegerField()),
                ("leased_at", models.DateTimeField()),
                ("is_idempotent", models.BooleanField()),
                ("verdict", models.CharField(choices=[("ready", "Ready"), ("consent", "Consent"), ("skipped", "Skipped")], max_length=10)),
                ("outcome", models.CharField(choices=[("done", "Done"), ("changed", "Changed"), ("completed", "Completed"), ("refused", "Refused"), ("failed", "Failed"), ("left", "Left")], max_length=10, null=True)),
                ("detail", models.CharField(blank=True, max_length=500)),
                ("settled_at", models.DateTimeField(null=True)),
                ("plan", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="rows", to="mailbox.repairplan")),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("plan", "lease_id"), name="repair_plan_row_unique"),
                    models.CheckConstraint(condition=models.Q(models.Q(("outcome", None), ("settled_at", None)), models.Q(("outcome__isnull", False), ("settled_at__isnull", False)), _connector="OR"), name="repair_plan_row_settled_iff_outcome"),
                ],
            },
        ),
        migrations.CreateModel(
            name="LastPass",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("job", models.CharField(max_length=200, unique=True)),
                ("started_at", models.DateTimeField(null=True)),
                ("finished_at", models.DateTimeField(null=True)),
                ("failed_at", models.DateTimeField(null=True)),
            ],
        ),
        migrations.CreateModel(
            name="Seal",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("first_id", models.BigIntegerField(unique=True)),
                ("last_id", models.BigIntegerField(unique=True)),
                ("count", models.PositiveIntegerField()),
                ("root", models.CharField(max_length=64)),
                ("previous", models.CharField(max_length=64, unique=True)),
                ("sealed_at", models.DateTimeField()),
                ("signature", models.CharField(max_length=128)),
                ("form", models.PositiveSmallIntegerField()),
                ("marks", models.BinaryField()),
                ("key", models.CharField(max_length=64)),
            ],
        ),
        migrations.CreateModel(
            name="SenderStock",
            fields=[
                ("agent", models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name="stock", serialize=False, to="mailbox.agent")),
                ("queued", models.PositiveIntegerField(default=0)),
                ("size", models.PositiveBigIntegerField(default=0)),
                ("callbacks", models.PositiveIntegerField(default=0)),
                ("max_queued", models.PositiveIntegerField(null=True)),
                ("max_size", models.PositiveBigIntegerField(null=True)),
                ("max_callbacks", models.PositiveIntegerField(null=True)),
                ("max_waits", models.PositiveIntegerField(null=True)),
                ("max_cards", models.PositiveIntegerField(null=True)),
                ("max_requests_per_s", models.PositiveIntegerField(null=True)),
            ],
        ),
        migrations.CreateModel(
            name="PairStock",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("queued", models.PositiveIntegerField(default=0)),
                ("max_queued", models.PositiveIntegerField(null=True)),
                ("recipient", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="+", to="mailbox.agent")),
                ("sender", models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="+", to="mailbox.agent")),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("sender", "recipient"), name="pair_stock_unique"),
                ],
            },
        ),
        migrations.CreateModel(
            name="SpentNonce",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("pubkey", models.CharField(max_length=64)),
                ("nonce", models.CharField(max_length=64)),
                ("expires_at", models.DateTimeField(db_index=True)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("pubkey", "nonce"), name="spent_nonce_unique"),
                ],
            },
        ),
        migrations.CreateModel(
            name="SigningKey",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("pubkey", models.CharField(max_length=64, unique=True)),
                ("proven_at", models.DateTimeField()),
                ("retired_at", models.DateTimeField(blank=True, null=True)),
                ("last_used_at", models.DateTimeField(blank=True, null=True)),
                ("agent", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="signing_keys", to="mailbox.agent")),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(condition=models.Q(("retired_at", None)), fields=("agent",), name="signing_key_one_live"),
                ],
            },
        ),
        migrations.CreateModel(
            name="RecoveryCodes",
            fields=[],
            options={
                "proxy": True,
            },
            bases=("otp_static.staticdevice",),
        ),
        migrations.CreateModel(
            name="SecondFactor",
            fields=[],
            options={
                "proxy": True,
            },
            bases=("otp_totp.totpdevice",),
        ),
        migrations.CreateModel(
            name="Artifact",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("seq", models.PositiveIntegerField()),
                ("artifact_id", models.CharField(max_length=500)),
                ("append", models.BooleanField()),
                ("last_chunk", models.BooleanField()),
                ("content", models.TextField()),
                ("extra", models.TextField(default="{}")),
                ("said_at", models.DateTimeField()),
                ("post_attempt_id", models.UUIDField(null=True)),
                ("task", models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="artifacts", to="mailbox.task")),
            ],
            options={
                "indexes": [
                    models.Index(condition=models.Q(("post_attempt_id__isnull", False)), fields=["task", "post_attempt_id"], name="artifact_by_attempt"),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("task", "seq"), name="artifact_seq_unique"),
                ],
            },
        ),
        migrations.RunSQL(
            list(BOOLEANS),
            list(WITHOUT_BOOLEANS),
            state_operations=[
                migrations.AddField("task", "converses", models.BooleanField(db_default=False, default=False)),
                migrations.AddField("task", "reads_result", models.BooleanField(db_default=False, default=False)),
                migrations.AddField("task", "turn", models.IntegerField(db_default=1, default=1)),
                migrations.AddField("task", "is_direct", models.BooleanField(db_default=False, default=False)),
                migrations.AddField("result", "has_more", models.BooleanField(db_default=False, default=False)),
            ],
        ),
        migrations.RunSQL(
            [WEBHOOK_OF_A_DELIVERY],
            [WITHOUT_WEBHOOK],
            state_operations=[
                migrations.AddField("pushdelivery", "config", models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="deliveries", to="mailbox.pushconfig")),
            ],
        ),
        migrations.AddField("pushdelivery", "seq", models.PositiveIntegerField(null=True)),
        migrations.AddField("pushdelivery", "part", models.PositiveSmallIntegerField(null=True)),
        migrations.AddConstraint("pushdelivery", models.UniqueConstraint(condition=models.Q(("config__isnull", False)), fields=("config", "seq", "part"), name="push_event_unique")),
        migrations.RunPython(protect_journal, unprotect_journal),
        migrations.RunPython(create_roles, migrations.RunPython.noop),
    ]
