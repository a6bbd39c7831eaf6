import assert from "node:assert/strict";
import { test } from "node:test";
import { cut, FakeHub, half, json, refusal, type Reply } from "./fake_hub.js";

const DRAIN = "POST /a2a/results/drain";
const DELIVERED = "GET /a2a/results/delivered";
const NONE = json({ results: [], next_cursor: null });

function results(...ids: string[]): Reply {
  return json({ results: ids.map((task_id) => ({ task_id, status: "ok", content: [] })), acked: [] });
}

async function fakeWith(...replies: Reply[]): Promise<FakeHub> {
  const ack = json({ kind: "a2a_results_acked", task_ids: [], unknown: [] });
  return (await FakeHub.start())
    .on(DELIVERED, NONE)
    .on(DRAIN, ...replies)
    .on("POST /a2a/results/ack", ack);
}

test("a drain that is lost is repeated under its attempt id, and each new drain has a new id", async () => {
  const fake = await fakeWith(cut, half, results("1", "2"), cut, results("3"), results());

  const ids: string[] = [];
  for await (const result of fake.hub().results({ idle: 0 })) ids.push(result.taskId);

  assert.deepEqual(ids, ["1", "2", "3"]);
  const asked = fake.to(DRAIN).map(({ body }) => [body.attempt_id, body.ack]);
  const [first, second, third] = [asked[0]![0], asked[3]![0], asked[5]![0]];
  assert.deepEqual(asked, [
    [first, []],
    [first, []],
    [first, []],
    [second, ["1", "2"]],
    [second, ["1", "2"]],
    [third, ["3"]],
  ]);
  assert.equal(new Set([first, second, third]).size, 3);
});

test("an attempt id stays after an empty answer, and is replaced once it is spent", async () => {
  const spent = json({ results: [], acked: [], attempt_spent: true });
  const fake = await fakeWith(results(), results(), spent, results("1"));

  const { value } = await fake.hub().results({ idle: 900 }).next();

  const [first, second, third, fourth] = fake.to(DRAIN).map(({ body }) => body.attempt_id);
  assert.deepEqual([value?.taskId, first === second, second === third, third === fourth], ["1", true, true, false]);
});

test("a loop that is left does not acknowledge its last result", async () => {
  const fake = await fakeWith(results("1", "2", "3"));

  for await (const result of fake.hub().results()) if (result.taskId === "2") break;

  assert.deepEqual(fake.to("POST /a2a/results/ack")[0]?.body, { task_ids: ["1"] });
});

test("a loop begins with the results that an earlier one did not acknowledge", async () => {
  const fake = await fakeWith(results());
  const row = { task_id: "0", status: "error", content: [], error_message: "no", delivered_at_ms: 1, attempt_id: null };
  fake.on(DELIVERED, json({ results: [row], next_cursor: null }));

  const messages: unknown[] = [];
  for await (const result of fake.hub().results({ idle: 0 })) messages.push(result.errorMessage);

  assert.deepEqual(messages, ["no"]);
  assert.deepEqual(fake.to(DRAIN)[0]?.body.ack, ["0"]);
});

test("a refused drain ends the loop with its error", async () => {
  const fake = await fakeWith(refusal(403, "not_an_agent"));

  const drained = fake.hub().results({ resume: false }).next();

  await assert.rejects(drained, { code: "not_an_agent" });
  assert.deepEqual(
    fake.requests.map(({ route }) => route),
    [DRAIN],
  );
});
