import { randomUUID } from "node:crypto";
import type { Api } from "../api.js";
import { isRepeatable, mayHaveArrived, RefusedError } from "../errors.js";
import { Pauses, rest, sleep } from "../pauses.js";
import { leasedOf, type Leased } from "./leases.js";

const MOST = 100; // tasks of one request; the hub takes no more

export interface ReceiverOptions {
  /** The milliseconds that one request waits for a task. */
  wait: number;
  stopping: AbortSignal;
  abandon: AbortSignal;
  log: (line: string) => void;
}

/**
 * Leases tasks under attempt ids. An id stays until it brings a task. An earlier request under the id may go on in the
 * hub and take a task. The hub returns that task under this id only.
 */
export class Receiver {
  #attemptId = randomUUID();
  #lostUntil = 0; // the latest end of an unanswered request in the hub

  constructor(
    private readonly api: Api,
    private readonly options: ReceiverOptions,
  ) {}

  /**
   * Lease up to `most` tasks, repeating the request until it is answered. Return no task if there is none, and once the
   * worker stops. Even then the requests go on until no unanswered one can take a task. Throws `RefusedError`.
   */
  async next(most: number): Promise<Leased[]> {
    const { stopping, abandon, log } = this.options;
    const pauses = new Pauses(this.api.retry);
    for (let isTroubled = false; ; isTroubled = true) {
      if (abandon.aborted || (stopping.aborted && Date.now() >= this.#lostUntil)) return [];
      try {
        const leases = await this.#receive(most);
        if (isTroubled) log("The hub answers again.");
        return leases;
      } catch (error) {
        if (!isRepeatable(error)) throw error;
        if (!isTroubled) log(`Cannot lease a task now, trying again: ${error.message}`);
        if (mayHaveArrived(error)) this.#lostUntil = Date.now() + this.options.wait;
        const requested = (error instanceof RefusedError && error.retryAfter) || 0;
        const pause = pauses.next(Math.min(requested, this.api.retry.longestPause));
        await sleep(pause, stopping.aborted ? abandon : stopping).catch(() => {});
      }
    }
  }

  async #receive(most: number): Promise<Leased[]> {
    const { stopping, abandon } = this.options;
    const wait = stopping.aborted ? Math.max(0, this.#lostUntil - Date.now()) : this.options.wait;
    const endsAt = Date.now() + wait;
    const body = { max: Math.min(most, MOST), wait_ms: Math.ceil(wait), attempt_id: this.#attemptId };
    const answer = await this.api.post("/a2a/tasks/lease", body, { wait, signal: abandon, patience: 0 });
    if (answer.leases.length > 0 || answer.attempt_spent) {
      this.#attemptId = randomUUID();
      this.#lostUntil = 0;
    } else {
      await rest(endsAt, stopping).catch(() => {});
    }
    return answer.leases.map(leasedOf);
  }
}
