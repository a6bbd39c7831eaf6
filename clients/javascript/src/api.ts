import type { Call, Connection } from "./connection.js";
import { isRepeatable, mayHaveArrived, RefusedError } from "./errors.js";
import type { paths } from "./openapi.js";
import { Pauses, sleep, type Retry } from "./pauses.js";

type With<Method extends "get" | "post"> = {
  [Path in keyof paths]: paths[Path][Method] extends { responses: unknown } ? Path : never;
}[keyof paths];
export type Readable = With<"get">;
export type Postable = With<"post">;

/** The hub's JSON in the answer of a route. */
export type Answer<Path extends keyof paths, Method extends "get" | "post"> = paths[Path][Method] extends {
  responses: { 200: { content: { "application/json": infer Json } } };
}
  ? Json
  : never;

/** The JSON that a route takes. */
export type Body<Path extends Postable> = paths[Path]["post"] extends {
  requestBody?: { content: { "application/json": infer Json } };
}
  ? Json
  : never;

export interface Asking {
  /** The values of the placeholders in the path, in their order. */
  ids?: readonly string[];
  query?: NonNullable<Call["query"]>;
  /** The milliseconds that the hub may hold the request. */
  wait?: number;
  signal?: AbortSignal | undefined;
  /** False: the request acts again when it is repeated. It is then repeated only if it was not carried out. */
  isSafe?: boolean;
  /** The milliseconds from the first failure after which it is thrown, instead of those of the policy. */
  patience?: number;
  /** True: repeat until `signal`, also while the hub refuses the key. An operator can change that. */
  insists?: boolean;
}

const SLOW = 5000; // milliseconds of an answer, beside the wait of a long poll

/** Sends typed requests, and repeats those that fail for now. */
export class Api {
  /** The last time, by `performance.now()`, at which a request failed for now, was forbidden, or was slow. */
  troubledAt = -Infinity;

  constructor(
    readonly connection: Connection,
    readonly retry: Retry,
  ) {}

  get<Path extends Readable>(path: Path, asking: Asking = {}): Promise<Answer<Path, "get">> {
    return this.#send({ method: "GET", path: filled(path, asking) }, asking) as Promise<Answer<Path, "get">>;
  }

  post<Path extends Postable>(path: Path, body: Body<Path>, asking: Asking = {}): Promise<Answer<Path, "post">> {
    const call: Call = { method: "POST", path: filled(path, asking), body };
    return this.#send(call, asking) as Promise<Answer<Path, "post">>;
  }

  async #send(call: Call, asking: Asking): Promise<unknown> {
    const whole: Call = { ...call, query: asking.query ?? {}, wait: asking.wait ?? 0 };
    const pauses = new Pauses(this.retry);
    let giveUpAt: number | undefined;
    for (;;) {
      const beganAt = performance.now();
      try {
        const answer = await this.connection.once(whole, asking.signal);
        if (performance.now() - beganAt > (whole.wait ?? 0) + SLOW) this.troubledAt = performance.now();
        return answer;
      } catch (error) {
        if (isTrouble(error)) this.troubledAt = performance.now();
        if (!mayRepeat(error, asking)) throw error;
        const requested = (error instanceof RefusedError && error.retryAfter) || 0;
        const pause = pauses.next(asking.insists ? Math.min(requested, this.retry.longestPause) : requested);
        giveUpAt ??= Date.now() + (asking.insists ? Infinity : (asking.patience ?? this.retry.patience));
        if (Date.now() + pause > giveUpAt) throw error;
        await sleep(pause, asking.signal);
      }
    }
  }
}

/** Whether others may fail to send their heartbeats for the same reason. */
function isTrouble(error: unknown): boolean {
  return isRepeatable(error) || (error instanceof RefusedError && error.isForbidden);
}

function mayRepeat(error: unknown, { insists = false, isSafe = true }: Asking): boolean {
  if (insists && error instanceof RefusedError && error.isForbidden) return true;
  return isRepeatable(error) && (isSafe || !mayHaveArrived(error));
}

function filled(path: string, { ids = [] }: Asking): string {
  const rest = [...ids];
  return path.replace(/\{\w+\}/g, () => encodeURIComponent(rest.shift() ?? ""));
}
