import assert from "node:assert/strict";
import { test } from "node:test";
import { type Handler } from "../src/index.js";
import { json, refusal } from "./fake_hub.js";
import { fakeWith, Gate, LEASE, leases, RELEASE, RESULT, row, work } from "./workplace.js";

test("a stop lets running handlers finish, and releases the tasks that wait for their turn", async () => {
  const fake = await fakeWith(leases(row("2"), row("1")));
  const [begun, finished] = [new Gate(), new Gate()];

  const running = work(fake, () => (begun.open(), finished.opened), { batch: 2 });
  await begun.opened;
  const stopped = running.stop();
  await fake.arrived(RELEASE);
  finished.open();
  await stopped;

  const reason = "the worker was stopped before the task was begun";
  assert.deepEqual(fake.to(RELEASE)[0]?.body, { lease_id: "lease 1", reason });
  assert.deepEqual(
    fake.to(RESULT).map(({ body }) => body.task_id),
    ["2"],
  );
});

test("a handler that outlives the grace is stopped, and its task released", async () => {
  const fake = await fakeWith(leases(row("1")));
  fake.on(RELEASE, refusal(503, "unavailable"), json({ kind: "a2a_task_released" }));
  const begun = new Gate();
  let why: unknown;

  const handler: Handler = (task) => {
    task.signal.addEventListener("abort", () => (why = task.signal.reason.why));
    begun.open();
    return new Promise(() => {});
  };
  const running = work(fake, handler, { grace: 10 });
  await begun.opened;
  await running.stop();

  assert.deepEqual([why, fake.to(RELEASE).length, fake.to(RESULT).length], ["stopped", 2, 0]);
});

test("a run whose signal was aborted before leases nothing and ends", async () => {
  const fake = await fakeWith();
  const hub = fake.hub();
  hub.worker({}, () => {});

  await hub.run({ signal: AbortSignal.abort() });

  assert.deepEqual(fake.requests, []);
});

test("a signal of the process stops the worker, and its handlers are removed", async () => {
  const fake = await fakeWith();
  const before = process.listenerCount("SIGTERM");
  const running = work(fake, () => {});
  await fake.arrived(LEASE);

  process.emit("SIGTERM", "SIGTERM");
  await running.ended;

  assert.equal(process.listenerCount("SIGTERM"), before);
});
