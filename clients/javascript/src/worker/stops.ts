const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** The requests to stop a worker: the first lets handlers finish, the second does not wait for them. */
export class Stops {
  readonly #stopping = new AbortController();
  readonly #killing = new AbortController();
  readonly #hear = () => (this.stopping.aborted ? this.#killing.abort() : this.stop());
  readonly stop = (): void => this.#stopping.abort();

  constructor(private readonly given: AbortSignal | undefined) {
    for (const signal of SIGNALS) process.on(signal, this.#hear);
    given?.addEventListener("abort", this.stop);
    if (given?.aborted) this.stop();
  }

  get stopping(): AbortSignal {
    return this.#stopping.signal;
  }

  get killing(): AbortSignal {
    return this.#killing.signal;
  }

  /** Leave the process's signals to others again. */
  end(): void {
    for (const signal of SIGNALS) process.off(signal, this.#hear);
    this.given?.removeEventListener("abort", this.stop);
  }
}
