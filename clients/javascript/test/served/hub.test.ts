// The client against a served hub. A2A_URL and AGENTS name it: the JSON has the keys of the cast by their names.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { Hub, ResultTimeoutError, type Handler, type TaskUpdate, type WorkerOptions } from "../../src/index.js";

const PATIENCE = 120_000; // milliseconds
const CAST = JSON.parse(process.env["AGENTS"] ?? "{}") as Record<string, { key: string; privateKey?: string }>;

function as(name: string): Hub {
  return new Hub({ key: CAST[name]!.key });
}

async function all<Row>(rows: AsyncIterable<Row>): Promise<Row[]> {
  const found: Row[] = [];
  for await (const row of rows) found.push(row);
  return found;
}

/** Work as bob until `during` has ended. */
async function working(handler: Handler, during: () => Promise<void>, options: WorkerOptions = {}): Promise<void> {
  const hub = as("bob");
  hub.worker({ wait: 200, log: () => {}, ...options }, handler);
  const stop = new AbortController();
  const running = hub.run({ signal: stop.signal });
  try {
    await Promise.race([during(), running]);
  } finally {
    stop.abort();
    await running;
  }
}

test("a task is sent, asked about, worked on and answered", { timeout: PATIENCE }, async () => {
  const handler: Handler = async (task) => {
    if (task.turn === 1) return task.ask("Which colour?");
    await task.progress(0.5, `mixing ${task.newest}`);
    await task.artifact("a house in ", { id: "picture", name: "Picture" });
    await task.artifact(task.newest, { id: "picture", append: true, lastChunk: true });
    void task.say("almost");
    return task.answer([{ type: "json", value: { turns: (await all(task.messages())).length } }], { message: "dry" });
  };

  await working(handler, async () => {
    const task = await as("alice").send("bob", "Paint a house", { kind: "paint" });
    const seen: TaskUpdate[] = [];
    for await (const update of task.updates()) {
      seen.push(update);
      if (update.kind === "question") assert.equal(await task.say("green"), 2);
    }
    const result = await task.result();

    assert.deepEqual(
      seen.map((update) =>
        update.kind === "message" ? update.text : update.kind === "progress" ? update.note : update.awaits,
      ),
      ["Which colour?", "input", "mixing green", "almost", "dry"],
    );
    assert.deepEqual([result.ok, typeof result.value, result.row.artifacts?.[0]?.name], [true, "object", "Picture"]);
    assert.deepEqual(
      (await all(task.artifacts())).map(({ artifact_id, last_chunk }) => [artifact_id, last_chunk]),
      [["picture", true]],
    );
    assert.deepEqual(
      (await all(task.messages())).map(({ role }) => role),
      ["user", "agent", "user", "agent", "agent", "agent"],
    );
    const kinds = (await all(task.timeline())).map(({ kind }) => kind);
    assert.deepEqual(kinds.slice(-2), ["a2a_result_posted", "a2a_result_acked"]);
    assert.deepEqual([(await task.entry()).state, (await all(task.tree()))[0]?.depth], ["resolved", 0]);
  });
});

test("many tasks are done at once, and each result comes once", { timeout: PATIENCE }, async () => {
  const sender = as("carol");
  const batch = Array.from({ length: 60 }, (_, n) => ({ to: "bob", text: String(n) }));

  await working(
    (task) => Number(task.text) * 2,
    async () => {
      const sent = await sender.sendMany([...batch, { to: "nobody", text: "lost" }]);
      assert.deepEqual(sent[60]?.error?.code, "unknown_agent");
      const doubled: number[] = [];
      for await (const result of sender.results()) {
        if (doubled.push(result.value as number) === batch.length) {
          await sender.ack(result.taskId);
          break;
        }
      }
      assert.deepEqual(
        doubled.sort((a, b) => a - b),
        batch.map((_, n) => n * 2),
      );
      assert.deepEqual(await all(sender.results({ idle: 0 })), []);
    },
    { concurrency: 4, batch: 30 },
  );
});

