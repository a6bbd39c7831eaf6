// A worker process of the proof: node handler.mjs FOLDER, as `handler.py`. FOLDER has the built JavaScript client.

import { setTimeout as pause } from "node:timers/promises";
import { pathToFileURL } from "node:url";

const { Hub } = await import(pathToFileURL(`${process.argv[2]}/dist/src/index.js`));
const hub = new Hub({ retry: { patience: 240_000 } });

hub.worker({ concurrency: 4, batch: 4, heartbeat: 500, resumeAfter: 3000, grace: 20_000 }, async (task) => {
  await task.say(`attempt ${task.attempt}`);
  await task.progress(0.5);
  await pause([20, 20, 100, 800][parseInt(task.id.at(-1), 16) % 4]);
  return task.id;
});
const running = hub.run(); // hears signals from here on
console.log("Working");
await running;
