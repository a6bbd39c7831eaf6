import assert from "node:assert/strict";
import { test } from "node:test";
import { cut, half, json, refusal } from "./fake_hub.js";
import { fakeWith, Gate, LEASE, leases, posted, RELEASE, RESULT, row, work } from "./workplace.js";

test("a lease that is lost is repeated under its attempt id, and each new receive has a new id", async () => {
  const fake = await fakeWith(cut, half, refusal(503, "unavailable"), leases(row("1")), leases(row("2")));
  const done: string[] = [];

  const running = work(fake, (task) => void done.push(task.id));
  await fake.arrived(RESULT, 2);
  await fake.arrived(LEASE, 6);
  await running.stop();

  assert.deepEqual(done, ["1", "2"]);
  const ids = fake.to(LEASE).map(({ body }) => body.attempt_id);
  assert.equal(new Set(ids.slice(0, 4)).size, 1);
  assert.equal(new Set([ids[3], ids[4], ids[5]]).size, 3);
});

test("an attempt id stays after an empty answer, and is replaced once it is spent", async () => {
  const spent = json({ leases: [], posted: [], refused: [], attempt_spent: true });
  const fake = await fakeWith(leases(), leases(), spent);

  const running = work(fake, () => {});
  await fake.arrived(LEASE, 4);
  await running.stop();

  const ids = fake.to(LEASE).map(({ body }) => body.attempt_id);
  assert.deepEqual([ids[0] === ids[1], ids[1] === ids[2], ids[2] === ids[3]], [true, true, false]);
});

test("many tasks at once give no warning of the process", async () => {
  const rows = Array.from({ length: 30 }, (_, n) => row(`many ${n}`));
  const fake = await fakeWith(leases(...rows));
  const warnings: Error[] = [];
  const warn = (warning: Error) => warnings.push(warning);
  process.on("warning", warn);

  const running = work(fake, (task) => task.say("hello").catch(() => task.id), { concurrency: 30 });
  await fake.until(() => posted(fake).length === 30);
  await running.stop();
  process.off("warning", warn);

  assert.deepEqual(warnings, []);
});

test("a duplicate answer begins no second attempt", async () => {
  const fake = await fakeWith(leases(row("1"), row("1")), leases(row("1")));
  let begun = 0;
  const finished = new Gate();

  const running = work(fake, () => ((begun += 1), finished.opened), { concurrency: 2 });
  await fake.arrived(LEASE, 3);
  finished.open();
  await running.stop();

  assert.deepEqual([begun, fake.to(RESULT).length], [1, 1]);
});

test("a stopping worker fetches the lease that an unanswered request may have taken, and releases it", async () => {
  const fake = await fakeWith(cut, leases(row("1")));
  let begun = 0;

  const running = work(fake, () => void (begun += 1), { wait: 5000 });
  await fake.arrived(LEASE, 1);
  await running.stop();

  assert.deepEqual([begun, fake.to(RELEASE).length], [0, 1]);
  assert.equal(new Set(fake.to(LEASE).map(({ body }) => body.attempt_id)).size, 1);
});

/** A lease that began at 0. */
function held(id: string, last_seen_at_ms: number, more: { attempt?: number; safety?: string } = {}) {
  const { attempt = 1, safety = "unsafe" } = more;
  const task = { ...row(id).task, idempotency: { duplicate_safety: safety, key: "k" } };
  return { ...row(id).lease, task, attempt, leased_at_ms: 0, last_seen_at_ms };
}

const list = (...leases: object[]) => json({ leases, next_cursor: null });

