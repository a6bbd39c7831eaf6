import assert from "node:assert/strict";
import { createServer } from "node:net";
import { test } from "node:test";
import { ERROR_CODES, Hub, HubError, RefusedError, UnreachableError, ResultTimeoutError } from "../src/index.js";
import { cut, FakeHub, half, json, refusal } from "./fake_hub.js";

const SEND = "POST /a2a/tasks";
const QUEUED = json({ kind: "a2a_task_queued", task_id: "t" });

test("a send whose answer is lost is repeated with the same id", async () => {
  const fake = (await FakeHub.start()).on(SEND, cut, half, refusal(503, "unavailable"), QUEUED);

  const task = await fake.hub().send("bob", "work", { kind: "k", deadline: new Date(5000), idempotencyKey: "i" });

  const bodies = fake.to(SEND).map((request) => request.body);
  assert.equal(bodies.length, 4);
  assert.deepEqual(bodies[0], {
    id: task.id,
    recipient: "bob",
    intent_text: "work",
    task_kind: "k",
    deadline_ms: 5000,
    idempotency: { duplicate_safety: "idempotent", key: "i" },
  });
  assert.deepEqual(bodies.slice(1), [bodies[0], bodies[0], bodies[0]]);
});

test("a Retry-After beyond the patience throws the refusal at once", async () => {
  const limited = refusal(429, "quota_exceeded", { quota: "queued" }, { "retry-after": "3600" });
  const fake = (await FakeHub.start()).on(SEND, limited);

  await assert.rejects(fake.hub().send("bob", "work"), { code: "quota_exceeded", retryAfter: 3_600_000 });
  assert.equal(fake.requests.length, 1);
});

test("a refusal has its code, its fields and its ids, and is not repeated", async () => {
  const fake = (await FakeHub.start()).on(
    SEND,
    refusal(400, "invalid_request", { fields: { id: "bad" }, task_id: "t" }),
  );

  const error = await fake
    .hub()
    .send("bob", "work")
    .catch((thrown: unknown) => thrown);

  assert.ok(error instanceof RefusedError && error instanceof HubError);
  assert.deepEqual(
    [error.code, error.status, error.message],
    ["invalid_request", 400, "the message of invalid_request"],
  );
  assert.deepEqual([error.fields, error.ids], [{ id: "bad" }, { task_id: "t" }]);
  assert.equal(ERROR_CODES.invalid_request, 400);
  assert.equal(fake.requests.length, 1);
});

test("a repair is not repeated when its answer is lost, but when it was not carried out", async () => {
  const limited = refusal(429, "rate_limited", {}, { "retry-after": "0" });
  const fake = (await FakeHub.start()).on("POST /a2a/repair", limited, cut);

  const repair = fake.hub().task("t").requeue("it hangs", { duplicateRisk: "idempotent", leaseId: "l" });

  await assert.rejects(repair, UnreachableError);
  assert.deepEqual(
    fake.requests.map((request) => request.body),
    Array(2).fill({
      task_id: "t",
      reason: "it hangs",
      command: { action: "requeue", duplicate_risk: "idempotent", lease_id: "l" },
    }),
  );
});

test("a hub that does not answer is reported after the patience", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  const hub = new Hub({ url: `http://127.0.0.1:${port}`, key: "k", retry: { patience: 30, firstPause: 1 } });

  await assert.rejects(hub.me(), (error: unknown) => error instanceof UnreachableError && !error.mayHaveArrived);
});

