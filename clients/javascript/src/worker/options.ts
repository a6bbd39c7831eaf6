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
