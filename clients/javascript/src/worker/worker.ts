import type { Api } from "../api.js";
import { LONGEST_WAIT } from "../handle.js";
import { Engine } from "./engine.js";
import type { WorkerOptions } from "./options.js";
import { Stops } from "./stops.js";
import type { Handler } from "./task.js";

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
