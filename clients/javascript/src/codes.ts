/** The codes of the hub's errors, each with its HTTP status. Later hubs may have more. */
export const ERROR_CODES = {
  agent_conflict: 409,
  already_resolved: 409,
  bad_signature: 401,
  body_too_large: 413,
  capability_missing: 403,
  capability_scope_mismatch: 403,
  duplicate_risk_mismatch: 409,
  invalid_json: 400,
  invalid_request: 400,
  key_limit: 409,
  key_replaced: 409,
  lease_mismatch: 409,
  length_required: 411,
  method_not_allowed: 405,
  not_an_agent: 403,
  not_askable: 409,
  not_found: 404,
  not_in_flight: 409,
  not_sealed: 404,
  plan_closed: 409,
  quota_exceeded: 429,
  rate_limited: 429,
  result_conflict: 409,
  sender_mismatch: 403,
  task_conflict: 409,
  task_too_large: 413,
  unauthenticated: 401,
  unavailable: 503,
  unknown_agent: 404,
  unknown_delivery: 404,
  unknown_grant: 404,
  unknown_key: 404,
  unknown_plan: 404,
  unknown_replay_entry: 404,
  unknown_route: 404,
  unknown_task: 404,
  unsupported_media_type: 415,
} as const;

export type KnownCode = keyof typeof ERROR_CODES;

/** A code of the table, or the code of a later version. */
export type ErrorCode = KnownCode | (string & {});

/** These mean that a lease is no longer the task's live lease, so that its holder has nothing to do any more. */
export const LEASE_ENDED: ReadonlySet<ErrorCode> = new Set<KnownCode>([
  "unknown_task",
  "lease_mismatch",
  "not_in_flight",
  "already_resolved",
  "result_conflict",
]);

/** The status of a code in a batch, whose items have none of their own. */
export function statusOf(code: ErrorCode): number {
  return (ERROR_CODES as Record<string, number>)[code] ?? 400;
}
