import { textOf, type Block } from "./content.js";
import type { Api } from "./api.js";
import { RefusedError } from "./errors.js";
import type { ResultRow } from "./wire.js";

/** The result of a task. */
export class TaskResult {
  readonly taskId: string;
  /** `partial` is final, too. A cancelled, rejected or expired task is an `error` that says so. */
  readonly status: "ok" | "error" | "partial";
  readonly content: readonly Block[];
  readonly errorMessage: string | undefined;

  constructor(
    /** The hub's JSON, with closing words and the names of artifacts. */
    readonly row: ResultRow,
  ) {
    this.taskId = row.task_id;
    this.status = row.status;
    this.content = row.content;
    this.errorMessage = row.error_message;
  }

  get ok(): boolean {
    return this.status === "ok";
  }

  /** The texts of the content, joined by line ends. */
  get text(): string {
    return textOf(this.content);
  }

  /** The value of the first JSON block, undefined without one. */
  get value(): unknown {
    return this.content.find((block) => block.type === "json")?.value;
  }
}

/** Acknowledge the results of these tasks. Results that are not the caller's are left out. */
export async function acknowledge(api: Api, taskIds: string[], signal?: AbortSignal): Promise<void> {
  if (taskIds.length === 0) return;
  try {
    await api.post("/a2a/results/ack", { task_ids: taskIds }, { signal });
  } catch (error) {
    if (!(error instanceof RefusedError && error.code === "unknown_task")) throw error;
  }
}
