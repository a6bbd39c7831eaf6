"""An agent on the official Python SDK 1.x that echoes each message: python server_1.py DATABASE_URL.

Tasks are kept in the database, or in memory if DATABASE_URL is "". JSON-RPC is served at /a2a, by one
process, on a port that the system chooses and the program prints.
"""

import socket
import sqlite3
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import parse_qsl, unquote, urlsplit

import uvicorn
from a2a.helpers import new_task_from_user_message, new_text_part
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_jsonrpc_routes
from a2a.server.tasks import DatabaseTaskStore, InMemoryTaskStore, TaskStore, TaskUpdater
from a2a.types import a2a_pb2 as types
from sqlalchemy import URL
from sqlalchemy.ext.asyncio import create_async_engine
from starlette.applications import Starlette


class Echo(AgentExecutor):
    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        task = new_task_from_user_message(context.message)
        await event_queue.enqueue_event(task)
        updater = TaskUpdater(event_queue, task.id, task.context_id)
        text = "".join(part.text for part in context.message.parts)
        await updater.add_artifact([new_text_part(text)], name="result")
        await updater.complete()

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        raise NotImplementedError


def task_store(database: str) -> TaskStore:
    if not database:
        return InMemoryTaskStore()
    if database.startswith("sqlite"):
        file = database.removeprefix("sqlite:///")
        with sqlite3.connect(file) as made:
            made.execute("PRAGMA journal_mode=WAL")
        return DatabaseTaskStore(create_async_engine(f"sqlite+aiosqlite:///{file}", connect_args={"timeout": 60}))
    parts = urlsplit(database)
    host = unquote(parts.netloc.rpartition("@")[2])
    url = URL.create(
        "postgresql+asyncpg",
        username=parts.username,
        password=parts.password,
        database=parts.path.removeprefix("/"),
        **({"query": {"host": host}} if host.startswith("/") else {"host": parts.hostname, "port": parts.port}),
    )
    return DatabaseTaskStore(create_async_engine(url.update_query_pairs(parse_qsl(parts.query))))


def main() -> None:
    (database,) = sys.argv[1:]
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    print(port, flush=True)  # noqa: T201
    card = types.AgentCard(
        name="Echo",
        description="Repeats each message",
        version="1.0.0",
        supported_interfaces=[
            types.AgentInterface(url=f"http://127.0.0.1:{port}/a2a", protocol_binding="JSONRPC", protocol_version="1.0")
        ],
        capabilities=types.AgentCapabilities(streaming=True),
        default_input_modes=["text/plain"],
        default_output_modes=["text/plain"],
        skills=[types.AgentSkill(id="echo", name="Echo", description="Repeats each message", tags=["general"])],
    )
    store = task_store(database)

    @asynccontextmanager
    async def life(_: Starlette) -> AsyncIterator[None]:
        if isinstance(store, DatabaseTaskStore):
            await store.initialize()  # else the first requests, which come at once, would all make its table
        yield

    handler = DefaultRequestHandler(agent_executor=Echo(), task_store=store, agent_card=card)
    served = Starlette(routes=create_jsonrpc_routes(handler, "/a2a"), lifespan=life)
    uvicorn.Server(uvicorn.Config(served, log_level="warning", access_log=False)).run(sockets=[listener])


if __name__ == "__main__":
    main()
