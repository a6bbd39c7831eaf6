import { LEASE_ENDED, statusOf, type ErrorCode } from "./codes.js";

/** The root of this package's errors. */
export class HubError extends Error {
  override readonly name: string = "HubError";
}

export interface Refusal {
  code: ErrorCode;
  status: number;
  message: string;
  /** The problem of each invalid field, by its path. */
  fields?: Record<string, string>;
  /** The ids that the refusal concerns, such as `task_id`. */
  ids?: Record<string, string>;
  /** The milliseconds until the request may be repeated, as the hub's Retry-After has them. */
  retryAfter?: number;
}

/** The hub refused the request. Decide by `code`; `message` is for people. */
export class RefusedError extends HubError implements Refusal {
  override readonly name = "RefusedError";
  readonly code: ErrorCode;
  readonly status: number;
  readonly fields: Record<string, string>;
  readonly ids: Record<string, string>;
  readonly retryAfter?: number;

  constructor(refusal: Refusal) {
    super(refusal.message);
    this.code = refusal.code;
    this.status = refusal.status;
    this.fields = refusal.fields ?? {};
    this.ids = refusal.ids ?? {};
    if (refusal.retryAfter !== undefined) this.retryAfter = refusal.retryAfter;
  }

  /** The refusal of one item of a batch. */
  static ofItem(item: { code: string; message: string; fields?: Record<string, string> }): RefusedError {
    return new RefusedError({ ...item, status: statusOf(item.code) });
  }

  /** Whether the lease of the request is no longer the task's live lease. */
  get isLeaseEnded(): boolean {
    return LEASE_ENDED.has(this.code);
  }

  /** Whether an operator has to change a key or a grant first. */
  get isForbidden(): boolean {
    return this.status === 401 || this.status === 403;
  }

  /** Whether the same request may succeed later. */
  get isForNow(): boolean {
    return this.status === 408 || this.status === 425 || this.status === 429 || this.status >= 500;
  }
}

/** No answer of the hub arrived. `mayHaveArrived` is false if the request was certainly not sent. */
export class UnreachableError extends HubError {
  override readonly name = "UnreachableError";
  readonly mayHaveArrived: boolean;

  constructor(message: string, options: { mayHaveArrived: boolean; cause?: unknown }) {
    super(message, "cause" in options ? { cause: options.cause } : {});
    this.mayHaveArrived = options.mayHaveArrived;
  }
}

/** The task has no result within the caller's timeout. It goes on. */
export class ResultTimeoutError extends HubError {
  override readonly name = "ResultTimeoutError";
  readonly code = "timeout";
}

/** Whether repeating the request can help. */
export function isRepeatable(error: unknown): error is RefusedError | UnreachableError {
  return error instanceof UnreachableError || (error instanceof RefusedError && error.isForNow);
}

/** Whether the hub may have acted on the request, or may still act on it. */
export function mayHaveArrived(error: RefusedError | UnreachableError): boolean {
  return error instanceof UnreachableError ? error.mayHaveArrived : error.status >= 500;
}

/** Why `signal` of a task was aborted: the hub ended its lease, its work timeout came, or the worker was stopped. */
export class TaskAbortedError extends HubError {
  override readonly name = "TaskAbortedError";

  constructor(
    readonly why: "lease_ended" | "work_timeout" | "stopped",
    message: string,
  ) {
    super(message);
  }
}
