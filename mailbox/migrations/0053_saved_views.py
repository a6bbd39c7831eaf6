from __future__ import annotations

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('mailbox', '0052_pair_counts'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='SavedView',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('page', models.CharField(choices=[('tasks', 'Tasks'), ('leases', 'Leases'), ('results', 'Results'), ('failures', 'Failures'), ('audit', 'Audit'), ('deliveries', 'Deliveries'), ('agents', 'Agents'), ('trees', 'Trees'), ('charts', 'Charts'), ('idempotency', 'Idempotency'), ('repairs', 'Repairs'), ('plans', 'Bulk repairs'), ('scheduler', 'Scheduler')], max_length=20)),
                ('name', models.CharField(max_length=60)),
                ('query', models.TextField(blank=True)),
                ('is_shared', models.BooleanField(db_default=False, default=False)),
                ('made_at', models.DateTimeField()),
                ('person', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('is_shared', True)), fields=['page', 'name'], name='saved_view_shared')],
                'constraints': [models.UniqueConstraint(fields=('person', 'page', 'name'), name='saved_view_unique')],
            },
        ),
    ]