test("an answer of something else than a hub is an error", async () => {
  const page =
    (status: number, text = "<p>") =>
    (_: unknown, response: any) =>
      response.writeHead(status, { location: "/x" }).end(text);
  const fake = await FakeHub.start();
  fake.on("GET /a2a/me", page(302), page(200), page(200, '{"error": "x"}'), page(200, "[]"), page(200, "null"));
  const hub = fake.hub({ retry: { patience: 0 } });

  await assert.rejects(hub.me(), { code: "unexpected_answer", status: 302 });
  for (let number = 0; number < 4; number += 1) await assert.rejects(hub.me(), /the answer is not a hub's/);
});

test("a URL that is not a hub's, and a key that cannot be sent, are refused, and the key is not shown", () => {
  for (const url of ["hub:3000", "ftp://hub", "http://", "http://hub:99999", "file:///x"]) {
    assert.throws(() => new Hub({ url, key: "k" }), TypeError);
  }
  for (const key of ["a2a_secret\nx", "a2a_secret\u00e9", "a2a_secret x"]) {
    assert.throws(
      () => new Hub({ url: "http://hub", key }),
      /^TypeError: The API key has characters that no key has.$/,
    );
  }
});

test("the key is sent and shown nowhere, and the environment gives its default", async () => {
  const fake = (await FakeHub.start()).on("GET /a2a/me", json({ kind: "a2a_me" }));
  Object.assign(process.env, { A2A_URL: `${fake.url}/p/token/`, A2A_API_KEY: "a2a_secret" });
  const hub = new Hub();
  fake.on("GET /p/token/a2a/me", json({ kind: "a2a_me" }));

  await hub.me();

  assert.equal(fake.requests[0]?.headers.authorization, "Bearer a2a_secret");
  assert.doesNotMatch(JSON.stringify(hub) + (await import("node:util")).inspect(hub, { depth: 9 }), /a2a_secret/);
  delete process.env["A2A_API_KEY"];
  assert.throws(() => new Hub(), /A2A_API_KEY/);
  delete process.env["A2A_URL"];
  assert.throws(() => new Hub(), /A2A_URL/);
});

test("a wait for a result repeats the long poll, reports its timeout, and acknowledges", async () => {
  const route = "GET /a2a/tasks/t/result";
  const none = json({ kind: "a2a_result_opt", result: null });
  const result = { task_id: "t", status: "ok", content: [{ type: "text", text: "done" }] };
  const fake = (await FakeHub.start())
    .on("POST /a2a/results/ack", json({ kind: "a2a_results_acked", task_ids: ["t"], unknown: [] }))
    .on(route, none, cut, json({ kind: "a2a_result_opt", result }));
  const task = fake.hub().task("t");

  await assert.rejects(task.result({ timeout: 0 }), ResultTimeoutError);
  const found = await task.result();

  assert.deepEqual([found.ok, found.text, found.value], [true, "done", undefined]);
  assert.deepEqual(
    fake.to(route).map(({ query }) => query.get("wait_ms")),
    ["0", "50000", "50000"],
  );
  assert.deepEqual(fake.to("POST /a2a/results/ack")[0]?.body, { task_ids: ["t"] });
});

test("a wait for a result ends with the caller's signal", async () => {
  const fake = (await FakeHub.start()).on("GET /a2a/tasks/t/result", () => stop.abort(new Error("enough")));
  const stop = new AbortController();

  await assert.rejects(fake.hub().task("t").result({ signal: stop.signal }), /enough/);
});

test("many tasks go out in few requests, each with its own outcome", async () => {
  const fake = (await FakeHub.start()).on("POST /a2a/tasks/batch", (request, response) => {
    const refused = [{ index: 1, task_id: null, code: "unknown_agent", message: "no such agent" }];
    json({ kind: "a2a_tasks_queued", posted: [], refused })(request, response);
  });

  const sent = await fake.hub().sendMany(Array.from({ length: 501 }, (_, n) => ({ to: "bob", text: `work ${n}` })));

  assert.deepEqual(
    fake.requests.map(({ body }) => body.tasks.length),
    [500, 1],
  );
  assert.deepEqual(
    sent.flatMap(({ error }, index) => (error ? [[index, error.code, error.status]] : [])),
    [[1, "unknown_agent", 404]],
  );
  assert.equal(sent[500]?.task?.id, fake.requests[1]?.body.tasks[0].id);
});

test("large tasks are split by their bytes", async () => {
  const fake = (await FakeHub.start()).on("POST /a2a/tasks/batch", json({ posted: [], refused: [] }));

  await fake.hub().sendMany(Array.from({ length: 3 }, () => ({ to: "bob", text: "é".repeat(250_000) })));

  assert.deepEqual(
    fake.requests.map(({ body }) => body.tasks.length),
    [1, 1, 1],
  );
});

test("a list is read page by page", async () => {
  const fake = (await FakeHub.start()).on(
    "GET /a2a/leases",
    json({ leases: [{ lease_id: "1" }, { lease_id: "2" }], next_cursor: "c" }),
    cut,
    json({ leases: [{ lease_id: "3" }], next_cursor: null }),
  );

  const ids: string[] = [];
  for await (const lease of fake.hub().leases()) ids.push(lease.lease_id);

  assert.deepEqual(ids, ["1", "2", "3"]);
  assert.deepEqual(
    fake.requests.map(({ query }) => query.get("cursor")),
    [null, "c", "c"],
  );
});
