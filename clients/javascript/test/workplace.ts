// A worker and a fake hub that has tasks for it.

import type { Handler, WorkerOptions } from "../src/index.js";
import { FakeHub, json, type Reply } from "./fake_hub.js";

export const LEASE = "POST /a2a/tasks/lease";
export const RESULT = "POST /a2a/results";
export const BATCH = "POST /a2a/results/batch";
export const UPDATES = "POST /a2a/tasks/1/updates";
export const BEAT = "POST /a2a/tasks/1/heartbeat";
export const RELEASE = "POST /a2a/tasks/1/release";
export const POSTED = json({ kind: "a2a_result_posted", task_id: "1" });

export function row(id: string, more: object = {}) {
  const task = {
    id,
    intent_text: `work ${id}`,
    sender: { display: "alice@local" },
    recipient: { display: "bob@local" },
  };
  const lease = { lease_id: `lease ${id}`, attempt: 1, work_timeout_ms: null };
  return { task, lease, turn: 1, ...more };
}

export function leases(...rows: object[]): Reply {
  return json({ kind: "a2a_tasks_leased", leases: rows, posted: [], refused: [] });
}

/** No task comes within the wait of the request. */
export const idle: Reply = (request, response) =>
  new Promise<void>((resolve) => {
    setTimeout(() => resolve(void leases()(request, response)), request.body.wait_ms);
  });

export async function fakeWith(...replies: Reply[]): Promise<FakeHub> {
  return (await FakeHub.start())
    .on("GET /a2a/leases", json({ leases: [], next_cursor: null }))
    .on(LEASE, ...replies, idle)
    .on(RESULT, POSTED)
    .on(BATCH, (request, response) => json({ posted: request.body.results, refused: [] })(request, response))
    .on(UPDATES, json({ kind: "a2a_task_updated", task_id: "1", seq: 2, turn: 1 }))
    .on(BEAT, json({ kind: "a2a_lease", turn: 1 }))
    .on(RELEASE, json({ kind: "a2a_task_released", task_id: "1", attempt: 1 }));
}

/** The results of single requests and of batches. */
export function posted(fake: FakeHub): unknown[] {
  return fake.requests.flatMap(({ route, body }) => (route === RESULT ? [body] : route === BATCH ? body.results : []));
}

export class Gate {
  open = () => {};
  readonly opened = new Promise<void>((resolve) => (this.open = resolve));
}

export interface Running {
  log: string[];
  /** Stop the worker, and wait for its end. */
  stop: () => Promise<void>;
  ended: Promise<void>;
}

export function work(fake: FakeHub, handler: Handler, options: WorkerOptions = {}): Running {
  const hub = fake.hub();
  const log: string[] = [];
  hub.worker({ wait: 20, grace: 5000, log: (line) => log.push(line), ...options }, handler);
  const stopping = new AbortController();
  const ended = hub.run({ signal: stopping.signal });
  ended.catch(() => {});
  return { log, ended, stop: () => (stopping.abort(), ended) };
}
