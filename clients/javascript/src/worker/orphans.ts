import { randomUUID } from "node:crypto";
import type { Api } from "../api.js";
import { RefusedError } from "../errors.js";
import { pages } from "../paging.js";
import type { HeldRow } from "../wire.js";
import { leasedOf, type Leased } from "./leases.js";

export interface OrphanOptions {
  /** Which leases are taken over. `idempotent` leaves tasks alone whose work must not be done twice. */
  resume: "all" | "idempotent" | "none";
  /** The milliseconds for which a live worker is never silent. */
  silence: number;
  stopping: AbortSignal;
  abandon: AbortSignal;
  log: (line: string) => void;
}

/**
 * The leases that workers of the same agent left behind when they crashed.
 *
 * Several workers of one agent may run at once, and a lease does not say which of them holds it. A live worker sends
 * heartbeats, so a lease is an orphan when its time of the last heartbeat stands still. The worker looks twice and
 * compares; no clock of another machine counts.
 *
 * To take an orphan over, the worker releases it and leases the task anew. A holder that was only slow then learns that
 * its lease has ended. Of two workers that take over at once, one gets the task.
 */
export class Orphans {
  readonly #suspects = new Map<string, number>(); // the time of the last heartbeat, by lease id
  #ripe: HeldRow[] = []; // leases to take over
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
    const isFirst = this.#lookAt === 0;
    this.#lookAt = Infinity;
    const held = await this.#held();
    if (!isFirst) {
      this.#ripe = held.filter((row) => this.#suspects.get(row.lease_id) === row.last_seen_at_ms);
      return;
    }
    for (const row of held) if (this.#isRepeatable(row)) this.#suspects.set(row.lease_id, row.last_seen_at_ms);
    if (this.#suspects.size > 0) this.#lookAt = performance.now() + this.options.silence;
  }

  /** Take over the oldest orphan. Return undefined without one. */
  async takeOver(): Promise<Leased | undefined> {
    for (let row = this.#ripe.shift(); row && !this.options.stopping.aborted; row = this.#ripe.shift()) {
      const leased = await this.#take(row);
      if (leased) return leased;
    }
    return undefined;
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

  #isRepeatable({ task }: HeldRow): boolean {
    return this.options.resume === "all" || task.idempotency?.duplicate_safety === "idempotent";
  }
}
