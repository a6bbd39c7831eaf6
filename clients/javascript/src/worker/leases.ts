import type { LeasedRow } from "../wire.js";

type Message = NonNullable<LeasedRow["message"]>;
type Answered = Omit<LeasedRow, "message"> & { message?: Message | null };

/** A task and its lease. `turn` is the number of messages of its sender, and `message` the newest of them. */
export interface Leased {
  task: LeasedRow["task"];
  leaseId: string;
  /** The number of leases of the task so far, from 1. */
  attempt: number;
  /** The milliseconds that the task may stay leased, undefined without a limit. */
  workTimeout: number | undefined;
  turn: number;
  message: Message | undefined;
}

/** A lease that was just taken. */
export function leasedOf({ task, lease, turn, message }: Answered): Leased {
  const { lease_id: leaseId, attempt, work_timeout_ms: limit } = lease;
  return { task, leaseId, attempt, workTimeout: limit ?? undefined, turn, message: message ?? undefined };
}
