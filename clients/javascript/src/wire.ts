// The hub's JSON, with its own field names. Each type is taken from the route that answers with it.

import type { Answer } from "./api.js";

export type TaskRow = NonNullable<Answer<"/a2a/tasks/next", "post">["task"]>;
export type ResultRow = NonNullable<Answer<"/a2a/tasks/{task_id}/result", "get">["result"]>;
export type EntryRow = Answer<"/a2a/tasks/{task_id}/entry", "get">["entry"];
export type QueueRow = Answer<"/a2a/queue", "get">["tasks"][number];
export type LeasedRow = Answer<"/a2a/tasks/lease", "post">["leases"][number];
export type HeldRow = Answer<"/a2a/leases", "get">["leases"][number];
export type MessageRow = Answer<"/a2a/tasks/{task_id}/messages", "get">["messages"][number];
export type ArtifactRow = Answer<"/a2a/tasks/{task_id}/artifacts", "get">["artifacts"][number];
export type TreeRow = Answer<"/a2a/tasks/{task_id}/tree", "get">["nodes"][number];
export type JournalRow = Answer<"/a2a/tasks/{task_id}/timeline", "get">["events"][number];
export type AgentRow = Answer<"/a2a/agents", "get">["agents"][number];
export type KeyRow = Answer<"/a2a/keys", "get">["keys"][number];
export type PersonRow = Answer<"/a2a/people", "get">["people"][number];
export type GrantRow = Answer<"/capabilities/recent", "get">["capabilities"][number];
export type DeliveryRow = Answer<"/a2a/deliveries", "get">["deliveries"][number];
export type Me = Answer<"/a2a/me", "get">;
