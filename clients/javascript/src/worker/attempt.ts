import type { Api, Body } from "../api.js";
import { HubError, RefusedError, TaskAbortedError } from "../errors.js";
import { LONGEST_TIMER, sleep } from "../pauses.js";
import type { Leased } from "./leases.js";
import type { Posting } from "./posting.js";
import { Speech } from "./speech.js";
import { Conclusion, conclusionOf, WorkerTask, type Handler } from "./task.js";
import type { Turns } from "./turns.js";

const TIMED_OUT = "Task timed out"; // the hub's text for a work timeout
const FIRST = 0.1; // of the interval of heartbeats passes before the first one
const POSTED_WITHIN = 1000; // milliseconds by which a handler is stopped before the hub's limit
const LONGEST_MESSAGE = 5000; // characters of an error message

/** `left`: the lease stays live, because the hub could not be reached. */
export type AttemptOutcome = "settled" | "released" | "left";

/** The things that the attempts of a worker share. */
export interface Workplace {
  api: Api;
  posting: Posting;
  turns: Turns;
  handler: Handler;
  /** Milliseconds between two heartbeats. */
  heartbeat: number;
  /** Once it is aborted, failed requests are no longer repeated. */
  abandon: AbortSignal;
  log: (line: string) => void;
}

/** One attempt at a task, from its lease to its result. */
export class Attempt {
  readonly #ending = new AbortController(); // the signal of the task
  readonly #done = new AbortController();
  readonly #speech: Speech;
  readonly #aborted: Promise<never>;

  constructor(
    private readonly at: Workplace,
    readonly leased: Leased,
  ) {
    const onRefused = (error: RefusedError) => {
      this.#log(`the hub refused an update: ${error.message}`);
      if (error.isLeaseEnded) this.#abort("lease_ended", error.message);
    };
    this.#speech = new Speech(at.api, leased, at.abandon, onRefused);
    this.#aborted = new Promise((_, reject) => {
      this.#ending.signal.addEventListener("abort", () => reject(this.#ending.signal.reason));
    });
    this.#aborted.catch(() => {});
  }

  /** Stop the handler. Its task is then released. */
  stop(): void {
    this.#abort("stopped", "the worker was stopped before the handler had ended");
  }

  /** Handle the task. Return once the hub has the outcome, or was given up. */
  async run(): Promise<AttemptOutcome> {
    const limit = this.leased.workTimeout ?? Infinity;
    if (limit <= LONGEST_TIMER) void this.#limit(limit);
    void this.#beat();
    try {
      return await this.#work();
    } catch (error) {
      if (error instanceof RefusedError && error.isLeaseEnded)
        return this.#settled(`the lease ended: ${error.message}`);
      const why = error instanceof HubError ? error.message : "the hub was given up";
      this.#log(`${why}; lease ${this.leased.leaseId} stays live`);
      return "left";
    } finally {
      this.#done.abort();
    }
  }

  async #work(): Promise<AttemptOutcome> {
    const { signal } = this.#ending;
    const isBegun = await this.at.turns.take(signal);
    let conclusion: Conclusion;
    try {
      if (!isBegun && !signal.aborted) return await this.#release("the worker was stopped before the task was begun");
      conclusion = await this.#handled();
    } catch (error) {
      if (error instanceof TaskAbortedError && error === signal.reason) return await this.#stopped(error);
      throw error;
    } finally {
      if (isBegun) this.at.turns.end();
    }
    await this.#speech.flush();
    return conclusion.isQuestion ? this.#ask(conclusion) : this.#answer(conclusion.fields);
  }

  /** Return the handler's conclusion, also of its error. Throws the reason for which the task was aborted. */
  async #handled(): Promise<Conclusion> {
    const { signal } = this.#ending;
    signal.throwIfAborted();
    const task = new WorkerTask(this.leased, this.#speech, signal);
    const work = (async () => conclusionOf(await this.at.handler(task)))();
    try {
      return await Promise.race([work, this.#aborted]);
    } catch (error) {
      signal.throwIfAborted();
      return new Conclusion({ status: "error", error_message: messageOf(error) });
    }
  }

  async #stopped(error: TaskAbortedError): Promise<AttemptOutcome> {
    switch (error.why) {
      case "lease_ended":
        return this.#settled(error.message);
      case "work_timeout":
        return this.#answer({ status: "error", error_message: TIMED_OUT });
      case "stopped":
        return this.#release(error.message);
    }
  }

  /** Post the question, which ends the lease. If the hub refuses it, post that refusal as an error. */
  async #ask(question: Conclusion): Promise<AttemptOutcome> {
    try {
      await this.#speech.post(question.fields);
      return this.#settled("put a question to the sender; the answer brings a new lease");
    } catch (error) {
      if (!(error instanceof RefusedError) || error.isLeaseEnded) throw error;
      return this.#answer({ status: "error", error_message: `the hub refused the question: ${error.message}` });
    }
  }

  /** Post the result. If the hub refuses it for good, post that refusal as an error instead. */
  async #answer(fields: Record<string, unknown>): Promise<AttemptOutcome> {
    await this.#speech.flush();
    const fence = { task_id: this.leased.task.id, lease_id: this.leased.leaseId };
    try {
      await this.at.posting.post({ ...fields, ...fence } as Body<"/a2a/results">);
      return this.#settled(String(fields["error_message"] ?? fields["status"]));
    } catch (error) {
      if (!(error instanceof RefusedError) || error.isLeaseEnded) throw error;
      const error_message = `the hub refused the result: ${error.message}`;
      await this.at.posting.post({ ...fence, status: "error", error_message });
      return this.#settled(error_message);
    }
  }

  async #release(reason: string): Promise<AttemptOutcome> {
    await this.#speech.flush();
    const body = { reason, lease_id: this.leased.leaseId };
    const asking = { ids: [this.leased.task.id], signal: this.at.abandon, insists: true };
    await this.at.api.post("/a2a/tasks/{task_id}/release", body, asking);
    this.#log(`released: ${reason}`);
    return "released";
  }

  /** Send heartbeats until the hub has the outcome. The first one comes soon, and shows that the holder sends some. */
  async #beat(): Promise<void> {
    const { signal } = this.#done;
    for (let pause = FIRST * this.at.heartbeat; !signal.aborted; pause = this.at.heartbeat) {
      try {
        await sleep(pause, signal);
        await this.#speech.beat(signal);
      } catch (error) {
        if (!(error instanceof RefusedError) || !error.isLeaseEnded) continue;
        return this.#abort("lease_ended", error.message);
      }
    }
  }

  /** Abort the task shortly before its work timeout. */
  async #limit(limit: number): Promise<void> {
    await sleep(limit - Math.min(POSTED_WITHIN, limit / 10), this.#done.signal).catch(() => {});
    if (!this.#done.signal.aborted) this.#abort("work_timeout", TIMED_OUT);
  }

  #abort(why: TaskAbortedError["why"], message: string): void {
    this.#ending.abort(new TaskAbortedError(why, message));
  }

  #settled(how: string): AttemptOutcome {
    this.#log(how.split("\n", 1)[0] ?? "");
    return "settled";
  }

  #log(what: string): void {
    this.at.log(`task ${this.leased.task.id} attempt ${this.leased.attempt}: ${what}`);
  }
}

function messageOf(error: unknown): string {
  const text = error instanceof Error ? error.message || error.name : String(error);
  return text.trim().slice(0, LONGEST_MESSAGE) || "the handler failed";
}
