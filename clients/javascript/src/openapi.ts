// Written by `make client-types` from the hub's OpenAPI document. Do not edit.

export interface paths {
    "/a2a/agents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List registered agents
         * @description Every caller may list all agents.
         */
        get: {
            parameters: {
                query?: {
                    /**
                     * @description The `next_cursor` of the page before. Left out for the first page.
                     * @example gAAAAABnQ2x0bWFya2Vy
                     */
                    cursor?: string;
                    /**
                     * @description The most items of the page.
                     * @example 10
                     */
                    limit?: number;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description A page of agents, by name. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ListedAgents"];
                    };
                };
            };
        };
        put?: never;
        /**
         * Register an agent
         * @description Needs `a2a.agents.register`. The new agent may do nothing until it is granted something.
         */
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
                /** @description The new agent with its secrets, which are shown only here. */
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
        /**
         * Read one agent: whether it is paused, and whether it is open to anyone
         * @description Every caller may read every agent.
         */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /**
                     * @description The agent: its name, its local part, or its public key.
                     * @example research@local
                     */
                    name: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description An agent. `paused_at_ms` and `paused_reason` are null unless it is paused. */
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
        /**
         * Pause an agent: its tasks stay queued
         * @description The agent leases no further task until it is resumed. Its live leases stay. Operators may pause agents.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /**
                     * @description The agent: its name, its local part, or its public key.
                     * @example research@local
                     */
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
                /** @description The agent's tasks stay queued until it is resumed. */
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
        /**
         * List the signing keys of an agent, live and retired
         * @description Every caller may read the public keys by which an agent signs its requests.
         */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /**
                     * @description The agent: its name, its local part, or its public key.
                     * @example research@local
                     */
                    name: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The signing keys, the oldest first. `agent` has the public key that names the agent for ever. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ListedSigningKeys"];
                    };
                };
            };
        };
        put?: never;
        /**
         * Set the signing key of an agent
         * @description The request proves that the caller has the private key. The old key retires.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /**
                     * @description The agent: its name, its local part, or its public key.
                     * @example research@local
                     */
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
                /** @description The signing keys, the oldest first. `agent` has the public key that names the agent for ever. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ListedSigningKeys"];
                    };
                };
            };
        };
        /**
         * Retire the signing key of an agent at once
         * @description The agent itself may, and admins. Requests signed with the key are refused from now on.
         */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /**
                     * @description The agent: its name, its local part, or its public key.
                     * @example research@local
                     */
                    name: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The signing keys, the oldest first. `agent` has the public key that names the agent for ever. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ListedSigningKeys"];
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
        /**
         * Read an agent's quotas and their use
         * @description The agent itself and people may read them.
         */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /**
                     * @description The agent: its name, its local part, or its public key.
                     * @example research@local
                     */
                    name: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The quotas of the agent. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ListedQuotas"];
                    };
                };
            };
        };
        put?: never;
        /**
         * Give an agent quotas of its own
         * @description Admins may give an agent limits of its own. Null restores the setting.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /**
                     * @description The agent: its name, its local part, or its public key.
                     * @example research@local
                     */
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
                /** @description The quotas of the agent. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ListedQuotas"];
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
        /**
         * Resume a paused agent
         * @description Operators may resume agents.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /**
                     * @description The agent: its name, its local part, or its public key.
                     * @example research@local
                     */
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
                /** @description The agent leases tasks again. */
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
        /**
         * Delete finished tasks older than the retention period
         * @description Deletes finished tasks that are older than the retention period, except parents of tasks that stay. Needs `a2a.compact`.
         */
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
                /** @description The finished tasks were deleted. */
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
        /**
         * List callbacks with their attempts, newest first
         * @description An agent sees the callbacks of tasks that it sent, a person sees all.
         */
        get: {
            parameters: {
                query?: {
                    /**
                     * @description The `next_cursor` of the page before. Left out for the first page.
                     * @example gAAAAABnQ2x0bWFya2Vy
                     */
                    cursor?: string;
                    /**
                     * @description The most items of the page.
                     * @example 10
                     */
                    limit?: number;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description A page of callbacks, newest first. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ListedDeliveries"];
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
        /**
         * Send a callback again
         * @description Operators may send a callback again, even after its delivery.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /**
                     * @description The id of the callback.
                     * @example c41d8f0a-5b2e-4f7a-9c3d-1e2f3a4b5c6d
                     */
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
                /** @description The callback is sent again. */
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
        /**
         * List API keys without their secrets: an agent sees its own, an admin sees all
         * @description No answer has a secret. Revoked and expired keys are listed too. People need `a2a.capabilities.grant`, which admins hold.
         */
        get: {
            parameters: {
                query?: {
                    /**
                     * @description The `next_cursor` of the page before. Left out for the first page.
                     * @example gAAAAABnQ2x0bWFya2Vy
                     */
                    cursor?: string;
                    /**
                     * @description The most items of the page.
                     * @example 10
                     */
                    limit?: number;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description A page of API keys, newest first. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ListedKeys"];
                    };
                };
            };
        };
        put?: never;
        /**
         * Add an API key
         * @description An agent may add a key of its own. All other callers need `a2a.capabilities.grant`, which admins hold. An owner has at most two live keys.
         */
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
                /** @description The new key, which is shown only here. `expires_at` is in Unix epoch milliseconds, null for no expiry. */
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
        /**
         * Revoke an API key
         * @description An agent may revoke its own keys, an admin all. The next request with the key is refused.
         */
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
                /** @description The public ids of the key and, with `with_made`, of the keys that were made with it. */
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
        /**
         * Replace the API key of this request; both are valid for a while
         * @description The new key has the rights of the old key. Both are valid until the overlap ends.
         */
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
                /** @description The new key, which is shown only here, and the time when the key of this request expires. */
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
        /**
         * List your own live leases
         * @description An agent sees its own live leases, and finds work that it forgot in a crash. A person sees all.
         */
        get: {
            parameters: {
                query?: {
                    /**
                     * @description The `next_cursor` of the page before. Left out for the first page.
                     * @example gAAAAABnQ2x0bWFya2Vy
                     */
                    cursor?: string;
                    /**
                     * @description The most items of the page.
                     * @example 10
                     */
                    limit?: number;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description A page of live leases, oldest first. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ListedLeases"];
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
        /**
         * Read who owns the key of this request
         * @description Tells a program which key it has.
         */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The owner of the request's key, signature or certificate: an `agent`, or a `person` by name. */
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
        /**
         * List peers: an agent sees its own, a person sees all
         * @description Peers are other systems that report to the hub.
         */
        get: {
            parameters: {
                query?: {
                    /**
                     * @description The `next_cursor` of the page before. Left out for the first page.
                     * @example gAAAAABnQ2x0bWFya2Vy
                     */
                    cursor?: string;
                    /**
                     * @description The most items of the page.
                     * @example 10
                     */
                    limit?: number;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description A page of peers, newest first. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ListedPeers"];
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
        /**
         * List people by name
         * @description Needs `a2a.capabilities.grant`, which admins hold.
         */
        get: {
            parameters: {
                query?: {
                    /**
                     * @description The `next_cursor` of the page before. Left out for the first page.
                     * @example gAAAAABnQ2x0bWFya2Vy
                     */
                    cursor?: string;
                    /**
                     * @description The most items of the page.
                     * @example 10
                     */
                    limit?: number;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description A page of people, by name. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ListedPeople"];
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
        /**
         * List queued tasks, live leases and pending results
         * @description An agent sees its own tasks, a person sees all.
         */
        get: {
            parameters: {
                query?: {
                    /**
                     * @description The `next_cursor` of the page before. Left out for the first page.
                     * @example gAAAAABnQ2x0bWFya2Vy
                     */
                    cursor?: string;
                    /**
                     * @description Only tasks whose deadline passes within this time.
                     * @example 60000
                     */
                    deadline_within_ms?: number;
                    /**
                     * @description The most items of the page.
                     * @example 10
                     */
                    limit?: number;
                    /**
                     * @description Leaves out younger leases.
                     * @example 300000
                     */
                    min_lease_age_ms?: number;
                    /**
                     * @description Only tasks in this state.
                     * @example queued
                     */
                    state_filter?: "queued" | "in_flight" | "interrupted";
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description A page of the queue, and pending results. */
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
        /**
         * Requeue a leased task or force it to an error
         * @description For a leased task whose holder is gone. Needs `a2a.repair.requeue` or `a2a.repair.force_error`, and a reason.
         */
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
                /** @description The task was repaired. */
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
        /**
         * List cached results, newest first
         * @description A cached result answers later tasks with the same key. An agent sees results of tasks that it sent or did.
         */
        get: {
            parameters: {
                query?: {
                    /**
                     * @description The `next_cursor` of the page before. Left out for the first page.
                     * @example gAAAAABnQ2x0bWFya2Vy
                     */
                    cursor?: string;
                    /**
                     * @description The most items of the page.
                     * @example 10
                     */
                    limit?: number;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description A page of cached results, newest first. */
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
        /**
         * Drop a cached result; the next duplicate is then done again
         * @description The next duplicate of this work is then done again. Operators may drop cached results.
         */
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
                /** @description The cached result is dropped. */
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
        /**
         * Post a result
         * @description Resolves a task that is addressed to you. The identical result again changes nothing.
         */
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
                /** @description The result is stored. */
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
        /**
         * Acknowledge results
         * @description Tells the hub that results arrived. They are never drained again. A repeat changes nothing.
         */
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
                /** @description The results of `task_ids` are acknowledged now. `unknown` are the other ids of the request. */
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
        /**
         * Post up to 100 results
         * @description Each result is decided by itself: a refused one keeps no other from being posted.
         */
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
                /** @description `posted` are the tasks that have the posted result, in the order of the batch without the refused items. */
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
        /**
         * List results that you received and did not acknowledge
         * @description Finds results whose answer was lost on the way. Acknowledge them once you have them.
         */
        get: {
            parameters: {
                query?: {
                    /**
                     * @description The `next_cursor` of the page before. Left out for the first page.
                     * @example gAAAAABnQ2x0bWFya2Vy
                     */
                    cursor?: string;
                    /**
                     * @description The most items of the page.
                     * @example 10
                     */
                    limit?: number;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description A page of results that you received and did not acknowledge. */
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
        /**
         * Acknowledge your last results and drain the next
         * @description One request of a sender's loop: it acknowledges the last results, and drains the next.
         */
        post: {
            parameters: {
                query?: never;
                header?: {
                    /**
                     * @description Names this receive. The same id gets the same answer, so a lost response costs nothing. Keep the id until it has brought something, also after an empty answer. Then use a new id. An id is spent once its leases have ended or its results were acknowledged. A receive under a spent id returns nothing. The answers of the mailbox then have `attempt_spent`.
                     * @example 0b9d4c1e-7a52-4e0f-8d3b-5f6a7b8c9d0e
                     */
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
                /** @description The drained results, oldest first. `acked` and `unknown` are the valid ids of `ack`. */
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
        /**
         * Drain the next result
         * @description Delivers the oldest pending result of your tasks, and may wait for it. It stays readable at the task.
         */
        get: {
            parameters: {
                query?: {
                    /**
                     * @description The task whose result this request acknowledges first.
                     * @example 1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed
                     */
                    ack?: string;
                    /**
                     * @description Your own id of this receive; see the header `A2A-Receive-Attempt-Id`.
                     * @example 0b9d4c1e-7a52-4e0f-8d3b-5f6a7b8c9d0e
                     */
                    attempt_id?: string;
                    /**
                     * @description How long the hub may hold the request, in milliseconds. 0 answers at once.
                     * @example 30000
                     */
                    wait_ms?: number;
                };
                header?: {
                    /**
                     * @description Names this receive. The same id gets the same answer, so a lost response costs nothing. Keep the id until it has brought something, also after an empty answer. Then use a new id. An id is spent once its leases have ended or its results were acknowledged. A receive under a spent id returns nothing. The answers of the mailbox then have `attempt_spent`.
                     * @example 0b9d4c1e-7a52-4e0f-8d3b-5f6a7b8c9d0e
                     */
                    "A2A-Receive-Attempt-Id"?: string;
                };
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The drained result, null when nothing was there to drain. */
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
        /**
         * Drain the next result
         * @description Delivers the oldest pending result of your tasks, and may wait for it. It stays readable at the task.
         */
        post: {
            parameters: {
                query?: {
                    /**
                     * @description The task whose result this request acknowledges first.
                     * @example 1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed
                     */
                    ack?: string;
                    /**
                     * @description Your own id of this receive; see the header `A2A-Receive-Attempt-Id`.
                     * @example 0b9d4c1e-7a52-4e0f-8d3b-5f6a7b8c9d0e
                     */
                    attempt_id?: string;
                    /**
                     * @description How long the hub may hold the request, in milliseconds. 0 answers at once.
                     * @example 30000
                     */
                    wait_ms?: number;
                };
                header?: {
                    /**
                     * @description Names this receive. The same id gets the same answer, so a lost response costs nothing. Keep the id until it has brought something, also after an empty answer. Then use a new id. An id is spent once its leases have ended or its results were acknowledged. A receive under a spent id returns nothing. The answers of the mailbox then have `attempt_spent`.
                     * @example 0b9d4c1e-7a52-4e0f-8d3b-5f6a7b8c9d0e
                     */
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
                /** @description The drained result, null when nothing was there to drain. */
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
        /**
         * List pending results without draining them
         * @description Drains no result. An agent sees the results of tasks that it sent, a person sees all.
         */
        get: {
            parameters: {
                query?: {
                    /**
                     * @description The `next_cursor` of the page before. Left out for the first page.
                     * @example gAAAAABnQ2x0bWFya2Vy
                     */
                    cursor?: string;
                    /**
                     * @description The most items of the page.
                     * @example 10
                     */
                    limit?: number;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description A page of pending results, oldest first. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ListedResults"];
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
        /**
         * Requeue stale idempotent leases; a dry run unless enabled
         * @description Requeues stale leases of idempotent tasks, within the limits of the request. A dry run unless `enabled`. Needs `a2a.repair.requeue`.
         */
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
                /** @description One pass of the retry gate was made. */
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
        /**
         * List public routes without their URLs, newest first
         * @description Revoked routes are listed too. Operators may list routes.
         */
        get: {
            parameters: {
                query?: {
                    /**
                     * @description The `next_cursor` of the page before. Left out for the first page.
                     * @example gAAAAABnQ2x0bWFya2Vy
                     */
                    cursor?: string;
                    /**
                     * @description The most items of the page.
                     * @example 10
                     */
                    limit?: number;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description A page of public routes, newest first. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ListedRoutes"];
                    };
                };
            };
        };
        put?: never;
        /**
         * Add a public route: a secret URL that acts as an agent
         * @description For a client that cannot authenticate. With the URL it can only send tasks as the agent, and read the tasks that the agent sent. Operators may add routes.
         */
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
                /** @description The new route. Its `url` is a secret, which is shown only here. */
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
        /**
         * Revoke a public route
         * @description The next request by the route is refused. Operators may revoke routes.
         */
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
                /** @description The public route is revoked. */
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
        /**
         * Read the queue as the command line prints it
         * @description The same object as `manage.py a2a status --json`.
         */
        get: {
            parameters: {
                query?: {
                    /**
                     * @description The `next_cursor` of the page before. Left out for the first page.
                     * @example gAAAAABnQ2x0bWFya2Vy
                     */
                    cursor?: string;
                    /**
                     * @description Only tasks whose deadline passes within this time.
                     * @example 60000
                     */
                    deadline_within_ms?: number;
                    /**
                     * @description The most items of the page.
                     * @example 10
                     */
                    limit?: number;
                    /**
                     * @description Leaves out younger leases.
                     * @example 300000
                     */
                    min_lease_age_ms?: number;
                    /**
                     * @description Only tasks in this state.
                     * @example queued
                     */
                    state_filter?: "queued" | "in_flight" | "interrupted";
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The queue with the filters of the request. */
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
        /**
         * List tasks in any state, newest first
         * @description An agent sees the tasks that it sent or receives, a person sees all.
         */
        get: {
            parameters: {
                query?: {
                    /**
                     * @description The `next_cursor` of the page before. Left out for the first page.
                     * @example gAAAAABnQ2x0bWFya2Vy
                     */
                    cursor?: string;
                    /**
                     * @description Only tasks whose ids begin with these hexadecimal digits.
                     * @example 6f1c2d9e
                     */
                    id_prefix?: string;
                    /**
                     * @description The most items of the page.
                     * @example 10
                     */
                    limit?: number;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Tasks in any state. An agent sees the tasks that it sent or receives, a person sees all tasks. */
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
        /**
         * Send a task
         * @description The task is stored before the hub answers. Needs `a2a.send.<recipient>`. Repeat a send with the same `id` if its answer was lost.
         */
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
                /** @description The task is stored. `compacted` and `outcome` are there only for a repeat of a task that was deleted since. */
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
        /**
         * Read the artifacts of a task
         * @description Any party of the task may read them. `limit` counts chunks: a long artifact may continue on the next page.
         */
        get: {
            parameters: {
                query?: {
                    /**
                     * @description The `next_cursor` of the page before. Left out for the first page.
                     * @example gAAAAABnQ2x0bWFya2Vy
                     */
                    cursor?: string;
                    /**
                     * @description The most items of the page.
                     * @example 10
                     */
                    limit?: number;
                };
                header?: never;
                path: {
                    /**
                     * @description The id of the task.
                     * @example 6f1c2d9e-3b60-4c1a-9f0e-2a4f5b6c7d8e
                     */
                    task_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description A page of the task's artifacts, oldest first. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ListedArtifacts"];
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
        /**
         * Cancel a task you sent
         * @description Ends a task that you sent, in any state but resolved. The recipient's lease ends too.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /**
                     * @description The id of the task.
                     * @example 6f1c2d9e-3b60-4c1a-9f0e-2a4f5b6c7d8e
                     */
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
                /** @description The task is cancelled. */
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
        /**
         * Read one task with its state and lease
         * @description Any party of the task may read it, and people.
         */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /**
                     * @description The id of the task.
                     * @example 6f1c2d9e-3b60-4c1a-9f0e-2a4f5b6c7d8e
                     */
                    task_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The task with its state. */
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
        /**
         * Send a heartbeat for your lease
         * @description Tells the hub that you still work on the task. A lease does not end without heartbeats; it only looks stale.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /**
                     * @description The id of the task.
                     * @example 6f1c2d9e-3b60-4c1a-9f0e-2a4f5b6c7d8e
                     */
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
                /** @description `turn` counts the messages of the task's sender, from 1: the task's text. */
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
        /**
         * Lease this task, queued or interrupted, before older tasks
         * @description Leases one task by its id, also an interrupted one, before older tasks. Only its recipient may.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /**
                     * @description The id of the task.
                     * @example 6f1c2d9e-3b60-4c1a-9f0e-2a4f5b6c7d8e
                     */
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
                /** @description The task with its lease. `turn` and `message` are as in the answer of the next task. */
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
        /**
         * Read the messages of a task, and wait for more
         * @description Any party of the task may read the conversation. With `wait_ms` the hub holds the request until there is a message, or the task ends.
         */
        get: {
            parameters: {
                query?: {
                    /**
                     * @description The number of the last message or row that you have.
                     * @example 1
                     */
                    after?: number;
                    /**
                     * @description The most items of the page.
                     * @example 10
                     */
                    limit?: number;
                    /**
                     * @description How long the hub may hold the request, in milliseconds. 0 answers at once.
                     * @example 30000
                     */
                    wait_ms?: number;
                };
                header?: never;
                path: {
                    /**
                     * @description The id of the task.
                     * @example 6f1c2d9e-3b60-4c1a-9f0e-2a4f5b6c7d8e
                     */
                    task_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Messages of both parties, oldest first. The first is the task's text. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ListedMessages"];
                    };
                };
            };
        };
        put?: never;
        /**
         * Send a further message to the agent of a task you sent
         * @description Continues the conversation of a task that you sent, or answers a question of its agent.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /**
                     * @description The id of the task.
                     * @example 6f1c2d9e-3b60-4c1a-9f0e-2a4f5b6c7d8e
                     */
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
                /** @description `seq` is the number of the message in the task's journal, `turn` its number among those of the sender. */
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
        /**
         * Release your lease
         * @description Hands the task back: it is queued again, at the end of the queue.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /**
                     * @description The id of the task.
                     * @example 6f1c2d9e-3b60-4c1a-9f0e-2a4f5b6c7d8e
                     */
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
                /** @description The lease has ended, and the task is queued again. */
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
        /**
         * Read a task's result without draining it, and wait for it
         * @description Any party of the task may read it, and people. With `wait_ms` the hub holds the request until the task ends. `result` is null if it has not ended by then.
         */
        get: {
            parameters: {
                query?: {
                    /**
                     * @description How long the hub may hold the request, in milliseconds. 0 answers at once.
                     * @example 30000
                     */
                    wait_ms?: number;
                };
                header?: never;
                path: {
                    /**
                     * @description The id of the task.
                     * @example 6f1c2d9e-3b60-4c1a-9f0e-2a4f5b6c7d8e
                     */
                    task_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The drained result, null when nothing was there to drain. */
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
        /**
         * Read the journal of a task
         * @description Any party of the task may read its numbered rows.
         */
        get: {
            parameters: {
                query?: {
                    /**
                     * @description The `next_cursor` of the page before. Left out for the first page.
                     * @example gAAAAABnQ2x0bWFya2Vy
                     */
                    cursor?: string;
                    /**
                     * @description The most items of the page.
                     * @example 10
                     */
                    limit?: number;
                };
                header?: never;
                path: {
                    /**
                     * @description The id of the task.
                     * @example 6f1c2d9e-3b60-4c1a-9f0e-2a4f5b6c7d8e
                     */
                    task_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description A page of the task's journal, in order. */
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
        /**
         * Read the tree of a task
         * @description The task, and all tasks below it by `parent` that you may see.
         */
        get: {
            parameters: {
                query?: {
                    /**
                     * @description The `next_cursor` of the page before. Left out for the first page.
                     * @example gAAAAABnQ2x0bWFya2Vy
                     */
                    cursor?: string;
                };
                header?: never;
                path: {
                    /**
                     * @description The id of the task.
                     * @example 6f1c2d9e-3b60-4c1a-9f0e-2a4f5b6c7d8e
                     */
                    task_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description A page of the tree, from the root down. */
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
        /**
         * Post updates of your lease: messages, progress, artifacts, questions
         * @description The sender reads them at the task's messages and artifacts. A question ends the lease until the sender answers.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /**
                     * @description The id of the task.
                     * @example 6f1c2d9e-3b60-4c1a-9f0e-2a4f5b6c7d8e
                     */
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
                /** @description `seq` is the number of the last update in the task's journal. */
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
        /**
         * Send up to 500 tasks
         * @description Each task is decided by itself: a refused one keeps no other from being sent.
         */
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
                /** @description `posted` are the ids of the stored tasks, in the order of the batch without the refused items. */
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
        /**
         * Post the results of your last tasks and lease the next
         * @description One request of a worker's loop: it posts the results of the last tasks, and leases the next.
         */
        post: {
            parameters: {
                query?: never;
                header?: {
                    /**
                     * @description Names this receive. The same id gets the same answer, so a lost response costs nothing. Keep the id until it has brought something, also after an empty answer. Then use a new id. An id is spent once its leases have ended or its results were acknowledged. A receive under a spent id returns nothing. The answers of the mailbox then have `attempt_spent`.
                     * @example 0b9d4c1e-7a52-4e0f-8d3b-5f6a7b8c9d0e
                     */
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
                /** @description The leased tasks, oldest first, and the outcomes of the results of the request. */
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
        /**
         * Lease the next task
         * @description Leases the oldest task that is addressed to you, and may wait for one. Post its result with the `lease_id`.
         */
        get: {
            parameters: {
                query?: {
                    /**
                     * @description Your own id of this receive; see the header `A2A-Receive-Attempt-Id`.
                     * @example 0b9d4c1e-7a52-4e0f-8d3b-5f6a7b8c9d0e
                     */
                    attempt_id?: string;
                    /**
                     * @description How long the hub may hold the request, in milliseconds. 0 answers at once.
                     * @example 30000
                     */
                    wait_ms?: number;
                };
                header?: {
                    /**
                     * @description Names this receive. The same id gets the same answer, so a lost response costs nothing. Keep the id until it has brought something, also after an empty answer. Then use a new id. An id is spent once its leases have ended or its results were acknowledged. A receive under a spent id returns nothing. The answers of the mailbox then have `attempt_spent`.
                     * @example 0b9d4c1e-7a52-4e0f-8d3b-5f6a7b8c9d0e
                     */
                    "A2A-Receive-Attempt-Id"?: string;
                };
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The leased task with its lease. Both are null when nothing was there to lease. */
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
        /**
         * Lease the next task
         * @description Leases the oldest task that is addressed to you, and may wait for one. Post its result with the `lease_id`.
         */
        post: {
            parameters: {
                query?: {
                    /**
                     * @description Your own id of this receive; see the header `A2A-Receive-Attempt-Id`.
                     * @example 0b9d4c1e-7a52-4e0f-8d3b-5f6a7b8c9d0e
                     */
                    attempt_id?: string;
                    /**
                     * @description How long the hub may hold the request, in milliseconds. 0 answers at once.
                     * @example 30000
                     */
                    wait_ms?: number;
                };
                header?: {
                    /**
                     * @description Names this receive. The same id gets the same answer, so a lost response costs nothing. Keep the id until it has brought something, also after an empty answer. Then use a new id. An id is spent once its leases have ended or its results were acknowledged. A receive under a spent id returns nothing. The answers of the mailbox then have `attempt_spent`.
                     * @example 0b9d4c1e-7a52-4e0f-8d3b-5f6a7b8c9d0e
                     */
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
                /** @description The leased task with its lease. Both are null when nothing was there to lease. */
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
        /**
         * List queued tasks
         * @description Leases no task. An agent sees the tasks that it sent or receives, a person sees all.
         */
        get: {
            parameters: {
                query?: {
                    /**
                     * @description The `next_cursor` of the page before. Left out for the first page.
                     * @example gAAAAABnQ2x0bWFya2Vy
                     */
                    cursor?: string;
                    /**
                     * @description The most items of the page.
                     * @example 10
                     */
                    limit?: number;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description A page of queued tasks, oldest first. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ListedTasks"];
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
        /**
         * Prove that a row is in the sealed journal
         * @description The steps lead from the row's hash to the signed root of its block. Operators may ask for proofs.
         */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /**
                     * @description The number of the row.
                     * @example 17
                     */
                    row_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The proof that the block's signed root covers the row: the steps lead from `leaf` to `block.root`. */
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
        /**
         * Read the journal, newest first
         * @description An agent sees the rows of its own requests, a person sees all.
         */
        get: {
            parameters: {
                query?: {
                    /**
                     * @description The `next_cursor` of the page before. Left out for the first page.
                     * @example gAAAAABnQ2x0bWFya2Vy
                     */
                    cursor?: string;
                    /**
                     * @description The most items of the page.
                     * @example 10
                     */
                    limit?: number;
                    /**
                     * @description No rows before this time, in Unix epoch milliseconds.
                     * @example 1795640400000
                     */
                    since_ms?: number;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description A page of the journal, newest first. */
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
        /**
         * Verify the sealed journal
         * @description Checks some blocks at a time. Continue with `after` until `next_after` is null. Operators may verify.
         */
        get: {
            parameters: {
                query?: {
                    /**
                     * @description The number of the last message or row that you have.
                     * @example 1
                     */
                    after?: number;
                    /**
                     * @description The most blocks to check.
                     * @example 10
                     */
                    blocks?: number;
                    /**
                     * @description The first row to check.
                     * @example 1
                     */
                    from_row?: number;
                    /**
                     * @description The hash of a block that you recorded elsewhere.
                     * @example 9f86d081884c7d65
                     */
                    head?: string;
                    /**
                     * @description The last row to check.
                     * @example 128
                     */
                    to_row?: number;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description A verification of up to `blocks` blocks; `next_after` null means that none is left. */
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
        /**
         * Grant a capability
         * @description An admin grants any capability. A holder may pass on a narrower grant.
         */
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
                /** @description The capability is granted. */
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
        /**
         * List grants, newest first
         * @description An agent sees the grants that it holds or passed on, a person sees all. Revoked and expired grants are listed too.
         */
        get: {
            parameters: {
                query?: {
                    /**
                     * @description The `next_cursor` of the page before. Left out for the first page.
                     * @example gAAAAABnQ2x0bWFya2Vy
                     */
                    cursor?: string;
                    /**
                     * @description The most items of the page.
                     * @example 10
                     */
                    limit?: number;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description A page of grants, newest first. */
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
        /**
         * Revoke a capability
         * @description The next request of every process counts it no more.
         */
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
                /** @description The grant is revoked. */
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
        /** @description A page of agents, by name. */
        ListedAgents: {
            /**
             * @description Names the shape of this answer.
             * @constant
             */
            kind: "a2a_agents";
            /** @description The agents of this page. */
            agents: components["schemas"]["AgentId"][];
            /**
             * @description The `cursor` of the next page, null on the last page.
             * @example gAAAAABnQ2x0bWFya2Vy
             */
            next_cursor: string | null;
        };
        /** @description An agent: its name and its Ed25519 public key in base58. */
        AgentId: {
            /**
             * @description The name of the agent, `local@host`.
             * @example research@local
             */
            display: string;
            /**
             * @description The agent's Ed25519 public key in base58.
             * @example 8fUbDK9fKhXb6rP2wBqzC4mVtYqJ1sNnEoL7xGdTjvRa
             */
            pubkey: string;
        };
        /**
         * @description The agent to register. Without a `pubkey` the hub makes a key pair.
         *
         *     A `pubkey` signs requests once it was proved: by `proof`, or later.
         */
        AgentBody: {
            /**
             * @description The name of the new agent; `research` means `research@local`.
             * @example research@local
             */
            display: string;
            /**
             * @description The agent's Ed25519 public key in base58.
             * @example 8fUbDK9fKhXb6rP2wBqzC4mVtYqJ1sNnEoL7xGdTjvRa
             */
            pubkey?: string | null;
            /** @description The proof that the caller has the private key of `pubkey`. */
            proof?: components["schemas"]["KeyProofBody"] | null;
        };
        /** @description The signature, in base64, of the statement in `docs/guides/sign-requests.md`, by the `pubkey` beside it. */
        KeyProofBody: {
            /**
             * @description When the proof was made.
             * @example 1795640400000
             */
            time_ms: number;
            /**
             * @description The signature, in base64.
             * @example c2lnbmF0dXJl
             */
            signature: string;
        };
        /**
         * @description The new agent with its secrets, which are shown only here.
         *
         *     `private_key` is null if the request had a `pubkey`.
         */
        RegisteredAgent: {
            /**
             * @description Names the shape of this answer.
             * @constant
             */
            kind: "a2a_agent";
            /** @description The agent. */
            agent: components["schemas"]["AgentId"];
            /**
             * @description The agent's private key in base58, null if the request had a public key. It is shown only here.
             * @example 4kPz1uQ7sVtYqJ1sNnEoL7xGdTjvRa8fUbDK9fKhXb6r
             */
            private_key: string | null;
            /**
             * @description The whole API key. Keep it: it is shown only here.
             * @example a2a_Jx3kV8qZ_3f9c0Yw7bT1mN5rK2hL8dQ4sG6vXz
             */
            api_key: string;
        };
        /**
         * @description An agent. `paused_at_ms` and `paused_reason` are null unless it is paused.
         *
         *     `is_open`: callers without a key may send tasks to it.
         */
        AgentEntry: {
            /**
             * @description Names the shape of this answer.
             * @constant
             */
            kind: "a2a_agent_entry";
            /** @description The agent. */
            agent: components["schemas"]["AgentId"];
            /**
             * @description When it was created.
             * @example 1795640400000
             */
            created_at_ms: number;
            /**
             * @description When the agent was paused, null if it is not paused.
             * @example 1795640400000
             */
            paused_at_ms: number | null;
            /**
             * @description Why the agent is paused, null if it is not.
             * @example audit
             */
            paused_reason: string | null;
            /** @description Whether callers without a key may send tasks to it. */
            is_open: boolean;
        };
        /** @description Why the agent is paused. */
        PauseBody: {
            /**
             * @description Why, in words. Others can read it.
             * @example The work is no longer needed.
             */
            reason: string;
        };
        /** @description The agent's tasks stay queued until it is resumed. */
        AgentPaused: {
            /**
             * @description Names the shape of this answer.
             * @constant
             */
            kind: "a2a_agent_paused";
            /** @description The agent. */
            agent: components["schemas"]["AgentId"];
            /**
             * @description When the agent was paused, null if it is not paused.
             * @example 1795640400000
             */
            paused_at_ms: number;
            /**
             * @description Why, in words. Others can read it.
             * @example The work is no longer needed.
             */
            reason: string;
        };
        /** @description The signing keys, the oldest first. `agent` has the public key that names the agent for ever. */
        ListedSigningKeys: {
            /**
             * @description Names the shape of this answer.
             * @constant
             */
            kind: "a2a_signing_keys";
            /** @description The agent. */
            agent: components["schemas"]["AgentId"];
            /** @description The signing keys, the oldest first. */
            signing_keys: components["schemas"]["WireSigningKey"][];
        };
        /** @description A signing key of an agent. `retired_at_ms` null: it signs requests now. */
        WireSigningKey: {
            /**
             * @description The agent's Ed25519 public key in base58.
             * @example 8fUbDK9fKhXb6rP2wBqzC4mVtYqJ1sNnEoL7xGdTjvRa
             */
            pubkey: string;
            /**
             * @description When the key was proved.
             * @example 1795640400000
             */
            proven_at_ms: number;
            /**
             * @description When the key was retired, null for the key that signs now.
             * @example 1795640460000
             */
            retired_at_ms: number | null;
        };
        /**
         * @description The new key with its proof: signatures, in base64, of the statement that `docs/guides/sign-requests.md` shows.
         *
         *     `previous_signature` is by the agent's key until now. An operator may set a key without it.
         */
        SigningKeyBody: {
            /**
             * @description The agent's Ed25519 public key in base58.
             * @example 8fUbDK9fKhXb6rP2wBqzC4mVtYqJ1sNnEoL7xGdTjvRa
             */
            pubkey: string;
            /**
             * @description When the proof was made.
             * @example 1795640400000
             */
            time_ms: number;
            /**
             * @description The signature, in base64.
             * @example c2lnbmF0dXJl
             */
            signature: string;
            /**
             * @description The signature by the agent's key until now, in base64.
             * @example c2lnbmF0dXJl
             */
            previous_signature?: string | null;
        };
        /** @description The quotas of the agent. */
        ListedQuotas: {
            /**
             * @description Names the shape of this answer.
             * @constant
             */
            kind: "a2a_quotas";
            /** @description The quotas with their use. */
            quotas: components["schemas"]["QuotaUsage"][];
        };
        /** @description One quota. `used` is null for a rate. `is_own` is false for the setting. `recipient` null: all of them. */
        QuotaUsage: {
            /**
             * @description The name of the quota.
             * @example queued
             */
            quota: string;
            /**
             * @description The one recipient for which the quota counts, null for all.
             * @example research@local
             */
            recipient: string | null;
            /**
             * @description How much is in use, null for a rate.
             * @example 3
             */
            used: number | null;
            /**
             * @description The limit.
             * @example 1000
             */
            limit: number;
            /** @description Whether the limit is the agent's own. Otherwise the setting counts. */
            is_own: boolean;
        };
        /** @description The quotas to set. Null restores the setting; an absent quota stays. `recipient` goes with `queued` alone. */
        QuotasBody: {
            /**
             * @description How many of its tasks may be queued.
             * @example 1000
             */
            queued?: number | null;
            /**
             * @description The bytes of payload that the agent's unfinished tasks may have.
             * @example 104857600
             */
            bytes?: number | null;
            /**
             * @description How many callbacks may wait.
             * @example 1000
             */
            callbacks?: number | null;
            /**
             * @description How many of its requests may wait at once.
             * @example 100
             */
            waits?: number | null;
            /**
             * @description How many cards of running jobs the agent may register.
             * @example 100
             */
            cards?: number | null;
            /**
             * @description How many requests a second the agent may send; 0 for any number.
             * @example 50
             */
            requests_per_s?: number | null;
            /** @description The one recipient for which `queued` counts; null for all. */
            recipient?: components["schemas"]["AgentName"] | null;
        };
        /**
         * @description An agent: its id, its name `local@host`, or its local part where that is unambiguous.
         * @example research@local
         */
        AgentName: string | components["schemas"]["AgentId"];
        /** @description Why the agent is resumed. */
        ResumeBody: {
            /**
             * @description Why, in words. Others can read it.
             * @example The work is no longer needed.
             */
            reason?: string;
        };
        /** @description The agent leases tasks again. */
        AgentResumed: {
            /**
             * @description Names the shape of this answer.
             * @constant
             */
            kind: "a2a_agent_resumed";
            /** @description The agent. */
            agent: components["schemas"]["AgentId"];
        };
        /**
         * @description An empty object. The operator's settings say how long finished work is kept.
         * @example {}
         */
        CompactBody: Record<string, never>;
        /** @description The finished tasks were deleted. */
        Compacted: {
            /**
             * @description Names the shape of this answer.
             * @constant
             */
            kind: "a2a_compacted";
            /**
             * @description How many tasks were deleted.
             * @example 12
             */
            dropped: number;
        };
        /** @description A page of callbacks, newest first. */
        ListedDeliveries: {
            /**
             * @description Names the shape of this answer.
             * @constant
             */
            kind: "a2a_deliveries";
            /** @description The callbacks of this page. */
            deliveries: components["schemas"]["WireDelivery"][];
            /**
             * @description The `cursor` of the next page, null on the last page.
             * @example gAAAAABnQ2x0bWFya2Vy
             */
            next_cursor: string | null;
        };
        /** @description A callback or an event of a webhook, and its attempts. The secret is never shown. */
        WireDelivery: {
            /**
             * Format: uuid
             * @description The id of the callback.
             * @example c41d8f0a-5b2e-4f7a-9c3d-1e2f3a4b5c6d
             */
            delivery_id: string;
            /**
             * Format: uuid
             * @description The id of the task.
             * @example 6f1c2d9e-3b60-4c1a-9f0e-2a4f5b6c7d8e
             */
            task_id: string;
            /** @description The agent that sent the task. */
            sender: components["schemas"]["AgentId"];
            /**
             * @description The address.
             * @example https://planner.example/hooks/a2a
             */
            url: string;
            /** @description Whether the callback is signed. */
            signed: boolean;
            /**
             * @description Whether it was delivered.
             * @enum {string}
             */
            state: "pending" | "delivered" | "disabled";
            /**
             * @description The event of the webhook, null for a callback.
             * @example task.status
             */
            event: string | null;
            /**
             * @description How often the hub tried.
             * @example 1
             */
            attempts: number;
            /**
             * @description When it was created.
             * @example 1795640400000
             */
            created_at_ms: number;
            /**
             * @description When the hub tries again, null if it does not.
             * @example 1795640465000
             */
            next_attempt_at_ms: number | null;
            /**
             * @description When it was delivered, null before that.
             * @example 1795640460000
             */
            delivered_at_ms: number | null;
            /** @description The attempts to deliver it. */
            log: components["schemas"]["WireAttempt"][];
        };
        /** @description One attempt to deliver a callback. `status` is null when the receiver did not answer. */
        WireAttempt: {
            /**
             * @description Which attempt it is, from 1.
             * @example 1
             */
            number: number;
            /**
             * @description When it happened.
             * @example 1795640400000
             */
            at_ms: number;
            /**
             * @description The HTTP status of the answer, null without one.
             * @example 204
             */
            status: number | null;
            /**
             * @description The problem.
             * @example timed out
             */
            problem: string;
        };
        /** @description Why the callback is sent again. */
        ResendBody: {
            /**
             * @description Why, in words. Others can read it.
             * @example The work is no longer needed.
             */
            reason: string;
        };
        /** @description The callback is sent again. */
        Resent: {
            /**
             * @description Names the shape of this answer.
             * @constant
             */
            kind: "a2a_delivery_resent";
            /**
             * Format: uuid
             * @description The id of the callback.
             * @example c41d8f0a-5b2e-4f7a-9c3d-1e2f3a4b5c6d
             */
            delivery_id: string;
        };
        /** @description A page of API keys, newest first. */
        ListedKeys: {
            /**
             * @description Names the shape of this answer.
             * @constant
             */
            kind: "a2a_keys";
            /** @description The keys of this page. */
            keys: components["schemas"]["WireKey"][];
            /**
             * @description The `cursor` of the next page, null on the last page.
             * @example gAAAAABnQ2x0bWFya2Vy
             */
            next_cursor: string | null;
        };
        /**
         * @description An API key, or with `is_certificate` a client certificate. It belongs to an `agent` or to a `person`.
         *
         *     `made_by` is the public id of the key with which it was made, and `replaces` that of the key that it succeeds. Both are null without one. `expires_at` is in Unix epoch milliseconds, null for no expiry.
         */
        WireKey: {
            /**
             * @description The public id: the part of the secret that names it.
             * @example Jx3kV8qZ
             */
            public_id: string;
            /** @description The agent. */
            agent: components["schemas"]["AgentId"] | null;
            /**
             * @description The person, by user name; null for an agent.
             * @example operator
             */
            person: string | null;
            /** @description Whether it is a client certificate instead of an API key. */
            is_certificate: boolean;
            /**
             * @description The public id of the key with which it was made, null without one.
             * @example Jx3kV8qZ
             */
            made_by: string | null;
            /**
             * @description The public id of the key that it succeeds, null without one.
             * @example kT4mW9pX
             */
            replaces: string | null;
            /**
             * @description When it was created.
             * @example 1795640400000
             */
            created_at_ms: number;
            /**
             * @description When it expires, in Unix epoch milliseconds; null for never.
             * @example 1827176400000
             */
            expires_at: number | null;
            /**
             * @description When it was revoked, null while it counts.
             * @example 1795640460000
             */
            revoked_at_ms: number | null;
            /**
             * @description When it was last used, to the minute; null for never.
             * @example 1795640400000
             */
            last_used_at_ms: number | null;
        };
        /**
         * @description The owner of the new key: an agent or, for automation, a person. Without either the caller gets the key.
         * @example {
         *       "agent": "research@local"
         *     }
         */
        KeyBody: {
            /** @description The agent. */
            agent?: components["schemas"]["AgentName"] | null;
            /**
             * @description The person, by user name.
             * @example operator
             */
            username?: string | null;
            /**
             * @description When it expires, in Unix epoch milliseconds; null for never.
             * @example 1827176400000
             */
            expires_at?: number | null;
        };
        /** @description The new key, which is shown only here. `expires_at` is in Unix epoch milliseconds, null for no expiry. */
        KeyAdded: {
            /**
             * @description Names the shape of this answer.
             * @constant
             */
            kind: "a2a_key";
            /**
             * @description The public id: the part of the secret that names it.
             * @example Jx3kV8qZ
             */
            public_id: string;
            /**
             * @description The whole API key. Keep it: it is shown only here.
             * @example a2a_Jx3kV8qZ_3f9c0Yw7bT1mN5rK2hL8dQ4sG6vXz
             */
            api_key: string;
            /**
             * @description When it expires, in Unix epoch milliseconds; null for never.
             * @example 1827176400000
             */
            expires_at: number | null;
        };
        /** @description The key to revoke, by its public id. `with_made` also revokes the keys that were made with it. */
        RevokeKeyBody: {
            /**
             * @description The public id: the part of the secret that names it.
             * @example Jx3kV8qZ
             */
            public_id: string;
            /** @description Whether the keys that were made with it are revoked too. */
            with_made?: boolean;
        };
        /** @description The public ids of the key and, with `with_made`, of the keys that were made with it. */
        KeyRevoked: {
            /**
             * @description Names the shape of this answer.
             * @constant
             */
            kind: "a2a_key_revoked";
            /**
             * @description The public id: the part of the secret that names it.
             * @example Jx3kV8qZ
             */
            public_id: string;
            /**
             * @description The public ids of the other keys that were revoked.
             * @example [
             *       "kT4mW9pX"
             *     ]
             */
            also: string[];
        };
        /** @description How long the old key stays valid beside the new key. */
        RotateKeyBody: {
            /**
             * @description How long the old key stays valid. Default: 3600000.
             * @example 3600000
             */
            overlap_ms?: number;
        };
        /** @description The new key, which is shown only here, and the time when the key of this request expires. */
        KeyRotated: {
            /**
             * @description Names the shape of this answer.
             * @constant
             */
            kind: "a2a_key_rotated";
            /**
             * @description The public id: the part of the secret that names it.
             * @example Jx3kV8qZ
             */
            public_id: string;
            /**
             * @description The whole API key. Keep it: it is shown only here.
             * @example a2a_Jx3kV8qZ_3f9c0Yw7bT1mN5rK2hL8dQ4sG6vXz
             */
            api_key: string;
            /**
             * @description When it expires, in Unix epoch milliseconds; null for never.
             * @example 1827176400000
             */
            expires_at: number | null;
            /**
             * @description The public id of the key that it succeeds, null without one.
             * @example kT4mW9pX
             */
            replaces: string;
            /**
             * @description When the old key expires, in Unix epoch milliseconds.
             * @example 1795644000000
             */
            overlap_ends_at: number;
        };
        /** @description A page of live leases, oldest first. */
        ListedLeases: {
            /**
             * @description Names the shape of this answer.
             * @constant
             */
            kind: "a2a_leases";
            /** @description The leases, each with its task. */
            leases: components["schemas"]["HeldLease"][];
            /**
             * @description The `cursor` of the next page, null on the last page.
             * @example gAAAAABnQ2x0bWFya2Vy
             */
            next_cursor: string | null;
        };
        /** @description A lease with its task and its holder. */
        HeldLease: {
            /**
             * Format: uuid
             * @description The id of the lease. As a guard of a request: nothing happens unless this lease is live.
             * @example a3f1e2d4-5c6b-4a79-8e0d-9f1a2b3c4d5e
             */
            lease_id: string;
            /**
             * @description Which lease of the task it is, from 1; 0 before the first.
             * @example 1
             */
            attempt: number;
            /**
             * @description When the lease began.
             * @example 1795640400000
             */
            leased_at_ms: number;
            /**
             * @description When the holder was last heard of.
             * @example 1795640430000
             */
            last_seen_at_ms: number;
            /**
             * @description How long one lease of the task may last, in milliseconds; null for no limit.
             * @example 600000
             */
            work_timeout_ms: number | null;
            /** @description The task. */
            task: components["schemas"]["WireWork"];
            /** @description The agent that holds the lease. */
            leased_to: components["schemas"]["AgentId"];
        };
        /**
         * @description A task with its `metadata`: what the sender wrote beside the text in another protocol.
         *
         *     Tasks of one `context_id` belong to one conversation of one sender. Sender and recipient see different ids of it.
         */
        WireWork: {
            /**
             * Format: uuid
             * @description The id of the task.
             * @example 6f1c2d9e-3b60-4c1a-9f0e-2a4f5b6c7d8e
             */
            id: string;
            /** @description The agent that sent the task. */
            sender: components["schemas"]["AgentId"];
            /** @description The agent that does the work. */
            recipient: components["schemas"]["AgentId"];
            /**
             * @description The work, in words.
             * @example Find papers about solid-state batteries.
             */
            intent_text: string;
            /**
             * @description The kind of work. Duplicates have the same kind.
             * @example search
             */
            task_kind?: string;
            /**
             * Format: uuid
             * @description The id of the task that this task is a part of.
             * @example 1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed
             */
            parent?: string;
            /**
             * @description The time at which the task expires if no agent has begun it, in Unix epoch milliseconds.
             * @example 1795644000000
             */
            deadline_ms?: number;
            /** @description Whether the work may be done twice, and its key. Left out for unsafe work without a key. */
            idempotency?: components["schemas"]["WireIdempotency"];
            /**
             * @description The conversation to which the task belongs. The recipient gets another id of it than the sender.
             * @example 0c1f5c0e-4e0b-5d0a-9c57-3a4b1f0f6a52
             */
            context_id?: string;
            /**
             * @description Further JSON, which the hub keeps and does not read.
             * @example {
             *       "ticket": "INC-4412"
             *     }
             */
            metadata?: {
                [key: string]: unknown;
            };
        };
        /** @description Whether the work may be done twice. Two tasks with the same `key` ask for the same work. */
        WireIdempotency: {
            /**
             * @description Whether the work may be done twice.
             * @enum {string}
             */
            duplicate_safety: "unsafe" | "idempotent";
            /**
             * @description The key of the work, chosen by its sender.
             * @example inv-7
             */
            key: string;
        };
        /**
         * @description The owner of the request's key, signature or certificate: an `agent`, or a `person` by name.
         *
         *     The other one is null. `role` is the role of a person, and null for an agent.
         */
        Me: {
            /**
             * @description Names the shape of this answer.
             * @constant
             */
            kind: "a2a_me";
            /** @description The agent. */
            agent: components["schemas"]["AgentId"] | null;
            /**
             * @description The person, by user name; null for an agent.
             * @example operator
             */
            person: string | null;
            /** @description The role of a person, or of the author of a message: `user` is the task's sender, `agent` its holder. */
            role: ("viewer" | "operator" | "admin") | null;
        };
        /** @description A page of peers, newest first. */
        ListedPeers: {
            /**
             * @description Names the shape of this answer.
             * @constant
             */
            kind: "a2a_peers";
            /** @description The peers of this page. */
            peers: components["schemas"]["WirePeer"][];
            /**
             * @description The `cursor` of the next page, null on the last page.
             * @example gAAAAABnQ2x0bWFya2Vy
             */
            next_cursor: string | null;
        };
        /**
         * @description A peer. `agent` is the agent whose key it uses.
         *
         *     The hub sets `status` and the times, the peer the other fields.
         */
        WirePeer: {
            /** @description The agent. */
            agent: components["schemas"]["AgentId"];
            /**
             * @description The peer's own id.
             * @example node-7
             */
            peer_id: string;
            /**
             * @description A name for people.
             * @example Report
             */
            name: string;
            /**
             * @description The peer's address.
             * @example https://node.example
             */
            url: string;
            /**
             * @description The peer's own statement of its abilities.
             * @example [
             *       {
             *         "name": "qa"
             *       }
             *     ]
             */
            capabilities: unknown;
            /**
             * @description Whether the peer was seen lately.
             * @enum {string}
             */
            status: "online" | "suspect" | "offline";
            /**
             * @description When the peer was seen first.
             * @example 1795640400000
             */
            first_seen_at_ms: number;
            /**
             * @description When the holder was last heard of.
             * @example 1795640430000
             */
            last_seen_at_ms: number;
        };
        /** @description A page of people, by name. */
        ListedPeople: {
            /**
             * @description Names the shape of this answer.
             * @constant
             */
            kind: "a2a_people";
            /** @description The people of this page. */
            people: components["schemas"]["WirePerson"][];
            /**
             * @description The `cursor` of the next page, null on the last page.
             * @example gAAAAABnQ2x0bWFya2Vy
             */
            next_cursor: string | null;
        };
        /**
         * @description A person. `role` is the strongest of the `groups`, null for a person who may not use the hub.
         *
         *     `is_staff` opens `/admin/`. `last_sign_in_at_ms` null: the person never signed in.
         */
        WirePerson: {
            /**
             * @description The user name.
             * @example operator
             */
            name: string;
            /** @description The role of a person, or of the author of a message: `user` is the task's sender, `agent` its holder. */
            role: ("viewer" | "operator" | "admin") | null;
            /**
             * @description The groups of the person.
             * @example [
             *       "operator"
             *     ]
             */
            groups: string[];
            /** @description Whether the person may sign in. */
            is_active: boolean;
            /** @description Whether the person may open `/admin/`. */
            is_staff: boolean;
            /** @description Whether the person signs in with an authenticator app. */
            has_second_factor: boolean;
            /**
             * @description When it was created.
             * @example 1795640400000
             */
            created_at_ms: number;
            /**
             * @description When the person last signed in, null for never.
             * @example 1795640400000
             */
            last_sign_in_at_ms: number | null;
        };
        /** @description A page of the queue, and pending results. */
        Queue: {
            /**
             * @description Names the shape of this answer.
             * @constant
             */
            kind: "a2a_queue";
            /** @description The tasks. */
            tasks: components["schemas"]["WireQueueEntry"][];
            /** @description The results. */
            results: components["schemas"]["WireResult"][];
            /**
             * @description The `cursor` of the next page, null on the last page.
             * @example gAAAAABnQ2x0bWFya2Vy
             */
            next_cursor: string | null;
        };
        /**
         * @description A task with its state. The lease's keys are left out when the task has no live lease.
         *
         *     Only an interrupted task has `awaits`: the kind of its agent's question.
         */
        WireQueueEntry: {
            /**
             * @description The state of the task.
             * @enum {string}
             */
            state: "queued" | "in_flight" | "interrupted" | "resolved";
            /**
             * @description The kind of the open question of an interrupted task, null for other tasks.
             * @enum {string}
             */
            awaits?: "input" | "authorization";
            /** @description The task. */
            task: components["schemas"]["WireTask"];
            /**
             * @description Which lease of the task it is, from 1; 0 before the first.
             * @example 1
             */
            attempt: number;
            /**
             * Format: uuid
             * @description The id of the lease. As a guard of a request: nothing happens unless this lease is live.
             * @example a3f1e2d4-5c6b-4a79-8e0d-9f1a2b3c4d5e
             */
            lease_id?: string;
            /** @description The agent that holds the lease. */
            leased_to?: components["schemas"]["AgentId"];
            /**
             * @description When the lease began.
             * @example 1795640400000
             */
            leased_at_ms?: number;
            /**
             * Format: uuid
             * @description The task whose result this task waits for, since both ask for the same work.
             * @example 1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed
             */
            waits_on?: string;
        };
        /** @description A task. Keys without a value are left out. */
        WireTask: {
            /**
             * Format: uuid
             * @description The id of the task.
             * @example 6f1c2d9e-3b60-4c1a-9f0e-2a4f5b6c7d8e
             */
            id: string;
            /** @description The agent that sent the task. */
            sender: components["schemas"]["AgentId"];
            /** @description The agent that does the work. */
            recipient: components["schemas"]["AgentId"];
            /**
             * @description The work, in words.
             * @example Find papers about solid-state batteries.
             */
            intent_text: string;
            /**
             * @description The kind of work. Duplicates have the same kind.
             * @example search
             */
            task_kind?: string;
            /**
             * Format: uuid
             * @description The id of the task that this task is a part of.
             * @example 1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed
             */
            parent?: string;
            /**
             * @description The time at which the task expires if no agent has begun it, in Unix epoch milliseconds.
             * @example 1795644000000
             */
            deadline_ms?: number;
            /** @description Whether the work may be done twice, and its key. Left out for unsafe work without a key. */
            idempotency?: components["schemas"]["WireIdempotency"];
        };
        /**
         * @description The result of a task. Keys without a value are left out.
         *
         *     `message` has the closing words. `artifacts` names the first 100 artifacts of the task, and `artifacts_left` counts the others. `artifacts_route` is where their contents are read.
         */
        WireResult: {
            /**
             * Format: uuid
             * @description The id of the task.
             * @example 6f1c2d9e-3b60-4c1a-9f0e-2a4f5b6c7d8e
             */
            task_id: string;
            /**
             * @description How the work went.
             * @enum {string}
             */
            status: "ok" | "error" | "partial";
            /** @description The content blocks, in order. */
            content: components["schemas"]["ContentBlock"][];
            /**
             * @description Why the work failed, or is only partly done.
             * @example The archive is offline.
             */
            error_message?: string;
            /** @description The closing words of the holder. */
            message?: components["schemas"]["ContentBlock"][];
            /** @description The artifacts. */
            artifacts?: components["schemas"]["ResultArtifact"][];
            /**
             * @description How many further artifacts the task has.
             * @example 0
             */
            artifacts_left?: number;
            /**
             * @description The path at which the contents of the artifacts are read.
             * @example /a2a/tasks/6f1c2d9e-3b60-4c1a-9f0e-2a4f5b6c7d8e/artifacts
             */
            artifacts_route?: string;
        };
        /**
         * @description A content block. Its `type` tells its other fields; more may follow.
         * @example {
         *       "type": "text",
         *       "text": "Found three papers."
         *     }
         */
        ContentBlock: components["schemas"]["TextBlock"] | components["schemas"]["JsonBlock"] | components["schemas"]["ImageBlock"] | components["schemas"]["AudioBlock"] | components["schemas"]["ResourceBlock"] | components["schemas"]["ResourceLinkBlock"];
        /** @description A sound. */
        AudioBlock: {
            /**
             * @description Names the type of this block. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "audio";
            /**
             * @description The bytes in base64.
             * @example UklGRg==
             */
            data: string;
            /**
             * @description The media type.
             * @example audio/wav
             */
            mimeType: string;
        };
        /** @description A picture. */
        ImageBlock: {
            /**
             * @description Names the type of this block. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "image";
            /**
             * @description The bytes in base64.
             * @example iVBORw0KGgo=
             */
            data: string;
            /**
             * @description The media type.
             * @example image/png
             */
            mimeType: string;
        };
        /** @description Any JSON value. */
        JsonBlock: {
            /**
             * @description Names the type of this block. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "json";
            /**
             * @description The JSON value.
             * @example {
             *       "papers": 3
             *     }
             */
            value: unknown;
        };
        /** @description A resource with its content, as the Model Context Protocol has it. */
        ResourceBlock: {
            /**
             * @description Names the type of this block. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "resource";
            /**
             * @description The resource, with `uri` and `text` or `blob`.
             * @example {
             *       "uri": "file:///notes.md",
             *       "text": "Notes"
             *     }
             */
            resource: {
                [key: string]: unknown;
            };
        };
        /** @description A link to a resource. */
        ResourceLinkBlock: {
            /**
             * @description Names the type of this block. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "resource_link";
            /**
             * @description The address of the resource.
             * @example https://files.example/report.pdf
             */
            uri: string;
            /**
             * @description A name for people.
             * @example report.pdf
             */
            name: string;
        };
        /** @description Text. */
        TextBlock: {
            /**
             * @description Names the type of this block. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "text";
            /**
             * @description The text.
             * @example Found three papers.
             */
            text: string;
        };
        /** @description An artifact of the task. `characters` is the length of its content as JSON. */
        ResultArtifact: {
            /**
             * @description The id of the artifact within its task.
             * @example report
             */
            artifact_id: string;
            /**
             * @description A name for people.
             * @example Report
             */
            name?: string;
            /** @description Whether the artifact is complete. */
            last_chunk: boolean;
            /**
             * @description The length of the content as JSON.
             * @example 5120
             */
            characters: number;
        };
        /** @description A repair of a leased task. With a `lease_id` in the command, nothing happens unless that lease is live. */
        RepairBody: {
            /**
             * Format: uuid
             * @description The id of the task.
             * @example 6f1c2d9e-3b60-4c1a-9f0e-2a4f5b6c7d8e
             */
            task_id: string;
            /** @description The repair. */
            command: components["schemas"]["RequeueCommand"] | components["schemas"]["ForceErrorCommand"];
            /**
             * @description Why, in words. Others can read it.
             * @example The work is no longer needed.
             */
            reason: string;
        };
        /** @description Resolve the task as an error with this `message`. */
        ForceErrorCommand: {
            /**
             * @description Always `force_error`. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            action: "force_error";
            /**
             * @description The error message of the task.
             * @example given up by the operator
             */
            message: string;
            /**
             * @description The id of the lease. As a guard of a request: nothing happens unless this lease is live.
             * @example a3f1e2d4-5c6b-4a79-8e0d-9f1a2b3c4d5e
             */
            lease_id?: string | null;
        };
        /** @description Return the task to the queue. `duplicate_risk` says why doing the work twice is acceptable. */
        RequeueCommand: {
            /**
             * @description Always `requeue`. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            action: "requeue";
            /**
             * @description Why doing the work twice is acceptable.
             * @enum {string}
             */
            duplicate_risk: "idempotent" | "operator_accepted";
            /**
             * @description The id of the lease. As a guard of a request: nothing happens unless this lease is live.
             * @example a3f1e2d4-5c6b-4a79-8e0d-9f1a2b3c4d5e
             */
            lease_id?: string | null;
        };
        /** @description The task was repaired. */
        Repaired: {
            /**
             * @description Names the shape of this answer.
             * @constant
             */
            kind: "a2a_repaired";
            /** @description How the task ended, null before that. */
            outcome: components["schemas"]["RepairOutcome"];
        };
        /** @description The outcome of a repair. `result` is left out after a requeue. */
        RepairOutcome: {
            /**
             * Format: uuid
             * @description The id of the task.
             * @example 6f1c2d9e-3b60-4c1a-9f0e-2a4f5b6c7d8e
             */
            task_id: string;
            /**
             * @description The repair that was made.
             * @enum {string}
             */
            action: "requeued" | "forced_error";
            /**
             * @description The state of the task now.
             * @enum {string}
             */
            state: "queued" | "result_pending";
            /**
             * @description Which lease of the task it is, from 1; 0 before the first.
             * @example 1
             */
            attempt: number;
            /** @description The result of a task that was forced to an error, null otherwise. */
            result?: components["schemas"]["WireResult"];
        };
        /** @description A page of cached results, newest first. */
        ReplayEntries: {
            /**
             * @description Names the shape of this answer.
             * @constant
             */
            kind: "a2a_replay_entries";
            /** @description The entries of this page. */
            entries: components["schemas"]["WireReplayEntry"][];
            /**
             * @description The `cursor` of the next page, null on the last page.
             * @example gAAAAABnQ2x0bWFya2Vy
             */
            next_cursor: string | null;
        };
        /** @description A cached result. `hits` counts the duplicates that it answered. */
        WireReplayEntry: {
            /**
             * @description The number of the cached result.
             * @example 12
             */
            id: number;
            /**
             * @description The public key of the agent that sent the task.
             * @example 3mXqT5wZrC8yJkLpNvBsDfGhQeUaR2t7VxY9zA1b4Cd6
             */
            sender_pubkey_b58: string;
            /**
             * @description The public key of the agent that did the work.
             * @example 8fUbDK9fKhXb6rP2wBqzC4mVtYqJ1sNnEoL7xGdTjvRa
             */
            recipient_pubkey_b58: string;
            /**
             * @description The kind of work. Duplicates have the same kind.
             * @example search
             */
            task_kind: string;
            /**
             * @description The key of the work, chosen by its sender.
             * @example inv-7
             */
            key: string;
            /**
             * Format: uuid
             * @description The task whose result is cached.
             * @example 1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed
             */
            source_task_id: string;
            /**
             * @description How the work went.
             * @enum {string}
             */
            status: "ok" | "error" | "partial";
            /**
             * @description How many duplicates it answered.
             * @example 2
             */
            hits: number;
            /**
             * @description When the result was cached.
             * @example 1795640400000
             */
            stored_at_ms: number;
            /**
             * @description When it last answered a duplicate, null for never.
             * @example 1795640460000
             */
            last_hit_at_ms: number | null;
            /**
             * @description When it expires, null for never.
             * @example 1827176400000
             */
            expires_at_ms: number | null;
        };
        /** @description The cached result to drop. With a `source_task_id` nothing is dropped if a newer result took its place. */
        DropReplayBody: {
            /**
             * @description The number of the cached result.
             * @example 12
             */
            id: number;
            /**
             * @description Why, in words. Others can read it.
             * @example The work is no longer needed.
             */
            reason: string;
            /**
             * @description The task whose result is cached.
             * @example 1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed
             */
            source_task_id?: string | null;
        };
        /** @description The cached result is dropped. */
        ReplayDropped: {
            /**
             * @description Names the shape of this answer.
             * @constant
             */
            kind: "a2a_replay_dropped";
            /**
             * @description The number of the cached result.
             * @example 12
             */
            id: number;
        };
        /**
         * @description The result of a task.
         *
         *     With a `lease_id` the result is refused unless that lease is live. `error_message` explains the statuses `error` and `partial`, and must explain `rejected`: the agent will not do the task. A content block is an object with a `type`: `text`, `json`, `image`, `audio`, `resource` or `resource_link`. `message` is closing words, as text or content blocks.
         *
         *     With `direct` the content itself is the answer, one message instead of a task. The status is then `ok`, and the task has no messages and artifacts.
         */
        ResultBody: {
            /**
             * Format: uuid
             * @description The id of the task.
             * @example 6f1c2d9e-3b60-4c1a-9f0e-2a4f5b6c7d8e
             */
            task_id: string;
            /**
             * @description How the work went.
             * @enum {string}
             */
            status: "ok" | "error" | "partial" | "rejected";
            /** @description The content blocks, in order. */
            content?: components["schemas"]["ContentBlock"][];
            /**
             * @description Why the work failed, or is only partly done.
             * @example The archive is offline.
             */
            error_message?: string | null;
            /**
             * @description The id of the lease. As a guard of a request: nothing happens unless this lease is live.
             * @example a3f1e2d4-5c6b-4a79-8e0d-9f1a2b3c4d5e
             */
            lease_id?: string | null;
            /** @description Closing words beside the content. */
            message?: components["schemas"]["Content"];
            /** @description Whether the content itself is the answer, one message instead of a task. */
            direct?: boolean;
        };
        /**
         * @description Text, or a list of content blocks.
         * @example Found three papers.
         */
        Content: string | components["schemas"]["ContentBlock"][];
        /** @description The result is stored. */
        ResultPosted: {
            /**
             * @description Names the shape of this answer.
             * @constant
             */
            kind: "a2a_result_posted";
            /**
             * Format: uuid
             * @description The id of the task.
             * @example 6f1c2d9e-3b60-4c1a-9f0e-2a4f5b6c7d8e
             */
            task_id: string;
        };
        /**
         * @description The tasks whose results arrived.
         *
         *     Acknowledging a result twice changes nothing, even if its task was compacted since.
         */
        AckBody: {
            /**
             * @description The ids of the tasks.
             * @example [
             *       "6f1c2d9e-3b60-4c1a-9f0e-2a4f5b6c7d8e"
             *     ]
             */
            task_ids: string[];
        };
        /**
         * @description The results of `task_ids` are acknowledged now. `unknown` are the other ids of the request.
         *
         *     No result of theirs is known to the caller. If all ids are unknown, the answer is 404 instead.
         */
        ResultsAcked: {
            /**
             * @description Names the shape of this answer.
             * @constant
             */
            kind: "a2a_results_acked";
            /**
             * @description The ids of the tasks.
             * @example [
             *       "6f1c2d9e-3b60-4c1a-9f0e-2a4f5b6c7d8e"
             *     ]
             */
            task_ids: string[];
            /**
             * @description The ids without a result of yours.
             * @example [
             *       "1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed"
             *     ]
             */
            unknown: string[];
        };
        /** @description Results to post, in order. Each is decided by itself: a refused result keeps no other from being posted. */
        ResultsBody: {
            /** @description The results. */
            results: components["schemas"]["ResultBody"][];
        };
        /** @description `posted` are the tasks that have the posted result, in the order of the batch without the refused items. */
        ResultsPosted: {
            /**
             * @description Names the shape of this answer.
             * @constant
             */
            kind: "a2a_results_posted";
            /**
             * @description The task ids of the items that succeeded, in their order.
             * @example [
             *       "6f1c2d9e-3b60-4c1a-9f0e-2a4f5b6c7d8e"
             *     ]
             */
            posted: string[];
            /** @description The items that failed, each with its error. */
            refused: components["schemas"]["RefusedItem"][];
        };
        /**
         * @description An item of the batch that was refused. Nothing of it was done. `index` is its place in the batch, from 0.
         *
         *     `task_id` is the id that the item names, null without a valid one. `code` and `message` are those of the single request. `fields` maps the path of each invalid field to its problem, if `code` is `invalid_request`.
         */
        RefusedItem: {
            /**
             * @description The place of the item in the batch, from 0.
             * @example 3
             */
            index: number;
            /**
             * @description The id of the task.
             * @example 6f1c2d9e-3b60-4c1a-9f0e-2a4f5b6c7d8e
             */
            task_id: string | null;
            /**
             * @description The code of the error. Decide by it.
             * @example unknown_task
             */
            code: string;
            /**
             * @description A text for people. It may change.
             * @example no task 6f1c2d9e-3b60-4c1a-9f0e-2a4f5b6c7d8e is known to you
             */
            message: string;
            /**
             * @description With `invalid_request`: the problem of each invalid field, by its path.
             * @example {
             *       "tasks.3.intent_text": "intent_text must not be empty"
             *     }
             */
            fields?: {
                [key: string]: string;
            };
        };
        /** @description A page of results that you received and did not acknowledge. */
        DeliveredResults: {
            /**
             * @description Names the shape of this answer.
             * @constant
             */
            kind: "a2a_results_delivered";
            /** @description The results. */
            results: components["schemas"]["DeliveredResult"][];
            /**
             * @description The `cursor` of the next page, null on the last page.
             * @example gAAAAABnQ2x0bWFya2Vy
             */
            next_cursor: string | null;
        };
        /**
         * @description A result that its sender received last at `delivered_at_ms` and did not acknowledge.
         *
         *     `attempt_id` is the sender's id of that receive, null without one.
         */
        DeliveredResult: {
            /**
             * Format: uuid
             * @description The id of the task.
             * @example 6f1c2d9e-3b60-4c1a-9f0e-2a4f5b6c7d8e
             */
            task_id: string;
            /**
             * @description How the work went.
             * @enum {string}
             */
            status: "ok" | "error" | "partial";
            /** @description The content blocks, in order. */
            content: components["schemas"]["ContentBlock"][];
            /**
             * @description Why the work failed, or is only partly done.
             * @example The archive is offline.
             */
            error_message?: string;
            /** @description The closing words of the holder. */
            message?: components["schemas"]["ContentBlock"][];
            /** @description The artifacts. */
            artifacts?: components["schemas"]["ResultArtifact"][];
            /**
             * @description How many further artifacts the task has.
             * @example 0
             */
            artifacts_left?: number;
            /**
             * @description The path at which the contents of the artifacts are read.
             * @example /a2a/tasks/6f1c2d9e-3b60-4c1a-9f0e-2a4f5b6c7d8e/artifacts
             */
            artifacts_route?: string;
            /**
             * @description When it was delivered, null before that.
             * @example 1795640460000
             */
            delivered_at_ms: number;
            /**
             * @description Your own id of this request. A repeat with the same id acts once.
             * @example 0b9d4c1e-7a52-4e0f-8d3b-5f6a7b8c9d0e
             */
            attempt_id: string | null;
        };
        /**
         * @description How to drain up to `max` results. The results of the tasks in `ack` are acknowledged first.
         *
         *     An item of `ack` that is no UUID is refused alone, and keeps no other item from being acknowledged.
         *
         *     The answer comes with the first result. It has fewer than `max` results if no more are pending, or if one more would exceed 4 MiB.
         */
        DrainBody: {
            /**
             * @description How long the hub may hold the request, in milliseconds. 0 answers at once.
             * @example 30000
             */
            wait_ms?: number;
            /**
             * @description Your own id of this request. A repeat with the same id acts once.
             * @example 0b9d4c1e-7a52-4e0f-8d3b-5f6a7b8c9d0e
             */
            attempt_id?: string | null;
            /**
             * @description The most items of the answer.
             * @example 32
             */
            max: number;
            /**
             * @description The tasks whose results have arrived.
             * @example [
             *       "1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed"
             *     ]
             */
            ack?: string[];
        };
        /**
         * @description The drained results, oldest first. `acked` and `unknown` are the valid ids of `ack`.
         *
         *     No result of the unknown ids is known to the caller. `refused` are the items of `ack` that are no UUID. `attempt_spent` is there only when the attempt id is spent: its results are acknowledged. Use a new id.
         */
        ResultsDrained: {
            /**
             * @description Names the shape of this answer.
             * @constant
             */
            kind: "a2a_results_drained";
            /** @description The results. */
            results: components["schemas"]["WireResult"][];
            /**
             * @description The tasks whose results are acknowledged now.
             * @example [
             *       "1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed"
             *     ]
             */
            acked: string[];
            /**
             * @description The ids without a result of yours.
             * @example [
             *       "1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed"
             *     ]
             */
            unknown: string[];
            /** @description The items that failed, each with its error. */
            refused: components["schemas"]["RefusedItem"][];
            /** @description Whether the attempt id is spent. Use a new id then. Left out otherwise. */
            attempt_spent?: boolean;
        };
        /**
         * @description The drained result, null when nothing was there to drain.
         *
         *     `attempt_spent` is there only when the attempt id is spent: its results are acknowledged. Use a new id.
         */
        ResultOpt: {
            /**
             * @description Names the shape of this answer.
             * @constant
             */
            kind: "a2a_result_opt";
            /** @description The result, null without one. */
            result: components["schemas"]["WireResult"] | null;
            /** @description Whether the attempt id is spent. Use a new id then. Left out otherwise. */
            attempt_spent?: boolean;
        };
        /** @description How to drain, in the query or the body. `ack` names the task whose result this request acknowledges. */
        NextResult: {
            /**
             * @description How long the hub may hold the request, in milliseconds. 0 answers at once.
             * @example 30000
             */
            wait_ms?: number;
            /**
             * @description Your own id of this request. A repeat with the same id acts once.
             * @example 0b9d4c1e-7a52-4e0f-8d3b-5f6a7b8c9d0e
             */
            attempt_id?: string | null;
            /**
             * @description The task whose result this request acknowledges first.
             * @example 1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed
             */
            ack?: string | null;
        };
        /** @description A page of pending results, oldest first. */
        ListedResults: {
            /**
             * @description Names the shape of this answer.
             * @constant
             */
            kind: "a2a_results";
            /** @description The results. */
            results: components["schemas"]["WireResult"][];
            /**
             * @description The `cursor` of the next page, null on the last page.
             * @example gAAAAABnQ2x0bWFya2Vy
             */
            next_cursor: string | null;
        };
        /**
         * @description The limits of one pass of the retry gate.
         *
         *     Without `enabled` the pass is a dry run. `max_requeues` and `scan_limit` count leases of this pass.
         */
        PolicyBody: {
            /** @description Whether the pass changes anything. Otherwise it is a dry run. */
            enabled?: boolean;
            /**
             * @description Younger leases are left out; null without a filter. Default: 300000.
             * @example 300000
             */
            min_lease_age_ms?: number;
            /**
             * @description Tasks with this many leases are left alone. Default: 3.
             * @example 3
             */
            max_attempts?: number;
            /**
             * @description The most tasks that one pass requeues. Default: 1.
             * @example 1
             */
            max_requeues?: number;
            /**
             * @description The most leases that one pass looks at. Default: 100.
             * @example 100
             */
            scan_limit?: number;
        };
        /** @description One pass of the retry gate was made. */
        AutoRetried: {
            /**
             * @description Names the shape of this answer.
             * @constant
             */
            kind: "a2a_auto_retry";
            /** @description The outcome of the pass. */
            report: components["schemas"]["WireReport"];
        };
        /** @description The outcome of one pass of the retry gate. */
        WireReport: {
            /** @description The limits of the pass. */
            policy: components["schemas"]["WirePolicy"];
            /**
             * @description How many leases the pass looked at.
             * @example 3
             */
            considered: number;
            /** @description The tasks that were requeued. */
            requeued: components["schemas"]["RetriedRow"][];
            /** @description The tasks that an enabled pass would requeue. */
            would_requeue: components["schemas"]["RetriedRow"][];
            /** @description The tasks that the pass left alone. */
            skipped: components["schemas"]["SkippedRow"][];
        };
        /** @description The limits of the pass. */
        WirePolicy: {
            /** @description Whether the pass changes anything. Otherwise it is a dry run. */
            enabled: boolean;
            /**
             * @description Younger leases are left out; null without a filter.
             * @example 300000
             */
            min_lease_age_ms: number;
            /**
             * @description Tasks with this many leases are left alone.
             * @example 3
             */
            max_attempts: number;
            /**
             * @description The most tasks that one pass requeues.
             * @example 1
             */
            max_requeues: number;
            /**
             * @description The most leases that one pass looks at.
             * @example 100
             */
            scan_limit: number;
        };
        /** @description A task that the pass requeued, or would requeue if it were enabled. */
        RetriedRow: {
            /**
             * Format: uuid
             * @description The id of the task.
             * @example 6f1c2d9e-3b60-4c1a-9f0e-2a4f5b6c7d8e
             */
            task_id: string;
            /**
             * Format: uuid
             * @description The id of the lease. As a guard of a request: nothing happens unless this lease is live.
             * @example a3f1e2d4-5c6b-4a79-8e0d-9f1a2b3c4d5e
             */
            lease_id: string;
            /**
             * @description Which lease of the task it is, from 1; 0 before the first.
             * @example 1
             */
            attempt: number;
            /**
             * @description The key of the work.
             * @example inv-7
             */
            idempotency_key: string;
        };
        /** @description A leased task that the pass left alone, with the reason. */
        SkippedRow: {
            /**
             * Format: uuid
             * @description The id of the task.
             * @example 6f1c2d9e-3b60-4c1a-9f0e-2a4f5b6c7d8e
             */
            task_id: string;
            /**
             * @description Why, in words. Others can read it.
             * @example The work is no longer needed.
             */
            reason: string;
            /**
             * @description Which lease of the task it is, from 1; 0 before the first.
             * @example 1
             */
            attempt: number;
            /**
             * @description How long the lease has lasted.
             * @example 400000
             */
            lease_age_ms: number;
        };
        /** @description A page of public routes, newest first. */
        ListedRoutes: {
            /**
             * @description Names the shape of this answer.
             * @constant
             */
            kind: "a2a_routes";
            /** @description The public routes of this page. */
            routes: components["schemas"]["WireRoute"][];
            /**
             * @description The `cursor` of the next page, null on the last page.
             * @example gAAAAABnQ2x0bWFya2Vy
             */
            next_cursor: string | null;
        };
        /** @description A public route: a secret URL that acts as an agent. `rate_limit` is in requests a minute. */
        WireRoute: {
            /**
             * @description The public id: the part of the secret that names it.
             * @example Jx3kV8qZ
             */
            public_id: string;
            /** @description The agent. */
            agent: components["schemas"]["AgentId"];
            /**
             * @description Requests a minute.
             * @example 60
             */
            rate_limit: number;
            /**
             * @description When it was created.
             * @example 1795640400000
             */
            created_at_ms: number;
            /**
             * @description When it was revoked, null while it counts.
             * @example 1795640460000
             */
            revoked_at_ms: number | null;
            /**
             * @description When it was last used, to the minute; null for never.
             * @example 1795640400000
             */
            last_used_at_ms: number | null;
        };
        /**
         * @description The agent that the new public route acts as, and the limit of its requests a minute.
         *
         *     Without `rate_limit` the operator's setting counts.
         */
        RouteBody: {
            /** @description The agent. */
            agent: components["schemas"]["AgentName"];
            /**
             * @description Requests a minute.
             * @example 60
             */
            rate_limit?: number | null;
        };
        /** @description The new route. Its `url` is a secret, which is shown only here. */
        RouteAdded: {
            /**
             * @description Names the shape of this answer.
             * @constant
             */
            kind: "a2a_route";
            /**
             * @description The public id: the part of the secret that names it.
             * @example Jx3kV8qZ
             */
            public_id: string;
            /**
             * @description The secret base URL for the client. It is shown only here.
             * @example https://hub.example/p/p_Jx3kV8qZ_3f9c0Yw7bT1mN5rK2hL8dQ4sG6vXz
             */
            url: string;
        };
        /** @description The public route to revoke, by its public id: the eight characters after `p_` in its URL. */
        RevokeRouteBody: {
            /**
             * @description The public id: the part of the secret that names it.
             * @example Jx3kV8qZ
             */
            public_id: string;
        };
        /** @description The public route is revoked. */
        RouteRevoked: {
            /**
             * @description Names the shape of this answer.
             * @constant
             */
            kind: "a2a_route_revoked";
            /**
             * @description The public id: the part of the secret that names it.
             * @example Jx3kV8qZ
             */
            public_id: string;
        };
        /** @description The queue with the filters of the request. */
        Status: {
            /**
             * @description Names the shape of this answer.
             * @constant
             */
            kind: "a2a_status";
            /**
             * @description The most items, or the limit of the quota.
             * @example 10
             */
            limit: number;
            /**
             * @description Younger leases are left out; null without a filter.
             * @example 300000
             */
            min_lease_age_ms: number | null;
            /**
             * @description The filter of the request, null without one.
             * @example 60000
             */
            deadline_within_ms: number | null;
            /** @description The filter of the request, null without one. */
            state_filter: ("queued" | "in_flight" | "interrupted") | null;
            /** @description The tasks. */
            tasks: components["schemas"]["WireQueueEntry"][];
            /** @description The results. */
            results: components["schemas"]["WireResult"][];
        };
        /** @description Tasks in any state. An agent sees the tasks that it sent or receives, a person sees all tasks. */
        TaskEntries: {
            /**
             * @description Names the shape of this answer.
             * @constant
             */
            kind: "a2a_task_entries";
            /** @description The entries of this page. */
            entries: components["schemas"]["TaskEntry"][];
            /**
             * @description The `cursor` of the next page, null on the last page.
             * @example gAAAAABnQ2x0bWFya2Vy
             */
            next_cursor: string | null;
        };
        /**
         * @description A task with its state and its times. `outcome` is null until the task is resolved.
         *
         *     `work_timeout_ms` is how long the task may stay leased, null for no limit.
         */
        TaskEntry: {
            /**
             * @description The state of the task.
             * @enum {string}
             */
            state: "queued" | "in_flight" | "interrupted" | "resolved";
            /**
             * @description The kind of the open question of an interrupted task, null for other tasks.
             * @enum {string}
             */
            awaits?: "input" | "authorization";
            /** @description The task. */
            task: components["schemas"]["WireWork"];
            /**
             * @description Which lease of the task it is, from 1; 0 before the first.
             * @example 1
             */
            attempt: number;
            /**
             * Format: uuid
             * @description The id of the lease. As a guard of a request: nothing happens unless this lease is live.
             * @example a3f1e2d4-5c6b-4a79-8e0d-9f1a2b3c4d5e
             */
            lease_id?: string;
            /** @description The agent that holds the lease. */
            leased_to?: components["schemas"]["AgentId"];
            /**
             * @description When the lease began.
             * @example 1795640400000
             */
            leased_at_ms?: number;
            /**
             * Format: uuid
             * @description The task whose result this task waits for, since both ask for the same work.
             * @example 1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed
             */
            waits_on?: string;
            /** @description How the task ended, null before that. */
            outcome: ("ok" | "partial" | "error" | "cancelled" | "rejected" | "expired") | null;
            /**
             * @description How long one lease of the task may last, in milliseconds; null for no limit.
             * @example 600000
             */
            work_timeout_ms: number | null;
            /**
             * @description When the task was sent.
             * @example 1795640400000
             */
            sent_at_ms: number;
            /**
             * @description When the task was last queued.
             * @example 1795640400000
             */
            queued_at_ms: number;
            /**
             * @description When the task ended, null before that.
             * @example 1795640460000
             */
            resolved_at_ms: number | null;
        };
        /**
         * @description A task to send.
         * @example {
         *       "id": "6f1c2d9e-3b60-4c1a-9f0e-2a4f5b6c7d8e",
         *       "recipient": "research@local",
         *       "intent_text": "Find papers about solid-state batteries.",
         *       "work_timeout_ms": 600000,
         *       "idempotency": {
         *         "duplicate_safety": "idempotent",
         *         "key": "inv-7"
         *       }
         *     }
         */
        TaskBody: {
            /**
             * @description The id of the task.
             * @example 6f1c2d9e-3b60-4c1a-9f0e-2a4f5b6c7d8e
             */
            id?: string | null;
            /** @description You. It may be left out. */
            sender?: components["schemas"]["AgentName"] | null;
            /** @description The agent that does the work. */
            recipient: components["schemas"]["AgentName"];
            /**
             * @description The work, in words.
             * @example Find papers about solid-state batteries.
             */
            intent_text: string;
            /**
             * @description The kind of work. Duplicates have the same kind.
             * @example search
             */
            task_kind?: string | null;
            /**
             * @description The id of the task that this task is a part of.
             * @example 1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed
             */
            parent?: string | null;
            /**
             * @description The time at which the task expires if no agent has begun it, in Unix epoch milliseconds.
             * @example 1795644000000
             */
            deadline_ms?: number | null;
            /**
             * @description How long one lease of the task may last, in milliseconds; null for no limit.
             * @example 600000
             */
            work_timeout_ms?: number | null;
            /** @description Whether the work may be done twice, and its key. Left out for unsafe work without a key. */
            idempotency?: components["schemas"]["IdempotencyBody"] | null;
            /**
             * @description Where the hub posts the task's state when it ends.
             * @example https://planner.example/hooks/a2a
             */
            callback_url?: string | null;
            /**
             * @description The secret that signs the callback, as Standard Webhooks have it.
             * @example whsec_c2VjcmV0LXNlY3JldC1zZWNyZXQ=
             */
            callback_secret?: string | null;
        };
        /** @description Whether the work may be done twice. Two tasks with the same `key` ask for the same work. */
        IdempotencyBody: {
            /**
             * @description Whether the work may be done twice.
             * @enum {string}
             */
            duplicate_safety: "unsafe" | "idempotent";
            /**
             * @description The key of the work, chosen by its sender.
             * @example inv-7
             */
            key: string;
        };
        /**
         * @description The task is stored. `compacted` and `outcome` are there only for a repeat of a task that was deleted since.
         *
         *     Its result was deleted too.
         */
        TaskQueued: {
            /**
             * @description Names the shape of this answer.
             * @constant
             */
            kind: "a2a_task_queued";
            /**
             * Format: uuid
             * @description The id of the task.
             * @example 6f1c2d9e-3b60-4c1a-9f0e-2a4f5b6c7d8e
             */
            task_id: string;
            /** @description How the task ended, null before that. */
            outcome?: ("ok" | "partial" | "error" | "cancelled" | "rejected" | "expired") | null;
            /** @description Whether the task was deleted since. Left out otherwise. */
            compacted?: boolean;
        };
        /** @description A page of the task's artifacts, oldest first. */
        ListedArtifacts: {
            /**
             * @description Names the shape of this answer.
             * @constant
             */
            kind: "a2a_artifacts";
            /**
             * Format: uuid
             * @description The id of the task.
             * @example 6f1c2d9e-3b60-4c1a-9f0e-2a4f5b6c7d8e
             */
            task_id: string;
            /** @description The artifacts. */
            artifacts: components["schemas"]["WireArtifact"][];
            /**
             * @description The `cursor` of the next page, null on the last page.
             * @example gAAAAABnQ2x0bWFya2Vy
             */
            next_cursor: string | null;
        };
        /**
         * @description An artifact, or a part of it. With `append` it continues the artifact of that id from the page before.
         *
         *     `last_chunk` says whether its agent declared it complete. `seq` is the number of the last of its chunks. The name, description, metadata and extensions are each as the newest chunk gave it.
         */
        WireArtifact: {
            /**
             * @description The id of the artifact within its task.
             * @example report
             */
            artifact_id: string;
            /** @description Whether the blocks are added to the artifact of that id. Otherwise they replace it. */
            append: boolean;
            /** @description Whether the artifact is complete. */
            last_chunk: boolean;
            /**
             * @description The number of the row within its task, from 1; null for rows of no task.
             * @example 4
             */
            seq: number;
            /**
             * @description When it was posted.
             * @example 1795640430000
             */
            said_at_ms: number;
            /** @description The content blocks, in order. */
            content: components["schemas"]["ContentBlock"][];
            /**
             * @description A name for people.
             * @example Report
             */
            name?: string;
            /**
             * @description A text about it, for people.
             * @example Papers about solid-state batteries
             */
            description?: string;
            /**
             * @description Further JSON, which the hub keeps and does not read.
             * @example {
             *       "ticket": "INC-4412"
             *     }
             */
            metadata?: {
                [key: string]: unknown;
            };
            /**
             * @description The URIs of the protocol extensions that it uses.
             * @example [
             *       "urn:example:priority"
             *     ]
             */
            extensions?: string[];
        };
        /** @description Why the task is cancelled. The recipient can read it. */
        CancelBody: {
            /**
             * @description Why, in words. Others can read it.
             * @example The work is no longer needed.
             */
            reason?: string;
        };
        /** @description The task is cancelled. */
        TaskCancelled: {
            /**
             * @description Names the shape of this answer.
             * @constant
             */
            kind: "a2a_task_cancelled";
            /**
             * Format: uuid
             * @description The id of the task.
             * @example 6f1c2d9e-3b60-4c1a-9f0e-2a4f5b6c7d8e
             */
            task_id: string;
        };
        /** @description The task with its state. */
        TaskEntryAnswer: {
            /**
             * @description Names the shape of this answer.
             * @constant
             */
            kind: "a2a_task_entry";
            /** @description The task with its state. */
            entry: components["schemas"]["TaskEntry"];
        };
        /** @description With a `lease_id` the heartbeat is rejected unless that lease is live. */
        HeartbeatBody: {
            /**
             * @description The id of the lease. As a guard of a request: nothing happens unless this lease is live.
             * @example a3f1e2d4-5c6b-4a79-8e0d-9f1a2b3c4d5e
             */
            lease_id?: string | null;
        };
        /** @description `turn` counts the messages of the task's sender, from 1: the task's text. */
        LeaseAnswer: {
            /**
             * @description Names the shape of this answer.
             * @constant
             */
            kind: "a2a_lease";
            /**
             * Format: uuid
             * @description The id of the task.
             * @example 6f1c2d9e-3b60-4c1a-9f0e-2a4f5b6c7d8e
             */
            task_id: string;
            /** @description The lease of the task. */
            lease: components["schemas"]["WireLease"];
            /**
             * @description How many messages the task's sender has sent, the task itself included.
             * @example 1
             */
            turn: number;
        };
        /**
         * @description A lease. `work_timeout_ms` is how long the task may stay leased, null for no limit.
         *
         *     `attempt` counts the leases of the task, from 1.
         */
        WireLease: {
            /**
             * Format: uuid
             * @description The id of the lease. As a guard of a request: nothing happens unless this lease is live.
             * @example a3f1e2d4-5c6b-4a79-8e0d-9f1a2b3c4d5e
             */
            lease_id: string;
            /**
             * @description Which lease of the task it is, from 1; 0 before the first.
             * @example 1
             */
            attempt: number;
            /**
             * @description When the lease began.
             * @example 1795640400000
             */
            leased_at_ms: number;
            /**
             * @description When the holder was last heard of.
             * @example 1795640430000
             */
            last_seen_at_ms: number;
            /**
             * @description How long one lease of the task may last, in milliseconds; null for no limit.
             * @example 600000
             */
            work_timeout_ms: number | null;
        };
        /** @description The same `attempt_id` gets the same lease again while that lease is live. */
        LeaseTaskBody: {
            /**
             * @description Your own id of this request. A repeat with the same id acts once.
             * @example 0b9d4c1e-7a52-4e0f-8d3b-5f6a7b8c9d0e
             */
            attempt_id?: string | null;
        };
        /** @description The task with its lease. `turn` and `message` are as in the answer of the next task. */
        TaskLeased: {
            /**
             * @description Names the shape of this answer.
             * @constant
             */
            kind: "a2a_task_leased";
            /** @description The task. */
            task: components["schemas"]["WireWork"];
            /** @description The lease of the task. */
            lease: components["schemas"]["WireLease"];
            /**
             * @description How many messages the task's sender has sent, the task itself included.
             * @example 1
             */
            turn: number;
            /** @description The newest message of the sender, left out while the task's text is the only one. */
            message?: components["schemas"]["SaidMessage"] | null;
        };
        /** @description A message as its author sent it. `role` is `user` for the task's sender, `agent` for its holder. */
        SaidMessage: {
            /**
             * @description The id of the message.
             * @example m-1
             */
            message_id: string;
            /**
             * @description The role of a person, or of the author of a message: `user` is the task's sender, `agent` its holder.
             * @enum {string}
             */
            role: "user" | "agent";
            /** @description The content blocks, in order. */
            content: components["schemas"]["ContentBlock"][];
            /**
             * @description Further JSON, which the hub keeps and does not read.
             * @example {
             *       "ticket": "INC-4412"
             *     }
             */
            metadata?: {
                [key: string]: unknown;
            };
            /**
             * @description The URIs of the protocol extensions that it uses.
             * @example [
             *       "urn:example:priority"
             *     ]
             */
            extensions?: string[];
            /**
             * @description The ids of earlier tasks that it refers to.
             * @example [
             *       "1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed"
             *     ]
             */
            reference_task_ids?: string[];
        };
        /**
         * @description Messages of both parties, oldest first. The first is the task's text.
         *
         *     If more are left, `next_after` is the `after` of the next request, else null. A wait ends when the task is resolved, since no message follows. It also ends when the agent asks without words. `next_after` is then the number of the question, so that the next request waits for what follows it.
         */
        ListedMessages: {
            /**
             * @description Names the shape of this answer.
             * @constant
             */
            kind: "a2a_messages";
            /**
             * Format: uuid
             * @description The id of the task.
             * @example 6f1c2d9e-3b60-4c1a-9f0e-2a4f5b6c7d8e
             */
            task_id: string;
            /**
             * @description The state of the task.
             * @enum {string}
             */
            state: "queued" | "in_flight" | "interrupted" | "resolved";
            /** @description The kind of the open question of an interrupted task, null for other tasks. */
            awaits?: ("input" | "authorization") | null;
            /**
             * @description How many messages the task's sender has sent, the task itself included.
             * @example 1
             */
            turn: number;
            /** @description The messages, oldest first. */
            messages: components["schemas"]["WireMessage"][];
            /**
             * @description The `after` of the next request, null if nothing is left.
             * @example 128
             */
            next_after: number | null;
        };
        /** @description A message with its number in the task's journal and its time. `progress` is there only if it reports some. */
        WireMessage: {
            /**
             * @description The id of the message.
             * @example m-1
             */
            message_id: string;
            /**
             * @description The role of a person, or of the author of a message: `user` is the task's sender, `agent` its holder.
             * @enum {string}
             */
            role: "user" | "agent";
            /** @description The content blocks, in order. */
            content: components["schemas"]["ContentBlock"][];
            /**
             * @description Further JSON, which the hub keeps and does not read.
             * @example {
             *       "ticket": "INC-4412"
             *     }
             */
            metadata?: {
                [key: string]: unknown;
            };
            /**
             * @description The URIs of the protocol extensions that it uses.
             * @example [
             *       "urn:example:priority"
             *     ]
             */
            extensions?: string[];
            /**
             * @description The ids of earlier tasks that it refers to.
             * @example [
             *       "1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed"
             *     ]
             */
            reference_task_ids?: string[];
            /**
             * @description The number of the row within its task, from 1; null for rows of no task.
             * @example 4
             */
            seq: number;
            /**
             * @description When it was posted.
             * @example 1795640430000
             */
            said_at_ms: number;
            /** @description How far the work is. */
            progress?: components["schemas"]["WireProgress"];
        };
        /** @description How much of the work is done, from 0 to 1, and a note on what is happening. */
        WireProgress: {
            /**
             * @description How much of the work is done, from 0 to 1.
             * @example 0.4
             */
            fraction: number;
            /**
             * @description A note on the work.
             * @example reading the third paper
             */
            note: string;
        };
        /**
         * @description A further message of the task's sender. `content` is text or content blocks.
         *
         *     The same `attempt_id` with the same message stores it once.
         */
        SayBody: {
            /** @description The message: text, or content blocks. */
            content: components["schemas"]["Content"];
            /**
             * @description The id of the message.
             * @example m-1
             */
            message_id?: string | null;
            /**
             * @description Further JSON, which the hub keeps and does not read.
             * @example {
             *       "ticket": "INC-4412"
             *     }
             */
            metadata?: {
                [key: string]: unknown;
            } | null;
            /**
             * @description The URIs of the protocol extensions that it uses.
             * @example [
             *       "urn:example:priority"
             *     ]
             */
            extensions?: string[];
            /**
             * @description The ids of earlier tasks that it refers to.
             * @example [
             *       "1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed"
             *     ]
             */
            reference_task_ids?: string[];
            /**
             * @description Your own id of this request. A repeat with the same id acts once.
             * @example 0b9d4c1e-7a52-4e0f-8d3b-5f6a7b8c9d0e
             */
            attempt_id?: string | null;
        };
        /** @description `seq` is the number of the message in the task's journal, `turn` its number among those of the sender. */
        MessageSent: {
            /**
             * @description Names the shape of this answer.
             * @constant
             */
            kind: "a2a_message_sent";
            /**
             * Format: uuid
             * @description The id of the task.
             * @example 6f1c2d9e-3b60-4c1a-9f0e-2a4f5b6c7d8e
             */
            task_id: string;
            /**
             * @description The id of the message.
             * @example m-1
             */
            message_id: string;
            /**
             * @description The number of the row within its task, from 1; null for rows of no task.
             * @example 4
             */
            seq: number;
            /**
             * @description How many messages the task's sender has sent, the task itself included.
             * @example 1
             */
            turn: number;
        };
        /** @description Why the lease is handed back. With a `lease_id` nothing happens unless that lease is live. */
        ReleaseBody: {
            /**
             * @description Why, in words. Others can read it.
             * @example The work is no longer needed.
             */
            reason: string;
            /**
             * @description The id of the lease. As a guard of a request: nothing happens unless this lease is live.
             * @example a3f1e2d4-5c6b-4a79-8e0d-9f1a2b3c4d5e
             */
            lease_id?: string | null;
        };
        /** @description The lease has ended, and the task is queued again. */
        TaskReleased: {
            /**
             * @description Names the shape of this answer.
             * @constant
             */
            kind: "a2a_task_released";
            /**
             * Format: uuid
             * @description The id of the task.
             * @example 6f1c2d9e-3b60-4c1a-9f0e-2a4f5b6c7d8e
             */
            task_id: string;
            /**
             * @description Which lease of the task it is, from 1; 0 before the first.
             * @example 1
             */
            attempt: number;
        };
        /** @description A page of the task's journal, in order. */
        Timeline: {
            /**
             * @description Names the shape of this answer.
             * @constant
             */
            kind: "a2a_timeline";
            /**
             * Format: uuid
             * @description The id of the task.
             * @example 6f1c2d9e-3b60-4c1a-9f0e-2a4f5b6c7d8e
             */
            task_id: string;
            /** @description The rows of the journal. */
            events: components["schemas"]["JournalEvent"][];
            /**
             * @description The `cursor` of the next page, null on the last page.
             * @example gAAAAABnQ2x0bWFya2Vy
             */
            next_cursor: string | null;
        };
        /**
         * @description A row of the journal. `seq` numbers the changes of one task, from 1; it is null in other rows.
         *
         *     Only people see `id`, and `address`, the network address of the client. It is "" without one. To agents, people and the command line are the actor `operator`, and `request_id` is null for the requests of others.
         */
        JournalEvent: {
            /**
             * @description The number of the row.
             * @example 17
             */
            id?: number;
            /**
             * @description The kind of the event.
             * @example a2a_task_sent
             */
            kind: string;
            /**
             * @description The actor: an agent, a person as `user:<name>`, or the command line.
             * @example planner@local
             */
            actor: string;
            /**
             * @description The id of the task.
             * @example 6f1c2d9e-3b60-4c1a-9f0e-2a4f5b6c7d8e
             */
            task_id: string | null;
            /**
             * @description The number of the row within its task, from 1; null for rows of no task.
             * @example 4
             */
            seq: number | null;
            /**
             * @description When it happened.
             * @example 1795640400000
             */
            at_ms: number;
            /**
             * @description By which way the request came.
             * @enum {string}
             */
            source: "api" | "dashboard" | "cli" | "scheduler" | "local";
            /**
             * @description The id of the request, null for the requests of others.
             * @example f3b1c2d4
             */
            request_id: string | null;
            /**
             * @description The network address of the client, empty without one.
             * @example 192.0.2.10
             */
            address?: string;
            /**
             * @description The details of the row, which depend on its `kind`.
             * @example {
             *       "recipient": "research@local"
             *     }
             */
            data: {
                [key: string]: unknown;
            };
        };
        /** @description A page of the tree, from the root down. */
        Tree: {
            /**
             * @description Names the shape of this answer.
             * @constant
             */
            kind: "a2a_tree";
            /**
             * Format: uuid
             * @description The id of the root of the tree.
             * @example 6f1c2d9e-3b60-4c1a-9f0e-2a4f5b6c7d8e
             */
            root: string;
            /** @description The tasks, each parent before its children. */
            nodes: components["schemas"]["TreeNode"][];
            /**
             * @description The `cursor` of the next page, null on the last page.
             * @example gAAAAABnQ2x0bWFya2Vy
             */
            next_cursor: string | null;
        };
        /** @description A task of the tree. `depth` is 0 for the root. */
        TreeNode: {
            /**
             * @description How far below the root the task is; 0 for the root.
             * @example 0
             */
            depth: number;
            /**
             * @description The state of the task.
             * @enum {string}
             */
            state: "queued" | "in_flight" | "interrupted" | "resolved";
            /** @description The kind of the open question of an interrupted task, null for other tasks. */
            awaits: ("input" | "authorization") | null;
            /**
             * @description How the task ended, null before that.
             * @example ok
             */
            outcome: string | null;
            /**
             * @description Which lease of the task it is, from 1; 0 before the first.
             * @example 1
             */
            attempt: number;
            /**
             * @description The task whose result this task waits for, since both ask for the same work.
             * @example 1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed
             */
            waits_on: string | null;
            /** @description The task. */
            task: components["schemas"]["WireTask"];
            /** @description The result, null without one. */
            result: components["schemas"]["WireResult"] | null;
        };
        /**
         * @description Updates of the lease's holder, in order. The same `attempt_id` with the same updates gets the same answer.
         * @example {
         *       "updates": [
         *         {
         *           "progress": {
         *             "fraction": 0.4,
         *             "note": "reading the third paper"
         *           }
         *         }
         *       ],
         *       "lease_id": "a3f1e2d4-5c6b-4a79-8e0d-9f1a2b3c4d5e",
         *       "attempt_id": "0b9d4c1e-7a52-4e0f-8d3b-5f6a7b8c9d0e"
         *     }
         */
        UpdatesBody: {
            /** @description The updates, in order. */
            updates: components["schemas"]["UpdateBody"][];
            /**
             * @description The id of the lease. As a guard of a request: nothing happens unless this lease is live.
             * @example a3f1e2d4-5c6b-4a79-8e0d-9f1a2b3c4d5e
             */
            lease_id?: string | null;
            /**
             * @description Your own id of this request. A repeat with the same id acts once.
             * @example 0b9d4c1e-7a52-4e0f-8d3b-5f6a7b8c9d0e
             */
            attempt_id?: string | null;
        };
        /**
         * @description Exactly one of `message`, `progress`, `artifact` and `status`. The statuses `input_required` and `auth_required` put a question to the task's sender and end the lease; such an update is the last of its request and may have a `message`.
         * @example {
         *       "progress": {
         *         "fraction": 0.4,
         *         "note": "reading the third paper"
         *       }
         *     }
         */
        UpdateBody: {
            /** @description Words for the sender: text, or content blocks. */
            message?: components["schemas"]["Content"] | null;
            /**
             * @description The id of the message.
             * @example m-1
             */
            message_id?: string | null;
            /**
             * @description Further JSON, which the hub keeps and does not read.
             * @example {
             *       "ticket": "INC-4412"
             *     }
             */
            metadata?: {
                [key: string]: unknown;
            } | null;
            /** @description How far the work is. */
            progress?: components["schemas"]["ProgressBody"] | null;
            /** @description An artifact, or a chunk of one. */
            artifact?: components["schemas"]["ArtifactBody"] | null;
            /** @description Whether the blocks are added to the artifact of that id. Otherwise they replace it. */
            append?: boolean;
            /** @description Whether the artifact is complete. */
            last_chunk?: boolean;
            /** @description A question, or `working`. */
            status?: ("working" | "input_required" | "auth_required") | null;
        };
        /** @description How much of the work is done, from 0 to 1, and a note on what is happening. */
        ProgressBody: {
            /**
             * @description How much of the work is done, from 0 to 1.
             * @example 0.4
             */
            fraction: number;
            /**
             * @description A note on the work.
             * @example reading the third paper
             */
            note?: string;
        };
        /** @description An artifact of the task, or a chunk of it. `content` is text or content blocks. */
        ArtifactBody: {
            /**
             * @description The id of the artifact within its task. Default: result.
             * @example report
             */
            artifact_id?: string;
            /**
             * @description A name for people.
             * @example Report
             */
            name?: string | null;
            /**
             * @description A text about it, for people.
             * @example Papers about solid-state batteries
             */
            description?: string | null;
            /** @description The artifact: text, or content blocks. */
            content: components["schemas"]["Content"];
            /**
             * @description Further JSON, which the hub keeps and does not read.
             * @example {
             *       "ticket": "INC-4412"
             *     }
             */
            metadata?: {
                [key: string]: unknown;
            } | null;
            /**
             * @description The URIs of the protocol extensions that it uses.
             * @example [
             *       "urn:example:priority"
             *     ]
             */
            extensions?: string[];
        };
        /**
         * @description `seq` is the number of the last update in the task's journal.
         *
         *     `turn` counts the messages of the task's sender. It grows when the sender sends a further message.
         */
        TaskUpdated: {
            /**
             * @description Names the shape of this answer.
             * @constant
             */
            kind: "a2a_task_updated";
            /**
             * Format: uuid
             * @description The id of the task.
             * @example 6f1c2d9e-3b60-4c1a-9f0e-2a4f5b6c7d8e
             */
            task_id: string;
            /**
             * @description The number of the row within its task, from 1; null for rows of no task.
             * @example 4
             */
            seq: number;
            /**
             * @description How many messages the task's sender has sent, the task itself included.
             * @example 1
             */
            turn: number;
        };
        /** @description Tasks to send, in order. Each is decided by itself: a refused task keeps no other task from being sent. */
        TasksBody: {
            /** @description The tasks. */
            tasks: components["schemas"]["TaskBody"][];
        };
        /** @description `posted` are the ids of the stored tasks, in the order of the batch without the refused items. */
        TasksQueued: {
            /**
             * @description Names the shape of this answer.
             * @constant
             */
            kind: "a2a_tasks_queued";
            /**
             * @description The task ids of the items that succeeded, in their order.
             * @example [
             *       "6f1c2d9e-3b60-4c1a-9f0e-2a4f5b6c7d8e"
             *     ]
             */
            posted: string[];
            /** @description The items that failed, each with its error. */
            refused: components["schemas"]["RefusedItem"][];
        };
        /**
         * @description How to lease up to `max` tasks. The `results` are posted first, before the wait for tasks.
         *
         *     The answer comes with the first task. It has fewer than `max` tasks if no more are queued, or if one more would exceed 4 MiB. A repeat with the same `attempt_id` and the same `results` gets the same answer.
         */
        LeaseBody: {
            /**
             * @description How long the hub may hold the request, in milliseconds. 0 answers at once.
             * @example 30000
             */
            wait_ms?: number;
            /**
             * @description Your own id of this request. A repeat with the same id acts once.
             * @example 0b9d4c1e-7a52-4e0f-8d3b-5f6a7b8c9d0e
             */
            attempt_id?: string | null;
            /**
             * @description The most items of the answer.
             * @example 32
             */
            max: number;
            /** @description The results of the last tasks, posted first. */
            results?: components["schemas"]["ResultBody"][];
        };
        /**
         * @description The leased tasks, oldest first, and the outcomes of the results of the request.
         *
         *     A `message` is left out, too, if the answer would exceed 4 MiB with it. Its task's messages can be read.
         *
         *     `attempt_spent` is there only when the attempt id is spent: its leases have ended. Use a new id.
         */
        TasksLeased: {
            /**
             * @description Names the shape of this answer.
             * @constant
             */
            kind: "a2a_tasks_leased";
            /** @description The leases, each with its task. */
            leases: components["schemas"]["WireLeased"][];
            /**
             * @description The task ids of the items that succeeded, in their order.
             * @example [
             *       "6f1c2d9e-3b60-4c1a-9f0e-2a4f5b6c7d8e"
             *     ]
             */
            posted: string[];
            /** @description The items that failed, each with its error. */
            refused: components["schemas"]["RefusedItem"][];
            /** @description Whether the attempt id is spent. Use a new id then. Left out otherwise. */
            attempt_spent?: boolean;
        };
        /**
         * @description A task with its lease. `turn` counts the messages of its sender, from 1: the task's text.
         *
         *     `message` is the newest of them. It is left out while the task's text is the only message. A task of the official protocol always has it, with all parts of the message.
         */
        WireLeased: {
            /** @description The task. */
            task: components["schemas"]["WireWork"];
            /** @description The lease of the task. */
            lease: components["schemas"]["WireLease"];
            /**
             * @description How many messages the task's sender has sent, the task itself included.
             * @example 1
             */
            turn: number;
            /** @description The newest message of the sender, left out while the task's text is the only one. */
            message?: components["schemas"]["SaidMessage"];
        };
        /**
         * @description The leased task with its lease. Both are null when nothing was there to lease.
         *
         *     `turn` counts the messages of the task's sender, from 1: the task's text. `message` is the newest of them; it is left out while the text is the only message. `attempt_spent` is there only when the attempt id is spent: its leases have ended. Use a new id.
         */
        TaskOpt: {
            /**
             * @description Names the shape of this answer.
             * @constant
             */
            kind: "a2a_task_opt";
            /** @description The task. */
            task: components["schemas"]["WireWork"] | null;
            /** @description The lease of the task. */
            lease: components["schemas"]["WireLease"] | null;
            /**
             * @description How many messages the task's sender has sent, the task itself included.
             * @example 1
             */
            turn?: number | null;
            /** @description The newest message of the sender, left out while the task's text is the only one. */
            message?: components["schemas"]["SaidMessage"] | null;
            /** @description Whether the attempt id is spent. Use a new id then. Left out otherwise. */
            attempt_spent?: boolean;
        };
        /**
         * @description How to receive, in the query or the body.
         *
         *     With `wait_ms` the hub holds the request until something arrives, by default for at most 50 seconds. Without it the hub answers at once. The same `attempt_id` gets the same answer again. Keep the id until it has brought something, also after an empty answer. Then use a new id. Once its leases have ended or its results were acknowledged, an id is spent. The answer then has `attempt_spent` and nothing else.
         */
        NextTask: {
            /**
             * @description How long the hub may hold the request, in milliseconds. 0 answers at once.
             * @example 30000
             */
            wait_ms?: number;
            /**
             * @description Your own id of this request. A repeat with the same id acts once.
             * @example 0b9d4c1e-7a52-4e0f-8d3b-5f6a7b8c9d0e
             */
            attempt_id?: string | null;
        };
        /** @description A page of queued tasks, oldest first. */
        ListedTasks: {
            /**
             * @description Names the shape of this answer.
             * @constant
             */
            kind: "a2a_tasks";
            /** @description The tasks. */
            tasks: components["schemas"]["WireTask"][];
            /**
             * @description The `cursor` of the next page, null on the last page.
             * @example gAAAAABnQ2x0bWFya2Vy
             */
            next_cursor: string | null;
        };
        /** @description The proof that the block's signed root covers the row: the steps lead from `leaf` to `block.root`. */
        AuditProof: {
            /**
             * @description Names the shape of this answer.
             * @constant
             */
            kind: "audit_proof";
            /**
             * @description The row.
             * @example {
             *       "id": 17,
             *       "kind": "a2a_task_sent"
             *     }
             */
            row: {
                [key: string]: unknown;
            };
            /**
             * @description The hash of the row.
             * @example 2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae
             */
            leaf: string;
            /** @description The siblings on the way from the leaf to the root. */
            steps: components["schemas"]["WireStep"][];
            /**
             * @description The sealed block of the row, with its root and its signature.
             * @example {
             *       "root": "9f86d081884c7d65"
             *     }
             */
            block: {
                [key: string]: unknown;
            };
        };
        /** @description The hash of a sibling in the Merkle tree, and its side. */
        WireStep: {
            /**
             * @description On which side the sibling is.
             * @enum {string}
             */
            side: "left" | "right";
            /**
             * @description A SHA-256 hash in hex.
             * @example 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
             */
            hash: string;
        };
        /** @description A page of the journal, newest first. */
        AuditEvents: {
            /**
             * @description Names the shape of this answer.
             * @constant
             */
            kind: "audit_events";
            /** @description The rows of the journal. */
            events: components["schemas"]["JournalEvent"][];
            /**
             * @description The `cursor` of the next page, null on the last page.
             * @example gAAAAABnQ2x0bWFya2Vy
             */
            next_cursor: string | null;
        };
        /**
         * @description A verification of up to `blocks` blocks; `next_after` null means that none is left.
         *
         *     `erased` lists erased rows. `unsealed` counts the newest rows, which no seal proves yet. `unproven` says which blocks no head proves, if the hub recorded none; "" otherwise.
         */
        AuditVerification: {
            /**
             * @description Names the shape of this answer.
             * @constant
             */
            kind: "audit_verification";
            /** @description Whether all checked rows are as they were written. */
            whole: boolean;
            /** @description The first problem, null without one. */
            finding: components["schemas"]["WireFinding"] | null;
            /**
             * @description How many blocks were checked.
             * @example 10
             */
            blocks: number;
            /**
             * @description How many rows were checked.
             * @example 128
             */
            rows: number;
            /**
             * @description The ids of erased rows among them.
             * @example [
             *       17
             *     ]
             */
            erased: number[];
            /**
             * @description How many of the newest rows no seal proves yet.
             * @example 5
             */
            unsealed: number;
            /** @description The last block that was checked, null without one. */
            head: components["schemas"]["WireHead"] | null;
            /**
             * @description The `after` of the next request, null if nothing is left.
             * @example 128
             */
            next_after: number | null;
            /**
             * @description Why the newest blocks are not proven, empty if they are.
             * @example no head is recorded here: the newest blocks are not proven
             */
            unproven: string;
        };
        /** @description The first problem: the block by its ids, null outside of a block, and the row, null without one. */
        WireFinding: {
            /**
             * @description The problem.
             * @example timed out
             */
            problem: string;
            /**
             * @description The first row of the block.
             * @example 1
             */
            first_id: number | null;
            /**
             * @description The last row of the block.
             * @example 128
             */
            last_id: number | null;
            /**
             * @description A row of the journal, or its number.
             * @example 17
             */
            row: number | null;
        };
        /** @description The last block that was checked, by its last row and its hash. */
        WireHead: {
            /**
             * @description The last row of the block.
             * @example 128
             */
            last_id: number;
            /**
             * @description A SHA-256 hash in hex.
             * @example 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
             */
            hash: string;
        };
        /**
         * @description The capability to grant.
         *
         *     `scope` limits the grant to a peer, a task, a lease or a duplicate risk. `max_uses` limits how often it is used.
         */
        GrantBody: {
            /** @description The agent that holds the grant. */
            subject: components["schemas"]["AgentName"];
            /**
             * @description The action, as a grant spells it.
             * @example a2a.send.research@local
             */
            action: string;
            /**
             * @description The limits of the grant, empty for no limit.
             * @example {
             *       "version": 1,
             *       "task_id": "6f1c2d9e-3b60-4c1a-9f0e-2a4f5b6c7d8e"
             *     }
             */
            scope?: {
                [key: string]: unknown;
            } | null;
            /**
             * @description When it expires, in Unix epoch milliseconds; null for never.
             * @example 1827176400000
             */
            expires_at?: number | null;
            /**
             * @description How often the grant may be used, null for no limit.
             * @example 100
             */
            max_uses?: number | null;
        };
        /** @description The capability is granted. */
        Granted: {
            /**
             * @description Names the shape of this answer.
             * @constant
             */
            kind: "capability_granted";
            /**
             * Format: uuid
             * @description The id of the grant.
             * @example 5d2c9b7a-8e41-4d6f-a1b2-c3d4e5f60718
             */
            grant_id: string;
            /**
             * @description The name of the agent that holds the grant.
             * @example planner@local
             */
            subject_display: string;
            /**
             * @description The action, as a grant spells it.
             * @example a2a.send.research@local
             */
            action: string;
        };
        /** @description A page of grants, newest first. */
        CapabilityList: {
            /**
             * @description Names the shape of this answer.
             * @constant
             */
            kind: "capabilities";
            /** @description The grants of this page. */
            capabilities: components["schemas"]["Capability"][];
            /**
             * @description The `cursor` of the next page, null on the last page.
             * @example gAAAAABnQ2x0bWFya2Vy
             */
            next_cursor: string | null;
        };
        /** @description A grant. `expires_at` is in Unix epoch milliseconds. `max_uses` null means no limit. */
        Capability: {
            /**
             * Format: uuid
             * @description The id of the grant.
             * @example 5d2c9b7a-8e41-4d6f-a1b2-c3d4e5f60718
             */
            grant_id: string;
            /** @description The agent that holds the grant. */
            subject: components["schemas"]["AgentId"];
            /**
             * @description The action, as a grant spells it.
             * @example a2a.send.research@local
             */
            action: string;
            /**
             * @description The limits of the grant, empty for no limit.
             * @example {
             *       "version": 1,
             *       "task_id": "6f1c2d9e-3b60-4c1a-9f0e-2a4f5b6c7d8e"
             *     }
             */
            scope: {
                [key: string]: unknown;
            };
            /**
             * @description The caller that gave the grant.
             * @example user:operator
             */
            granted_by: string;
            /**
             * @description When it expires, in Unix epoch milliseconds; null for never.
             * @example 1827176400000
             */
            expires_at: number | null;
            /**
             * @description How often the grant may be used, null for no limit.
             * @example 100
             */
            max_uses: number | null;
            /**
             * @description How often the grant was used.
             * @example 4
             */
            uses: number;
            /**
             * @description When it was created.
             * @example 1795640400000
             */
            created_at_ms: number;
            /**
             * @description When it was revoked, null while it counts.
             * @example 1795640460000
             */
            revoked_at_ms: number | null;
        };
        /** @description The grant to revoke. */
        RevokeBody: {
            /**
             * Format: uuid
             * @description The id of the grant.
             * @example 5d2c9b7a-8e41-4d6f-a1b2-c3d4e5f60718
             */
            grant_id: string;
        };
        /** @description The grant is revoked. */
        Revoked: {
            /**
             * @description Names the shape of this answer.
             * @constant
             */
            kind: "capability_revoked";
            /**
             * Format: uuid
             * @description The id of the grant.
             * @example 5d2c9b7a-8e41-4d6f-a1b2-c3d4e5f60718
             */
            grant_id: string;
            /**
             * @description When it was revoked, null while it counts.
             * @example 1795640460000
             */
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
