/** Turns of handlers, when a worker holds more tasks than it handles at once. */
export class Turns {
  #free: number;
  readonly #queue: ((isTaken: boolean) => void)[] = [];
  #isClosed = false;

  constructor(concurrency: number) {
    this.#free = concurrency;
  }

  /** Wait for a turn. Return false if there will be none, because the worker stops or `signal` is aborted. */
  take(signal: AbortSignal): Promise<boolean> {
    if (this.#isClosed || signal.aborted) return Promise.resolve(false);
    if (this.#free > 0) {
      this.#free -= 1;
      return Promise.resolve(true);
    }
    return new Promise((resolve) => {
      const begin = (isTaken: boolean) => {
        signal.removeEventListener("abort", leave);
        resolve(isTaken);
      };
      const leave = () => {
        this.#queue.splice(this.#queue.indexOf(begin), 1);
        begin(false);
      };
      this.#queue.push(begin);
      signal.addEventListener("abort", leave);
    });
  }

  /** End a turn that was taken. */
  end(): void {
    const next = this.#queue.shift();
    if (next) next(true);
    else this.#free += 1;
  }

  /** Let no handler begin any more. */
  close(): void {
    this.#isClosed = true;
    for (const waiting of this.#queue.splice(0)) waiting(false);
  }
}