test(
  "a handler's error and a cancelled task have error results, and a cancellation ends the handler",
  { timeout: PATIENCE },
  async () => {
    let aborted: unknown;
    const handler: Handler = (task) => {
      if (task.text === "fail") throw new Error("no paint");
      return new Promise(() => task.signal.addEventListener("abort", () => (aborted = task.signal.reason.why)));
    };

    await working(
      handler,
      async () => {
        const [failing, hanging] = [await as("alice").send("bob", "fail"), await as("alice").send("bob", "hang")];
        assert.equal((await failing.result()).errorMessage, "no paint");
        while ((await hanging.entry()).state !== "in_flight") await hanging.result({ timeout: 50 }).catch(() => {});
        await hanging.cancel("changed my mind");
        await hanging.cancel("changed my mind");
        assert.match((await hanging.result()).errorMessage ?? "", /changed my mind/);
        const next = await as("alice").send("bob", "fail");
        await next.result();
      },
      { heartbeat: 50 },
    );

    assert.equal(aborted, "lease_ended");
  },
);

test("an operator requeues and fails tasks, and a holder releases one", { timeout: PATIENCE }, async () => {
  const id = randomUUID();
  const task = await as("alice").send("bob", "hang", { id, workTimeout: 3_600_000 });
  await as("alice").send("bob", "hang", { id, workTimeout: 3_600_000 });
  const own = { duplicateRisk: "operator_accepted" as const };
  let leases: string[] = [];
  const operator = as("operator");
  await working(
    () => new Promise(() => {}),
    async () => {
      for (const act of [
        () =>
          as("bob")
            .task(id)
            .release("not now", { leaseId: leases.at(-1)! }),
        () => operator.task(id).requeue("it hangs", { ...own, leaseId: leases.at(-1)! }),
        () => operator.task(id).fail("it hangs", { reason: "twice" }),
      ]) {
        while (leases.includes((await task.entry()).lease_id ?? leases[0] ?? "")) {
          await task.result({ timeout: 50 }).catch(() => {});
        }
        leases = [...leases, (await task.entry()).lease_id!];
        await act();
      }
    },
    { heartbeat: 20, concurrency: 3 },
  );

  const result = await task.result();
  assert.deepEqual([result.status, result.errorMessage, (await task.entry()).attempt], ["error", "it hangs", 3]);
  await assert.rejects(operator.task(id).requeue("again", own), { code: "already_resolved" });
});

test("the lists have their rows", { timeout: PATIENCE }, async () => {
  const [alice, operator] = [as("alice"), as("operator")];
  const task = await alice.send("dora", "wait", { deadline: new Date(Date.now() + 3_600_000) });
  await assert.rejects(task.result({ timeout: 0 }), ResultTimeoutError);

  assert.equal((await alice.me()).agent?.display, "alice@local");
  assert.ok((await all(alice.queue({ state: "queued" }))).some((row) => row.task.id === task.id));
  assert.ok((await all(alice.tasks())).some((row) => row.task.id === task.id));
  assert.ok((await all(operator.agents())).some(({ display }) => display === "dora@local"));
  assert.ok((await all(operator.keys())).length >= Object.keys(CAST).length);
  assert.ok((await all(operator.people())).length > 0);
  assert.ok((await all(operator.grants())).length >= 3);
  assert.deepEqual(await all(alice.leases()), []);
  assert.deepEqual(await all(operator.deliveries()), []);
  const { value: newest } = await operator.journal().next();
  assert.ok(newest?.kind);
});

test("an agent signs its requests", { timeout: PATIENCE }, async () => {
  const dora = new Hub({ signingKey: CAST["dora"]!.privateKey! });

  assert.equal((await dora.me()).agent?.display, "dora@local");
  const leases = await all(dora.leases());
  assert.deepEqual(leases, []);
  await assert.rejects(dora.send("bob", "work"), { code: "capability_missing" });
});
