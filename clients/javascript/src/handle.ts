import { randomUUID } from "node:crypto";
import type { Answer, Api, Asking, Body } from "./api.js";
import { blocksOf, textOf, type Block, type Content } from "./content.js";
import { ResultTimeoutError } from "./errors.js";
import { pages } from "./paging.js";
import { rest } from "./pauses.js";
import { acknowledge, TaskResult } from "./result.js";
import type { ArtifactRow, EntryRow, JournalRow, MessageRow, TreeRow } from "./wire.js";

/** The longest time that one request waits at the hub, in milliseconds. Most proxies cut requests after 60 s. */
export const LONGEST_WAIT = 50_000;
const MESSAGES_OF_A_PAGE = 100;

type MessagesPage = Answer<"/a2a/tasks/{task_id}/messages", "get">;
type RepairCommand = Body<"/a2a/repair">["command"];

export interface Waiting {
  /** The milliseconds after which `ResultTimeoutError` is thrown; without it there is no limit. */
  timeout?: number;
  signal?: AbortSignal;
}

/** A report of a task's agent. `seq` is its number in the task's journal. */
export type TaskUpdate =
  | { kind: "message"; seq: number; text: string; content: readonly Block[] }
  | { kind: "progress"; seq: number; fraction: number; note: string }
  | { kind: "question"; awaits: "input" | "authorization" };

/** A task of the hub. Every method throws `RefusedError` and `UnreachableError`. */
export class TaskHandle {
  readonly #api: Api;

  constructor(
    api: Api,
    readonly id: string,
    /** The outcome of a task that was sent before and deleted since: no result comes. Otherwise undefined. */
    readonly outcome?: string,
  ) {
    this.#api = api;
  }

