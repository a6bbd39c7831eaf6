import assert from "node:assert/strict";
import { test } from "node:test";
import { TaskAbortedError, type Handler } from "../src/index.js";
import { cut, FakeHub, json, refusal } from "./fake_hub.js";
import {
  BATCH,
  BEAT,
  fakeWith,
  Gate,
  LEASE,
  leases,
  posted,
  POSTED,
  RELEASE,
  RESULT,
  row,
  UPDATES,
  work,
} from "./workplace.js";

test("values become results under the fence, and exceptions become errors", async () => {
  const rows = ["1", "2", "3", "4", "5", "6"].map((id) => row(id));
  const fake = await fakeWith(leases(...rows));
  const outcomes: Record<string, Handler> = {
    "1": (task) => `${task.text} for ${task.sender}`,
    "2": async () => ({ sum: 3 }),
    "3": () => undefined,
    "4": () => {
      throw new Error("no such hotel");
    },
    "5": (task) => task.reject("not my work"),
    "6": (task) => task.answer("half", { lacks: "the rest", message: "sorry" }),
  };

  const running = work(fake, (task) => outcomes[task.id]!(task), { batch: 6 });
  await fake.until(() => posted(fake).length === 6);
  await running.stop();

  const fence = (id: string) => ({ task_id: id, lease_id: `lease ${id}` });
  const text = (value: string) => [{ type: "text", text: value }];
  assert.deepEqual(posted(fake), [
    { status: "ok", content: text("work 1 for alice@local"), ...fence("1") },
    { status: "ok", content: [{ type: "json", value: { sum: 3 } }], ...fence("2") },
    { status: "ok", content: [], ...fence("3") },
    { status: "error", error_message: "no such hotel", ...fence("4") },
    { status: "rejected", error_message: "not my work", ...fence("5") },
    { status: "partial", content: text("half"), error_message: "the rest", message: text("sorry"), ...fence("6") },
  ]);
});

test("results of one moment go out together, and each has its own outcome", async () => {
  const rows = ["1", "2", "3"].map((id) => row(id));
  const fake = await fakeWith(leases(...rows));
  const limited = { index: 0, task_id: "1", code: "rate_limited", message: "slow down" };
  const ended = { index: 1, task_id: "2", code: "lease_mismatch", message: "not yours" };
  fake.on(BATCH, json({ posted: ["3"], refused: [limited, ended] }));
  const finished = new Gate();

  const running = work(fake, () => finished.opened, { concurrency: 3 });
  await fake.arrived(LEASE, 1);
  finished.open();
  await fake.arrived(RESULT);
  await running.stop();

  assert.deepEqual(
    fake.to(BATCH).map(({ body }) => body.results.length),
    [3],
  );
  assert.deepEqual(
    fake.to(RESULT).map(({ body }) => [body.task_id, body.status]),
    [["1", "ok"]],
  );
  assert.match(running.log.join("\n"), /task 2 attempt 1: the lease ended: not yours/);
});

test("a result that is lost is repeated, and one that is refused becomes an error", async () => {
  const fake = await fakeWith(leases(row("1")));
  fake.on(RESULT, cut, refusal(403, "capability_missing"), refusal(413, "body_too_large"), POSTED);

  const running = work(fake, () => "long");
  const { body } = await fake.arrived(RESULT, 4);
  await running.stop();

  assert.deepEqual(body, {
    task_id: "1",
    lease_id: "lease 1",
    status: "error",
    error_message: "the hub refused the result: the message of body_too_large",
  });
  assert.deepEqual(
    new Set(
      fake
        .to(RESULT)
        .slice(0, 3)
        .map(({ text }) => text),
    ).size,
    1,
  );
});

test("updates go out in their order, once each, before the result", async () => {
  const fake = await fakeWith(leases(row("1")));
  fake.on(UPDATES, cut, json({ kind: "a2a_task_updated", task_id: "1", seq: 2, turn: 2 }));
  let turn = 0;

  const running = work(fake, async (task) => {
    void task.say("hello");
    void task.progress(0.5, "halfway");
    await task.artifact("a", { id: "picture", append: true });
    turn = task.turn;
    void task.say("bye");
  });
  await fake.arrived(RESULT);
  await running.stop();

  const [first, again, last] = fake.to(UPDATES);
  assert.equal(first?.text, again?.text);
  const text = (value: string) => [{ type: "text", text: value }];
  assert.deepEqual(first?.body.updates, [
    { message: text("hello") },
    { progress: { fraction: 0.5, note: "halfway" } },
    { artifact: { content: text("a"), artifact_id: "picture" }, append: true, last_chunk: false },
  ]);
  assert.notEqual(first?.body.attempt_id, last?.body.attempt_id);
  assert.deepEqual([turn, fake.requests.indexOf(last!) < fake.requests.indexOf(fake.to(RESULT)[0]!)], [2, true]);
});

