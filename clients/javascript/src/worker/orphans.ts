import { randomUUID } from "node:crypto";
import type { Api } from "../api.js";
import { RefusedError } from "../errors.js";
import { pages } from "../paging.js";
import type { HeldRow } from "../wire.js";
import { leasedOf, type Leased } from "./leases.js";

const LOOK_EVERY = 60_000; // milliseconds
const LOOK_AGAIN = 5000; // milliseconds after which an orphan that was not taken over yet is looked at again

export interface OrphanOptions {
  /** Which leases are taken over. `idempotent` leaves tasks alone whose work must not be done twice. */
  resume: "all" | "idempotent" | "none";
  /** The milliseconds for which a live worker is never silent. */
  silence: number;
  /** A task that was leased so many times is left to an operator. */
  attempts: number;
  stopping: AbortSignal;
  abandon: AbortSignal;
  /** Whether this worker holds the lease. */
  isOwn: (leaseId: string) => boolean;
  log: (line: string) => void;
}

/**
 * The leases that workers of the same agent left behind when they crashed. A worker looks for them each minute.
 *
 * Several workers of one agent may run at once, and a lease does not say which of them holds it. A holder that has sent
 * a heartbeat is a worker, and sends more. Its lease is an orphan when its time of the last heartbeat stands still. The
 * worker looks twice and compares; no clock of another machine counts. A holder without any heartbeat keeps its lease.
 *
 * A hub that does not answer takes no heartbeats. So the silence begins anew after each request that failed or was slow.
 *
 * To take an orphan over, the worker releases it and leases the task anew. A holder that was only slow then learns that
 * its lease has ended. Of two workers that take over at once, one gets the task.
 */
export class Orphans {
  #suspects = new Map<string, number>(); // the time of the last heartbeat, by lease id
  #since: number | undefined; // when the silence of the suspects began
  #ripe: HeldRow[] = []; // leases to take over
  readonly #left = new Set<string>(); // leases that are left to an operator
  #lookAt: number;

  constructor(
    private readonly api: Api,
    private readonly options: OrphanOptions,
  ) {
    this.#lookAt = options.resume === "none" ? Infinity : 0;
  }

  /** Look at the agent's leases if it is time to. Call this before the first receive, and again now and then. */
  async look(): Promise<void> {
    if (performance.now() < this.#lookAt) return;
    this.#lookAt = Infinity;
    const held = await this.#held();
    if (this.#since === undefined) {
      this.#begin(held.filter((row) => this.#isSuspect(row)));
    } else if (this.api.troubledAt > this.#since) {
      this.#begin(held.filter((row) => this.#suspects.has(row.lease_id)));
    } else {
      this.#judge(held);
    }
  }

  /** Take over the oldest orphan. Return undefined without one. */
  async takeOver(): Promise<Leased | undefined> {
    for (let row = this.#ripe.shift(); row && !this.options.stopping.aborted; row = this.#ripe.shift()) {
      const leased = await this.#take(row);
      if (leased) return leased;
    }
    return undefined;
  }

  /** Let the silence of these leases begin. */
  #begin(suspects: HeldRow[]): void {
    this.#ripe = [];
    this.#since = performance.now();
    this.#lookAgain(suspects, this.options.silence);
  }

  /** Keep the leases whose heartbeats stood still. They are looked at again if they are not taken over soon. */
  #judge(held: HeldRow[]): void {
    const silent = held.filter((row) => this.#suspects.get(row.lease_id) === row.last_seen_at_ms);
    this.#ripe = silent.filter((row) => this.#mayRepeat(row));
    this.#lookAgain(this.#ripe, LOOK_AGAIN);
  }

  /** Look at these leases after the pause. Without any, look for new suspects after `LOOK_EVERY`. */
  #lookAgain(suspects: HeldRow[], pause: number): void {
    this.#suspects = seen(suspects);
    if (suspects.length === 0) this.#since = undefined;
    this.#lookAt = performance.now() + (suspects.length === 0 ? LOOK_EVERY : pause);
  }

  /** Release the lease and lease its task. Undefined: the task ended, or another worker has it. */
  async #take({ task, lease_id }: HeldRow): Promise<Leased | undefined> {
    const { silence, abandon, log } = this.options;
    const reason = `taken over: its worker sent no heartbeat for ${silence} ms`;
    const asking = { ids: [task.id], signal: abandon, insists: true };
    try {
      await this.api.post("/a2a/tasks/{task_id}/release", { reason, lease_id }, asking);
      const body = { attempt_id: randomUUID() };
      const leased = await this.api.post("/a2a/tasks/{task_id}/lease", body, asking);
      log(`task ${task.id}: ${reason}`);
      return leasedOf(leased);
    } catch (error) {
      if (!(error instanceof RefusedError)) throw error;
      log(`task ${task.id}: not taken over: ${error.message}`);
      return undefined;
    }
  }

  async #held(): Promise<HeldRow[]> {
    const asking = { query: { limit: 100 }, signal: this.options.stopping, patience: Infinity };
    const held: HeldRow[] = [];
    try {
      for await (const row of pages(this.api, "/a2a/leases", (answer) => answer.leases, asking)) held.push(row);
    } catch (error) {
      if (!this.options.stopping.aborted && !(error instanceof RefusedError)) throw error; // a receive shows a refusal
    }
    return held;
  }

  #isSuspect(row: HeldRow): boolean {
    return this.#isRepeatable(row) && row.last_seen_at_ms > row.leased_at_ms && !this.options.isOwn(row.lease_id);
  }

  #isRepeatable({ task }: HeldRow): boolean {
    return this.options.resume === "all" || task.idempotency?.duplicate_safety === "idempotent";
  }

  /** Whether the task was not leased too often. Otherwise log that it is left to an operator. */
  #mayRepeat({ task, attempt, lease_id }: HeldRow): boolean {
    if (attempt < this.options.attempts) return true;
    if (!this.#left.has(lease_id)) {
      this.#left.add(lease_id);
      this.options.log(`task ${task.id}: not taken over: it was leased ${attempt} times. Lease ${lease_id} is left.`);
    }
    return false;
  }
}

/** The time of the last heartbeat, by lease id. */
function seen(held: HeldRow[]): Map<string, number> {
  return new Map(held.map((row) => [row.lease_id, row.last_seen_at_ms]));
}
