import { Api } from "./api.js";
import { Connection, type ConnectionOptions } from "./connection.js";
import { TaskHandle } from "./handle.js";
import { pages } from "./paging.js";
import { RETRY, type Retry } from "./pauses.js";
import { acknowledge, type TaskResult } from "./result.js";
import { drained, type Draining } from "./results.js";
import { send, sendMany, type Sending, type SendOptions, type Sent } from "./sending.js";
import type {
  AgentRow,
  DeliveryRow,
  EntryRow,
  GrantRow,
  KeyRow,
  PersonRow,
  HeldRow,
  JournalRow,
  Me,
  QueueRow,
} from "./wire.js";
import type { Handler } from "./worker/task.js";
import type { WorkerOptions } from "./worker/options.js";
import { Worker } from "./worker/worker.js";

export interface HubOptions extends ConnectionOptions {
  /** How long failing requests are repeated. */
  retry?: Partial<Retry>;
}

export interface QueueFilter {
  state?: "queued" | "in_flight" | "interrupted";
  /** Milliseconds; only tasks that are leased for at least this time. */
  minLeaseAge?: number;
  /** Milliseconds; only tasks whose deadline comes within this time. */
  deadlineWithin?: number;
}

const ROWS_OF_A_PAGE = { query: { limit: 100 } };

/** A hub as one agent or one person sees it. Every method throws `RefusedError` and `UnreachableError`. */
export class Hub {
  readonly #api: Api;
  #worker: Worker | undefined;

  constructor(options: HubOptions = {}) {
    this.#api = new Api(new Connection(options), { ...RETRY, ...options.retry });
  }

  get url(): string {
    return this.#api.connection.url;
  }

  /** Return the owner of the key. */
  me(): Promise<Me> {
    return this.#api.get("/a2a/me");
  }

  /** Send a task to the agent `to`, and return its handle once the hub has stored it. */
  send(to: string, text: string, options: SendOptions = {}): Promise<TaskHandle> {
    return send(this.#api, to, text, options);
  }

  /** Send tasks in few requests. A refused task keeps no other task from being sent. */
  sendMany(tasks: readonly Sending[]): Promise<Sent[]> {
    return sendMany(this.#api, tasks);
  }

  /** Return the handle of a task that exists already. */
  task(id: string): TaskHandle {
    return new TaskHandle(this.#api, id);
  }

  /**
   * Yield the results of all tasks of the agent. A result is acknowledged once the loop takes the next one, so a crash
   * in between brings it again. A loop that is left early does not acknowledge its last result.
   */
  results(draining: Draining = {}): AsyncGenerator<TaskResult, void, undefined> {
    return drained(this.#api, draining);
  }

  /** Acknowledge the results of these tasks, so that no loop brings them again. */
  ack(...taskIds: string[]): Promise<void> {
    return acknowledge(this.#api, taskIds);
  }

  /**
   * Define what the agent does with a task. `run` then works on tasks. At its start it looks for idempotent tasks of
   * crashed workers; `resume` and `resumeAfter` change that.
   */
  worker(options: WorkerOptions, handler: Handler): void {
    if (this.#worker) throw new Error("This hub has a worker already.");
    this.#worker = new Worker(this.#api, options, handler);
  }

  /**
   * Work on tasks until SIGTERM, SIGINT or the abort of `signal`. Running handlers then have their grace to finish; a
   * second signal ends it at once. Throws the error because of which no task can be leased.
   */
  async run({ signal }: { signal?: AbortSignal } = {}): Promise<void> {
    if (!this.#worker) throw new Error("This hub has no worker: call worker() first.");
    await this.#worker.run(signal);
  }

  /** Yield the tasks in any state, newest first. */
  tasks(): AsyncGenerator<EntryRow, void, undefined> {
    return pages(this.#api, "/a2a/tasks", (answer) => answer.entries, ROWS_OF_A_PAGE);
  }

  /** Yield the tasks that are queued, leased or interrupted. */
  queue({ state, minLeaseAge, deadlineWithin }: QueueFilter = {}): AsyncGenerator<QueueRow, void, undefined> {
    const query = {
      limit: 100,
      state_filter: state,
      min_lease_age_ms: minLeaseAge,
      deadline_within_ms: deadlineWithin,
    };
    return pages(this.#api, "/a2a/queue", (answer) => answer.tasks, { query });
  }

  /** Yield the agent's own live leases. */
  leases(): AsyncGenerator<HeldRow, void, undefined> {
    return pages(this.#api, "/a2a/leases", (answer) => answer.leases, ROWS_OF_A_PAGE);
  }

  agents(): AsyncGenerator<AgentRow, void, undefined> {
    return pages(this.#api, "/a2a/agents", (answer) => answer.agents, ROWS_OF_A_PAGE);
  }

  keys(): AsyncGenerator<KeyRow, void, undefined> {
    return pages(this.#api, "/a2a/keys", (answer) => answer.keys, ROWS_OF_A_PAGE);
  }

  people(): AsyncGenerator<PersonRow, void, undefined> {
    return pages(this.#api, "/a2a/people", (answer) => answer.people, ROWS_OF_A_PAGE);
  }

  /** Yield the grants, newest first. */
  grants(): AsyncGenerator<GrantRow, void, undefined> {
    return pages(this.#api, "/capabilities/recent", (answer) => answer.capabilities, ROWS_OF_A_PAGE);
  }

  /** Yield the rows of the journal, newest first. */
  journal(): AsyncGenerator<JournalRow, void, undefined> {
    return pages(this.#api, "/audit/recent", (answer) => answer.events, ROWS_OF_A_PAGE);
  }

  /** Yield the callbacks with their attempts. */
  deliveries(): AsyncGenerator<DeliveryRow, void, undefined> {
    return pages(this.#api, "/a2a/deliveries", (answer) => answer.deliveries, ROWS_OF_A_PAGE);
  }
}
