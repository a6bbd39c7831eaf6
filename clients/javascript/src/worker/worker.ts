import type { Api } from "../api.js";
import { LONGEST_WAIT } from "../handle.js";
import { Engine } from "./engine.js";
import { Stops } from "./stops.js";
import type { Handler } from "./task.js";

export interface WorkerOptions {
  /** How many handlers run at once; 1 by default. */
  concurrency?: number;
  /** How many tasks the worker leases ahead, with those that it handles; `concurrency` by default. */
  batch?: number;
  /** Milliseconds between two heartbeats of a task; 10 000 by default. */
  heartbeat?: number;
  /** Milliseconds that running handlers have to finish when the worker stops; 10 000 by default. */
  grace?: number;
  /** Milliseconds that a request waits for a task, at most 50 000; 5000 by default. A stop waits for its end. */
  wait?: number;
  /**
   * Which leases of crashed workers the worker takes over: those of idempotent tasks by default, all, or none. It
   * releases such a lease and leases the task anew. A holder that never sent a heartbeat keeps its lease.
   */
  resume?: "all" | "idempotent" | "none";
  /**
   * Milliseconds without a heartbeat after which a worker has crashed, more than the `heartbeat` of each worker of the
   * agent. By default they are 30 000, and at least three heartbeats and the longest pause between two tries.
   */
  resumeAfter?: number;
  /** A task that was leased so many times is not taken over, but left to an operator; 5 by default. */
  resumeAttempts?: number;
  /** Gets a line for each event; `console.error` by default. */
  log?: (line: string) => void;
}

const SILENT_HEARTBEATS = 3;
const LEAST_SILENCE = 30_000; // milliseconds

/** A handler with its options. */
export class Worker {
  readonly #options: Required<WorkerOptions>;

  constructor(
    private readonly api: Api,
    options: WorkerOptions,
    private readonly handler: Handler,
  ) {
    const { concurrency = 1, batch = concurrency, heartbeat = 10_000, grace = 10_000, wait = 5000 } = options;
    const usualSilence = Math.max(LEAST_SILENCE, SILENT_HEARTBEATS * heartbeat + api.retry.longestPause);
    const { resume = "idempotent", resumeAfter = usualSilence, resumeAttempts = 5, log = console.error } = options;
    if (!(concurrency >= 1) || !(batch >= concurrency)) {
      throw new RangeError("concurrency must be at least 1, and batch at least concurrency");
    }
    if (!(wait >= 0 && wait <= LONGEST_WAIT)) throw new RangeError(`wait must be from 0 to ${LONGEST_WAIT}`);
    if (!(heartbeat > 0) || !(resumeAfter > heartbeat)) {
      throw new RangeError("heartbeat must be positive, and resumeAfter longer, or it takes the tasks of live workers");
    }
    if (!(resumeAttempts >= 1)) throw new RangeError("resumeAttempts must be at least 1");
    this.#options = { concurrency, batch, heartbeat, grace, wait, resume, resumeAfter, resumeAttempts, log };
  }

  /** Work until a signal of the process, or the abort of `signal`. */
  async run(signal: AbortSignal | undefined): Promise<void> {
    const stops = new Stops(signal);
    try {
      await new Engine(this.api, this.#options, this.handler, stops).run();
    } finally {
      stops.end();
    }
  }
}
