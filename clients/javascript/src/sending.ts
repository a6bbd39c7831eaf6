import { randomUUID } from "node:crypto";
import type { Api, Body } from "./api.js";
import { sizeOf, takeBatch } from "./batches.js";
import { RefusedError } from "./errors.js";
import { TaskHandle } from "./handle.js";

// The hub takes no more tasks in one request. The bytes are well below its default limit of a body.
const MOST = { items: 500, bytes: 800_000 };

export interface SendOptions {
  /** The id of the task, a UUID. Sending it again stores no second task. Without it the client chooses one. */
  id?: string;
  kind?: string;
  /** The id of the task that this one is a part of. */
  parent?: string;
  /** The time until which the task may wait in the queue. */
  deadline?: Date;
  /** The milliseconds that the task may stay leased. */
  workTimeout?: number;
  /** Tasks with the same key ask for the same work, which may be done twice. */
  idempotencyKey?: string;
  /** Where the hub posts the end of the task. */
  callbackUrl?: string;
  callbackSecret?: string;
}

/** A task of `sendMany`. */
export interface Sending extends SendOptions {
  to: string;
  text: string;
}

/** The outcome of one task of `sendMany`. */
export type Sent = { task: TaskHandle; error?: undefined } | { task?: undefined; error: RefusedError };

type TaskBody = Body<"/a2a/tasks"> & { id: string };

export async function send(api: Api, to: string, text: string, options: SendOptions): Promise<TaskHandle> {
  const body = bodyOf({ ...options, to, text });
  const { outcome } = await api.post("/a2a/tasks", body);
  return new TaskHandle(api, body.id, outcome ?? undefined);
}

/** Send tasks in few requests. Return their outcomes, in their order. */
export async function sendMany(api: Api, tasks: readonly Sending[]): Promise<Sent[]> {
  const sent: Sent[] = [];
  const queue = tasks.map(bodyOf).map((body) => ({ body, size: sizeOf(body) }));
  while (queue.length > 0) {
    const batch = takeBatch(queue, MOST);
    const { refused } = await api.post("/a2a/tasks/batch", { tasks: batch.map(({ body }) => body) });
    const errors = new Map(refused.map((item) => [item.index, RefusedError.ofItem(item)]));
    batch.forEach(({ body }, index) => {
      const error = errors.get(index);
      sent.push(error ? { error } : { task: new TaskHandle(api, body.id) });
    });
  }
  return sent;
}

function bodyOf(task: Sending): TaskBody {
  const { idempotencyKey: key, deadline, workTimeout } = task;
  return {
    id: task.id ?? randomUUID(),
    recipient: task.to,
    intent_text: task.text,
    ...(task.kind === undefined ? {} : { task_kind: task.kind }),
    ...(task.parent === undefined ? {} : { parent: task.parent }),
    ...(deadline === undefined ? {} : { deadline_ms: deadline.getTime() }),
    ...(workTimeout === undefined ? {} : { work_timeout_ms: workTimeout }),
    ...(key === undefined ? {} : { idempotency: { duplicate_safety: "idempotent" as const, key } }),
    ...(task.callbackUrl === undefined ? {} : { callback_url: task.callbackUrl }),
    ...(task.callbackSecret === undefined ? {} : { callback_secret: task.callbackSecret }),
  };
}
