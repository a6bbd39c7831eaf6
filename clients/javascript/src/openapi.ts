// Written by `make client-types` from the hub's OpenAPI document. Do not edit.

export interface paths {
    "/a2a/agents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List registered agents */
        get: {
            parameters: {
                query?: {
                    cursor?: string;
                    limit?: number;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Agents"];
                    };
                };
            };
        };
        put?: never;
        /** Register an agent */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["AgentBody"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["RegisteredAgent"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/a2a/agents/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read one agent: whether it is paused, and whether it is open to anyone */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    name: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["AgentEntry"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/a2a/agents/{name}/pause": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Pause an agent: its tasks stay queued */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    name: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["PauseBody"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["AgentPaused"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/a2a/agents/{name}/pubkey": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the signing keys of an agent, live and retired */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    name: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["SigningKeys"];
                    };
                };
            };
        };
        put?: never;
        /** Set the signing key of an agent */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    name: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["SigningKeyBody"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["SigningKeys"];
                    };
                };
            };
        };
        /** Retire the signing key of an agent at once */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    name: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["SigningKeys"];
                    };
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/a2a/agents/{name}/quotas": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read an agent's quotas and their use */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    name: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Quotas"];
                    };
                };
            };
        };
        put?: never;
        /** Give an agent quotas of its own */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    name: string;
                };
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": components["schemas"]["QuotasBody"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Quotas"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/a2a/agents/{name}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Resume a paused agent */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    name: string;
                };
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": components["schemas"]["ResumeBody"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["AgentResumed"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/a2a/compact": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Delete finished tasks older than the retention period */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": components["schemas"]["CompactBody"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Compacted"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/a2a/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List callbacks with their attempts, newest first */
        get: {
            parameters: {
                query?: {
                    cursor?: string;
                    limit?: number;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Deliveries"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/a2a/deliveries/{delivery_id}/resend": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Send a callback again */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    delivery_id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["ResendBody"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Resent"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/a2a/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List API keys without their secrets: an agent sees its own, an admin sees all */
        get: {
            parameters: {
                query?: {
                    cursor?: string;
                    limit?: number;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Keys"];
                    };
                };
            };
        };
        put?: never;
        /** Add an API key */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": components["schemas"]["KeyBody"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["KeyAdded"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/a2a/keys/revoke": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Revoke an API key */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["RevokeKeyBody"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["KeyRevoked"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/a2a/keys/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Replace the API key of this request; both are valid for a while */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": components["schemas"]["RotateKeyBody"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["KeyRotated"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/a2a/leases": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List your own live leases */
        get: {
            parameters: {
                query?: {
                    cursor?: string;
                    limit?: number;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Leases"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/a2a/me": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read who owns the key of this request */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Me"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/a2a/peers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List peers: an agent sees its own, a person sees all */
        get: {
            parameters: {
                query?: {
                    cursor?: string;
                    limit?: number;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Peers"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/a2a/people": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List people by name */
        get: {
            parameters: {
                query?: {
                    cursor?: string;
                    limit?: number;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["People"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/a2a/queue": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List queued tasks, live leases and pending results */
        get: {
            parameters: {
                query?: {
                    cursor?: string;
                    deadline_within_ms?: number;
                    limit?: number;
                    min_lease_age_ms?: number;
                    state_filter?: "queued" | "in_flight" | "interrupted";
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Queue"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/a2a/repair": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Requeue a leased task or force it to an error */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["RepairBody"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Repaired"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/a2a/replay-entries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List cached results, newest first */
        get: {
            parameters: {
                query?: {
                    cursor?: string;
                    limit?: number;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ReplayEntries"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/a2a/replay-entries/drop": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Drop a cached result; the next duplicate is then done again */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["DropReplayBody"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ReplayDropped"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/a2a/results": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Post a result */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["ResultBody"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ResultPosted"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/a2a/results/ack": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Acknowledge results */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["AckBody"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ResultsAcked"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/a2a/results/batch": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Post up to 100 results */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["ResultsBody"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ResultsPosted"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/a2a/results/delivered": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List results that you received and did not acknowledge */
        get: {
            parameters: {
                query?: {
                    cursor?: string;
                    limit?: number;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["DeliveredResults"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/a2a/results/drain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Acknowledge your last results and drain the next */
        post: {
            parameters: {
                query?: never;
                header?: {
                    /** @description Names this receive. The same id gets the same answer, so a lost response costs nothing. Keep the id until it has brought something, also after an empty answer. Then use a new id. An id is spent once its leases have ended or its results were acknowledged. A receive under a spent id returns nothing. The answers of the mailbox then have `attempt_spent`. */
                    "A2A-Receive-Attempt-Id"?: string;
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["DrainBody"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ResultsDrained"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/a2a/results/next": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Drain the next result */
        get: {
            parameters: {
                query?: {
                    ack?: string;
                    attempt_id?: string;
                    wait_ms?: number;
                };
                header?: {
                    /** @description Names this receive. The same id gets the same answer, so a lost response costs nothing. Keep the id until it has brought something, also after an empty answer. Then use a new id. An id is spent once its leases have ended or its results were acknowledged. A receive under a spent id returns nothing. The answers of the mailbox then have `attempt_spent`. */
                    "A2A-Receive-Attempt-Id"?: string;
                };
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ResultOpt"];
                    };
                };
            };
        };
        put?: never;
        /** Drain the next result */
        post: {
            parameters: {
                query?: {
                    ack?: string;
                    attempt_id?: string;
                    wait_ms?: number;
                };
                header?: {
                    /** @description Names this receive. The same id gets the same answer, so a lost response costs nothing. Keep the id until it has brought something, also after an empty answer. Then use a new id. An id is spent once its leases have ended or its results were acknowledged. A receive under a spent id returns nothing. The answers of the mailbox then have `attempt_spent`. */
                    "A2A-Receive-Attempt-Id"?: string;
                };
                path?: never;
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": components["schemas"]["NextResult"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ResultOpt"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/a2a/results/recent": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List pending results without draining them */
        get: {
            parameters: {
                query?: {
                    cursor?: string;
                    limit?: number;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Results"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/a2a/retry-stale": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Requeue stale idempotent leases; a dry run unless enabled */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": components["schemas"]["PolicyBody"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["AutoRetried"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/a2a/routes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List public routes without their URLs, newest first */
        get: {
            parameters: {
                query?: {
                    cursor?: string;
                    limit?: number;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Routes"];
                    };
                };
            };
        };
        put?: never;
        /** Add a public route: a secret URL that acts as an agent */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["RouteBody"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["RouteAdded"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/a2a/routes/revoke": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Revoke a public route */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["RevokeRouteBody"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["RouteRevoked"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/a2a/status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read the queue as the command line prints it */
        get: {
            parameters: {
                query?: {
                    cursor?: string;
                    deadline_within_ms?: number;
                    limit?: number;
                    min_lease_age_ms?: number;
                    state_filter?: "queued" | "in_flight" | "interrupted";
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Status"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/a2a/tasks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List tasks in any state, newest first */
        get: {
            parameters: {
                query?: {
                    cursor?: string;
                    limit?: number;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TaskEntries"];
                    };
                };
            };
        };
        put?: never;
        /** Send a task */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["TaskBody"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TaskQueued"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/a2a/tasks/{task_id}/artifacts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read the artifacts of a task */
        get: {
            parameters: {
                query?: {
                    cursor?: string;
                    limit?: number;
                };
                header?: never;
                path: {
                    task_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Artifacts"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/a2a/tasks/{task_id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Cancel a task you sent */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    task_id: string;
                };
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": components["schemas"]["CancelBody"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TaskCancelled"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/a2a/tasks/{task_id}/entry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read one task with its state and lease */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    task_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TaskEntryAnswer"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/a2a/tasks/{task_id}/heartbeat": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Send a heartbeat for your lease */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    task_id: string;
                };
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": components["schemas"]["HeartbeatBody"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["LeaseAnswer"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/a2a/tasks/{task_id}/lease": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Lease this task, queued or interrupted, before older tasks */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    task_id: string;
                };
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": components["schemas"]["LeaseTaskBody"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TaskLeased"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/a2a/tasks/{task_id}/messages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read the messages of a task, and wait for more */
        get: {
            parameters: {
                query?: {
                    after?: number;
                    limit?: number;
                    wait_ms?: number;
                };
                header?: never;
                path: {
                    task_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Messages"];
                    };
                };
            };
        };
        put?: never;
        /** Send a further message to the agent of a task you sent */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    task_id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["SayBody"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["MessageSent"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/a2a/tasks/{task_id}/release": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Release your lease */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    task_id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["ReleaseBody"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TaskReleased"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/a2a/tasks/{task_id}/result": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read a task's result without draining it, and wait for it */
        get: {
            parameters: {
                query?: {
                    wait_ms?: number;
                };
                header?: never;
                path: {
                    task_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ResultOpt"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/a2a/tasks/{task_id}/timeline": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read the journal of a task */
        get: {
            parameters: {
                query?: {
                    cursor?: string;
                    limit?: number;
                };
                header?: never;
                path: {
                    task_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Timeline"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/a2a/tasks/{task_id}/tree": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read the tree of a task */
        get: {
            parameters: {
                query?: {
                    cursor?: string;
                };
                header?: never;
                path: {
                    task_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Tree"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/a2a/tasks/{task_id}/updates": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Post updates of your lease: messages, progress, artifacts, questions */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    task_id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["UpdatesBody"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TaskUpdated"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/a2a/tasks/batch": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Send up to 500 tasks */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["TasksBody"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TasksQueued"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/a2a/tasks/lease": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Post the results of your last tasks and lease the next */
        post: {
            parameters: {
                query?: never;
                header?: {
                    /** @description Names this receive. The same id gets the same answer, so a lost response costs nothing. Keep the id until it has brought something, also after an empty answer. Then use a new id. An id is spent once its leases have ended or its results were acknowledged. A receive under a spent id returns nothing. The answers of the mailbox then have `attempt_spent`. */
                    "A2A-Receive-Attempt-Id"?: string;
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["LeaseBody"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TasksLeased"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/a2a/tasks/next": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lease the next task */
        get: {
            parameters: {
                query?: {
                    attempt_id?: string;
                    wait_ms?: number;
                };
                header?: {
                    /** @description Names this receive. The same id gets the same answer, so a lost response costs nothing. Keep the id until it has brought something, also after an empty answer. Then use a new id. An id is spent once its leases have ended or its results were acknowledged. A receive under a spent id returns nothing. The answers of the mailbox then have `attempt_spent`. */
                    "A2A-Receive-Attempt-Id"?: string;
                };
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TaskOpt"];
                    };
                };
            };
        };
        put?: never;
        /** Lease the next task */
        post: {
            parameters: {
                query?: {
                    attempt_id?: string;
                    wait_ms?: number;
                };
                header?: {
                    /** @description Names this receive. The same id gets the same answer, so a lost response costs nothing. Keep the id until it has brought something, also after an empty answer. Then use a new id. An id is spent once its leases have ended or its results were acknowledged. A receive under a spent id returns nothing. The answers of the mailbox then have `attempt_spent`. */
                    "A2A-Receive-Attempt-Id"?: string;
                };
                path?: never;
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": components["schemas"]["NextTask"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TaskOpt"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/a2a/tasks/recent": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List queued tasks */
        get: {
            parameters: {
                query?: {
                    cursor?: string;
                    limit?: number;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Tasks"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/audit/proof/{row_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Prove that a row is in the sealed journal */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    row_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["AuditProof"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/audit/recent": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read the journal, newest first */
        get: {
            parameters: {
                query?: {
                    cursor?: string;
                    limit?: number;
                    since_ms?: number;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["AuditEvents"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/audit/verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Verify the sealed journal */
        get: {
            parameters: {
                query?: {
                    after?: number;
                    blocks?: number;
                    from_row?: number;
                    head?: string;
                    to_row?: number;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["AuditVerification"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/capabilities/grant": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Grant a capability */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["GrantBody"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Granted"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/capabilities/recent": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List grants, newest first */
        get: {
            parameters: {
                query?: {
                    cursor?: string;
                    limit?: number;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["CapabilityList"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/capabilities/revoke": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Revoke a capability */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["RevokeBody"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Revoked"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** Agents */
        Agents: {
            /**
             * Kind
             * @constant
             */
            kind: "a2a_agents";
            /** Agents */
            agents: components["schemas"]["AgentId"][];
            /** Next Cursor */
            next_cursor: string | null;
        };
        /**
         * AgentId
         * @description An agent: its name and its Ed25519 public key in base58.
         */
        AgentId: {
            /** Display */
            display: string;
            /** Pubkey */
            pubkey: string;
        };
        /**
         * AgentBody
         * @description The agent to register. Without a ``pubkey`` the hub makes a key pair.
         *
         *     A ``pubkey`` signs requests once it was proved: by ``proof``, or later.
         */
        AgentBody: {
            /** Display */
            display: string;
            /**
             * Pubkey
             * @default null
             */
            pubkey?: string | null;
            /** @default null */
            proof?: components["schemas"]["KeyProofBody"] | null;
        };
        /**
         * KeyProofBody
         * @description The signature, in base64, of the statement that ``docs/signatures.md`` shows, by the ``pubkey`` beside it.
         */
        KeyProofBody: {
            /**
             * Time Ms
             * @description Unix epoch milliseconds
             */
            time_ms: number;
            /** Signature */
            signature: string;
        };
        /**
         * RegisteredAgent
         * @description The new agent with its secrets, which are shown only here.
         *
         *     ``private_key`` is null if the request had a ``pubkey``.
         */
        RegisteredAgent: {
            /**
             * Kind
             * @constant
             */
            kind: "a2a_agent";
            agent: components["schemas"]["AgentId"];
            /** Private Key */
            private_key: string | null;
            /** Api Key */
            api_key: string;
        };
        /**
         * AgentEntry
         * @description An agent. ``paused_at_ms`` and ``paused_reason`` are null unless it is paused.
         *
         *     ``is_open``: callers without a key may send tasks to it.
         */
        AgentEntry: {
            /**
             * Kind
             * @constant
             */
            kind: "a2a_agent_entry";
            agent: components["schemas"]["AgentId"];
            /** Created At Ms */
            created_at_ms: number;
            /** Paused At Ms */
            paused_at_ms: number | null;
            /** Paused Reason */
            paused_reason: string | null;
            /** Is Open */
            is_open: boolean;
        };
        /**
         * PauseBody
         * @description Why the agent is paused.
         */
        PauseBody: {
            /** Reason */
            reason: string;
        };
        /**
         * AgentPaused
         * @description The agent's tasks stay queued until it is resumed.
         */
        AgentPaused: {
            /**
             * Kind
             * @constant
             */
            kind: "a2a_agent_paused";
            agent: components["schemas"]["AgentId"];
            /** Paused At Ms */
            paused_at_ms: number;
            /** Reason */
            reason: string;
        };
        /**
         * SigningKeys
         * @description The signing keys, the oldest first. ``agent`` has the public key that names the agent for ever.
         */
        SigningKeys: {
            /**
             * Kind
             * @constant
             */
            kind: "a2a_signing_keys";
            agent: components["schemas"]["AgentId"];
            /** Signing Keys */
            signing_keys: components["schemas"]["WireSigningKey"][];
        };
        /**
         * WireSigningKey
         * @description A signing key of an agent. ``retired_at_ms`` null: it signs requests now.
         */
        WireSigningKey: {
            /** Pubkey */
            pubkey: string;
            /** Proven At Ms */
            proven_at_ms: number;
            /** Retired At Ms */
            retired_at_ms: number | null;
        };
        /**
         * SigningKeyBody
         * @description The new key with its proof: signatures, in base64, of the statement that ``docs/signatures.md`` shows.
         *
         *     ``previous_signature`` is by the agent's key until now. An operator may set a key without it.
         */
        SigningKeyBody: {
            /** Pubkey */
            pubkey: string;
            /**
             * Time Ms
             * @description Unix epoch milliseconds
             */
            time_ms: number;
            /** Signature */
            signature: string;
            /**
             * Previous Signature
             * @default null
             */
            previous_signature?: string | null;
        };
        /** Quotas */
        Quotas: {
            /**
             * Kind
             * @constant
             */
            kind: "a2a_quotas";
            /** Quotas */
            quotas: components["schemas"]["QuotaUsage"][];
        };
        /**
         * QuotaUsage
         * @description One quota. ``used`` is null for a rate. ``is_own`` is false for the setting. ``recipient`` null: all of them.
         */
        QuotaUsage: {
            /** Quota */
            quota: string;
            /** Recipient */
            recipient: string | null;
            /** Used */
            used: number | null;
            /** Limit */
            limit: number;
            /** Is Own */
            is_own: boolean;
        };
        /**
         * QuotasBody
         * @description The quotas to set. Null restores the setting; an absent quota stays. ``recipient`` goes with ``queued`` alone.
         */
        QuotasBody: {
            /**
             * Queued
             * @default null
             */
            queued?: number | null;
            /**
             * Bytes
             * @default null
             */
            bytes?: number | null;
            /**
             * Callbacks
             * @default null
             */
            callbacks?: number | null;
            /**
             * Waits
             * @default null
             */
            waits?: number | null;
            /**
             * Cards
             * @default null
             */
            cards?: number | null;
            /**
             * Requests Per S
             * @default null
             */
            requests_per_s?: number | null;
            /**
             * Recipient
             * @default null
             */
            recipient?: (string | {
                display: string;
                pubkey: string;
            }) | null;
        };
        /**
         * ResumeBody
         * @description Why the agent is resumed.
         */
        ResumeBody: {
            /**
             * Reason
             * @default
             */
            reason?: string;
        };
        /** AgentResumed */
        AgentResumed: {
            /**
             * Kind
             * @constant
             */
            kind: "a2a_agent_resumed";
            agent: components["schemas"]["AgentId"];
        };
        /**
         * CompactBody
         * @description An empty object. The operator's settings say how long finished work is kept.
         */
        CompactBody: Record<string, never>;
        /** Compacted */
        Compacted: {
            /**
             * Kind
             * @constant
             */
            kind: "a2a_compacted";
            /** Dropped */
            dropped: number;
        };
        /** Deliveries */
        Deliveries: {
            /**
             * Kind
             * @constant
             */
            kind: "a2a_deliveries";
            /** Deliveries */
            deliveries: components["schemas"]["WireDelivery"][];
            /** Next Cursor */
            next_cursor: string | null;
        };
        /**
         * WireDelivery
         * @description A callback or an event of a webhook, and its attempts. The secret is never shown.
         */
        WireDelivery: {
            /**
             * Delivery Id
             * Format: uuid
             */
            delivery_id: string;
            /**
             * Task Id
             * Format: uuid
             */
            task_id: string;
            sender: components["schemas"]["AgentId"];
            /** Url */
            url: string;
            /** Signed */
            signed: boolean;
            /**
             * State
             * @enum {string}
             */
            state: "pending" | "delivered" | "disabled";
            /** Event */
            event: string | null;
            /** Attempts */
            attempts: number;
            /** Created At Ms */
            created_at_ms: number;
            /** Next Attempt At Ms */
            next_attempt_at_ms: number | null;
            /** Delivered At Ms */
            delivered_at_ms: number | null;
            /** Log */
            log: components["schemas"]["WireAttempt"][];
        };
        /**
         * WireAttempt
         * @description One attempt to deliver a callback. ``status`` is null when the receiver did not answer.
         */
        WireAttempt: {
            /** Number */
            number: number;
            /** At Ms */
            at_ms: number;
            /** Status */
            status: number | null;
            /** Problem */
            problem: string;
        };
        /**
         * ResendBody
         * @description Why the callback is sent again.
         */
        ResendBody: {
            /** Reason */
            reason: string;
        };
        /** Resent */
        Resent: {
            /**
             * Kind
             * @constant
             */
            kind: "a2a_delivery_resent";
            /**
             * Delivery Id
             * Format: uuid
             */
            delivery_id: string;
        };
        /** Keys */
        Keys: {
            /**
             * Kind
             * @constant
             */
            kind: "a2a_keys";
            /** Keys */
            keys: components["schemas"]["WireKey"][];
            /** Next Cursor */
            next_cursor: string | null;
        };
        /**
         * WireKey
         * @description An API key, or with ``is_certificate`` a client certificate. It belongs to an ``agent`` or to a ``person``.
         *
         *     ``made_by`` is the public id of the key with which it was made, and ``replaces`` that of the key that it succeeds.
         *     Both are null without one. ``expires_at`` is in Unix epoch milliseconds, null for no expiry.
         */
        WireKey: {
            /** Public Id */
            public_id: string;
            agent: components["schemas"]["AgentId"] | null;
            /** Person */
            person: string | null;
            /** Is Certificate */
            is_certificate: boolean;
            /** Made By */
            made_by: string | null;
            /** Replaces */
            replaces: string | null;
            /** Created At Ms */
            created_at_ms: number;
            /** Expires At */
            expires_at: number | null;
            /** Revoked At Ms */
            revoked_at_ms: number | null;
            /** Last Used At Ms */
            last_used_at_ms: number | null;
        };
        /**
         * KeyBody
         * @description The owner of the new key: an agent or, for automation, a person. Without either the caller gets the key.
         */
        KeyBody: {
            /**
             * Agent
             * @default null
             */
            agent?: (string | {
                display: string;
                pubkey: string;
            }) | null;
            /**
             * Username
             * @default null
             */
            username?: string | null;
            /**
             * Expires At
             * @default null
             */
            expires_at?: number | null;
        };
        /**
         * KeyAdded
         * @description The new key, which is shown only here. ``expires_at`` is in Unix epoch milliseconds, null for no expiry.
         */
        KeyAdded: {
            /**
             * Kind
             * @constant
             */
            kind: "a2a_key";
            /** Public Id */
            public_id: string;
            /** Api Key */
            api_key: string;
            /** Expires At */
            expires_at: number | null;
        };
        /**
         * RevokeKeyBody
         * @description The key to revoke, by its public id. ``with_made`` also revokes the keys that were made with it.
         */
        RevokeKeyBody: {
            /** Public Id */
            public_id: string;
            /**
             * With Made
             * @default false
             */
            with_made?: boolean;
        };
        /**
         * KeyRevoked
         * @description The public ids of the key and, with ``with_made``, of the keys that were made with it.
         */
        KeyRevoked: {
            /**
             * Kind
             * @constant
             */
            kind: "a2a_key_revoked";
            /** Public Id */
            public_id: string;
            /** Also */
            also: string[];
        };
        /**
         * RotateKeyBody
         * @description How long the old key stays valid beside the new key.
         */
        RotateKeyBody: {
            /**
             * Overlap Ms
             * @default 3600000
             */
            overlap_ms?: number;
        };
        /**
         * KeyRotated
         * @description The new key, which is shown only here, and the time when the key of this request expires.
         */
        KeyRotated: {
            /**
             * Kind
             * @constant
             */
            kind: "a2a_key_rotated";
            /** Public Id */
            public_id: string;
            /** Api Key */
            api_key: string;
            /** Expires At */
            expires_at: number | null;
            /** Replaces */
            replaces: string;
            /** Overlap Ends At */
            overlap_ends_at: number;
        };
        /** Leases */
        Leases: {
            /**
             * Kind
             * @constant
             */
            kind: "a2a_leases";
            /** Leases */
            leases: components["schemas"]["HeldLease"][];
            /** Next Cursor */
            next_cursor: string | null;
        };
        /**
         * HeldLease
         * @description A lease with its task and its holder.
         */
        HeldLease: {
            /**
             * Lease Id
             * Format: uuid
             */
            lease_id: string;
            /** Attempt */
            attempt: number;
            /** Leased At Ms */
            leased_at_ms: number;
            /** Last Seen At Ms */
            last_seen_at_ms: number;
            /** Work Timeout Ms */
            work_timeout_ms: number | null;
            task: components["schemas"]["WireWork"];
            leased_to: components["schemas"]["AgentId"];
        };
        /**
         * WireWork
         * @description A task with its ``metadata``: what the sender wrote beside the text in another protocol.
         *
         *     Tasks of one ``context_id`` belong to one conversation.
         */
        WireWork: {
            /**
             * Id
             * Format: uuid
             */
            id: string;
            sender: components["schemas"]["AgentId"];
            recipient: components["schemas"]["AgentId"];
            /** Intent Text */
            intent_text: string;
            /** Task Kind */
            task_kind?: string;
            /**
             * Parent
             * Format: uuid
             */
            parent?: string;
            /** Deadline Ms */
            deadline_ms?: number;
            idempotency?: components["schemas"]["WireIdempotency"];
            /** Context Id */
            context_id?: string;
            /** Metadata */
            metadata?: {
                [key: string]: unknown;
            };
        };
        /**
         * WireIdempotency
         * @description Whether the work may be done twice. Two tasks with the same ``key`` ask for the same work.
         */
        WireIdempotency: {
            /**
             * Duplicate Safety
             * @enum {string}
             */
            duplicate_safety: "unsafe" | "idempotent";
            /** Key */
            key: string;
        };
        /**
         * Me
         * @description The owner of the request's key, signature or certificate: an ``agent``, or a ``person`` by name.
         *
         *     The other one is null. ``role`` is the role of a person, and null for an agent.
         */
        Me: {
            /**
             * Kind
             * @constant
             */
            kind: "a2a_me";
            agent: components["schemas"]["AgentId"] | null;
            /** Person */
            person: string | null;
            /** Role */
            role: ("viewer" | "operator" | "admin") | null;
        };
        /** Peers */
        Peers: {
            /**
             * Kind
             * @constant
             */
            kind: "a2a_peers";
            /** Peers */
            peers: components["schemas"]["WirePeer"][];
            /** Next Cursor */
            next_cursor: string | null;
        };
        /**
         * WirePeer
         * @description A peer. ``agent`` is the agent whose key it uses.
         *
         *     The hub sets ``status`` and the times, the peer the other fields.
         */
        WirePeer: {
            agent: components["schemas"]["AgentId"];
            /** Peer Id */
            peer_id: string;
            /** Name */
            name: string;
            /** Url */
            url: string;
            /** Capabilities */
            capabilities: unknown;
            /**
             * Status
             * @enum {string}
             */
            status: "online" | "suspect" | "offline";
            /** First Seen At Ms */
            first_seen_at_ms: number;
            /** Last Seen At Ms */
            last_seen_at_ms: number;
        };
        /** People */
        People: {
            /**
             * Kind
             * @constant
             */
            kind: "a2a_people";
            /** People */
            people: components["schemas"]["WirePerson"][];
            /** Next Cursor */
            next_cursor: string | null;
        };
        /**
         * WirePerson
         * @description A person. ``role`` is the strongest of the ``groups``, null for a person who may not use the hub.
         *
         *     ``is_staff`` opens ``/admin/``. ``last_sign_in_at_ms`` null: the person never signed in.
         */
        WirePerson: {
            /** Name */
            name: string;
            /** Role */
            role: ("viewer" | "operator" | "admin") | null;
            /** Groups */
            groups: string[];
            /** Is Active */
            is_active: boolean;
            /** Is Staff */
            is_staff: boolean;
            /** Has Second Factor */
            has_second_factor: boolean;
            /** Created At Ms */
            created_at_ms: number;
            /** Last Sign In At Ms */
            last_sign_in_at_ms: number | null;
        };
        /** Queue */
        Queue: {
            /**
             * Kind
             * @constant
             */
            kind: "a2a_queue";
            /** Tasks */
            tasks: components["schemas"]["WireQueueEntry"][];
            /** Results */
            results: components["schemas"]["WireResult"][];
            /** Next Cursor */
            next_cursor: string | null;
        };
        /**
         * WireQueueEntry
         * @description A task with its state. The lease's keys are left out when the task has no live lease.
         *
         *     Only an interrupted task has ``awaits``: the kind of its agent's question.
         */
        WireQueueEntry: {
            /**
             * State
             * @enum {string}
             */
            state: "queued" | "in_flight" | "interrupted" | "resolved";
            /**
             * Awaits
             * @enum {string}
             */
            awaits?: "input" | "authorization";
            task: components["schemas"]["WireTask"];
            /** Attempt */
            attempt: number;
            /**
             * Lease Id
             * Format: uuid
             */
            lease_id?: string;
            leased_to?: components["schemas"]["AgentId"];
            /** Leased At Ms */
            leased_at_ms?: number;
            /**
             * Waits On
             * Format: uuid
             */
            waits_on?: string;
        };
        /**
         * WireTask
         * @description A task. Keys without a value are left out.
         */
        WireTask: {
            /**
             * Id
             * Format: uuid
             */
            id: string;
            sender: components["schemas"]["AgentId"];
            recipient: components["schemas"]["AgentId"];
            /** Intent Text */
            intent_text: string;
            /** Task Kind */
            task_kind?: string;
            /**
             * Parent
             * Format: uuid
             */
            parent?: string;
            /** Deadline Ms */
            deadline_ms?: number;
            idempotency?: components["schemas"]["WireIdempotency"];
        };
        /**
         * WireResult
         * @description The result of a task. Keys without a value are left out.
         *
         *     ``message`` has the closing words. ``artifacts`` names the first 100 artifacts of the task, and ``artifacts_left``
         *     counts the others. ``artifacts_route`` is where their contents are read.
         */
        WireResult: {
            /**
             * Task Id
             * Format: uuid
             */
            task_id: string;
            /**
             * Status
             * @enum {string}
             */
            status: "ok" | "error" | "partial";
            /** Content */
            content: {
                [key: string]: unknown;
            }[];
            /** Error Message */
            error_message?: string;
            /** Message */
            message?: {
                [key: string]: unknown;
            }[];
            /** Artifacts */
            artifacts?: components["schemas"]["ResultArtifact"][];
            /** Artifacts Left */
            artifacts_left?: number;
            /** Artifacts Route */
            artifacts_route?: string;
        };
        /**
         * ResultArtifact
         * @description An artifact of the task. ``characters`` is the length of its content as JSON.
         */
        ResultArtifact: {
            /** Artifact Id */
            artifact_id: string;
            /** Name */
            name?: string;
            /** Last Chunk */
            last_chunk: boolean;
            /** Characters */
            characters: number;
        };
        /**
         * RepairBody
         * @description A repair of a leased task. With a ``lease_id`` in the command, nothing happens unless that lease is live.
         */
        RepairBody: {
            /**
             * Task Id
             * Format: uuid
             */
            task_id: string;
            /** Command */
            command: components["schemas"]["RequeueCommand"] | components["schemas"]["ForceErrorCommand"];
            /** Reason */
            reason: string;
        };
        /**
         * ForceErrorCommand
         * @description Resolve the task as an error with this ``message``.
         */
        ForceErrorCommand: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            action: "force_error";
            /** Message */
            message: string;
            /**
             * Lease Id
             * @default null
             */
            lease_id?: string | null;
        };
        /**
         * RequeueCommand
         * @description Return the task to the queue. ``duplicate_risk`` says why doing the work twice is acceptable.
         */
        RequeueCommand: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            action: "requeue";
            /**
             * Duplicate Risk
             * @enum {string}
             */
            duplicate_risk: "idempotent" | "operator_accepted";
            /**
             * Lease Id
             * @default null
             */
            lease_id?: string | null;
        };
        /** Repaired */
        Repaired: {
            /**
             * Kind
             * @constant
             */
            kind: "a2a_repaired";
            outcome: components["schemas"]["RepairOutcome"];
        };
        /**
         * RepairOutcome
         * @description The outcome of a repair. ``result`` is left out after a requeue.
         */
        RepairOutcome: {
            /**
             * Task Id
             * Format: uuid
             */
            task_id: string;
            /**
             * Action
             * @enum {string}
             */
            action: "requeued" | "forced_error";
            /**
             * State
             * @enum {string}
             */
            state: "queued" | "result_pending";
            /** Attempt */
            attempt: number;
            result?: components["schemas"]["WireResult"];
        };
        /** ReplayEntries */
        ReplayEntries: {
            /**
             * Kind
             * @constant
             */
            kind: "a2a_replay_entries";
            /** Entries */
            entries: components["schemas"]["WireReplayEntry"][];
            /** Next Cursor */
            next_cursor: string | null;
        };
        /**
         * WireReplayEntry
         * @description A cached result. ``hits`` counts the duplicates that it answered.
         */
        WireReplayEntry: {
            /** Id */
            id: number;
            /** Sender Pubkey B58 */
            sender_pubkey_b58: string;
            /** Recipient Pubkey B58 */
            recipient_pubkey_b58: string;
            /** Task Kind */
            task_kind: string;
            /** Key */
            key: string;
            /**
             * Source Task Id
             * Format: uuid
             */
            source_task_id: string;
            /**
             * Status
             * @enum {string}
             */
            status: "ok" | "error" | "partial";
            /** Hits */
            hits: number;
            /** Stored At Ms */
            stored_at_ms: number;
            /** Last Hit At Ms */
            last_hit_at_ms: number | null;
            /** Expires At Ms */
            expires_at_ms: number | null;
        };
        /**
         * DropReplayBody
         * @description The cached result to drop. With a ``source_task_id`` nothing is dropped if a newer result took its place.
         */
        DropReplayBody: {
            /** Id */
            id: number;
            /** Reason */
            reason: string;
            /**
             * Source Task Id
             * @default null
             */
            source_task_id?: string | null;
        };
        /** ReplayDropped */
        ReplayDropped: {
            /**
             * Kind
             * @constant
             */
            kind: "a2a_replay_dropped";
            /** Id */
            id: number;
        };
        /**
         * ResultBody
         * @description The result of a task.
         *
         *     With a ``lease_id`` the result is refused unless that lease is live. ``error_message`` explains the statuses
         *     ``error`` and ``partial``, and must explain ``rejected``: the agent will not do the task. A content block is an
         *     object with a ``type``: ``text``, ``json``, ``image``, ``audio``, ``resource`` or ``resource_link``. ``message`` is
         *     closing words, as text or content blocks.
         *
         *     With ``direct`` the content itself is the answer, one message instead of a task. The status is then ``ok``, and the
         *     task has no messages and artifacts.
         */
        ResultBody: {
            /**
             * Task Id
             * Format: uuid
             */
            task_id: string;
            /**
             * Status
             * @enum {string}
             */
            status: "ok" | "error" | "partial" | "rejected";
            /**
             * Content
             * @default []
             */
            content?: {
                [key: string]: unknown;
            }[];
            /**
             * Error Message
             * @default null
             */
            error_message?: string | null;
            /**
             * Lease Id
             * @default null
             */
            lease_id?: string | null;
            /**
             * Message
             * @default []
             */
            message?: string | Record<string, never>[];
            /**
             * Direct
             * @default false
             */
            direct?: boolean;
        };
        /** ResultPosted */
        ResultPosted: {
            /**
             * Kind
             * @constant
             */
            kind: "a2a_result_posted";
            /**
             * Task Id
             * Format: uuid
             */
            task_id: string;
        };
        /**
         * AckBody
         * @description The tasks whose results arrived.
         *
         *     Acknowledging a result twice changes nothing, even if its task was compacted since.
         */
        AckBody: {
            /** Task Ids */
            task_ids: string[];
        };
        /**
         * ResultsAcked
         * @description The results of ``task_ids`` are acknowledged now. ``unknown`` are the other ids of the request.
         *
         *     No result of theirs is known to the caller. If all ids are unknown, the answer is 404 instead.
         */
        ResultsAcked: {
            /**
             * Kind
             * @constant
             */
            kind: "a2a_results_acked";
            /** Task Ids */
            task_ids: string[];
            /** Unknown */
            unknown: string[];
        };
        /**
         * ResultsBody
         * @description Results to post, in order. Each is decided by itself: a refused result keeps no other from being posted.
         */
        ResultsBody: {
            /** Results */
            results: {
                /**
                 * Task Id
                 * Format: uuid
                 */
                task_id: string;
                /**
                 * Status
                 * @enum {string}
                 */
                status: "ok" | "error" | "partial" | "rejected";
                /**
                 * Content
                 * @default []
                 */
                content?: {
                    [key: string]: unknown;
                }[];
                /**
                 * Error Message
                 * @default null
                 */
                error_message?: string | null;
                /**
                 * Lease Id
                 * @default null
                 */
                lease_id?: string | null;
                /**
                 * Message
                 * @default []
                 */
                message?: string | Record<string, never>[];
                /**
                 * Direct
                 * @default false
                 */
                direct?: boolean;
            }[];
        };
        /**
         * ResultsPosted
         * @description ``posted`` are the tasks that have the posted result, in the order of the batch without the refused items.
         */
        ResultsPosted: {
            /**
             * Kind
             * @constant
             */
            kind: "a2a_results_posted";
            /** Posted */
            posted: string[];
            /** Refused */
            refused: components["schemas"]["RefusedItem"][];
        };
        /**
         * RefusedItem
         * @description An item of the batch that was refused. Nothing of it was done. ``index`` is its place in the batch, from 0.
         *
         *     ``task_id`` is the id that the item names, null without a valid one. ``code`` and ``message`` are those of the
         *     single request. ``fields`` maps the path of each invalid field to its problem, if ``code`` is ``invalid_request``.
         */
        RefusedItem: {
            /** Index */
            index: number;
            /** Task Id */
            task_id: string | null;
            /** Code */
            code: string;
            /** Message */
            message: string;
            /** Fields */
            fields?: {
                [key: string]: string;
            };
        };
        /** DeliveredResults */
        DeliveredResults: {
            /**
             * Kind
             * @constant
             */
            kind: "a2a_results_delivered";
            /** Results */
            results: components["schemas"]["DeliveredResult"][];
            /** Next Cursor */
            next_cursor: string | null;
        };
        /**
         * DeliveredResult
         * @description A result that its sender received last at ``delivered_at_ms`` and did not acknowledge.
         *
         *     ``attempt_id`` is the sender's id of that receive, null without one.
         */
        DeliveredResult: {
            /**
             * Task Id
             * Format: uuid
             */
            task_id: string;
            /**
             * Status
             * @enum {string}
             */
            status: "ok" | "error" | "partial";
            /** Content */
            content: {
                [key: string]: unknown;
            }[];
            /** Error Message */
            error_message?: string;
            /** Message */
            message?: {
                [key: string]: unknown;
            }[];
            /** Artifacts */
            artifacts?: components["schemas"]["ResultArtifact"][];
            /** Artifacts Left */
            artifacts_left?: number;
            /** Artifacts Route */
            artifacts_route?: string;
            /** Delivered At Ms */
            delivered_at_ms: number;
            /** Attempt Id */
            attempt_id: string | null;
        };
        /**
         * DrainBody
         * @description How to drain up to ``max`` results. The results of the tasks in ``ack`` are acknowledged first.
         *
         *     An item of ``ack`` that is no UUID is refused alone, and keeps no other item from being acknowledged.
         *
         *     The answer comes with the first result. It has fewer than ``max`` results if no more are pending, or if one more
         *     would exceed 4 MiB.
         */
        DrainBody: {
            /**
             * Wait Ms
             * @default 0
             */
            wait_ms?: number;
            /**
             * Attempt Id
             * @default null
             */
            attempt_id?: string | null;
            /** Max */
            max: number;
            /**
             * Ack
             * @default []
             */
            ack?: string[];
        };
        /**
         * ResultsDrained
         * @description The drained results, oldest first. ``acked`` and ``unknown`` are the valid ids of ``ack``.
         *
         *     No result of the unknown ids is known to the caller. ``refused`` are the items of ``ack`` that are no UUID.
         *     ``attempt_spent`` is there only when the attempt id is spent: its results are acknowledged. Use a new id.
         */
        ResultsDrained: {
            /**
             * Kind
             * @constant
             */
            kind: "a2a_results_drained";
            /** Results */
            results: components["schemas"]["WireResult"][];
            /** Acked */
            acked: string[];
            /** Unknown */
            unknown: string[];
            /** Refused */
            refused: components["schemas"]["RefusedItem"][];
            /**
             * Attempt Spent
             * @default false
             */
            attempt_spent?: boolean;
        };
        /**
         * ResultOpt
         * @description The drained result, null when nothing was there to drain.
         *
         *     ``attempt_spent`` is there only when the attempt id is spent: its results are acknowledged. Use a new id.
         */
        ResultOpt: {
            /**
             * Kind
             * @constant
             */
            kind: "a2a_result_opt";
            result: components["schemas"]["WireResult"] | null;
            /**
             * Attempt Spent
             * @default false
             */
            attempt_spent?: boolean;
        };
        /**
         * NextResult
         * @description How to drain, in the query or the body. ``ack`` names the task whose result this request acknowledges.
         */
        NextResult: {
            /**
             * Wait Ms
             * @default 0
             */
            wait_ms?: number;
            /**
             * Attempt Id
             * @default null
             */
            attempt_id?: string | null;
            /**
             * Ack
             * @default null
             */
            ack?: string | null;
        };
        /** Results */
        Results: {
            /**
             * Kind
             * @constant
             */
            kind: "a2a_results";
            /** Results */
            results: components["schemas"]["WireResult"][];
            /** Next Cursor */
            next_cursor: string | null;
        };
        /**
         * PolicyBody
         * @description The limits of one pass of the retry gate.
         *
         *     Without ``enabled`` the pass is a dry run. ``max_requeues`` and ``scan_limit`` count leases of this pass.
         */
        PolicyBody: {
            /**
             * Enabled
             * @default false
             */
            enabled?: boolean;
            /**
             * Min Lease Age Ms
             * @default 300000
             */
            min_lease_age_ms?: number;
            /**
             * Max Attempts
             * @default 3
             */
            max_attempts?: number;
            /**
             * Max Requeues
             * @default 1
             */
            max_requeues?: number;
            /**
             * Scan Limit
             * @default 100
             */
            scan_limit?: number;
        };
        /** AutoRetried */
        AutoRetried: {
            /**
             * Kind
             * @constant
             */
            kind: "a2a_auto_retry";
            report: components["schemas"]["WireReport"];
        };
        /**
         * WireReport
         * @description The outcome of one pass of the retry gate.
         */
        WireReport: {
            policy: components["schemas"]["WirePolicy"];
            /** Considered */
            considered: number;
            /** Requeued */
            requeued: components["schemas"]["RetriedRow"][];
            /** Would Requeue */
            would_requeue: components["schemas"]["RetriedRow"][];
            /** Skipped */
            skipped: components["schemas"]["SkippedRow"][];
        };
        /**
         * WirePolicy
         * @description The limits of the pass.
         */
        WirePolicy: {
            /** Enabled */
            enabled: boolean;
            /** Min Lease Age Ms */
            min_lease_age_ms: number;
            /** Max Attempts */
            max_attempts: number;
            /** Max Requeues */
            max_requeues: number;
            /** Scan Limit */
            scan_limit: number;
        };
        /**
         * RetriedRow
         * @description A task that the pass requeued, or would requeue if it were enabled.
         */
        RetriedRow: {
            /**
             * Task Id
             * Format: uuid
             */
            task_id: string;
            /**
             * Lease Id
             * Format: uuid
             */
            lease_id: string;
            /** Attempt */
            attempt: number;
            /** Idempotency Key */
            idempotency_key: string;
        };
        /**
         * SkippedRow
         * @description A leased task that the pass left alone, with the reason.
         */
        SkippedRow: {
            /**
             * Task Id
             * Format: uuid
             */
            task_id: string;
            /** Reason */
            reason: string;
            /** Attempt */
            attempt: number;
            /** Lease Age Ms */
            lease_age_ms: number;
        };
        /** Routes */
        Routes: {
            /**
             * Kind
             * @constant
             */
            kind: "a2a_routes";
            /** Routes */
            routes: components["schemas"]["WireRoute"][];
            /** Next Cursor */
            next_cursor: string | null;
        };
        /**
         * WireRoute
         * @description A public route: a secret URL that acts as an agent. ``rate_limit`` is in requests a minute.
         */
        WireRoute: {
            /** Public Id */
            public_id: string;
            agent: components["schemas"]["AgentId"];
            /** Rate Limit */
            rate_limit: number;
            /** Created At Ms */
            created_at_ms: number;
            /** Revoked At Ms */
            revoked_at_ms: number | null;
            /** Last Used At Ms */
            last_used_at_ms: number | null;
        };
        /**
         * RouteBody
         * @description The agent that the new public route acts as, and the limit of its requests a minute.
         *
         *     Without ``rate_limit`` the operator's setting counts.
         */
        RouteBody: {
            /**
             * Agent
             * @description An AgentId, or its display, or its local part where that is unambiguous.
             */
            agent: string | {
                display: string;
                pubkey: string;
            };
            /**
             * Rate Limit
             * @default null
             */
            rate_limit?: number | null;
        };
        /**
         * RouteAdded
         * @description The new route. Its ``url`` is a secret, which is shown only here.
         */
        RouteAdded: {
            /**
             * Kind
             * @constant
             */
            kind: "a2a_route";
            /** Public Id */
            public_id: string;
            /** Url */
            url: string;
        };
        /**
         * RevokeRouteBody
         * @description The public route to revoke, by its public id: the eight characters after ``p_`` in its URL.
         */
        RevokeRouteBody: {
            /** Public Id */
            public_id: string;
        };
        /** RouteRevoked */
        RouteRevoked: {
            /**
             * Kind
             * @constant
             */
            kind: "a2a_route_revoked";
            /** Public Id */
            public_id: string;
        };
        /** Status */
        Status: {
            /**
             * Kind
             * @constant
             */
            kind: "a2a_status";
            /** Limit */
            limit: number;
            /** Min Lease Age Ms */
            min_lease_age_ms: number | null;
            /** Deadline Within Ms */
            deadline_within_ms: number | null;
            /** State Filter */
            state_filter: ("queued" | "in_flight" | "interrupted") | null;
            /** Tasks */
            tasks: components["schemas"]["WireQueueEntry"][];
            /** Results */
            results: components["schemas"]["WireResult"][];
        };
        /**
         * TaskEntries
         * @description Tasks in any state. An agent sees the tasks that it sent or receives, a person sees all tasks.
         */
        TaskEntries: {
            /**
             * Kind
             * @constant
             */
            kind: "a2a_task_entries";
            /** Entries */
            entries: components["schemas"]["TaskEntry"][];
            /** Next Cursor */
            next_cursor: string | null;
        };
        /**
         * TaskEntry
         * @description A task with its state and its times. ``outcome`` is null until the task is resolved.
         */
        TaskEntry: {
            /**
             * State
             * @enum {string}
             */
            state: "queued" | "in_flight" | "interrupted" | "resolved";
            /**
             * Awaits
             * @enum {string}
             */
            awaits?: "input" | "authorization";
            task: components["schemas"]["WireWork"];
            /** Attempt */
            attempt: number;
            /**
             * Lease Id
             * Format: uuid
             */
            lease_id?: string;
            leased_to?: components["schemas"]["AgentId"];
            /** Leased At Ms */
            leased_at_ms?: number;
            /**
             * Waits On
             * Format: uuid
             */
            waits_on?: string;
            /** Outcome */
            outcome: ("ok" | "partial" | "error" | "cancelled" | "rejected" | "expired") | null;
            /** Sent At Ms */
            sent_at_ms: number;
            /** Queued At Ms */
            queued_at_ms: number;
            /** Resolved At Ms */
            resolved_at_ms: number | null;
        };
        /**
         * TaskBody
         * @description A task to send.
         *
         *     A request that names its ``id`` can be repeated: the task is stored once. Without an ``id`` the hub chooses one.
         *     ``sender`` must be the caller and may be left out. ``deadline_ms`` is a point in time: a task that is still queued
         *     then expires. When the task ends, the hub posts its state to ``callback_url``, signed if there is a
         *     ``callback_secret``.
         */
        TaskBody: {
            /**
             * Id
             * @default null
             */
            id?: string | null;
            /**
             * Sender
             * @default null
             */
            sender?: (string | {
                display: string;
                pubkey: string;
            }) | null;
            /**
             * Recipient
             * @description An AgentId, or its display, or its local part where that is unambiguous.
             */
            recipient: string | {
                display: string;
                pubkey: string;
            };
            /** Intent Text */
            intent_text: string;
            /**
             * Task Kind
             * @default null
             */
            task_kind?: string | null;
            /**
             * Parent
             * @default null
             */
            parent?: string | null;
            /**
             * Deadline Ms
             * @default null
             */
            deadline_ms?: number | null;
            /** @default null */
            idempotency?: components["schemas"]["IdempotencyBody"] | null;
            /**
             * Callback Url
             * @default null
             */
            callback_url?: string | null;
            /**
             * Callback Secret
             * @default null
             */
            callback_secret?: string | null;
        };
        /**
         * IdempotencyBody
         * @description Whether the work may be done twice. Two tasks with the same ``key`` ask for the same work.
         */
        IdempotencyBody: {
            /**
             * Duplicate Safety
             * @enum {string}
             */
            duplicate_safety: "unsafe" | "idempotent";
            /** Key */
            key: string;
        };
        /**
         * TaskQueued
         * @description The task is stored. ``compacted`` and ``outcome`` are there only for a repeat of a task that was deleted since.
         *
         *     Its result was deleted too.
         */
        TaskQueued: {
            /**
             * Kind
             * @constant
             */
            kind: "a2a_task_queued";
            /**
             * Task Id
             * Format: uuid
             */
            task_id: string;
            /**
             * Outcome
             * @default null
             */
            outcome?: ("ok" | "partial" | "error" | "cancelled" | "rejected" | "expired") | null;
            /**
             * Compacted
             * @default false
             */
            compacted?: boolean;
        };
        /** Artifacts */
        Artifacts: {
            /**
             * Kind
             * @constant
             */
            kind: "a2a_artifacts";
            /**
             * Task Id
             * Format: uuid
             */
            task_id: string;
            /** Artifacts */
            artifacts: components["schemas"]["WireArtifact"][];
            /** Next Cursor */
            next_cursor: string | null;
        };
        /**
         * WireArtifact
         * @description An artifact, or a part of it. With ``append`` it continues the artifact of that id from the page before.
         *
         *     ``last_chunk`` says whether its agent declared it complete. ``seq`` is the number of the last of its chunks. The
         *     name, description, metadata and extensions are each as the newest chunk gave it.
         */
        WireArtifact: {
            /** Artifact Id */
            artifact_id: string;
            /** Append */
            append: boolean;
            /** Last Chunk */
            last_chunk: boolean;
            /** Seq */
            seq: number;
            /** Said At Ms */
            said_at_ms: number;
            /** Content */
            content: {
                [key: string]: unknown;
            }[];
            /** Name */
            name?: string;
            /** Description */
            description?: string;
            /** Metadata */
            metadata?: {
                [key: string]: unknown;
            };
            /** Extensions */
            extensions?: string[];
        };
        /**
         * CancelBody
         * @description Why the task is cancelled. The recipient can read it.
         */
        CancelBody: {
            /**
             * Reason
             * @default
             */
            reason?: string;
        };
        /** TaskCancelled */
        TaskCancelled: {
            /**
             * Kind
             * @constant
             */
            kind: "a2a_task_cancelled";
            /**
             * Task Id
             * Format: uuid
             */
            task_id: string;
        };
        /** TaskEntryAnswer */
        TaskEntryAnswer: {
            /**
             * Kind
             * @constant
             */
            kind: "a2a_task_entry";
            entry: components["schemas"]["TaskEntry"];
        };
        /**
         * HeartbeatBody
         * @description With a ``lease_id`` the heartbeat is rejected unless that lease is live.
         */
        HeartbeatBody: {
            /**
             * Lease Id
             * @default null
             */
            lease_id?: string | null;
        };
        /**
         * LeaseAnswer
         * @description ``turn`` counts the messages of the task's sender, from 1: the task's text.
         */
        LeaseAnswer: {
            /**
             * Kind
             * @constant
             */
            kind: "a2a_lease";
            /**
             * Task Id
             * Format: uuid
             */
            task_id: string;
            lease: components["schemas"]["WireLease"];
            /** Turn */
            turn: number;
        };
        /**
         * WireLease
         * @description A lease. ``work_timeout_ms`` is how long the task may stay leased, null for no limit.
         *
         *     ``attempt`` counts the leases of the task, from 1.
         */
        WireLease: {
            /**
             * Lease Id
             * Format: uuid
             */
            lease_id: string;
            /** Attempt */
            attempt: number;
            /** Leased At Ms */
            leased_at_ms: number;
            /** Last Seen At Ms */
            last_seen_at_ms: number;
            /** Work Timeout Ms */
            work_timeout_ms: number | null;
        };
        /**
         * LeaseTaskBody
         * @description The same ``attempt_id`` gets the same lease again while that lease is live.
         */
        LeaseTaskBody: {
            /**
             * Attempt Id
             * @default null
             */
            attempt_id?: string | null;
        };
        /**
         * TaskLeased
         * @description The task with its lease. ``turn`` and ``message`` are as in the answer of the next task.
         */
        TaskLeased: {
            /**
             * Kind
             * @constant
             */
            kind: "a2a_task_leased";
            task: components["schemas"]["WireWork"];
            lease: components["schemas"]["WireLease"];
            /** Turn */
            turn: number;
            /** @default null */
            message?: components["schemas"]["SaidMessage"] | null;
        };
        /**
         * SaidMessage
         * @description A message as its author sent it. ``role`` is ``user`` for the task's sender, ``agent`` for its holder.
         */
        SaidMessage: {
            /** Message Id */
            message_id: string;
            /**
             * Role
             * @enum {string}
             */
            role: "user" | "agent";
            /** Content */
            content: {
                [key: string]: unknown;
            }[];
            /** Metadata */
            metadata?: {
                [key: string]: unknown;
            };
            /** Extensions */
            extensions?: string[];
            /** Reference Task Ids */
            reference_task_ids?: string[];
        };
        /**
         * Messages
         * @description Messages of both parties, oldest first. The first is the task's text.
         *
         *     If more are left, ``next_after`` is the ``after`` of the next request, else null. A wait ends when the task is
         *     resolved, since no message follows. It also ends when the agent asks without words. ``next_after`` is then the
         *     number of the question, so that the next request waits for what follows it.
         */
        Messages: {
            /**
             * Kind
             * @constant
             */
            kind: "a2a_messages";
            /**
             * Task Id
             * Format: uuid
             */
            task_id: string;
            /**
             * State
             * @enum {string}
             */
            state: "queued" | "in_flight" | "interrupted" | "resolved";
            /**
             * Awaits
             * @default null
             */
            awaits?: ("input" | "authorization") | null;
            /** Turn */
            turn: number;
            /** Messages */
            messages: components["schemas"]["WireMessage"][];
            /** Next After */
            next_after: number | null;
        };
        /**
         * WireMessage
         * @description A message with its number in the task's journal and its time. ``progress`` is there only if it reports some.
         */
        WireMessage: {
            /** Message Id */
            message_id: string;
            /**
             * Role
             * @enum {string}
             */
            role: "user" | "agent";
            /** Content */
            content: {
                [key: string]: unknown;
            }[];
            /** Metadata */
            metadata?: {
                [key: string]: unknown;
            };
            /** Extensions */
            extensions?: string[];
            /** Reference Task Ids */
            reference_task_ids?: string[];
            /** Seq */
            seq: number;
            /** Said At Ms */
            said_at_ms: number;
            progress?: components["schemas"]["WireProgress"];
        };
        /**
         * WireProgress
         * @description How much of the work is done, from 0 to 1, and a note on what is happening.
         */
        WireProgress: {
            /** Fraction */
            fraction: number;
            /** Note */
            note: string;
        };
        /**
         * SayBody
         * @description A further message of the task's sender. ``content`` is text or content blocks.
         *
         *     The same ``attempt_id`` with the same message stores it once.
         */
        SayBody: {
            /** Content */
            content: string | Record<string, never>[];
            /**
             * Message Id
             * @default null
             */
            message_id?: string | null;
            /**
             * Metadata
             * @default null
             */
            metadata?: {
                [key: string]: unknown;
            } | null;
            /**
             * Extensions
             * @default []
             */
            extensions?: string[];
            /**
             * Reference Task Ids
             * @default []
             */
            reference_task_ids?: string[];
            /**
             * Attempt Id
             * @default null
             */
            attempt_id?: string | null;
        };
        /**
         * MessageSent
         * @description ``seq`` is the number of the message in the task's journal, ``turn`` its number among those of the sender.
         */
        MessageSent: {
            /**
             * Kind
             * @constant
             */
            kind: "a2a_message_sent";
            /**
             * Task Id
             * Format: uuid
             */
            task_id: string;
            /** Message Id */
            message_id: string;
            /** Seq */
            seq: number;
            /** Turn */
            turn: number;
        };
        /**
         * ReleaseBody
         * @description Why the lease is handed back. With a ``lease_id`` nothing happens unless that lease is live.
         */
        ReleaseBody: {
            /** Reason */
            reason: string;
            /**
             * Lease Id
             * @default null
             */
            lease_id?: string | null;
        };
        /** TaskReleased */
        TaskReleased: {
            /**
             * Kind
             * @constant
             */
            kind: "a2a_task_released";
            /**
             * Task Id
             * Format: uuid
             */
            task_id: string;
            /** Attempt */
            attempt: number;
        };
        /** Timeline */
        Timeline: {
            /**
             * Kind
             * @constant
             */
            kind: "a2a_timeline";
            /**
             * Task Id
             * Format: uuid
             */
            task_id: string;
            /** Events */
            events: components["schemas"]["JournalEvent"][];
            /** Next Cursor */
            next_cursor: string | null;
        };
        /**
         * JournalEvent
         * @description A row of the journal. ``seq`` numbers the changes of one task, from 1; it is null in other rows.
         *
         *     Only people see ``id``, and ``address``, the network address of the client. It is "" without one. To agents, people
         *     and the command line are the actor ``operator``, and ``request_id`` is null for the requests of others.
         */
        JournalEvent: {
            /** Id */
            id?: number;
            /** Kind */
            kind: string;
            /** Actor */
            actor: string;
            /** Task Id */
            task_id: string | null;
            /** Seq */
            seq: number | null;
            /** At Ms */
            at_ms: number;
            /**
             * Source
             * @enum {string}
             */
            source: "api" | "dashboard" | "cli" | "scheduler" | "local";
            /** Request Id */
            request_id: string | null;
            /** Address */
            address?: string;
            /** Data */
            data: {
                [key: string]: unknown;
            };
        };
        /** Tree */
        Tree: {
            /**
             * Kind
             * @constant
             */
            kind: "a2a_tree";
            /**
             * Root
             * Format: uuid
             */
            root: string;
            /** Nodes */
            nodes: components["schemas"]["TreeNode"][];
            /** Next Cursor */
            next_cursor: string | null;
        };
        /**
         * TreeNode
         * @description A task of the tree. ``depth`` is 0 for the root.
         */
        TreeNode: {
            /** Depth */
            depth: number;
            /**
             * State
             * @enum {string}
             */
            state: "queued" | "in_flight" | "interrupted" | "resolved";
            /** Awaits */
            awaits: ("input" | "authorization") | null;
            /** Outcome */
            outcome: string | null;
            /** Attempt */
            attempt: number;
            /** Waits On */
            waits_on: string | null;
            task: components["schemas"]["WireTask"];
            result: components["schemas"]["WireResult"] | null;
        };
        /**
         * UpdatesBody
         * @description Updates of the lease's holder, in order. The same ``attempt_id`` with the same updates gets the same answer.
         */
        UpdatesBody: {
            /** Updates */
            updates: components["schemas"]["UpdateBody"][];
            /**
             * Lease Id
             * @default null
             */
            lease_id?: string | null;
            /**
             * Attempt Id
             * @default null
             */
            attempt_id?: string | null;
        };
        /**
         * UpdateBody
         * @description Exactly one of ``message`` (text or content blocks), ``progress``, ``artifact`` and ``status``.
         *
         *     The statuses ``input_required`` and ``auth_required`` put a question to the task's sender: they end the lease, and
         *     the sender's answer brings a new one. Such an update is the last of its request. It may have a ``message``, and
         *     ``auth_required`` must have one. ``message_id`` and ``metadata`` belong to the message. ``append`` adds the blocks
         *     to the artifact of that id and replaces the fields that it names. Without ``append`` the artifact is replaced. With
         *     ``last_chunk`` the artifact is complete.
         */
        UpdateBody: {
            /**
             * Message
             * @default null
             */
            message?: string | Record<string, never>[] | null;
            /**
             * Message Id
             * @default null
             */
            message_id?: string | null;
            /**
             * Metadata
             * @default null
             */
            metadata?: {
                [key: string]: unknown;
            } | null;
            /** @default null */
            progress?: components["schemas"]["ProgressBody"] | null;
            /** @default null */
            artifact?: components["schemas"]["ArtifactBody"] | null;
            /**
             * Append
             * @default false
             */
            append?: boolean;
            /**
             * Last Chunk
             * @default false
             */
            last_chunk?: boolean;
            /**
             * Status
             * @default null
             */
            status?: ("working" | "input_required" | "auth_required") | null;
        };
        /**
         * ProgressBody
         * @description How much of the work is done, from 0 to 1, and a note on what is happening.
         */
        ProgressBody: {
            /** Fraction */
            fraction: number;
            /**
             * Note
             * @default
             */
            note?: string;
        };
        /**
         * ArtifactBody
         * @description An artifact of the task, or a chunk of it. ``content`` is text or content blocks.
         */
        ArtifactBody: {
            /**
             * Artifact Id
             * @default result
             */
            artifact_id?: string;
            /**
             * Name
             * @default null
             */
            name?: string | null;
            /**
             * Description
             * @default null
             */
            description?: string | null;
            /** Content */
            content: string | Record<string, never>[];
            /**
             * Metadata
             * @default null
             */
            metadata?: {
                [key: string]: unknown;
            } | null;
            /**
             * Extensions
             * @default []
             */
            extensions?: string[];
        };
        /**
         * TaskUpdated
         * @description ``seq`` is the number of the last update in the task's journal.
         *
         *     ``turn`` counts the messages of the task's sender. It grows when the sender sends a further message.
         */
        TaskUpdated: {
            /**
             * Kind
             * @constant
             */
            kind: "a2a_task_updated";
            /**
             * Task Id
             * Format: uuid
             */
            task_id: string;
            /** Seq */
            seq: number;
            /** Turn */
            turn: number;
        };
        /**
         * TasksBody
         * @description Tasks to send, in order. Each is decided by itself: a refused task keeps no other task from being sent.
         */
        TasksBody: {
            /** Tasks */
            tasks: {
                /**
                 * Id
                 * @default null
                 */
                id?: string | null;
                /**
                 * Sender
                 * @default null
                 */
                sender?: (string | {
                    display: string;
                    pubkey: string;
                }) | null;
                /**
                 * Recipient
                 * @description An AgentId, or its display, or its local part where that is unambiguous.
                 */
                recipient: string | {
                    display: string;
                    pubkey: string;
                };
                /** Intent Text */
                intent_text: string;
                /**
                 * Task Kind
                 * @default null
                 */
                task_kind?: string | null;
                /**
                 * Parent
                 * @default null
                 */
                parent?: string | null;
                /**
                 * Deadline Ms
                 * @default null
                 */
                deadline_ms?: number | null;
                /** @default null */
                idempotency?: components["schemas"]["IdempotencyBody"] | null;
                /**
                 * Callback Url
                 * @default null
                 */
                callback_url?: string | null;
                /**
                 * Callback Secret
                 * @default null
                 */
                callback_secret?: string | null;
            }[];
        };
        /**
         * TasksQueued
         * @description ``posted`` are the ids of the stored tasks, in the order of the batch without the refused items.
         */
        TasksQueued: {
            /**
             * Kind
             * @constant
             */
            kind: "a2a_tasks_queued";
            /** Posted */
            posted: string[];
            /** Refused */
            refused: components["schemas"]["RefusedItem"][];
        };
        /**
         * LeaseBody
         * @description How to lease up to ``max`` tasks. The ``results`` are posted first, before the wait for tasks.
         *
         *     The answer comes with the first task. It has fewer than ``max`` tasks if no more are queued, or if one more would
         *     exceed 4 MiB. A repeat with the same ``attempt_id`` and the same ``results`` gets the same answer.
         */
        LeaseBody: {
            /**
             * Wait Ms
             * @default 0
             */
            wait_ms?: number;
            /**
             * Attempt Id
             * @default null
             */
            attempt_id?: string | null;
            /** Max */
            max: number;
            /**
             * Results
             * @default []
             */
            results?: {
                /**
                 * Task Id
                 * Format: uuid
                 */
                task_id: string;
                /**
                 * Status
                 * @enum {string}
                 */
                status: "ok" | "error" | "partial" | "rejected";
                /**
                 * Content
                 * @default []
                 */
                content?: {
                    [key: string]: unknown;
                }[];
                /**
                 * Error Message
                 * @default null
                 */
                error_message?: string | null;
                /**
                 * Lease Id
                 * @default null
                 */
                lease_id?: string | null;
                /**
                 * Message
                 * @default []
                 */
                message?: string | Record<string, never>[];
                /**
                 * Direct
                 * @default false
                 */
                direct?: boolean;
            }[];
        };
        /**
         * TasksLeased
         * @description The leased tasks, oldest first, and the outcomes of the results of the request.
         *
         *     A ``message`` is left out, too, if the answer would exceed 4 MiB with it. Its task's messages can be read.
         *
         *     ``attempt_spent`` is there only when the attempt id is spent: its leases have ended. Use a new id.
         */
        TasksLeased: {
            /**
             * Kind
             * @constant
             */
            kind: "a2a_tasks_leased";
            /** Leases */
            leases: components["schemas"]["WireLeased"][];
            /** Posted */
            posted: string[];
            /** Refused */
            refused: components["schemas"]["RefusedItem"][];
            /**
             * Attempt Spent
             * @default false
             */
            attempt_spent?: boolean;
        };
        /**
         * WireLeased
         * @description A task with its lease. ``turn`` counts the messages of its sender, from 1: the task's text.
         *
         *     ``message`` is the newest of them. It is left out while the task's text is the only message. A task of the official
         *     protocol always has it, with all parts of the message.
         */
        WireLeased: {
            task: components["schemas"]["WireWork"];
            lease: components["schemas"]["WireLease"];
            /** Turn */
            turn: number;
            message?: components["schemas"]["SaidMessage"];
        };
        /**
         * TaskOpt
         * @description The leased task with its lease. Both are null when nothing was there to lease.
         *
         *     ``turn`` counts the messages of the task's sender, from 1: the task's text. ``message`` is the newest of them; it is
         *     left out while the text is the only message. ``attempt_spent`` is there only when the attempt id is spent: its
         *     leases have ended. Use a new id.
         */
        TaskOpt: {
            /**
             * Kind
             * @constant
             */
            kind: "a2a_task_opt";
            task: components["schemas"]["WireWork"] | null;
            lease: components["schemas"]["WireLease"] | null;
            /**
             * Turn
             * @default null
             */
            turn?: number | null;
            /** @default null */
            message?: components["schemas"]["SaidMessage"] | null;
            /**
             * Attempt Spent
             * @default false
             */
            attempt_spent?: boolean;
        };
        /**
         * NextTask
         * @description How to receive, in the query or the body.
         *
         *     With ``wait_ms`` the hub holds the request until something arrives, by default for at most 50 seconds. Without it
         *     the hub answers at once. The same ``attempt_id`` gets the same answer again. Keep the id until it has brought
         *     something, also after an empty answer. Then use a new id. Once its leases have ended or its results were
         *     acknowledged, an id is spent. The answer then has ``attempt_spent`` and nothing else.
         */
        NextTask: {
            /**
             * Wait Ms
             * @default 0
             */
            wait_ms?: number;
            /**
             * Attempt Id
             * @default null
             */
            attempt_id?: string | null;
        };
        /** Tasks */
        Tasks: {
            /**
             * Kind
             * @constant
             */
            kind: "a2a_tasks";
            /** Tasks */
            tasks: components["schemas"]["WireTask"][];
            /** Next Cursor */
            next_cursor: string | null;
        };
        /**
         * AuditProof
         * @description The proof that the block's signed root covers the row: the steps lead from ``leaf`` to ``block.root``.
         */
        AuditProof: {
            /**
             * Kind
             * @constant
             */
            kind: "audit_proof";
            /** Row */
            row: {
                [key: string]: unknown;
            };
            /** Leaf */
            leaf: string;
            /** Steps */
            steps: components["schemas"]["WireStep"][];
            /** Block */
            block: {
                [key: string]: unknown;
            };
        };
        /**
         * WireStep
         * @description The hash of a sibling in the Merkle tree, and its side.
         */
        WireStep: {
            /**
             * Side
             * @enum {string}
             */
            side: "left" | "right";
            /** Hash */
            hash: string;
        };
        /** AuditEvents */
        AuditEvents: {
            /**
             * Kind
             * @constant
             */
            kind: "audit_events";
            /** Events */
            events: components["schemas"]["JournalEvent"][];
            /** Next Cursor */
            next_cursor: string | null;
        };
        /**
         * AuditVerification
         * @description A verification of up to ``blocks`` blocks; ``next_after`` null means that none is left.
         *
         *     ``erased`` lists erased rows. ``unsealed`` counts the newest rows, which no seal proves yet.
         */
        AuditVerification: {
            /**
             * Kind
             * @constant
             */
            kind: "audit_verification";
            /** Whole */
            whole: boolean;
            finding: components["schemas"]["WireFinding"] | null;
            /** Blocks */
            blocks: number;
            /** Rows */
            rows: number;
            /** Erased */
            erased: number[];
            /** Unsealed */
            unsealed: number;
            head: components["schemas"]["WireHead"] | null;
            /** Next After */
            next_after: number | null;
        };
        /**
         * WireFinding
         * @description The first problem: the block by its ids, null outside of a block, and the row, null without one.
         */
        WireFinding: {
            /** Problem */
            problem: string;
            /** First Id */
            first_id: number | null;
            /** Last Id */
            last_id: number | null;
            /** Row */
            row: number | null;
        };
        /**
         * WireHead
         * @description The last block that was checked, by its last row and its hash.
         */
        WireHead: {
            /** Last Id */
            last_id: number;
            /** Hash */
            hash: string;
        };
        /**
         * GrantBody
         * @description The capability to grant.
         *
         *     ``scope`` limits the grant to a peer, a task, a lease or a duplicate risk. ``max_uses`` limits how often it is used.
         */
        GrantBody: {
            /**
             * Subject
             * @description An AgentId, or its display, or its local part where that is unambiguous.
             */
            subject: string | {
                display: string;
                pubkey: string;
            };
            /** Action */
            action: string;
            /**
             * Scope
             * @default null
             */
            scope?: {
                [key: string]: unknown;
            } | null;
            /**
             * Expires At
             * @default null
             */
            expires_at?: number | null;
            /**
             * Max Uses
             * @default null
             */
            max_uses?: number | null;
        };
        /** Granted */
        Granted: {
            /**
             * Kind
             * @constant
             */
            kind: "capability_granted";
            /**
             * Grant Id
             * Format: uuid
             */
            grant_id: string;
            /** Subject Display */
            subject_display: string;
            /** Action */
            action: string;
        };
        /** CapabilityList */
        CapabilityList: {
            /**
             * Kind
             * @constant
             */
            kind: "capabilities";
            /** Capabilities */
            capabilities: components["schemas"]["Capability"][];
            /** Next Cursor */
            next_cursor: string | null;
        };
        /**
         * Capability
         * @description A grant. ``expires_at`` is in Unix epoch milliseconds. ``max_uses`` null means no limit.
         */
        Capability: {
            /**
             * Grant Id
             * Format: uuid
             */
            grant_id: string;
            subject: components["schemas"]["AgentId"];
            /** Action */
            action: string;
            /** Scope */
            scope: {
                [key: string]: unknown;
            };
            /** Granted By */
            granted_by: string;
            /** Expires At */
            expires_at: number | null;
            /** Max Uses */
            max_uses: number | null;
            /** Uses */
            uses: number;
            /** Created At Ms */
            created_at_ms: number;
            /** Revoked At Ms */
            revoked_at_ms: number | null;
        };
        /**
         * RevokeBody
         * @description The grant to revoke.
         */
        RevokeBody: {
            /**
             * Grant Id
             * Format: uuid
             */
            grant_id: string;
        };
        /** Revoked */
        Revoked: {
            /**
             * Kind
             * @constant
             */
            kind: "capability_revoked";
            /**
             * Grant Id
             * Format: uuid
             */
            grant_id: string;
            /** Revoked At Ms */
            revoked_at_ms: number;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export type operations = Record<string, never>;
