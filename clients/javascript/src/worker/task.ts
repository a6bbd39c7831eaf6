import { blocksOf, textOf, type Block, type Content } from "../content.js";
import type { MessageRow, TaskRow } from "../wire.js";
import type { Leased } from "./leases.js";
import type { Speech } from "./speech.js";

/** The outcome that a handler returns instead of a value. A method of its task makes it. */
export class Conclusion {
  constructor(
    /** The fields of the result, or of the question. */
    readonly fields: { status: string; [field: string]: unknown },
  ) {}

  get isQuestion(): boolean {
    return this.fields.status === "input_required" || this.fields.status === "auth_required";
  }
}

/**
 * Does the work of one task. Its return value is the result: a string as text, a conclusion as it is, and any other
 * value as JSON. An exception becomes an error result.
 */
export type Handler = (task: WorkerTask) => unknown;

export interface ArtifactOptions {
  /** The same id again replaces the artifact, or adds to it with `append`. */
  id?: string;
  name?: string;
  description?: string;
  append?: boolean;
  /** True: the artifact is complete. */
  lastChunk?: boolean;
}

/** A leased task, as its handler sees it. */
export class WorkerTask {
  readonly #leased: Leased;
  readonly #speech: Speech;

  constructor(
    leased: Leased,
    speech: Speech,
    /** It is aborted when the lease ends, at the work timeout, and when the worker stops. */
    readonly signal: AbortSignal,
  ) {
    this.#leased = leased;
    this.#speech = speech;
  }

  get id(): string {
    return this.#leased.task.id;
  }

  get leaseId(): string {
    return this.#leased.leaseId;
  }

  /** The number of leases of the task so far, from 1. */
  get attempt(): number {
    return this.#leased.attempt;
  }

  /** The number of messages of its sender, from 1: the task itself. It grows while the sender says more. */
  get turn(): number {
    return this.#speech.turn;
  }

  get text(): string {
    return this.#leased.task.intent_text;
  }

  get kind(): string | undefined {
    return this.#leased.task.task_kind;
  }

  /** The name of the sender, such as `planner@local`. */
  get sender(): string {
    return this.#leased.task.sender.display;
  }

  /** The task in the hub's JSON. */
  get row(): TaskRow {
    return this.#leased.task;
  }

  /** The text of the sender's newest message that came with the lease: the answer to a question, or the task's text. */
  get newest(): string {
    return this.#leased.message ? textOf(this.#leased.message.content) : this.text;
  }

  /** Yield the messages of both parties, oldest first. The first is the task's text. */
  messages(): AsyncGenerator<MessageRow, void, undefined> {
    return this.#speech.messages();
  }

  /** Send a message to the task's sender. The promise ends once the hub has it; waiting for it is optional. */
  say(message: Content): Promise<void> {
    return this.#speech.add({ message: blocksOf(message) });
  }

  /** Report how much of the work is done, from 0 to 1. */
  progress(fraction: number, note = ""): Promise<void> {
    return this.#speech.add({ progress: { fraction, note } });
  }

  /** Post an artifact, or a chunk of it. */
  artifact(content: Content, options: ArtifactOptions = {}): Promise<void> {
    const { id, name, description, append = false, lastChunk = false } = options;
    const artifact = {
      content: blocksOf(content),
      ...(id === undefined ? {} : { artifact_id: id }),
      ...(name === undefined ? {} : { name }),
      ...(description === undefined ? {} : { description }),
    };
    return this.#speech.add({ artifact, append, last_chunk: lastChunk });
  }

  /** Return a question to the sender. It ends the lease, and the answer brings a new one with the next turn. */
  ask(question: Content, { authorization = false }: { authorization?: boolean } = {}): Conclusion {
    return new Conclusion({
      status: authorization ? "auth_required" : "input_required",
      message: blocksOf(question),
    });
  }

  /** Return a refusal: the agent will not do the task. */
  reject(reason: string): Conclusion {
    return new Conclusion({ status: "rejected", error_message: reason });
  }

  /** Return a result of content blocks. `lacks` says what is missing of it, and `message` are closing words. */
  answer(content: Content, { lacks, message }: { lacks?: string; message?: Content } = {}): Conclusion {
    return new Conclusion({
      status: lacks === undefined ? "ok" : "partial",
      content: blocksOf(content),
      ...(lacks === undefined ? {} : { error_message: lacks }),
      ...(message === undefined ? {} : { message: blocksOf(message) }),
    });
  }
}

/** Return the conclusion that a handler's return value stands for. Throws `TypeError` for a value that is no JSON. */
export function conclusionOf(value: unknown): Conclusion {
  if (value instanceof Conclusion) return value;
  if (value === undefined) return new Conclusion({ status: "ok", content: [] });
  const block: Block = typeof value === "string" ? { type: "text", text: value } : { type: "json", value };
  if (JSON.stringify(value) === undefined) throw new TypeError(`a handler returned a ${typeof value}`);
  return new Conclusion({ status: "ok", content: [block] });
}