  /**
   * Wait for the end of the task, and return its result. It is then acknowledged, unless `ack` is false: `results()`
   * does not bring it any more.
   */
  async result({ timeout = Infinity, ack = true, signal }: Waiting & { ack?: boolean } = {}): Promise<TaskResult> {
    const endsAt = Date.now() + timeout;
    for (;;) {
      const asked = Date.now();
      const wait = Math.max(0, Math.min(LONGEST_WAIT, endsAt - asked));
      const asking = { ids: [this.id], query: { wait_ms: Math.ceil(wait) }, wait, signal };
      const { result } = await this.#api.get("/a2a/tasks/{task_id}/result", asking);
      if (result) {
        if (ack) await acknowledge(this.#api, [this.id], signal); // another party than the sender acknowledges nothing
        return new TaskResult(result);
      }
      await rest(Math.min(endsAt, asked + wait), signal);
      if (Date.now() >= endsAt) throw new ResultTimeoutError(`task ${this.id} has no result after ${timeout} ms`);
    }
  }

  /** Return the task with its state and its lease, in the hub's JSON. */
  async entry(): Promise<EntryRow> {
    return (await this.#api.get("/a2a/tasks/{task_id}/entry", { ids: [this.id] })).entry;
  }

  /** Yield what the task's agent reports, from the beginning, until the task has ended. */
  async *updates({ signal }: { signal?: AbortSignal } = {}): AsyncGenerator<TaskUpdate, void, undefined> {
    let after = 0;
    let questions = 0; // the turn of the newest question that was yielded
    for (;;) {
      const endsAt = Date.now() + LONGEST_WAIT;
      const page = await this.#read(after, LONGEST_WAIT, signal);
      for (const message of page.messages) {
        if (message.role === "agent") yield updateOf(message);
      }
      const last = page.messages.at(-1)?.seq ?? after;
      const isWhole = page.next_after === null || page.next_after > last;
      if (isWhole && page.state === "interrupted" && page.awaits && page.turn > questions) {
        questions = page.turn;
        yield { kind: "question", awaits: page.awaits };
      } else if (isWhole && page.messages.length === 0 && page.state !== "resolved") {
        await rest(endsAt, signal);
      }
      if (isWhole && page.state === "resolved") return;
      after = page.next_after ?? last;
    }
  }

  /** Yield the messages of both parties, oldest first, without waiting for more. The first is the task's text. */
  messages(): AsyncGenerator<MessageRow, void, undefined> {
    return messagesOf(this.#api, this.id);
  }

  /** Send a further message as the task's sender. It answers an open question. Return its turn. */
  async say(content: Content): Promise<number> {
    const body = { content: blocksOf(content), attempt_id: randomUUID() };
    return (await this.#api.post("/a2a/tasks/{task_id}/messages", body, { ids: [this.id] })).turn;
  }

  /** Yield the artifacts of the task. A long one continues on later pages, with `append`. */
  artifacts(): AsyncGenerator<ArtifactRow, void, undefined> {
    return pages(this.#api, "/a2a/tasks/{task_id}/artifacts", (answer) => answer.artifacts, this.#here());
  }

  /** Yield the task's rows of the journal. */
  timeline(): AsyncGenerator<JournalRow, void, undefined> {
    return pages(this.#api, "/a2a/tasks/{task_id}/timeline", (answer) => answer.events, this.#here());
  }

  /** Yield the task and all tasks below it. */
  tree(): AsyncGenerator<TreeRow, void, undefined> {
    return pages(this.#api, "/a2a/tasks/{task_id}/tree", (answer) => answer.nodes, this.#here());
  }

  /** Cancel the task as its sender. */
  async cancel(reason = ""): Promise<void> {
    await this.#api.post("/a2a/tasks/{task_id}/cancel", { reason }, this.#here());
  }

  /** Hand the lease back as its holder. With `leaseId` nothing happens unless that lease is live. */
  async release(reason: string, { leaseId }: { leaseId?: string } = {}): Promise<void> {
    const body = { reason, ...(leaseId === undefined ? {} : { lease_id: leaseId }) };
    await this.#api.post("/a2a/tasks/{task_id}/release", body, { ...this.#here(), isSafe: leaseId !== undefined });
  }

  /** Return a leased task to the queue. `duplicateRisk` says why doing the work twice is acceptable. */
  async requeue(
    reason: string,
    { duplicateRisk, leaseId }: { duplicateRisk: "idempotent" | "operator_accepted"; leaseId?: string },
  ): Promise<void> {
    await this.#repair(reason, { action: "requeue", duplicate_risk: duplicateRisk }, leaseId);
  }

  /** Resolve a leased or interrupted task as an error with this message. */
  async fail(message: string, { reason, leaseId }: { reason: string; leaseId?: string }): Promise<void> {
    await this.#repair(reason, { action: "force_error", message }, leaseId);
  }

  #here(): { ids: string[] } {
    return { ids: [this.id] };
  }

  #read(after: number, wait: number, signal?: AbortSignal): Promise<MessagesPage> {
    const query = { after, limit: MESSAGES_OF_A_PAGE, wait_ms: wait };
    return this.#api.get("/a2a/tasks/{task_id}/messages", { ...this.#here(), query, wait, signal });
  }

  async #repair(reason: string, command: RepairCommand, leaseId: string | undefined): Promise<void> {
    const guarded = leaseId === undefined ? command : { ...command, lease_id: leaseId };
    await this.#api.post("/a2a/repair", { task_id: this.id, command: guarded, reason }, { isSafe: false });
  }
}

/** Yield the messages of a task, oldest first. */
export async function* messagesOf(
  api: Api,
  taskId: string,
  asking: Asking = {},
): AsyncGenerator<MessageRow, void, undefined> {
  for (let after: number | null = 0; after !== null;) {
    const query: Asking["query"] = { after, limit: MESSAGES_OF_A_PAGE };
    const page: MessagesPage = await api.get("/a2a/tasks/{task_id}/messages", { ...asking, ids: [taskId], query });
    yield* page.messages;
    after = page.messages.length > 0 ? page.next_after : null;
  }
}

function updateOf(message: MessageRow): TaskUpdate {
  const { seq, progress } = message;
  if (progress) return { kind: "progress", seq, fraction: progress.fraction, note: progress.note };
  const { content } = message;
  return { kind: "message", seq, text: textOf(content), content };
}