test("updates that wait for each other are all posted", async () => {
  const fake = await fakeWith(leases(row("1")));

  const running = work(fake, async (task) => {
    await task.progress(0.1);
    await task.progress(0.2);
    await task.say("nearly");
    return task.progress(0.9);
  });
  await fake.arrived(RESULT);
  await running.stop();

  assert.equal(fake.to(UPDATES).length, 4);
});

test("a refused update fails alone, and only its own promise", async () => {
  const fake = await fakeWith(leases(row("1")));
  const bad = refusal(400, "invalid_request", { fields: { "updates.1": "bad" } });
  const good = json({ kind: "a2a_task_updated", task_id: "1", seq: 2, turn: 1 });
  fake.on(UPDATES, bad, good, bad, bad);

  const running = work(fake, async (task) => {
    const said = task.say("good");
    return (await Promise.allSettled([said, task.progress(7), task.say("")])).map(({ status }) => status);
  });
  const { body } = await fake.arrived(RESULT);
  await running.stop();

  assert.deepEqual(body.content[0].value, ["fulfilled", "rejected", "rejected"]);
});

test("a question ends the attempt after all updates, without a result", async () => {
  const fake = await fakeWith(
    leases(row("1")),
    leases(
      row("1", {
        lease: { lease_id: "next", attempt: 2 },
        turn: 2,
        message: { content: [{ type: "text", text: "green" }] },
      }),
    ),
  );

  fake.on(UPDATES, cut, json({ kind: "a2a_task_updated", task_id: "1", seq: 2, turn: 1 }));

  const running = work(fake, (task) => {
    if (task.turn > 1) return task.newest;
    void task.say("hello");
    return task.ask("Which colour?");
  });
  const { body } = await fake.arrived(RESULT);
  await running.stop();

  const said = { message: [{ type: "text", text: "hello" }] };
  const question = { status: "input_required", message: [{ type: "text", text: "Which colour?" }] };
  assert.deepEqual(
    fake.to(UPDATES).map(({ body }) => body.updates),
    [[said], [said], [question]],
  );
  assert.deepEqual([body.lease_id, body.content[0].text, fake.to(RESULT).length], ["next", "green", 1]);
});

test("the end of the lease aborts the task's signal, and no result is posted", async () => {
  const fake = await fakeWith(leases(row("1")));
  fake.on(BEAT, cut, refusal(409, "lease_mismatch"));
  let reason: unknown;

  const running = work(
    fake,
    (task) =>
      new Promise((_, reject) => task.signal.addEventListener("abort", () => reject((reason = task.signal.reason)))),
    { heartbeat: 1 },
  );
  await fake.arrived(LEASE, 2);
  await running.stop();

  assert.ok(reason instanceof TaskAbortedError && reason.why === "lease_ended");
  assert.deepEqual([fake.to(RESULT), fake.to(RELEASE)], [[], []]);
});

test("heartbeats begin soon, and go on while a result waits to be posted", async () => {
  const lease = { lease_id: "lease 1", attempt: 1, work_timeout_ms: 20 };
  const fake = await fakeWith(leases(row("1", { lease })));
  const waits = Array.from({ length: 50 }, () => refusal(503, "unavailable"));
  fake.on(RESULT, ...waits, POSTED);

  const running = work(fake, () => new Promise(() => {}), { heartbeat: 2, resumeAfter: 100 });
  await fake.arrived(RESULT, 51);
  await running.stop();

  const [first, last] = [fake.to(RESULT)[0]!, fake.to(RESULT)[50]!].map((one) => fake.requests.indexOf(one));
  assert.ok(fake.requests.slice(first, last).filter(({ route }) => route === BEAT).length > 2);
});

test("the work timeout ends the handler, and is the error of the task", async () => {
  const lease = { lease_id: "lease 1", attempt: 1, work_timeout_ms: 20 };
  const fake = await fakeWith(leases(row("1", { lease })));

  const running = work(fake, () => new Promise(() => {}));
  const { body } = await fake.arrived(RESULT);
  await running.stop();

  assert.equal(body.error_message, "Task timed out");
});

test("the options of a worker are checked", async () => {
  const fake = await FakeHub.start();

  assert.throws(() => fake.hub().worker({ concurrency: 0 }, () => {}), RangeError);
  assert.throws(() => fake.hub().worker({ concurrency: 2, batch: 1 }, () => {}), RangeError);
  assert.throws(() => fake.hub().worker({ wait: 60_000 }, () => {}), RangeError);
  assert.throws(() => fake.hub().worker({ heartbeat: 0 }, () => {}), RangeError);
  assert.throws(() => fake.hub().worker({ heartbeat: 10, resumeAfter: 10 }, () => {}), RangeError);
  assert.throws(() => fake.hub().worker({ resumeAttempts: 0 }, () => {}), RangeError);
});
