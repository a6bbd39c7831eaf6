"""``a2a agent``."""

from typing import Annotated, Any

import typer

from a2a_hub_client.cli import tables
from a2a_hub_client.cli.command import Session, argument, command, noun, option
from a2a_hub_client.cli.options import USUAL_LIMIT, AgentName, Limit, Reason
from a2a_hub_client.cli.tables import Column

agent_app = noun("List, add and pause agents, and set their quotas.")
AGENTS = Column("AGENT", lambda row: row["display"]), Column("PUBLIC KEY", lambda row: row["pubkey"], is_optional=True)
PEERS = (
    Column("AGENT", lambda row: row["agent"]["display"]),
    Column("STATUS", lambda row: row["status"]),
    Column("SEEN", lambda row: tables.age(row["last_seen_at_ms"])),
    Column("NAME", lambda row: row["name"], is_cut=True, is_optional=True),
    Column("URL", lambda row: row["url"], is_cut=True, is_optional=True),
)
QUOTAS = (
    Column("QUOTA", lambda row: row["quota"]),
    Column("TO", lambda row: row["recipient"] or ""),
    Column("USED", lambda row: "" if row["used"] is None else str(row["used"])),
    Column("LIMIT", lambda row: str(row["limit"] or "none")),
    Column("SET BY", lambda row: "this agent's" if row["is_own"] else "the hub's setting", is_optional=True),
)
Quota = Annotated[list[str], argument("NAME=N", "Such as queued=100; NAME= restores the hub's setting.")]


@command(agent_app, "list")
def list_(
    session: Session,
    online: Annotated[bool, typer.Option("--peers", help="The peers that sent heartbeats, and their status.")] = False,
    limit: Limit = USUAL_LIMIT,
) -> None:
    """List the agents."""
    if online:
        session.show("/a2a/peers", "peers", PEERS, none="No peer sent a heartbeat.", limit=limit)
    else:
        session.show("/a2a/agents", "agents", AGENTS, none="No agents. `a2a agent add NAME` adds one.", limit=limit)


@command(agent_app)
def show(session: Session, agent: AgentName) -> None:
    """Show an agent: whether it is paused, and whether callers without a key may send to it."""
    answer = session.ask(lambda hub: hub.agent(agent))
    session.printer.details(answer, lambda: _pairs(answer))


def _pairs(entry: dict[str, Any]) -> list[tuple[str, str]]:
    paused = entry["paused_at_ms"]
    return [
        ("agent", entry["agent"]["display"]),
        ("public key", entry["agent"]["pubkey"]),
        ("added", f"{tables.local(entry['created_at_ms'])} ({tables.age(entry['created_at_ms'])} ago)"),
        ("paused", f"for {tables.age(paused)}: {entry['paused_reason']}" if paused else ""),
        ("open", "yes: callers without a key may send to it" if entry["is_open"] else ""),
    ]


@command(agent_app)
def add(
    session: Session,
    name: Annotated[str, argument("NAME", "The name of the agent, such as bob or bob@team.")],
) -> None:
    """Register an agent, and show its API key. The hub shows it this once."""
    answer = session.ask(lambda hub: hub.add_agent(name))
    if session.printer.is_for_people:
        session.printer.note("Keep the secrets: the hub shows them this once.")
    pairs = [("agent", answer["agent"]["display"]), ("api key", answer["api_key"])]
    session.printer.details(answer, lambda: [*pairs, ("private key", answer.get("private_key") or "")])


@command(agent_app)
def pause(session: Session, agent: AgentName, reason: Reason) -> None:
    """Stop an agent from leasing tasks. Its tasks stay queued, and its live leases stay."""
    answer = session.ask(lambda hub: hub.pause_agent(agent, reason=reason))
    session.printer.answer(answer, lambda: f"{answer['agent']['display']} is paused")


@command(agent_app)
def resume(
    session: Session,
    agent: AgentName,
    reason: Annotated[str, option("--reason", "TEXT", "Why, for the journal.")] = "",
) -> None:
    """Let a paused agent lease tasks again."""
    answer = session.ask(lambda hub: hub.resume_agent(agent, reason=reason))
    session.printer.answer(answer, lambda: f"{answer['agent']['display']} may lease tasks")


@command(agent_app)
def quotas(session: Session, agent: AgentName) -> None:
    """Show the quotas of an agent and what it has of them."""
    session.printer.listed(session.ask(lambda hub: hub.quotas(agent)), "quotas", QUOTAS, none="No quotas.")


@command(agent_app, "set-quotas")
def set_quotas(
    session: Session,
    agent: AgentName,
    limits: Quota,
    recipient: Annotated[str | None, option("--to", "AGENT", "With queued alone: tasks for this agent.")] = None,
) -> None:
    """Give an agent quotas of its own: queued, bytes, callbacks, waits, cards, requests_per_s."""
    own = dict(map(_limit, limits))
    answer = session.ask(lambda hub: hub.set_quotas(agent, own, recipient=recipient))
    session.printer.listed(answer, "quotas", QUOTAS, none="No quotas.")


def _limit(text: str) -> tuple[str, int | None]:
    name, is_set, number = text.partition("=")
    if not is_set or (number and not number.isdecimal()):
        raise typer.BadParameter(f'"{text}" sets no quota. Examples: queued=100, or queued= for the hub\'s setting.')
    return name, int(number) if number else None
