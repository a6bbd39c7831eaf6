"""Faults in code, packages and prose, each with what its check reports."""

import json

from tests.tools.lint.planting import Row
from tools.lint import layout, packages, prose, rooms, weight

KINDS = 'class Kind(StrEnum):\n    TASK_SENT = "a2a_task_sent"\n'
SENT = "class TaskSentEntry(Entry, kind=Kind.TASK_SENT):\n    pass\n"
PINS = {"base": "django==1", "extras": "django==1\nmozilla-django-oidc==1\nopentelemetry-sdk==1"}
PINNED = PINS | {
    "dev": f"{PINS['extras']}\npytest==1",
    "audit": "cyclonedx-bom==1\npip-audit==1",
    "docs": "zensical==1",
}


def pinned(**changed: str) -> dict[str, str]:
    return {f"requirements/{name}.txt": text for name, text in (PINNED | changed).items()}


LAYOUT: list[Row] = [
    (layout.modules_are_short, {"mailbox/a.py": "\n" * 450}, []),
    (
        layout.modules_are_short,
        {"tests/a.py": "\n" * 451, "mailbox/migrations/0001.py": "\n" * 900},
        ["tests/a.py:451: a module has at most 450 lines"],
    ),
    (
        layout.folders_of_modules_are_packages,
        {"mailbox/__init__.py": "", "mailbox/words/a.py": ""},
        ["mailbox/words/__init__.py:1: the folder of a module is a package"],
    ),
    (
        layout.no_model_is_got_by_its_name,
        {"dashboard/a.py": "\nx = apps.get_model('mailbox', 'Task')\n", "tests/a.py": "apps.get_model('x')"},
        ["dashboard/a.py:2: a model is imported, not got by its name"],
    ),
    (
        layout.the_product_does_not_mention_its_tests,
        {"mailbox/a.py": "import x\n# See pytest.\nfrom tests import y\n", "tests/a.py": "import pytest"},
        [
            "mailbox/a.py:2: the product does not mention its tests: pytest",
            "mailbox/a.py:3: the product does not mention its tests: from tests",
        ],
    ),
    (
        layout.inserts_name_their_columns,
        {"mailbox/a.py": 'A = "INSERT INTO mailbox_task (id) VALUES (1)"\nB = "SELECT * FROM mailbox_task"\n'},
        ["mailbox/a.py:2: name the columns: SELECT * FROM mailbox_task"],
    ),
    (
        layout.a_class_name_means_one_thing,
        {
            "mailbox/a.py": "class Task: ...\nclass Command: ...",
            "dashboard/a.py": "class Task: ...\nclass Command: ...",
        },
        [f"{path}:1: another module has a class Task" for path in ("dashboard/a.py", "mailbox/a.py")],
    ),
]
ROOMS: list[Row] = [
    (
        rooms.edges_query_no_rows,
        {
            "dashboard/a.py": "x\nTask.objects.all()",
            "dashboard/admin/a.py": "T.objects",
            "mailbox/life/a.py": "T.objects",
        },
        ["dashboard/a.py:2: an edge queries no rows"],
    ),
    (
        rooms.edges_expire_tasks_only_to_read_them,
        {"mailbox/dialects/a.py": "from mailbox.life.expiry import read, sweep\nexpiry.current(x)\nexpiry.end(x)"},
        [
            "mailbox/dialects/a.py:1: an edge expires tasks only to read them: sweep",
            "mailbox/dialects/a.py:3: an edge expires tasks only to read them: end",
        ],
    ),
    (
        rooms.edges_wait_for_changes_only_after_the_expiry,
        {"mailbox/in_process/a.py": "waiting.for_change(task)", "mailbox/life/a.py": "waiting.for_change(task)"},
        ["mailbox/in_process/a.py:1: an edge waits for a change of a task after its expiry alone"],
    ),
    (
        rooms.requests_are_built_by_their_constructors,
        {"mailbox/access/requests.py": "Request(action=1)", "mailbox/life/a.py": "Request(url)\nRequest(action=1)"},
        ["mailbox/life/a.py:2: mailbox/access/requests.py builds the requests to the gate"],
    ),
    (
        rooms.scope_ids_are_spelled_in_one_module,
        {"mailbox/access/requests.py": 'A = "a2a-send"', "mailbox/life/a.py": '"""a2a-send"""\nB = f"a2a-send:{x}"'},
        ["mailbox/life/a.py:2: mailbox/access/requests.py spells the scope ids: a2a-send:"],
    ),
    (
        rooms.scope_ids_are_spelled_in_one_module,
        {"mailbox/access/requests.py": 'A = "send"'},
        ["mailbox/access/requests.py:1: no scope id is found here"],
    ),
    (
        rooms.verbs_pass_the_gate_through_the_journal,
        {
            "mailbox/access/a.py": "x = capabilities.require(y)",
            "mailbox/life/a.py": "capabilities.require(y)\nx = capabilities.require(y)",
        },
        ["mailbox/life/a.py:2: a verb passes the gate through the journal of its decision"],
    ),
    (
        rooms.each_kind_has_the_class_of_its_name,
        {rooms.KINDS: KINDS, rooms.ENTRIES[0]: "class TaskGoneEntry(Entry, kind=Kind.TASK_SENT):\n    pass\n"},
        [
            "mailbox/journal/access_entries.py:1: TaskGoneEntry makes rows of TASK_SENT",
            "mailbox/words/kinds.py:1: no class has the name TaskSentEntry",
        ],
    ),
    (rooms.each_kind_has_the_class_of_its_name, {rooms.KINDS: KINDS, rooms.ENTRIES[0]: SENT}, []),
    (
        rooms.nothing_else_spells_a_kind,
        {
            rooms.KINDS: KINDS,
            "mailbox/dialects/covenant/a.py": 'x = "a2a_task_sent"',
            "mailbox/life/a.py": '"""a2a_task_sent"""\nx = "a2a_task_sent"\ny = "a2a_task_sent_at"',
            "templates/a.html": "<p>\na2a_task_sent",
        },
        [
            "mailbox/life/a.py:2: mailbox/words/kinds.py alone spells the kind a2a_task_sent",
            "templates/a.html:2: no template spells a kind: a2a_task_sent",
        ],
    ),
    (
        rooms.the_journal_alone_makes_rows,
        {rooms.JOURNAL: "Entry(x)", rooms.ENTRIES[0]: "Entry(x)", "mailbox/life/a.py": "\nAuditEvent(x)"},
        ["mailbox/life/a.py:2: mailbox/access/audit.py alone makes rows of the journal"],
    ),
    (
        rooms.the_hub_has_one_outbound_client,
        {"mailbox/outbound/exchange.py": "httpx.Client()", "agentcards/a.py": "\nhttpx.get(url)\n"},
        ["agentcards/a.py:2: mailbox/outbound/exchange.py calls other hosts: httpx.get("],
    ),
]
WEIGHT: list[Row] = [
    (
        weight.modules_are_few,
        {f"mailbox/m{number}.py": "" for number in range(weight.MOST_MODULES + 1)} | {"mailbox/migrations/m.py": ""},
        [f"{weight.PAGE}:1: the product has at most {weight.MOST_MODULES} modules: {weight.MOST_MODULES + 1}"],
    ),
    (
        weight.few_modules_have_one_reader,
        {f"mailbox/m{number}.py": "" for number in range(weight.MOST_WITH_ONE_READER + 2)}
        | {"mailbox/a.py": "".join(f"import mailbox.m{n}\n" for n in range(weight.MOST_WITH_ONE_READER + 2))}
        | {"mailbox/b.py": "from mailbox import m0\n"},
        [
            f"{weight.PAGE}:1: at most {weight.MOST_WITH_ONE_READER} modules have one reader: "
            f"{weight.MOST_WITH_ONE_READER + 1}"
        ],
    ),
    (
        weight.imports_are_a_small_part_of_the_code,
        {"mailbox/a.py": '"""Its text."""\n\nimport json  # x\nfrom b import (\n    c,\n)\n' + "x = 1\n" * 4},
        [f"{weight.PAGE}:1: at most {weight.MOST_IMPORTS} % of the code are imports: 50.0 %"],
    ),
    (
        weight.imports_are_a_small_part_of_the_code,
        {"mailbox/a.py": "x = 1\n" * (weight.MOST_LINES_OF_CODE + 1)},
        [
            f"{weight.PAGE}:1: the product has at most {weight.MOST_LINES_OF_CODE} lines of code: "
            f"{weight.MOST_LINES_OF_CODE + 1}"
        ],
    ),
    (
        weight.no_modules_import_each_other_in_a_circle,
        {
            "mailbox/a.py": "from mailbox import b\n",
            "mailbox/b.py": "def f():\n    from mailbox.a import x\n",
            "mailbox/above.py": "from mailbox import a\n",
            "mailbox/below.py": "import json\n",
        },
        [
            "mailbox/a.py:1: modules import each other in a circle: mailbox.a, mailbox.b",
            "mailbox/b.py:1: modules import each other in a circle: mailbox.a, mailbox.b",
        ],
    ),
]
PACKAGES: list[Row] = [
    (
        packages.every_declared_dependency_is_used,
        {
            "pyproject.toml": '[project]\ndependencies = [\n"django>=5",\n"httpx",\n"whitenoise>=6",\n"orjson",\n]',
            packages.SETTINGS: 'MIDDLEWARE = [\n    "whitenoise.middleware.WhiteNoiseMiddleware",\n]',
            "mailbox/a.py": "import httpx\nfrom django.db import models\n",
        },
        ["pyproject.toml:6: nothing imports the dependency orjson"],
    ),
    (
        packages.every_imported_package_is_declared,
        {
            "pyproject.toml": '[project]\ndependencies = [\n"psycopg[pool]",\n]',
            packages.SETTINGS: "MIDDLEWARE = []",
            "mailbox/a.py": "import json\nimport psycopg_pool\nimport orjson\nimport mailbox.b\n",
        },
        ["pyproject.toml:2: the hub imports a package that it does not declare: orjson"],
    ),
    (
        packages.every_pinned_package_has_its_hashes_and_no_index_is_named,
        {"requirements/base.txt": "# made\na==1 \\\n    --hash=sha256:0\nb==1\n--index-url x\n"},
        ["requirements/base.txt:4: no hash: b==1", "requirements/base.txt:5: no index is named: index-url"],
    ),
    (
        packages.every_pinned_javascript_package_has_its_hash_and_no_registry_is_named,
        {
            packages.LOCK: json.dumps(
                {
                    "packages": {
                        "": {},
                        "a": {"integrity": "sha512-x"},
                        "b": {},
                        "c": {"integrity": "sha512-x", "resolved": "x"},
                    }
                },
                indent=0,
            )
        },
        [
            f"{packages.LOCK}:7: the package has a hash and no address: b",
            f"{packages.LOCK}:8: the package has a hash and no address: c",
        ],
    ),
    (
        packages.the_tools_of_the_audit_and_of_the_site_are_in_no_other_environment,
        pinned(docs="", base="pip==1"),
        ["requirements/base.txt:1: the tools stay apart: pip", "requirements/docs.txt:1: the file lacks zensical"],
    ),
    (packages.the_extras_add_packages_to_those_of_the_hub_and_change_none, pinned(), []),
    (
        packages.the_extras_add_packages_to_those_of_the_hub_and_change_none,
        pinned(base="django==2\nopentelemetry-sdk==1"),
        [
            "requirements/extras.txt:1: of the extras alone are opentelemetry-sdk",
            "requirements/extras.txt:1: the file adds packages and changes none: django",
        ],
    ),
]
PROSE: list[Row] = [
    (
        prose.prose_keeps_the_rule,
        {
            "README.md": "# A\n\nThe hub waits.\n\nWhoever waits, waits.\n",
            "mailbox/a.py": '"""Wait."""\n\nx = "No agent was told of this task."  # None of them.\n',
            "dashboard/a.py": 'x = "No person was told of this task."\n',
            "clients/javascript/src/a.ts": "/** It waits. */\nx = 1; // Whoever waits.\n",
            "tests/a.py": 'async def f():\n    """The ones."""\n',
        },
        [
            'README.md:5: "Whoever": name the caller, agent or person: Whoever waits, waits.',
            'clients/javascript/src/a.ts:2: "Whoever": name the caller, agent or person: Whoever waits.',
            'mailbox/a.py:3: "told": reported, informed: No agent was told of this task.',
            'tests/a.py:2: "ones": repeat the noun: The ones.',
        ],
    ),
    (
        prose.each_definition_has_a_telling_name,
        {
            "mailbox/words/a.py": "import x as found\nfor one in f(): ...\nclass Given:\n    def _said(asked): ...\n",
            "mailbox/models/a.py": "self.found = 1\n[one for one in x]\nlambda one=1: one\nfound_at = row.said\n",
            "mailbox/models/lease.py": 'ASKED = "asked"\n',
            "tests/a.py": "found = 1",
        },
        [
            "mailbox/models/a.py:1: name what it is: found",
            "mailbox/models/a.py:3: name what it is: one",
            "mailbox/words/a.py:1: name what it is: found",
            "mailbox/words/a.py:3: name what it is: Given",
            "mailbox/words/a.py:4: name what it is: _said",
            "mailbox/words/a.py:4: name what it is: asked",
        ],
    ),
]
PLANTED = [*LAYOUT, *ROOMS, *PACKAGES, *WEIGHT, *PROSE]
