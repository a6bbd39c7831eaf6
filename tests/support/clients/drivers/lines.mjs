// The conversation of a driver with its test, as in lines.py.
import { createInterface } from "node:readline";

const say = (line) => process.stdout.write(JSON.stringify(line) + "\n");

const described = (problem) => ({
  name: problem.name === "Error" ? problem.constructor.name : problem.name,
  code: problem.code ?? problem.errorCode ?? problem.errorResponse?.error?.code ?? null,
  message: problem.message,
});

const run = async (operations, line, signal) => {
  try {
    const begun = operations[line.do](line, signal);
    if (begun[Symbol.asyncIterator]) {
      for await (const event of begun) say({ id: line.id, event });
      say({ id: line.id, result: null });
    } else {
      say({ id: line.id, result: (await begun) ?? null });
    }
  } catch (problem) {
    say(signal.aborted ? { id: line.id, result: "dropped" } : { id: line.id, error: described(problem) });
  }
};

export const converse = async (operations) => {
  const running = new Map();
  for await (const raw of createInterface({ input: process.stdin })) {
    const line = JSON.parse(raw);
    if (line.do === "drop") {
      running.get(line.id).abort();
    } else {
      const control = new AbortController();
      running.set(line.id, control);
      run(operations, line, control.signal);
    }
  }
  process.exit(0);
};

export const authenticating = () => {
  const key = process.env.A2A_KEY;
  return (input, init = {}) => {
    const headers = new Headers(init.headers);
    if (key) headers.set("Authorization", `Bearer ${key}`);
    return fetch(input, { ...init, headers });
  };
};