test("leases of crashed workers are released and leased anew, and those of live workers are left alone", async () => {
  const fake = await fakeWith();
  fake.on("GET /a2a/leases", list(held("2", 6), held("1", 5)), list(held("2", 7), held("3", 5), held("1", 5)));
  fake.on(
    "POST /a2a/tasks/1/lease",
    cut,
    json({ kind: "a2a_task_leased", ...row("1", { lease: { lease_id: "new" } }) }),
  );

  const running = work(fake, () => "done", { resume: "all", heartbeat: 1, resumeAfter: 3 });
  const { body } = await fake.arrived(RESULT);
  await running.stop();

  assert.equal(body.lease_id, "new");
  assert.deepEqual(fake.to(RELEASE)[0]?.body, {
    lease_id: "lease 1",
    reason: "taken over: its worker sent no heartbeat for 3 ms",
  });
  const attempts = fake.to("POST /a2a/tasks/1/lease").map(({ body }) => body.attempt_id);
  assert.deepEqual([attempts.length, attempts[0]], [2, attempts[1]]);
  assert.deepEqual([...new Set(fake.requests.map(({ route }) => route).filter((route) => /\/[23]\//.test(route)))], []);
});

test("by default only leases of idempotent tasks are taken over, and a lost race is no failure", async () => {
  const fake = await fakeWith();
  fake.on("GET /a2a/leases", list(held("2", 1), held("1", 1, { safety: "idempotent" })));
  fake.on(RELEASE, refusal(409, "lease_mismatch"));

  const running = work(fake, () => "done", { heartbeat: 1, resumeAfter: 2 });
  await fake.arrived(RELEASE);
  await running.stop();

  assert.match(running.log.join("\n"), /^task 1: not taken over: the message of lease_mismatch$/m);
  assert.deepEqual(
    fake.requests.filter(({ route }) => route.includes("/tasks/2/")),
    [],
  );
});

test("a running worker looks each minute for workers that crashed later, and suspects no lease of its own", async (t) => {
  const own = row("2");
  const fake = await fakeWith(leases(own));
  const now = performance.now.bind(performance);
  let ahead = 0;
  t.mock.method(performance, "now", () => now() + ahead);
  const both = list(
    { ...held("2", 1, { safety: "idempotent" }), ...own.lease },
    held("1", 1, { safety: "idempotent" }),
  );
  fake.on("GET /a2a/leases", list(), both);
  fake.on("POST /a2a/tasks/1/release", refusal(409, "lease_mismatch"));
  const finished = new Gate();

  const running = work(fake, () => finished.opened, { concurrency: 2, heartbeat: 1, resumeAfter: 2 });
  await fake.arrived(LEASE, 2);
  assert.equal(fake.to("GET /a2a/leases").length, 1);
  ahead = 60_000;
  await fake.arrived("POST /a2a/tasks/1/release");
  finished.open();
  await running.stop();

  assert.equal(fake.to("POST /a2a/tasks/2/release").length, 0);
});

test("a holder without a heartbeat keeps its lease, and so does one whose task was leased too often", async () => {
  const fake = await fakeWith();
  fake.on("GET /a2a/leases", list(held("1", 0), held("2", 1, { attempt: 5 }), held("3", 1, { attempt: 4 })));
  fake.on("POST /a2a/tasks/3/release", refusal(409, "lease_mismatch"));

  const running = work(fake, () => "done", { resume: "all", heartbeat: 1, resumeAfter: 2 });
  await fake.arrived("POST /a2a/tasks/3/release");
  await running.stop();

  assert.deepEqual(
    fake.requests.filter(({ route }) => /\/tasks\/[12]\//.test(route)),
    [],
  );
  assert.match(running.log.join("\n"), /^task 2: not taken over: it was leased 5 times. Lease lease 2 is left.$/m);
});

test("the silence begins anew after a request that failed", async () => {
  const fake = await fakeWith(refusal(503, "unavailable"));
  fake.on("GET /a2a/leases", list(held("1", 1)), list(held("1", 2)), list(held("1", 2)), list());
  fake.on(RELEASE, refusal(409, "lease_mismatch"));

  const running = work(fake, () => "done", { resume: "all", heartbeat: 1, resumeAfter: 2 });
  await fake.arrived(RELEASE);
  await running.stop();

  const looks = fake.requests.slice(0, fake.requests.indexOf(fake.to(RELEASE)[0]!));
  assert.equal(looks.filter(({ route }) => route === "GET /a2a/leases").length, 3);
});

test("a worker whose key leases nothing fails", async () => {
  const running = work(await fakeWith(refusal(403, "not_an_agent")), () => {});

  await assert.rejects(running.ended, { code: "not_an_agent" });
});
