import type { KeyObject } from "node:crypto";
import { RefusedError, UnreachableError, HubError } from "./errors.js";
import { Signer } from "./signing.js";

const ANSWER_WITHIN = 10_000; // milliseconds, beside the wait of a long poll
const NOT_SENT = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "UND_ERR_CONNECT_TIMEOUT"]);
const OWN_FIELDS = new Set(["kind", "code", "message", "fields"]);

export interface ConnectionOptions {
  /** The base URL of the hub; `A2A_URL` by default. Signatures need the hub's public URL. */
  url?: string;
  /** The API key of an agent or a person; `A2A_API_KEY` by default. */
  key?: string;
  /** An agent's Ed25519 private key, in base58 or PEM. Each request is then signed, and `key` is not sent. */
  signingKey?: string | KeyObject;
}

/** One request. `wait` is the milliseconds that the hub may hold it. */
export interface Call {
  method: "GET" | "POST";
  path: string;
  query?: Record<string, string | number | null | undefined>;
  body?: unknown;
  wait?: number;
}

/** Sends single requests. It repeats none. */
export class Connection {
  readonly url: string;
  readonly #key: string;
  readonly #signer: Signer | undefined;

  constructor(options: ConnectionOptions) {
    const url = options.url ?? process.env["A2A_URL"];
    if (!url) throw new TypeError("No URL of a hub: pass url, or set A2A_URL.");
    if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) throw new TypeError(`Not the URL of a hub: ${url}`);
    this.url = new URL(url).href.replace(/\/+$/, "");
    this.#signer = options.signingKey === undefined ? undefined : new Signer(options.signingKey);
    this.#key = (options.key ?? process.env["A2A_API_KEY"] ?? "").trim();
    if (!this.#signer && !this.#key) throw new TypeError("No API key: pass key, or set A2A_API_KEY.");
    if (!/^[\x21-\x7e]*$/.test(this.#key)) throw new TypeError("The API key has characters that no key has.");
  }

  /** Send the request and return the JSON of its answer. Throws `RefusedError`, `UnreachableError`, or the abort's reason. */
  async once(call: Call, signal?: AbortSignal): Promise<unknown> {
    signal?.throwIfAborted();
    const limit = new AbortController();
    const abort = () => limit.abort();
    const timer = setTimeout(abort, (call.wait ?? 0) + ANSWER_WITHIN);
    signal?.addEventListener("abort", abort);
    try {
      const response = await fetch(...this.#request(call, limit.signal));
      return answerOf(response, await response.text());
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof HubError) throw error;
      throw unreachable(error, limit.signal.aborted);
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
    }
  }

  #request(call: Call, signal: AbortSignal): [URL, RequestInit] {
    const url = new URL(this.url + call.path);
    for (const [name, value] of Object.entries(call.query ?? {})) {
      if (value !== undefined && value !== null) url.searchParams.set(name, String(value));
    }
    const body = call.method === "POST" ? JSON.stringify(call.body ?? {}) : undefined;
    const headers: Record<string, string> = {
      accept: "application/json",
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...(this.#signer?.headers(call.method, url, body) ?? { authorization: `Bearer ${this.#key}` }),
    };
    const init = { method: call.method, headers, redirect: "manual", signal } as const;
    return [url, body === undefined ? init : { ...init, body }];
  }
}

function unreachable(cause: unknown, isLate: boolean): UnreachableError {
  const inner = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause;
  const code = inner instanceof Error && "code" in inner ? String(inner.code) : "";
  const why = isLate ? "it took too long" : inner instanceof Error ? inner.message || code : String(inner);
  return new UnreachableError(`no answer from the hub: ${why}`, { mayHaveArrived: !NOT_SENT.has(code), cause });
}

function answerOf(response: Response, text: string): unknown {
  const json = jsonOf(text);
  if (!response.ok) throw refusalOf(response, json);
  if (typeof json?.["kind"] !== "string") {
    throw new UnreachableError("the answer is not a hub's: check the URL", { mayHaveArrived: true });
  }
  return json;
}

function jsonOf(text: string): Record<string, unknown> | undefined {
  try {
    const json: unknown = JSON.parse(text);
    return typeof json === "object" && json !== null ? (json as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function refusalOf(response: Response, json: Record<string, unknown> | undefined): RefusedError {
  const status = response.status;
  const retryAfter = /^\d+$/.test(response.headers.get("retry-after") ?? "")
    ? { retryAfter: Number(response.headers.get("retry-after")) * 1000 }
    : {};
  if (typeof json?.["code"] !== "string") {
    const message = `${status} ${response.statusText}: the answer is not a hub's`;
    return new RefusedError({ code: "unexpected_answer", status, message, ...retryAfter });
  }
  const ids = Object.entries(json).filter(([name, value]) => !OWN_FIELDS.has(name) && typeof value === "string");
  return new RefusedError({
    code: json["code"],
    status,
    message: String(json["message"]),
    fields: (json["fields"] ?? {}) as Record<string, string>,
    ids: Object.fromEntries(ids) as Record<string, string>,
    ...retryAfter,
  });
}
