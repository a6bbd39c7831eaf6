// The client behind a proxy that cuts and repeats requests. A2A_PROXY is its URL, and A2A_URL the hub's own.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Hub } from "../../src/index.js";

const CAST = JSON.parse(process.env["AGENTS"] ?? "{}") as Record<string, { key: string }>;
const TASKS = 80;

function as(name: string): Hub {
  const retry = { patience: 60_000, firstPause: 5, longestPause: 50 };
  return new Hub({ url: process.env["A2A_PROXY"]!, key: CAST[name]!.key, retry });
}

test("no task is lost or done twice", { timeout: 150_000 }, async () => {
  const begun: string[] = [];
  const worker = as("bob");
  worker.worker({ concurrency: 4, batch: 8, wait: 500, heartbeat: 200, log: () => {} }, async (task) => {
    begun.push(task.id);
    await task.progress(0.5);
    await task.say("halfway");
    return Number(task.text) * 2;
  });
  const stop = new AbortController();
  const running = worker.run({ signal: stop.signal });

  const sender = as("alice");
  const texts = Array.from({ length: TASKS }, (_, n) => String(n));
  const sent = await sender.sendMany(texts.slice(0, TASKS / 2).map((text) => ({ to: "bob", text })));
  const tasks = sent.map(({ task }) => task!);
  for (const text of texts.slice(TASKS / 2)) tasks.push(await sender.send("bob", text));
  const doubled: number[] = [];
  const own = new Set(tasks.map(({ id }) => id));
  for await (const result of sender.results({ resume: false })) {
    if (!own.has(result.taskId)) continue; // of another test
    if (doubled.push(result.value as number) === TASKS) {
      await sender.ack(result.taskId);
      break;
    }
  }
  stop.abort();
  await running;

  assert.deepEqual(
    doubled.sort((a, b) => a - b),
    texts.map((text) => Number(text) * 2),
  );
  assert.equal(new Set(begun).size, begun.length);
  const direct = new Hub({ key: CAST["alice"]!.key });
  for (const { id } of tasks) {
    const kinds: string[] = [];
    for await (const { kind } of direct.task(id).timeline()) kinds.push(kind.replace("a2a_", ""));
    const life = [
      "task_sent",
      "task_leased",
      "task_updated",
      "task_updated",
      "result_posted",
      "result_delivered",
      "result_acked",
    ];
    assert.deepEqual(kinds, life, id);
  }
});
