import { randomUUID } from "node:crypto";
import type { Api, Answer } from "./api.js";
import { HubError } from "./errors.js";
import { LONGEST_WAIT } from "./handle.js";
import { pages } from "./paging.js";
import { rest } from "./pauses.js";
import { acknowledge, TaskResult } from "./result.js";

const MOST = 100; // results of one request; the hub takes no more

export interface Draining {
  /** The milliseconds without a result after which the loop ends; without it the loop never ends. */
  idle?: number;
  /** Whether the loop begins with the results of earlier loops that were not acknowledged. True by default. */
  resume?: boolean;
  signal?: AbortSignal;
}

type Drained = Answer<"/a2a/results/drain", "post">;

/**
 * Yield the results of all tasks of the agent. A result is acknowledged once the loop takes the next one, so a crash in
 * between brings it again. A loop that is left early does not acknowledge its last result.
 */
export async function* drained(api: Api, draining: Draining): AsyncGenerator<TaskResult, void, undefined> {
  const { idle = Infinity, resume = true, signal } = draining;
  const done: string[] = []; // tasks whose results the consumer has, and the hub does not know it
  try {
    if (resume) {
      for await (const row of pages(api, "/a2a/results/delivered", (answer) => answer.results, { signal })) {
        yield new TaskResult(row);
        done.push(row.task_id);
        if (done.length >= MOST) await acknowledge(api, done.splice(0), signal);
      }
    }
    let attemptId = randomUUID();
    for (let idleAt = Date.now() + idle; ;) {
      const answer = await drain(api, attemptId, done, idleAt, signal);
      if (answer.results.length > 0 || answer.attempt_spent) attemptId = randomUUID();
      for (const row of answer.results) {
        yield new TaskResult(row);
        done.push(row.task_id);
        idleAt = Date.now() + idle;
      }
      if (answer.results.length === 0 && Date.now() >= idleAt) return;
    }
  } catch (error) {
    if (error instanceof HubError) done.splice(0); // the hub does not answer
    throw error;
  } finally {
    await acknowledge(api, done);
  }
}

/** Acknowledge the results of `done`, which is then empty, and receive more under the attempt id. */
async function drain(
  api: Api,
  attemptId: string,
  done: string[],
  idleAt: number,
  signal?: AbortSignal,
): Promise<Drained> {
  const wait = Math.max(0, Math.min(LONGEST_WAIT, idleAt - Date.now()));
  const endsAt = Date.now() + wait;
  const body = { max: MOST, wait_ms: Math.ceil(wait), attempt_id: attemptId, ack: done.slice(0, MOST) };
  const answer = await api.post("/a2a/results/drain", body, { wait, signal });
  done.splice(0, body.ack.length);
  if (answer.results.length === 0 && !answer.attempt_spent) await rest(endsAt, signal);
  return answer;
}
