import { randomUUID } from "node:crypto";
import type { Api, Body } from "../api.js";
import { sizeOf, takeBatch, type Sized } from "../batches.js";
import { RefusedError } from "../errors.js";
import { messagesOf } from "../handle.js";
import type { MessageRow } from "../wire.js";
import type { Leased } from "./leases.js";

const MOST = { items: 100, bytes: 600_000 }; // of one request; the hub takes no more updates

export type Update = Record<string, unknown>;

interface Waiting extends Sized {
  update: Update;
  posted: () => void;
  refused: (error: unknown) => void;
}

/** The updates and heartbeats of one task, in their order. */
export class Speech {
  turn: number;
  readonly #waiting: Waiting[] = [];
  #posting: Promise<void> | undefined;

  /** Once `abandon` is aborted, failed requests are no longer repeated. `onRefused` gets each refused request. */
  constructor(
    private readonly api: Api,
    private readonly leased: Leased,
    private readonly abandon: AbortSignal,
    private readonly onRefused: (error: RefusedError) => void,
  ) {
    this.turn = leased.turn;
  }

  /** Yield the messages of both parties, oldest first. */
  messages(): AsyncGenerator<MessageRow, void, undefined> {
    return messagesOf(this.api, this.leased.task.id, { signal: this.abandon });
  }

  /** Post an update after all earlier updates. A caller that does not wait for the promise misses its error only. */
  add(update: Update): Promise<void> {
    const added = new Promise<void>((posted, refused) => {
      this.#waiting.push({ update, size: sizeOf(update), posted, refused });
    });
    added.catch(() => {});
    this.#posting ??= this.#postAll();
    return added;
  }

  /** Wait until no update is left. */
  async flush(): Promise<void> {
    while (this.#posting) await this.#posting;
  }

  /** Post one update that no other accompanies. Throws its error. */
  async post(...updates: Update[]): Promise<void> {
    const body = { lease_id: this.leased.leaseId, attempt_id: randomUUID(), updates } as Body<Updates>;
    const answer = await this.api.post(UPDATES, body, { ids: this.#ids, signal: this.abandon, insists: true });
    this.turn = answer.turn;
  }

  /** Send a heartbeat. Throws its error. */
  async beat(signal: AbortSignal): Promise<void> {
    const asking = { ids: this.#ids, signal };
    const answer = await this.api.post("/a2a/tasks/{task_id}/heartbeat", { lease_id: this.leased.leaseId }, asking);
    this.turn = answer.turn;
  }

  get #ids(): string[] {
    return [this.leased.task.id];
  }

  async #postAll(): Promise<void> {
    await Promise.resolve(); // updates of the same moment go out together
    while (this.#waiting.length > 0) {
      const batch = takeBatch(this.#waiting, MOST);
      try {
        await this.post(...batch.map(({ update }) => update));
        batch.forEach(({ posted }) => posted());
      } catch (error) {
        if (batch.length > 1 && error instanceof RefusedError && !error.isLeaseEnded) await this.#postAlone(batch);
        else this.#refuse(batch, error);
      }
    }
    this.#posting = undefined; // in one step with the check that nothing waits
  }

  async #postAlone(batch: readonly Waiting[]): Promise<void> {
    for (const one of batch) {
      try {
        await this.post(one.update);
        one.posted();
      } catch (error) {
        this.#refuse([one], error);
      }
    }
  }

  #refuse(batch: readonly Waiting[], error: unknown): void {
    if (error instanceof RefusedError) this.onRefused(error);
    batch.forEach(({ refused }) => refused(error));
  }
}

const UPDATES = "/a2a/tasks/{task_id}/updates";
type Updates = typeof UPDATES;
