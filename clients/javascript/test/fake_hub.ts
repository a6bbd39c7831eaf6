// A hub of a test's own: each route gives the replies that the test lists, in their order, and the last one for ever.

import assert from "node:assert/strict";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { after } from "node:test";
import { Hub, type HubOptions } from "../src/index.js";

const PATIENCE = 20_000; // milliseconds

type Json = Record<string, unknown>;

export interface Request {
  route: string; // method and path
  query: URLSearchParams;
  headers: IncomingMessage["headers"];
  text: string;
  body: any;
}

export type Reply = (request: Request, response: ServerResponse) => unknown;

export function json(body: Json, status = 200, headers: Record<string, string> = {}): Reply {
  return (_, response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(JSON.stringify(Array.isArray(body) ? body : { kind: "fake", ...body }));
  };
}

export function refusal(status: number, code: string, more: Json = {}, headers: Record<string, string> = {}): Reply {
  return json({ kind: "error", code, message: `the message of ${code}`, ...more }, status, headers);
}

/** The request arrives, and its answer is lost. */
export const cut: Reply = (_, response) => response.destroy();

/** The answer is cut after a part of it. */
export const half: Reply = (_, response) => {
  response.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
  response.write('{"kind": "a2a_');
  setImmediate(() => response.destroy());
};

export class FakeHub {
  readonly requests: Request[] = [];
  readonly #routes = new Map<string, Reply[]>();
  readonly #waiters = new Set<() => void>();

  private constructor(private readonly server: Server) {}

  static async start(): Promise<FakeHub> {
    const server = createServer((incoming, response) => void fake.#answer(incoming, response));
    const fake = new FakeHub(server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    after(() => {
      server.closeAllConnections();
      server.close();
    });
    return fake;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  hub(options: HubOptions = {}): Hub {
    return new Hub({ url: this.url, key: "a2a_key", retry: { firstPause: 1, longestPause: 5 }, ...options });
  }

  on(route: string, ...replies: Reply[]): this {
    this.#routes.set(route, replies);
    return this;
  }

  to(route: string): Request[] {
    return this.requests.filter((request) => request.route === route);
  }

  /** Wait for the request number `count` of a route. */
  async arrived(route: string, count = 1): Promise<Request> {
    await this.until(() => this.to(route).length >= count);
    return this.to(route)[count - 1]!;
  }

  /** Wait until the condition holds after an answer. Fail if it does not within the patience of tests. */
  async until(condition: () => boolean): Promise<void> {
    const giveUpAt = Date.now() + PATIENCE;
    while (!condition()) {
      assert.ok(Date.now() < giveUpAt, `waited in vain after ${this.requests.map(({ route }) => route).join(", ")}`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, PATIENCE);
        this.#waiters.add(() => (clearTimeout(timer), resolve()));
      });
    }
  }

  async #answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of incoming) parts.push(part as Buffer);
    const text = Buffer.concat(parts).toString();
    const url = new URL(incoming.url ?? "/", this.url);
    const route = `${incoming.method} ${url.pathname}`;
    const body = text ? JSON.parse(text) : undefined;
    const request = { route, query: url.searchParams, headers: incoming.headers, text, body };
    this.requests.push(request);
    const replies = this.#routes.get(route) ?? [refusal(404, "not_found")];
    const reply = replies.length > 1 ? replies.shift()! : replies[0]!;
    await reply(request, response);
    for (const wake of this.#waiters) wake();
    this.#waiters.clear();
  }
}
