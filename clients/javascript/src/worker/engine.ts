import { setMaxListeners } from "node:events";
import type { Api } from "../api.js";
import { HubError } from "../errors.js";
import { sleep } from "../pauses.js";
import { Attempt, type Workplace } from "./attempt.js";
import type { Leased } from "./leases.js";
import type { WorkerOptions } from "./options.js";
import { Orphans } from "./orphans.js";
import { Posting } from "./posting.js";
import { Receiver } from "./receiver.js";
import type { Stops } from "./stops.js";
import type { Handler } from "./task.js";
import { Turns } from "./turns.js";

// Milliseconds to post outcomes to the hub once the handlers were stopped.
const TO_REPORT = 10_000;
const TO_REPORT_AT_ONCE = 2000;

/** One run of a worker: leases tasks, handles them, and drains. */
export class Engine {
  readonly #held = new Map<string, Promise<void>>(); // by lease id
  readonly #attempts = new Set<Attempt>();
  readonly #abandon = new AbortController();
  readonly #at: Workplace;
  readonly #left: string[] = [];
  #changed: () => void = () => {};

  constructor(
    private readonly api: Api,
    private readonly options: Required<WorkerOptions>,
    handler: Handler,
    private readonly stops: Stops,
  ) {
    const abandon = this.#abandon.signal;
    setMaxListeners(0, abandon, stops.stopping); // each request and each pause listens
    const { concurrency, heartbeat, log } = options;
    const posting = new Posting(api, abandon);
    this.#at = { api, posting, turns: new Turns(concurrency), handler, heartbeat, abandon, log };
    stops.stopping.addEventListener("abort", () => {
      this.#at.turns.close();
      this.#changed();
    });
    if (stops.stopping.aborted) this.#at.turns.close();
  }

  /** Work until the worker stops. Throws the error because of which no task can be leased. */
  async run(): Promise<void> {
    const { stopping } = this.stops;
    const stopped = new Promise((resolve) => stopping.addEventListener("abort", resolve));
    let failure: unknown;
    const leasing = this.#lease()
      .catch((error: unknown) => (failure = stopping.aborted ? undefined : error))
      .finally(() => this.stops.stop());
    if (!stopping.aborted) await stopped;
    await this.#drain(leasing);
    if (failure !== undefined) throw failure;
    if (this.#left.length > 0) {
      throw new HubError(`the hub lacks the outcome of these leases: ${this.#left.join(", ")}`);
    }
  }

  /** Lease tasks until the worker stops, first those of crashed workers. */
  async #lease(): Promise<void> {
    const { batch, wait, log, resume, resumeAfter: silence, resumeAttempts: attempts } = this.options;
    const { stopping } = this.stops;
    const abandon = this.#abandon.signal;
    const isOwn = (leaseId: string) => this.#held.has(leaseId);
    const orphans = new Orphans(this.api, { resume, silence, attempts, stopping, abandon, isOwn, log });
    const receiver = new Receiver(this.api, { wait, stopping, abandon, log });
    while (!stopping.aborted) {
      await orphans.look();
      const room = batch - this.#held.size;
      if (room > 0) {
        const orphan = await orphans.takeOver();
        for (const leased of orphan ? [orphan] : await receiver.next(room)) this.#begin(leased);
      } else {
        await new Promise<void>((resolve) => (this.#changed = resolve));
      }
    }
  }

  #begin(leased: Leased): void {
    if (this.#held.has(leased.leaseId)) return;
    const attempt = new Attempt(this.#at, leased);
    this.#attempts.add(attempt);
    const ended = attempt.run().then((outcome) => {
      if (outcome === "left") this.#left.push(leased.leaseId);
      this.#attempts.delete(attempt);
      this.#held.delete(leased.leaseId);
      this.#changed();
    });
    this.#held.set(leased.leaseId, ended);
  }

  /** Let running handlers finish within their grace, then stop them and release their tasks. */
  async #drain(leasing: Promise<unknown>): Promise<void> {
    const { grace, wait, log } = this.options;
    const { killing } = this.stops;
    if (this.#held.size > 0) log(`Stopping: handlers have ${grace} ms to finish.`);
    const idle = leasing.then(() => Promise.all(this.#held.values()));
    await within(grace, idle, killing);
    for (const attempt of this.#attempts) attempt.stop();
    await within(Math.max(TO_REPORT, wait), idle, killing);
    if (killing.aborted) await within(TO_REPORT_AT_ONCE, idle);
    this.#abandon.abort();
    await idle;
  }
}

/** Wait for the promise, at most so many milliseconds, and not after `signal` is aborted. */
async function within(milliseconds: number, promise: Promise<unknown>, signal?: AbortSignal): Promise<void> {
  const limit = new AbortController();
  const end = () => limit.abort();
  signal?.addEventListener("abort", end);
  if (signal?.aborted) end();
  await Promise.race([promise, sleep(milliseconds, limit.signal).catch(() => {})]);
  end();
  signal?.removeEventListener("abort", end);
}
