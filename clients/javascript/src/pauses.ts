/** How long failing requests are repeated. All times are milliseconds. */
export interface Retry {
  /** The time from the first failure after which the error is thrown. 0 repeats nothing. */
  patience: number;
  /** The first pause; each later one doubles, up to the longest. */
  firstPause: number;
  longestPause: number;
}

export const RETRY: Retry = { patience: 30_000, firstPause: 250, longestPause: 15_000 };

/** Pauses that double, each shortened by up to half at random. */
export class Pauses {
  #next: number;

  constructor(private readonly retry: Retry) {
    this.#next = retry.firstPause;
  }

  /** Return the next pause, which is at least `least`. */
  next(least = 0): number {
    const pause = this.#next * (0.5 + Math.random() / 2);
    this.#next = Math.min(this.#next * 2, this.retry.longestPause);
    return Math.max(pause, least);
  }
}

export const LONGEST_TIMER = 2 ** 31 - 1; // milliseconds; a longer one would end at once

/** Wait, and throw the reason of `signal` if it is aborted meanwhile. */
export function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      signal?.aborted ? reject(signal.reason) : resolve();
    };
    const timer = setTimeout(end, Math.min(milliseconds, LONGEST_TIMER));
    signal?.addEventListener("abort", end);
  });
}

const REST = 1000;

/** Wait a second if an empty answer came before the end of its long poll, as from a hub without a free seat. */
export async function rest(endsAt: number, signal?: AbortSignal): Promise<void> {
  if (endsAt - Date.now() > REST) await sleep(REST, signal);
}
