// Written by `npm run docs` from the OpenAPI document of the service: change the operations, not this file.
export interface paths {
    "/v1/wallets/{wallet}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Open a wallet
         * @description Scopes: app, operator, admin.
         */
        put: operations["wallets.open"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Change the overdraft limit or the status of a wallet
         * @description Scopes: app, operator, admin.
         */
        patch: operations["wallets.change"];
        trace?: never;
    };
    "/v1/batch/wallets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Open in a batch: an answer per item, in order
         * @description Scopes: app, operator, admin.
         */
        post: operations["wallets.openMany"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/wallets/{wallet}/balance": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What a wallet holds: now, or at a past instant
         * @description Scopes: app, worker, viewer, support, operator, admin.
         */
        get: operations["wallets.balance"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/batch/balances": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * What many wallets hold at one moment: a balance per wallet, in order
         * @description Scopes: app, worker, viewer, support, operator, admin.
         */
        post: operations["wallets.balances"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/wallets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The wallets of a customer, or of everybody, in the order of their ids, page by page
         * @description A key that is bound to a customer may leave `customer` out: it gets the wallets of its own.
         *
         *     Scopes: app, worker, viewer, support, operator, admin.
         */
        get: operations["wallets.list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/remainders": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Unused credit by grant, wallet by wallet in the order of its use
         * @description Used first is what has the lowest priority, then what expires first, then the oldest. What is left of a wallet sums to its balance, or to nothing where it is in debt. A page has the grants of up to `limit` wallets.
         *
         *     Scopes: app, viewer, support, operator, admin.
         */
        get: operations["wallets.remainders"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/wallets/{wallet}/entries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The entries of a wallet, page by page
         * @description Scopes: app, viewer, support, operator, admin.
         */
        get: operations["wallets.entries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/wallets/{wallet}/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Why the balance is what it is: every entry in order, as a stream
         * @description One JSON entry a line, with its running balance, its job and its reason.
         *
         *     Scopes: app, viewer, support, operator, admin.
         */
        get: operations["wallets.replay"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/wallets/{wallet}/grants/{key}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Add credit, once per key
         * @description Scopes: app, operator, admin.
         */
        put: operations["wallets.grant"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/batch/grants": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Grant in a batch: an answer per item, in order
         * @description Scopes: app, operator, admin.
         */
        post: operations["wallets.grantMany"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/wallets/{wallet}/adjusts/{key}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Correct a balance by ±amount, with who and why
         * @description Scopes: support, operator, admin.
         */
        put: operations["wallets.adjust"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/batch/adjusts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Adjust in a batch: an answer per item, in order
         * @description Scopes: support, operator, admin.
         */
        post: operations["wallets.adjustMany"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/plans/{plan}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Set a plan: what a period grants, and how long it is
         * @description A new plan needs `credits` and `every`; of one that is there what is not given stays. Periods that run stay as they are.
         *
         *     Scopes: operator, admin.
         */
        put: operations["plans.set"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/plans": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Plans in the order of their ids, page by page
         * @description Scopes: app, viewer, support, operator, admin.
         */
        get: operations["plans.list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/subscriptions/{subscription}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One subscription
         * @description Scopes: app, viewer, support, operator, admin.
         */
        get: operations["subscriptions.get"];
        /**
         * Begin a checkout, before it is paid
         * @description A second subscription of a customer is refused here, before money moves. A pending one of his makes way.
         *
         *     Scopes: app, operator, admin.
         */
        put: operations["subscriptions.start"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/subscriptions/{subscription}/payments/{key}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * A payment arrived: begin the subscription, or its next period
         * @description The credit of the period is granted in the same transaction, once. A payment without a place is kept: see `subscriptions.strays`.
         *
         *     Scopes: app, operator, admin.
         */
        put: operations["subscriptions.pay"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/subscriptions/{subscription}/change": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Another plan, now with a fair part of its credit, or from the next period
         * @description Scopes: app, operator, admin.
         */
        post: operations["subscriptions.change"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/subscriptions/{subscription}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * End it now or with its period, or take that back
         * @description Scopes: app, support, operator, admin.
         */
        post: operations["subscriptions.cancel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/subscriptions/{subscription}/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What happened to a subscription, oldest first
         * @description Scopes: app, viewer, support, operator, admin.
         */
        get: operations["subscriptions.history"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/subscriptions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Subscriptions of a customer, or of everybody, in the order of their ids, page by page
         * @description Scopes: app, viewer, support, operator, admin.
         */
        get: operations["subscriptions.list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/stray-payments": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Payments that could neither begin nor renew anything, newest first
         * @description Somebody has to give that money back.
         *
         *     Scopes: viewer, support, operator, admin.
         */
        get: operations["subscriptions.strays"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/payments/{payment}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Say something of a payment, in any order and any number of times: its credit follows
         * @description Granted once when it is paid; what is refunded or disputed is taken back in proportion, into debt if need be.
         *
         *     Scopes: app, operator, admin.
         */
        put: operations["payments.tell"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/payments": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Payments, newest first; or only those that are paid and granted nothing
         * @description Scopes: viewer, support, operator, admin.
         */
        get: operations["payments.list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/batch/payments/missing": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Which of these are not known as paid and granted: a provider’s export against the ledger
         * @description Scopes: app, viewer, support, operator, admin.
         */
        post: operations["payments.missing"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/payment-webhooks/{provider}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * The webhook of a provider of payments
         * @description Stripe signs with the secret of its endpoint; senders of yours after Standard Webhooks, with what `payments.tell` takes as the body.
         *
         *     No key: it carries its own proof.
         */
        post: operations["payments.take"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/wallets/{wallet}/jobs/{job}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One job with its payload and result
         * @description Scopes: app, worker, viewer, support, operator, admin.
         */
        get: operations["jobs.get"];
        /**
         * Charge the price and queue the job
         * @description Repeat it as often as you like: the id of the job is its idempotency key. A W3C `traceparent` header is kept with the job.
         *
         *     Scopes: app, admin.
         */
        put: operations["jobs.submit"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/batch/jobs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Submit a batch: an answer per item, as if they were submitted one by one
         * @description Scopes: app, admin.
         */
        post: operations["jobs.submitMany"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/wallets/{wallet}/jobs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The jobs of a wallet, newest first, page by page
         * @description A page of a filter may hold fewer than `limit`, or none, and go on: only a `cursor` of null is the end.
         *
         *     Scopes: app, worker, viewer, support, operator, admin.
         */
        get: operations["jobs.list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/wallets/{wallet}/jobs/{job}/attempts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * How the attempts of a job ended
         * @description Scopes: app, worker, viewer, support, operator, admin.
         */
        get: operations["jobs.attempts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/wallets/{wallet}/jobs/{job}/entries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What a job put into the ledger, with the adjusts that name it
         * @description Also for a job whose row was pruned: its entries stay.
         *
         *     Scopes: app, worker, viewer, support, operator, admin.
         */
        get: operations["jobs.entries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/upstream-refs/{upstreamRef}/jobs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The jobs that carry a reference of an upstream, with the attempt it belongs to
         * @description Scopes: app, worker, viewer, support, operator, admin.
         */
        get: operations["jobs.byUpstreamRef"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/prune": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Delete rows of jobs that ended long ago, a bounded number at a time; their entries stay
         * @description Repeat it until it answers fewer than `count`. Dead, discarded and failed jobs are never pruned.
         *
         *     Scopes: operator, admin.
         */
        post: operations["jobs.prune"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/wallets/{wallet}/jobs/{job}/fail": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Report a failed attempt: refunds and retries, or ends the job
         * @description Scopes: app, worker, admin.
         */
        post: operations["jobs.fail"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/wallets/{wallet}/jobs/{job}/succeed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * The work is done, whoever says so and however late
         * @description Scopes: app, worker, admin.
         */
        post: operations["jobs.succeed"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/wallets/{wallet}/jobs/{job}/settle": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Book what an ended job turned out to be worth
         * @description Scopes: app, worker, admin.
         */
        post: operations["jobs.settle"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/wallets/{wallet}/jobs/{job}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Give a job up: refunds, and keeps what was already delivered
         * @description Scopes: app, support, admin.
         */
        post: operations["jobs.cancel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/batch/failures": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Report failures in a batch: an answer per item, in order
         * @description Scopes: app, worker, admin.
         */
        post: operations["jobs.failMany"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/batch/successes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Report successes in a batch: an answer per item, in order
         * @description Scopes: app, worker, admin.
         */
        post: operations["jobs.succeedMany"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/upstream-refs/{upstreamRef}/fail": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Report a failure of the attempt that carries this reference
         * @description Scopes: app, worker, admin.
         */
        post: operations["upstreamRefs.fail"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/upstream-refs/{upstreamRef}/succeed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Report a success of the attempt that carries this reference
         * @description Scopes: app, worker, admin.
         */
        post: operations["upstreamRefs.succeed"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/queues/{queue}/leases": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Take due jobs of a queue; waits up to a minute for the first one
         * @description Each is a new attempt, yours until the lease ends. Where the queue has a pool, each comes with an upstream of it, or not at all: `out` says why, and when to ask again. With a `requestId` a lost answer can be asked for again: the same jobs and attempts come back.
         *
         *     Scopes: worker, admin.
         */
        post: operations["queues.lease"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/wallets/{wallet}/jobs/{job}/extend": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Keep a lease
         * @description Scopes: worker, admin.
         */
        post: operations["jobs.extend"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/wallets/{wallet}/jobs/{job}/hand-over": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * The provider works on it: no lease any more, its callback or the deadline ends it
         * @description Scopes: worker, admin.
         */
        post: operations["jobs.handOver"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/wallets/{wallet}/jobs/{job}/release": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Give an attempt back unfinished: no failure, no refund
         * @description Scopes: worker, admin.
         */
        post: operations["jobs.release"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/wallets/{wallet}/jobs/{job}/report": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Say what the provider answered to an attempt that was leased with an upstream: for the job and the upstream in one
         * @description A success ends the job with its `result`; an answer about the job fails it for good; any other puts it back at its place, with no failure counted and no refund. The upstream is blocked or freed, its use booked, its slot given back.
         *
         *     Scopes: worker, admin.
         */
        post: operations["jobs.report"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/dead-letters": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Dead letters of a filter, oldest first, page by page
         * @description Scopes: app, viewer, support, operator, admin.
         */
        get: operations["deadLetters.list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/dead-letters/preview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What redriving a filter would do; changes nothing
         * @description Scopes: viewer, support, operator, admin.
         */
        get: operations["deadLetters.preview"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/dead-letters/redrive": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Redrive a filter in small steps, telling its progress
         * @description One JSON object a line; the last one has `ended: true`. It stops when the caller goes: what was redriven stays so, preview again for the rest. A repeat after it ended refuses `count_changed`.
         *
         *     Scopes: operator, admin.
         */
        post: operations["deadLetters.redriveAll"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/wallets/{wallet}/jobs/{job}/redrive": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Run a dead or discarded job again; never charges
         * @description Scopes: support, operator, admin.
         */
        post: operations["deadLetters.redrive"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/wallets/{wallet}/jobs/{job}/discard": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Put a dead letter aside; a late success still reclaims
         * @description Scopes: support, operator, admin.
         */
        post: operations["deadLetters.discard"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/queues": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What waits in each queue
         * @description Reads every job that has not ended: for people, not for loops.
         *
         *     Scopes: viewer, support, operator, admin.
         */
        get: operations["queues.list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/queues/{queue}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The settings in force for a queue: its own, or those of `*`
         * @description Scopes: app, worker, viewer, support, operator, admin.
         */
        get: operations["queues.get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Set what is given and leave the rest; `*` is for all queues without their own settings
         * @description Scopes: operator, admin.
         */
        patch: operations["queues.configure"];
        trace?: never;
    };
    "/v1/upstreams": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Upstreams by their ids, each with every check that fails, page by page
         * @description With `usable` a page looks at 2,000 upstreams at most: it may be short, or empty, and go on. Only a `cursor` of null is the end.
         *
         *     Scopes: viewer, support, operator, admin.
         */
        get: operations["upstreams.list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/upstreams/{upstream}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Make an upstream known, or set what is given of one that is
         * @description What is left out stays, or takes its default. Pool and provider never change: another pool or provider is a `conflict`.
         *
         *     Scopes: operator, admin.
         */
        put: operations["upstreams.register"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Switch an upstream on or off, drain or retire it; change its settings
         * @description Scopes: operator, admin.
         */
        patch: operations["upstreams.change"];
        trace?: never;
    };
    "/v1/upstreams/{upstream}/credential": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Another credential, or another secret behind the same reference: what was blocked because of the old one is open again
         * @description Failures of requests with the old one change nothing any more. `duplicate`: that reference, and nothing was blocked.
         *
         *     Scopes: operator, admin.
         */
        post: operations["upstreams.replaceCredential"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/upstreams/{upstream}/explain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Why an upstream may or may not be used now: every check that fails, and when it is expected back
         * @description Scopes: viewer, support, operator, admin.
         */
        get: operations["upstreams.explain"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/upstreams/{upstream}/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Who changed an upstream, who blocked it and who freed it, when, on what evidence; newest first, page by page
         * @description Blocks of its group, provider and route are in it.
         *
         *     Scopes: viewer, support, operator, admin.
         */
        get: operations["upstreams.history"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/pools/{pool}/select": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Lease a slot of the best upstream of a pool that may be used now
         * @description Report or release it afterwards; what is not given back lapses. With a `lease` id of yours a lost answer can be asked for again: the same id gives the same lease. Outcome `none`: nothing is usable now; `Retry-After` says when to ask again, `expectedRecoveryAt` what is true.
         *
         *     Scopes: worker, admin.
         */
        post: operations["upstreams.select"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/upstream-leases/{lease}/extend": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Keep the slot of an upstream
         * @description Scopes: worker, admin.
         */
        post: operations["upstreams.extend"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/upstream-leases/{lease}/release": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Give the slot of an upstream back without saying how it went
         * @description With `use` that is booked on the limits, once per lease; else nothing was used.
         *
         *     Scopes: worker, admin.
         */
        post: operations["upstreams.release"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/upstreams/{upstream}/report": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Say how a use of an upstream went, and give its slot back
         * @description Give `answer`, what the provider answered, or your own words: `success` and `block`. A failure with a `block` takes out what it names; one without blames nobody. A success closes what it refutes: blocks whose last evidence is older than its request. Beside `lease` give `startedAt` or `elapsedMs`: a repeat finds the lease gone, and they say then when the request began.
         *
         *     Scopes: worker, admin.
         */
        post: operations["upstreams.report"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/upstreams/{upstream}/note": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Say what a provider tells of its own windows, apart from a use
         * @description Give `snapshots` or an `answer`. A window that is not used up ends a `snapshot` block of its scope; nothing goes back in time: `duplicate`, newer is known.
         *
         *     Scopes: worker, operator, admin.
         */
        post: operations["upstreams.note"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/upstreams/{upstream}/snapshots": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The latest that is known of each window of an upstream at its provider
         * @description Its own, and those of its group.
         *
         *     Scopes: viewer, support, operator, admin.
         */
        get: operations["upstreams.snapshots"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/blocks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Blocks that are open, oldest first, page by page
         * @description Scopes: viewer, support, operator, admin.
         */
        get: operations["blocks.list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/upstreams/{upstream}/block": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Take an upstream out by hand, until it is freed by hand
         * @description Scopes: operator, admin.
         */
        post: operations["upstreams.block"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/blocks/{block}/free": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * End a block, with who and why
         * @description With the `generation` that was seen, what changed since stays (`duplicate`). A manual block ends only as `operator` or `credential`.
         *
         *     Scopes: operator, admin.
         */
        post: operations["upstreams.free"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/limits": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The limits that concern a subject, with what is used of them now
         * @description Name one subject. Of an upstream: also those of its group, provider and route. Limits that ended are in it, with `endedAt`.
         *
         *     Scopes: viewer, support, operator, admin.
         */
        get: operations["limits.list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/limits/{limit}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One limit, with what is used of it now and when there is room again
         * @description Scopes: viewer, support, operator, admin.
         */
        get: operations["limits.get"];
        /**
         * Set how much may be used in a window
         * @description A new amount counts at once; a new kind, zone or hour when the window ends that it is in. Subject, scope and unit never change: others are a `conflict`.
         *
         *     Scopes: operator, admin.
         */
        put: operations["limits.set"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/limits/{limit}/end": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A limit does not count any more, until it is set again; its windows stay
         * @description Scopes: operator, admin.
         */
        post: operations["limits.end"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/limits/{limit}/reset": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * End the window of a limit now: nothing is used, and it goes on to the same end
         * @description With the start of the `window` that was seen a repeat does it once: `duplicate` says that it is another one, or that nothing is used.
         *
         *     Scopes: operator, admin.
         */
        post: operations["limits.reset"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/limits/{limit}/windows": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The last windows of a limit, newest first: what was used in each, and who reset it
         * @description Scopes: viewer, support, operator, admin.
         */
        get: operations["limits.windows"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/pools": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Pools by their names: how many upstreams each has, how many are usable now, when it is back
         * @description Looks at every upstream that may be usable: for people, not for loops.
         *
         *     Scopes: viewer, support, operator, admin.
         */
        get: operations["pools.list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/pools/{pool}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Whether a pool can be used now, and when it is back
         * @description A pool is there by its upstreams: one that has none cannot be used. `Retry-After` says when to ask again.
         *
         *     Scopes: app, worker, viewer, support, operator, admin.
         */
        get: operations["pools.get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/pools/{pool}/explain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The upstreams of a pool in the order of picking, each with every check that fails
         * @description Scopes: viewer, support, operator, admin.
         */
        get: operations["pools.explain"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/pools/{pool}/prober": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Say how the upstreams of a pool are asked whether they work again
         * @description Without `http`, processes that were opened with a function for the pool ask. What is blocked from then on waits for an answer when its time is up.
         *
         *     Scopes: operator, admin.
         */
        put: operations["probes.set"];
        post?: never;
        /**
         * Nobody asks any more
         * @description Scopes: operator, admin.
         */
        delete: operations["probes.remove"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/probers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * How pools are asked
         * @description Scopes: viewer, support, operator, admin.
         */
        get: operations["probes.probers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/probes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Probes, the newest first: of a block, of an upstream, or all
         * @description Scopes: viewer, support, operator, admin.
         */
        get: operations["probes.list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/probes/report": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What probes cost and what they bought against waiting, by pool and source
         * @description Scopes: viewer, support, operator, admin.
         */
        get: operations["probes.report"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/pools/{pool}/recheck": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * How many blocks of a pool a re-check would ask
         * @description Scopes: viewer, support, operator, admin.
         */
        get: operations["probes.preview"];
        put?: never;
        /**
         * Have every block of a pool asked now, telling how far that is
         * @description One JSON object a line; the last one has `ended: true`. What says yes comes back; everything else stays out, also what could not be asked. When the caller goes, or the time is over, `open` are still asked.
         *
         *     Scopes: operator, admin.
         */
        post: operations["probes.recheck"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/estimates": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * How often the time held at which upstreams were said to be back, and how far off it was, by who said it
         * @description Of the newest 10,000 blocks that ended, or those since an instant. A provider’s order to wait is scored as a guess of ours is. Ends by hand, by time and with the provider’s are set aside as unknown.
         *
         *     Scopes: viewer, support, operator, admin.
         */
        get: operations["estimates.report"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/inbox": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What needs a person now, oldest first, page by page
         * @description An item is there for as long as what it is about: it goes when that is over, by whatever way.
         *
         *     Scopes: viewer, support, operator, admin.
         */
        get: operations["inbox.list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/inbox/{item}/take": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Say that you care about an item
         * @description `held`: somebody else does, the `owner`, and stays; with `force` it is yours.
         *
         *     Scopes: operator, admin.
         */
        post: operations["inbox.take"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/inbox/{item}/snooze": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Put an item off until then, or show it again
         * @description It comes back earlier where something speaks against it. Without `until` and `forMs` it is `woken`.
         *
         *     Scopes: operator, admin.
         */
        post: operations["inbox.snooze"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/inbox/{item}/note": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Leave a remark on an item
         * @description With a `key` of yours it is there once, however often it is said.
         *
         *     Scopes: operator, admin.
         */
        post: operations["inbox.note"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/feed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The events behind a cursor: entries and ends of attempts, in one order
         * @description Keep `cursor` and give it back next time; `ended` means that nothing new is final yet. Refused as `epoch_changed` after a restore or a failover: go on with the `cursor` of the refusal, null is from the beginning.
         *
         *     Scopes: app, viewer, operator, admin.
         */
        get: operations["feed.read"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/entries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The ledger for other books: entries with customer and unit, page by page
         * @description Without `wallet` and `customer` in the order of the feed, complete like it: keep the cursor for the next export. With one of them wallet by wallet. A page can be empty before `ended` is true.
         *
         *     Scopes: app, viewer, support, operator, admin.
         */
        get: operations["feed.entries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/feed/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The feed as server-sent events; goes on behind Last-Event-ID
         * @description Scopes: app, viewer, operator, admin.
         */
        get: operations["feed.stream"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/epochs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The epochs of the ledger, oldest first
         * @description Scopes: app, viewer, support, operator, admin.
         */
        get: operations["epochs.list"];
        put?: never;
        /**
         * Open the next epoch of the ledger, after a restore or a failover
         * @description Each call opens one. Readers of older cursors are refused `epoch_changed` and told where to go on. Needs the role that owns the tables.
         *
         *     Scopes: admin.
         */
        post: operations["epochs.open"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * All API keys, revoked ones too
         * @description Scopes: admin.
         */
        get: operations["keys.list"];
        put?: never;
        /**
         * Make an API key; its secret is shown this once
         * @description Each call makes another key: after a lost answer revoke the one that nobody holds.
         *
         *     Scopes: admin.
         */
        post: operations["keys.create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/keys/{key}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Revoke an API key: at once here, within seconds on other replicas
         * @description Scopes: admin.
         */
        delete: operations["keys.revoke"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/wallets/{wallet}/jobs/{job}/callback-url": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A callback URL for one job, signed: give it to a provider that signs nothing
         * @description Scopes: app, worker, admin.
         */
        post: operations["callbacks.sign"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/{provider}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * The webhook of a provider that signs: the job is found by its upstream_ref
         * @description No key: it carries its own proof.
         */
        post: operations["webhooks.take"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/{provider}/{token}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A webhook at a signed URL: the URL names the job
         * @description No key: it carries its own proof.
         */
        post: operations["webhooks.takeSigned"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhook-endpoints/{endpoint}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One endpoint
         * @description Scopes: operator, admin.
         */
        get: operations["webhookEndpoints.get"];
        /**
         * Have a URL told of what happens from now on; its secret is shown this once
         * @description After a lost answer the endpoint may be there and its secret unknown: rotate it.
         *
         *     Scopes: operator, admin.
         */
        put: operations["webhookEndpoints.register"];
        post?: never;
        /**
         * Remove an endpoint, with its secrets and deliveries
         * @description Scopes: operator, admin.
         */
        delete: operations["webhookEndpoints.remove"];
        options?: never;
        head?: never;
        /**
         * Change what is given of an endpoint, and leave the rest
         * @description What happened while it was off is told when it is on again, unless `skip`.
         *
         *     Scopes: operator, admin.
         */
        patch: operations["webhookEndpoints.change"];
        trace?: never;
    };
    "/v1/webhook-endpoints/{endpoint}/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Another secret, shown this once; the one of before signs too for a while
         * @description Scopes: operator, admin.
         */
        post: operations["webhookEndpoints.rotate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhook-endpoints": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * All endpoints, with what is still to be sent to each
         * @description Scopes: operator, admin.
         */
        get: operations["webhookEndpoints.list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhook-endpoints/{endpoint}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send something to an endpoint, for a try: its delivery tells how it went
         * @description With a `key` of yours it is sent once, however often it is asked for.
         *
         *     Scopes: operator, admin.
         */
        post: operations["webhookEndpoints.test"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhook-endpoints/{endpoint}/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send again what was delivered or given up: one, all since an instant, or all dead ones
         * @description With the ids of before: a receiver that has one may leave it out. What is pending stays as it is.
         *
         *     Scopes: operator, admin.
         */
        post: operations["webhookEndpoints.replay"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhook-endpoints/{endpoint}/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What was and is to be delivered to an endpoint, the newest events first, page by page
         * @description Scopes: operator, admin.
         */
        get: operations["webhookDeliveries.list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhook-deliveries/{delivery}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One delivery: what is sent, and how its last try went
         * @description Scopes: operator, admin.
         */
        get: operations["webhookDeliveries.get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/alerts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What fires now, the newest first
         * @description Each condition fires once until it recovers, however many replicas look.
         *
         *     Scopes: viewer, support, operator, admin.
         */
        get: operations["alerts.list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/info": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Which Recoup this is: version, schema, epoch of the ledger, and what an operator has to do
         * @description Scopes: app, worker, viewer, support, operator, admin.
         */
        get: operations["system.info"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Replay the ledger and hold every promise against it; names the wallet and the first wrong entry
         * @description Reads everything: run it hourly or nightly, not in a loop.
         *
         *     Scopes: operator, support, admin.
         */
        get: operations["system.verify"];
        put?: never;
        post?: never;
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
        /** @description RFC 9457, with a stable code and the facts of the refusal as further members. Nothing was changed. */
        Problem: {
            /**
             * Format: uri-reference
             * @description Where the code is explained.
             */
            type: string;
            title: string;
            status: number;
            detail: string;
            instance: string;
            /** @enum {string} */
            code: "invalid" | "unauthorized" | "forbidden" | "bad_signature" | "not_found" | "method_not_allowed" | "too_large" | "headers_too_large" | "unsupported_media_type" | "request_timeout" | "wrong_host" | "foreign_origin" | "rate_limited" | "keys_required" | "port_in_use" | "no_key" | "unhealthy" | "internal" | "no_wallet" | "no_plan" | "no_subscription" | "already_subscribed" | "subscription_ended" | "no_upstream" | "no_limit" | "no_block" | "manual_block" | "no_item" | "no_endpoint" | "no_delivery" | "upstream_busy" | "upstream_retired" | "no_job" | "pruned" | "conflict" | "canceled" | "insufficient_credits" | "wallet_closed" | "balance_limit" | "attempt_required" | "not_ended" | "not_dead" | "release_limit" | "count_changed" | "epoch_changed" | "epoch_needed" | "wallet_busy" | "transaction_conflict" | "transaction_aborted" | "database_unavailable" | "database_read_only" | "database_refused" | "database_error" | "schema_missing" | "schema_behind" | "schema_ahead" | "schema_altered" | "migration_blocked" | "server_too_old" | "not_utf8" | "closed";
            requestId: string;
            /** @description The field that is wrong, with code `invalid`. */
            field?: string;
            /** @description What is allowed in it. */
            rule?: string;
        } & {
            [key: string]: unknown;
        };
        Opened: {
            /** @enum {string} */
            outcome: "opened" | "duplicate";
        };
        /** @description Why this item was refused; the other items are not affected. */
        Refused: {
            code: string;
            message: string;
        };
        Balance: {
            wallet: string;
            customer: string;
            unit: string;
            /** @enum {string} */
            status: "active" | "closed";
            /** @description The balance of the ledger; negative is a debt. */
            booked: number;
            overdraftLimit: number;
            /** @description What a submit may cost now: without what is due to expire. */
            spendable: number;
            /** @description Charged for jobs that have not ended. */
            held: number;
            /** @description Given back for jobs that may still succeed. */
            atRisk: number;
            /** @description What is left of credit that expires, and when. With an instant that is past: kept while jobs whose refund it may be can still succeed. */
            expiring: {
                amount: number;
                /**
                 * Format: date-time
                 * @description RFC 3339.
                 */
                at: string;
            }[];
            lastSeq: number;
            lastEntryAt: string | null;
        };
        BalanceAt: {
            wallet: string;
            /**
             * Format: date-time
             * @description RFC 3339.
             */
            at: string;
            /** @description The last entry at or before the instant; 0: none yet. */
            seq: number;
            booked: number;
            /** @description Under the overdraft limit of today. */
            spendable?: number;
            /** @description Only with `parts`: given back then for jobs that might still succeed. */
            atRisk?: number;
        };
        Wallet: {
            wallet: string;
            customer: string;
            unit: string;
            /** @enum {string} */
            status: "active" | "closed";
            /** @description The balance of the ledger; negative is a debt. */
            booked: number;
            overdraftLimit: number;
        };
        WalletPage: {
            wallets: components["schemas"]["Wallet"][];
            cursor: string | null;
        };
        Remainder: {
            wallet: string;
            customer: string;
            unit: string;
            /** @description The entry that gave the credit. */
            seq: number;
            /** @enum {string} */
            type: "grant" | "adjust" | "restore";
            key: string | null;
            reason: string | null;
            amount: number;
            /** @description What is left of the amount. */
            remaining: number;
            /** @description What is used first: 0 before 1. */
            priority: number;
            expiresAt: string | null;
            /**
             * Format: date-time
             * @description RFC 3339.
             */
            createdAt: string;
        };
        RemainderPage: {
            remainders: components["schemas"]["Remainder"][];
            cursor: string | null;
        };
        Entry: {
            wallet: string;
            seq: number;
            /** @enum {string} */
            type: "grant" | "charge" | "refund" | "reclaim" | "settle" | "adjust" | "clawback" | "expire" | "restore";
            amount: number;
            /** @description The running balance right after this entry. */
            balance: number;
            job: string | null;
            key: string | null;
            reason: string | null;
            actor: string | null;
            note: string | null;
            jobState: string | null;
            jobReason: string | null;
            /**
             * Format: date-time
             * @description RFC 3339.
             */
            createdAt: string;
        };
        EntryPage: {
            entries: components["schemas"]["Entry"][];
            cursor: number | null;
        };
        Granted: {
            /** @enum {string} */
            outcome: "granted" | "duplicate";
            seq: number;
            amount: number;
            /** @description The balance right after this entry. */
            balance: number;
            /**
             * Format: date-time
             * @description RFC 3339.
             */
            createdAt: string;
        };
        Adjusted: {
            /** @enum {string} */
            outcome: "adjusted" | "duplicate";
            seq: number;
            amount: number;
            /** @description The balance right after this entry. */
            balance: number;
            /**
             * Format: date-time
             * @description RFC 3339.
             */
            createdAt: string;
        };
        Plan: {
            plan: string;
            /** @description What a period grants. */
            credits: number;
            /**
             * @description The length of a period, in civil time of the zone.
             * @enum {string}
             */
            every: "day" | "week" | "month" | "year";
            /** @description So many of them; 1 unless set. */
            everyCount: number;
            /** @description An IANA zone; UTC unless set. */
            zone: string;
            /**
             * @description Whether each period has to be paid, or begins by itself; paid unless set.
             * @enum {string}
             */
            renews: "paid" | "itself";
            /** @description Whether what is left of a period’s credit expires with it; true unless set. */
            expires: boolean;
            /** @description Of its grants: 0 is used before 1; 5 unless set. */
            priority: number;
            /** @description How long after its end a period may still be paid; 3 days unless set. */
            graceMs: number;
            /**
             * @description Off: it takes nobody new.
             * @enum {string}
             */
            status: "on" | "off";
        };
        PlanPage: {
            plans: components["schemas"]["Plan"][];
            cursor: string | null;
        };
        Paid: {
            /** @enum {string} */
            outcome: "activated" | "renewed" | "duplicate";
            /** @enum {string} */
            status: "pending" | "active" | "past_due" | "expired" | "revoked";
            plan: string;
            period: number | null;
            periodStart: string | null;
            periodEnd: string | null;
            /** @description Credits; 0: nothing. */
            granted: number;
        };
        Subscription: {
            subscription: string;
            customer: string;
            wallet: string;
            plan: string;
            nextPlan: string | null;
            /** @enum {string} */
            status: "pending" | "active" | "past_due" | "expired" | "revoked";
            period: number | null;
            periodStart: string | null;
            periodEnd: string | null;
            endsWithPeriod: boolean;
            /**
             * Format: date-time
             * @description RFC 3339.
             */
            startedAt: string;
            endedAt: string | null;
        };
        SubscriptionEvent: {
            number: number;
            /** @description started, activated, renewed, past_due, plan_changed, … */
            type: string;
            /**
             * Format: date-time
             * @description RFC 3339.
             */
            at: string;
            plan: string;
            period: number | null;
            key: string | null;
            actor: string | null;
            reason: string | null;
        };
        SubscriptionPage: {
            subscriptions: components["schemas"]["Subscription"][];
            cursor: string | null;
        };
        StrayPayment: {
            subscription: string;
            customer: string;
            number: number;
            /** @description Of the payment. */
            key: string;
            reason: string | null;
            /**
             * Format: date-time
             * @description RFC 3339.
             */
            at: string;
        };
        ToldPayment: {
            /** @enum {string} */
            outcome: "granted" | "adjusted" | "told";
            granted: number;
            taken: number;
        };
        Payment: {
            payment: string;
            wallet: string | null;
            subscription: string | null;
            amount: number | null;
            paid: boolean;
            refunded: number;
            /** @description By id: amount and state. */
            disputes: {
                [key: string]: unknown;
            };
            /** @description Credits; 0: none. */
            granted: number;
            /** @description How much of them is taken back at present. */
            taken: number;
            /**
             * Format: date-time
             * @description RFC 3339.
             */
            firstAt: string;
            /**
             * Format: date-time
             * @description RFC 3339.
             */
            toldAt: string;
        };
        PaymentTaken: {
            /** @description Of payment.tell; `ignored`, or `open`: kept for a person. */
            outcome: string;
            payment: string | null;
            code: string | null;
        };
        Job: {
            wallet: string;
            id: string;
            queue: string | null;
            /** @enum {string} */
            state: "queued" | "running" | "waiting" | "succeeded" | "dead" | "failed" | "canceled" | "discarded";
            price: number;
            finalPrice: number | null;
            priority: number;
            /** @enum {string} */
            refundOn: "failure" | "final";
            attempt: number;
            failures: number;
            maxFailures: number;
            releases: number;
            verdict: ("definitive" | "presumed") | null;
            reason: string | null;
            worker: string | null;
            upstream: string | null;
            upstreamRef: string | null;
            labels: {
                [key: string]: string;
            } | null;
            traceparent: string | null;
            succeededAttempt: number | null;
            /**
             * Format: date-time
             * @description RFC 3339.
             */
            submittedAt: string;
            startedAt: string | null;
            notBefore: string | null;
            leaseUntil: string | null;
            deadlineAt: string | null;
            deadAt: string | null;
            refundedAt: string | null;
            succeededAt: string | null;
            reclaimedAt: string | null;
            settledAt: string | null;
            canceledAt: string | null;
        };
        Submitted: {
            /** @enum {string} */
            outcome: "charged" | "duplicate";
            job: components["schemas"]["Job"];
            /** @description The charge; the same for every repeat. */
            seq: number;
            /** @description The balance right after the charge; the same for every repeat. */
            balance: number;
        };
        JobPage: {
            jobs: components["schemas"]["Job"][];
            cursor: number | null;
        };
        Attempt: {
            attempt: number;
            /** @enum {string} */
            endedAs: "failed" | "lapsed" | "confirmed" | "rejected" | "released" | "superseded" | "canceled" | "succeeded";
            verdict: ("definitive" | "presumed") | null;
            jobState: string;
            reason: string | null;
            worker: string | null;
            upstream: string | null;
            upstreamRef: string | null;
            startedAt: string | null;
            /**
             * Format: date-time
             * @description RFC 3339.
             */
            endedAt: string;
        };
        Failed: {
            /** @enum {string} */
            outcome: "retrying" | "dead" | "refunded" | "canceled" | "succeeded" | "stale" | "duplicate";
            state: string;
            attempt: number;
            failures: number;
            notBefore: string | null;
            /** @description Whether this call booked the refund. */
            refunded: boolean;
        };
        Succeeded: {
            /** @enum {string} */
            outcome: "succeeded" | "reclaimed" | "duplicate";
            /** @description The attempt that counts as the successful one. */
            succeededAttempt: number;
            /**
             * Format: date-time
             * @description RFC 3339.
             */
            succeededAt: string;
            /** @description Whether a refund was taken back, by this call or an earlier one. */
            reclaimed: boolean;
            finalPrice: number | null;
        };
        /** @description The upstream to run it on, where the queue has a pool. */
        LeasedUpstream: {
            upstream: string;
            provider: string;
            credentialRef: string | null;
            /** @description Its slot: kept and given back with the job. */
            lease: string;
        };
        LeasedJob: {
            job: components["schemas"]["Job"];
            /** @description As submitted. */
            payload: unknown;
            earlier: {
                attempt: number | null;
                verdict: string | null;
                reason: string | null;
                upstreamRef: string | null;
            } | null;
            upstream: components["schemas"]["LeasedUpstream"] | null;
        };
        /** @description What the estimate rests on. */
        Estimate: {
            /**
             * Format: date-time
             * @description The estimate.
             */
            at: string;
            /**
             * @description Who says so; `window`: a limit’s next one.
             * @enum {string}
             */
            source: "retry_after" | "reset_announced" | "backoff" | "operator" | "window";
            revision: number | null;
            range: {
                /**
                 * Format: date-time
                 * @description RFC 3339.
                 */
                from: string;
                /**
                 * Format: date-time
                 * @description RFC 3339.
                 */
                to: string;
            } | null;
        };
        /** @description Jobs are due and no upstream of the queue’s pool is usable. */
        PoolOut: {
            pool: string;
            /** @description What keeps out the one that is expected back first: a class, or `quota`, `trial`, `slots` … */
            reason: string;
            /** @description When to ask again, at most 300,000. */
            retryAfterMs: number;
            expectedRecoveryAt: string | null;
            estimate: components["schemas"]["Estimate"] | null;
        };
        /** @description One of `status`, `body` and `error` is needed. Nothing of it is logged. */
        ProviderAnswer: {
            status?: number | null;
            /** @description By name: a text, or a list of them. */
            headers?: {
                [key: string]: string | string[];
            };
            /** @description Text, or its JSON; of a stream the event with the error. */
            body?: unknown;
            error?: string | null;
            /** @description How long ago it came, where it is reported later; 0 unless set. */
            ageMs?: number;
        };
        Dropped: {
            field: string;
            /** @description Shortened, without secrets. */
            value: string;
            /** @description Why it counts for nothing. */
            rule: string;
        };
        Reported: {
            /** @enum {string} */
            outcome: "noted" | "blocked" | "reopened" | "extended" | "duplicate";
            block: number | null;
            until: string | null;
            step: number | null;
            /** @description How many blocks it closed. */
            closed: number;
            use: ("booked" | "duplicate" | "none") | null;
            class: string | null;
            reason: string | null;
            nextStep: string | null;
            rule: string | null;
            /** @description One for each time that the answer names, that of `block` first. */
            blocks: {
                block: number | null;
                /** @enum {string} */
                outcome: "noted" | "blocked" | "reopened" | "extended" | "duplicate";
                source: string;
                until: string | null;
                step: number | null;
            }[];
            /** @description What was implausible in the answer. */
            dropped: components["schemas"]["Dropped"][];
        };
        JobReported: {
            /**
             * @description What the answer meant for the job.
             * @enum {string}
             */
            means: "success" | "failure" | "release";
            /** @enum {string} */
            outcome: "succeeded" | "reclaimed" | "duplicate" | "retrying" | "dead" | "refunded" | "canceled" | "stale" | "released";
            notBefore: string | null;
            /** @description Whether this call booked the refund. */
            refunded: boolean;
            /** @description Of a success: whether a refund was taken back. */
            reclaimed: boolean;
            upstream: components["schemas"]["Reported"];
        };
        RedrivePreview: {
            /** @description Dead letters that match: confirm this number. */
            count: number;
            /** @description Credits that would be reclaimed if all of them succeeded. */
            mayReclaim: number;
            /** @description Wallets that would then be below zero. */
            walletsIntoDebt: number;
            /**
             * Format: date-time
             * @description Give it to the redrive: what dies later is not touched.
             */
            asOf: string;
        };
        RedriveProgress: {
            done: number;
            of: number;
            /** @description True in the last line: all of them were looked at. */
            ended: boolean;
            redriven?: number;
            /** @description Somebody else had moved them meanwhile. */
            skipped?: number;
        };
        QueueDepth: {
            queue: string;
            ready: number;
            later: number;
            running: number;
            waiting: number;
            dead: number;
            oldestReadyMs: number | null;
        };
        QueueSettings: {
            /**
             * @description When the price of a failed job goes back.
             * @enum {string}
             */
            refundOn: "failure" | "final";
            /** @description Back-off before the second run. */
            backoffBaseMs: number;
            /** @description The longest back-off. */
            backoffMaxMs: number;
            /** @description The longest that a Retry-After may postpone the next run. */
            retryAfterMaxMs: number;
            /** @description After this many failures a job is a dead letter. */
            maxFailures: number;
            /** @description How often a job may be given back unfinished. */
            maxReleases: number;
            /** @description The length of a lease. */
            leaseMs: number;
            /** @description Nothing is leased; what runs goes on. */
            paused: boolean;
            pool: string | null;
            /** @description How often a job may go back to its place for trouble of its upstream that it may have caused (5xx, no answer); then that is a failure. */
            maxUpstreamErrors: number;
        };
        FailingCheck: {
            /**
             * @description What keeps it out; gated: a probe is to answer first.
             * @enum {string}
             */
            check: "off" | "draining" | "retired" | "blocked" | "gated" | "trial" | "quota" | "slots";
            block: number | null;
            kind: string | null;
            source: string | null;
            policy: string | null;
            subject: string | null;
            scope: string | null;
            until: string | null;
            reason: string | null;
            revision: number | null;
            nextStep: string | null;
            limit: string | null;
            unit: string | null;
            used: number | null;
            amount: number | null;
        };
        Upstream: {
            upstream: string;
            pool: string;
            provider: string;
            quotaGroup: string | null;
            route: string;
            credentialRef: string | null;
            /** @enum {string} */
            status: "on" | "off" | "draining" | "retired";
            priority: number;
            weight: number;
            maxConcurrency: number | null;
            /** @description Slots in somebody’s hands now. */
            slotsOut: number;
            /** @description Whether it may be used now. */
            usable: boolean;
            /** @description Every check that fails, not only the first. */
            failing: components["schemas"]["FailingCheck"][];
            expectedRecoveryAt: string | null;
            estimate: components["schemas"]["Estimate"] | null;
            tightUntil: string | null;
            lastUsedAt: string | null;
            /**
             * Format: date-time
             * @description RFC 3339.
             */
            registeredAt: string;
        };
        UpstreamPage: {
            upstreams: components["schemas"]["Upstream"][];
            cursor: string | null;
        };
        Registered: {
            /** @enum {string} */
            outcome: "registered" | "changed" | "duplicate";
        };
        CredentialReplaced: {
            /** @enum {string} */
            outcome: "replaced" | "duplicate";
            /** @description How many blocks it closed. */
            closed: number;
        };
        BlockEvent: {
            block: number | null;
            /** @description Which of the events of its block, or of the upstream; 0 of a `contradicted`. */
            generation: number;
            /** @description What is out: `upstream:…`, `provider:…`. */
            subject: string;
            /** @description Empty: everything. */
            scope: string;
            kind: string | null;
            source: string | null;
            policy: ("auto" | "manual" | "snapshot" | "rolling") | null;
            /**
             * @description The last three are the upstream’s own.
             * @enum {string}
             */
            type: "opened" | "extended" | "reopened" | "trial" | "probed" | "closed" | "contradicted" | "registered" | "changed" | "credential";
            /**
             * Format: date-time
             * @description RFC 3339.
             */
            at: string;
            until: string | null;
            step: number | null;
            evidenceAt: string | null;
            closedAs: string | null;
            actor: string | null;
            reason: string | null;
            settings: {
                [key: string]: string | number | null;
            } | null;
        };
        HistoryPage: {
            events: components["schemas"]["BlockEvent"][];
            cursor: string | null;
        };
        Selected: {
            /** @enum {string} */
            outcome: "selected" | "none";
            upstream: string | null;
            provider: string | null;
            credentialRef: string | null;
            lease: string | null;
            leaseUntil: string | null;
            retryAfterMs: number | null;
            expectedRecoveryAt: string | null;
            estimate: components["schemas"]["Estimate"] | null;
        };
        Noted: {
            /** @enum {string} */
            outcome: "noted" | "duplicate";
            /** @description How many blocks it closed. */
            closed: number;
            dropped: components["schemas"]["Dropped"][];
        };
        KnownWindow: {
            /** @description `upstream:…` or `quota_group:…`. */
            subject: string;
            /** @description Empty: everything. */
            scope: string;
            name: string;
            /** @enum {string} */
            kind: "short" | "daily" | "weekly" | "monthly" | "other" | "unknown";
            lengthMs: number | null;
            used: number | null;
            /** @description Used up. */
            exhausted: boolean;
            resetsAt: string | null;
            /**
             * Format: date-time
             * @description RFC 3339.
             */
            observedAt: string;
        };
        Snapshots: {
            snapshots: components["schemas"]["KnownWindow"][];
        };
        Block: {
            block: number;
            /** @description What is out: `upstream:…`, `provider:…`. */
            subject: string;
            /** @description Empty: everything. */
            scope: string;
            kind: string;
            /** @enum {string} */
            source: "retry_after" | "reset_announced" | "backoff" | "operator";
            /** @enum {string} */
            policy: "auto" | "manual" | "snapshot" | "rolling";
            /** @description Its time is up: it lets trials in. */
            halfOpen: boolean;
            /**
             * Format: date-time
             * @description RFC 3339.
             */
            openedAt: string;
            /**
             * Format: date-time
             * @description When the request started that last failed for this reason.
             */
            evidenceAt: string;
            until: string | null;
            gatedUntil: string | null;
            nextCheckAt: string | null;
            /** @description How often its trials failed, and one. */
            step: number;
            /** @description How many it lets in at once, half open. */
            trials: number;
            /** @description Give it back when you free the block: what changed since stays. */
            generation: number;
            reason: string | null;
            nextStep: string | null;
        };
        BlockPage: {
            blocks: components["schemas"]["Block"][];
            cursor: number | null;
        };
        Limit: {
            limit: string;
            /** @description Whose it is: `upstream:…`, `quota_group:…`, `provider:…`, `route:…`. */
            subject: string;
            /** @description Empty: everything; else `model:…`, `capability:…`. */
            scope: string;
            unit: string;
            /** @description What may be used in a window. */
            amount: number;
            /** @description What is used in the window now. */
            used: number;
            /** @enum {string} */
            kind: "daily" | "weekly" | "monthly" | "first_use" | "rolling";
            zone: string | null;
            startHour: number | null;
            weekday: number | null;
            day: number | null;
            lengthMs: number | null;
            windowStart: string | null;
            windowEnd: string | null;
            until: string | null;
            endedAt: string | null;
        };
        Limits: {
            limits: components["schemas"]["Limit"][];
        };
        LimitWindow: {
            /**
             * Format: date-time
             * @description RFC 3339.
             */
            start: string;
            /**
             * Format: date-time
             * @description RFC 3339.
             */
            end: string;
            used: number;
            /**
             * @description A use, the sweep, or a person.
             * @enum {string}
             */
            begunBy: "use" | "roll" | "reset";
            actor: string | null;
            reason: string | null;
        };
        LimitWindows: {
            windows: components["schemas"]["LimitWindow"][];
        };
        Pool: {
            pool: string;
            /** @description Upstreams that are not retired. */
            total: number;
            /** @description Of those, switched on. */
            on: number;
            /** @description Of those, usable now. */
            usable: number;
            slotsOut: number;
            expectedRecoveryAt: string | null;
        };
        PoolPage: {
            pools: components["schemas"]["Pool"][];
            cursor: string | null;
        };
        PoolState: {
            pool: string;
            /** @description Whether one of its upstreams may be used now. */
            usable: boolean;
            retryAfterMs: number | null;
            expectedRecoveryAt: string | null;
            estimate: components["schemas"]["Estimate"] | null;
        };
        HttpProbe: {
            /** @enum {string} */
            method?: "GET" | "HEAD" | "POST";
            /** @description `{upstream}` and `{model}` stand for their names, behind the host. */
            url: string;
            /** @description `{credential}` stands for the secret of the upstream. */
            headers?: {
                [key: string]: string;
            };
            body?: string;
            yes?: {
                status?: number[];
                includes?: string;
            };
        };
        Prober: {
            pool: string;
            /** @enum {string} */
            kind: "function" | "http";
            http: components["schemas"]["HttpProbe"] | null;
            graceMs: number;
            everyMs: number;
            timeoutMs: number;
            /** @description By unit. */
            cost: {
                [key: string]: number;
            };
            /**
             * Format: date-time
             * @description RFC 3339.
             */
            setAt: string;
            actor: string | null;
        };
        Probe: {
            probe: number;
            block: number;
            upstream: string;
            pool: string;
            /** @enum {string} */
            kind: "due" | "early" | "asked";
            /**
             * Format: date-time
             * @description RFC 3339.
             */
            startedAt: string;
            endedAt: string | null;
            result: ("yes" | "no" | "unavailable") | null;
            outcome: ("confirmed" | "denied" | "unavailable" | "superseded" | "lapsed") | null;
            latencyMs: number | null;
            /** @description By unit. */
            cost: {
                [key: string]: number;
            };
            reason: string | null;
            claimedBy: string | null;
            askedBy: string | null;
        };
        ProbePage: {
            probes: components["schemas"]["Probe"][];
            cursor: number | null;
        };
        ProbeScore: {
            pool: string;
            /** @description Who said when the blocks would end. */
            source: string;
            probes: number;
            yes: number;
            no: number;
            unavailable: number;
            /** @description Answers that changed nothing. */
            ignored: number;
            /** @description By unit. */
            cost: {
                [key: string]: number;
            };
            /** @description From each yes to when the block would have ended by what was said then. */
            minutesRegained: number;
            minutesPerRequest: number | null;
            medianLatencyMs: number | null;
        };
        RecheckProgress: {
            done: number;
            of: number;
            /** @description True in the last line. */
            ended: boolean;
            /** @description Not answered yet. */
            open: number;
            yes: number;
            no: number;
            /** @description It could not be told. */
            unavailable: number;
            /** @description Closed, or changed by other news, before they were answered. */
            moved: number;
        };
        EstimateScore: {
            provider: string | null;
            /** @description The class of trouble. */
            kind: string;
            /** @enum {string} */
            source: "retry_after" | "reset_announced" | "backoff" | "operator" | "window";
            /** @description Estimates whose end is known. */
            count: number;
            /** @description Back when it was said, within a second. */
            held: number;
            /** @description Back before it was said. */
            late: number;
            /** @description Not back yet when it was said. */
            early: number;
            /** @description A tenth was earlier than this, in ms; below 0 it was back earlier than said. */
            low: number;
            /** @description Half was, in ms; below 0 it was back earlier than said. */
            median: number;
            /** @description Nine tenths were, in ms; below 0 it was back earlier than said. */
            high: number;
            /** @description Blocks that ended so that nobody knows. */
            unknown: number;
        };
        EstimateReport: {
            scores: components["schemas"]["EstimateScore"][];
        };
        InboxItem: {
            item: string;
            /**
             * Format: date-time
             * @description RFC 3339.
             */
            since: string;
            /** @description What is out: `upstream:…`, `provider:…`. */
            subject: string;
            /** @description Empty: everything; else `model:…`, `capability:…`. */
            scope: string;
            kind: string;
            reason: string | null;
            nextStep: string | null;
            /** @description Free it by this number, when it is done. */
            block: number;
            /** @description Give it back when you free the block: what changed since stays. */
            generation: number;
            contradictedAt: string | null;
            owner: string | null;
            snoozedUntil: string | null;
            /** @description What it costs. */
            pools: {
                pool: string;
                /** @description Upstreams of it that are usable now, in this scope. */
                usable: number;
                /** @description Of so many. */
                all: number;
            }[];
            /** @description Oldest first. */
            notes: {
                number: number;
                /** @enum {string} */
                type: "taken" | "snoozed" | "noted";
                /**
                 * Format: date-time
                 * @description RFC 3339.
                 */
                at: string;
                actor: string;
                until: string | null;
                note: string | null;
            }[];
        };
        InboxPage: {
            items: components["schemas"]["InboxItem"][];
            cursor: string | null;
        };
        Taken: {
            /** @enum {string} */
            outcome: "taken" | "held" | "duplicate";
            owner: string | null;
        };
        Remarked: {
            /** @enum {string} */
            outcome: "noted" | "duplicate";
            number: number | null;
        };
        /** @description Money moved. */
        EntryEvent: {
            /** @enum {string} */
            kind: "entry";
            wallet: string;
            seq: number;
            /** @enum {string} */
            type: "grant" | "charge" | "refund" | "reclaim" | "settle" | "adjust" | "clawback" | "expire" | "restore";
            amount: number;
            /** @description The running balance right after this entry. */
            balance: number;
            job: string | null;
            key: string | null;
            reason: string | null;
            actor: string | null;
            /**
             * Format: date-time
             * @description RFC 3339.
             */
            at: string;
        };
        /** @description An attempt ended. */
        AttemptEvent: {
            /** @enum {string} */
            kind: "attempt";
            wallet: string;
            job: string;
            attempt: number;
            /** @enum {string} */
            endedAs: "failed" | "lapsed" | "confirmed" | "rejected" | "released" | "superseded" | "canceled" | "succeeded";
            verdict: ("definitive" | "presumed") | null;
            jobState: string;
            /**
             * Format: date-time
             * @description RFC 3339.
             */
            at: string;
        };
        LedgerEntry: {
            wallet: string;
            customer: string;
            unit: string;
            seq: number;
            /** @enum {string} */
            type: "grant" | "charge" | "refund" | "reclaim" | "settle" | "adjust" | "clawback" | "expire" | "restore";
            amount: number;
            /** @description The running balance of the wallet right after this entry. */
            balance: number;
            job: string | null;
            key: string | null;
            reason: string | null;
            actor: string | null;
            /**
             * Format: date-time
             * @description In UTC, with microseconds.
             */
            createdAt: string;
        };
        LedgerPage: {
            entries: components["schemas"]["LedgerEntry"][];
            cursor: string | null;
            /** @description True: nothing more is there now; the cursor stays good for what comes. */
            ended: boolean;
        };
        Epoch: {
            number: number;
            /**
             * Format: date-time
             * @description RFC 3339.
             */
            openedAt: string;
            /** @description Why it was opened, for people. */
            reason: string;
            actor: string | null;
        };
        ApiKey: {
            id: string;
            /** @description What the secret starts with: look for it in leaks. */
            prefix: string;
            name: string;
            scopes: ("app" | "worker" | "viewer" | "support" | "operator" | "admin")[];
            customer: string | null;
            /**
             * Format: date-time
             * @description RFC 3339.
             */
            createdAt: string;
            revokedAt: string | null;
            lastUsedAt: string | null;
        };
        WebhookSettled: {
            /** @description The outcome of job.succeed or job.fail; `ignored` where nothing ended. */
            outcome: string;
            wallet: string;
            job: string;
        };
        WebhookEndpoint: {
            endpoint: string;
            url: string;
            kinds: ("job.succeeded" | "job.dead" | "job.reclaimed" | "wallet.low" | "wallet.debt" | "upstream.blocked" | "upstream.freed" | "inbox.opened" | "inbox.closed" | "alert.firing" | "alert.recovered")[];
            /**
             * @description `gone`: it answered 410; switch it on again.
             * @enum {string}
             */
            status: "on" | "off" | "gone";
            lowBalance: number | null;
            /**
             * Format: date-time
             * @description RFC 3339.
             */
            registeredAt: string;
            /**
             * Format: date-time
             * @description When events were last looked for; to the minute where nothing happens.
             */
            lookedAt: string;
            /** @description Deliveries to be sent, counted up to 10,000. */
            pending: number;
            /** @description Deliveries that were given up, counted up to 10,000. */
            dead: number;
            oldestDueMs: number | null;
        };
        WebhookDelivery: {
            /** @description Its `webhook-id`: the same each time it is sent. */
            delivery: string;
            endpoint: string;
            /** @enum {string} */
            kind: "job.succeeded" | "job.dead" | "job.reclaimed" | "wallet.low" | "wallet.debt" | "upstream.blocked" | "upstream.freed" | "inbox.opened" | "inbox.closed" | "alert.firing" | "alert.recovered" | "endpoint.test";
            /** @enum {string} */
            state: "pending" | "delivered" | "dead";
            /**
             * Format: date-time
             * @description RFC 3339.
             */
            happenedAt: string;
            dueAt: string | null;
            /** @description How often it was sent. */
            attempt: number;
            /** @description How often since the event, or since it was last replayed. */
            tries: number;
            lastAt: string | null;
            lastStatus: number | null;
            lastError: string | null;
            endedAt: string | null;
            /** @description The body. */
            payload: unknown;
        };
        WebhookDeliveryPage: {
            deliveries: components["schemas"]["WebhookDelivery"][];
            cursor: string | null;
        };
        Alert: {
            /** @enum {string} */
            kind: "exhausted" | "near_exhausted" | "snapshot_exhausted" | "idle" | "blocked_long";
            /** @description Of what: `limit:…`, `upstream:…`, `block:…`, `snapshot:…`. */
            subject: string;
            /** @description Which time this is. */
            number: number;
            /**
             * Format: date-time
             * @description RFC 3339.
             */
            firedAt: string;
            recoveredAt: string | null;
            /** @description As it was when it fired. */
            facts: {
                [key: string]: unknown;
            };
        };
        Info: {
            version: string;
            schema: string;
            epoch: components["schemas"]["Epoch"];
            /** @description What is to be done, for people; empty: nothing. */
            notices: string[];
        };
        Verified: {
            ok: boolean;
            problems: {
                check: string;
                wallet: string | null;
                seq: number | null;
                job: string | null;
                detail: string;
            }[];
            wallets: number;
            entries: number;
            jobs: number;
            sumOfEntries: number;
            sumOfBalances: number;
            ms: number;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    "wallets.open": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the wallet, yours. 1 to 200 printable characters, not "." or "..". */
                wallet: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Who pays: an id of yours. 1 to 200 printable characters, not "." or "..". */
                    customer: string;
                    /** @description The kind of credit; `credit` unless set. 1 to 200 printable characters, not "." or "..". */
                    unit?: string;
                    /** @description How far below zero a submit may go; 0 unless set. */
                    overdraftLimit?: number;
                };
            };
        };
        responses: {
            /** @description It was there already, just so. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Opened"];
                };
            };
        };
    };
    "wallets.change": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the wallet, yours. 1 to 200 printable characters, not "." or "..". */
                wallet: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description How far below zero a submit may go. */
                    overdraftLimit?: number;
                    /**
                     * @description Closed: no new jobs; what runs goes on.
                     * @enum {string}
                     */
                    status?: "active" | "closed";
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        outcome: "changed";
                    };
                };
            };
        };
    };
    "wallets.openMany": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description 1 to 1,000 of what the single form takes; each is answered at its place. */
                    items: {
                        /** @description The id of the wallet, yours. 1 to 200 printable characters, not "." or "..". */
                        wallet: string;
                        /** @description Who pays: an id of yours. 1 to 200 printable characters, not "." or "..". */
                        customer: string;
                        /** @description The kind of credit; `credit` unless set. 1 to 200 printable characters, not "." or "..". */
                        unit?: string;
                        /** @description How far below zero a submit may go; 0 unless set. */
                        overdraftLimit?: number;
                    }[];
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: (components["schemas"]["Opened"] | components["schemas"]["Refused"])[];
                    };
                };
            };
        };
    };
    "wallets.balance": {
        parameters: {
            query?: {
                /** @description RFC 3339. The balance after the last entry at or before it. */
                at?: string;
                /** @description With `at`: also what stood at risk then, for which the entries up to it are read. */
                parts?: boolean;
            };
            header?: never;
            path: {
                /** @description The id of the wallet, yours. 1 to 200 printable characters, not "." or "..". */
                wallet: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Balance"] | components["schemas"]["BalanceAt"];
                };
            };
        };
    };
    "wallets.balances": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Ids of wallets, 1 to 1,000. */
                    wallets: string[];
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: (components["schemas"]["Balance"] | components["schemas"]["Refused"])[];
                    };
                };
            };
        };
    };
    "wallets.list": {
        parameters: {
            query?: {
                /** @description Only wallets of this customer. 1 to 200 printable characters, not "." or "..". */
                customer?: string;
                /** @description Where to go on: the `cursor` of the page before, a wallet. 1 to 200 printable characters, not "." or "..". */
                cursor?: string;
                /** @description At most this many. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WalletPage"];
                };
            };
        };
    };
    "wallets.remainders": {
        parameters: {
            query?: {
                /** @description The id of the wallet, yours. 1 to 200 printable characters, not "." or "..". */
                wallet?: string;
                /** @description Only wallets of this customer. 1 to 200 printable characters, not "." or "..". */
                customer?: string;
                /** @description Where to go on: the `cursor` of the page before, a wallet. 1 to 200 printable characters, not "." or "..". */
                cursor?: string;
                /** @description At most this many. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RemainderPage"];
                };
            };
        };
    };
    "wallets.entries": {
        parameters: {
            query?: {
                /** @description Where to go on: the `cursor` of the page before. */
                cursor?: number;
                /** @description At most this many. */
                limit?: number;
                /** @description From the newest back. */
                newestFirst?: boolean;
            };
            header?: never;
            path: {
                /** @description The id of the wallet, yours. 1 to 200 printable characters, not "." or "..". */
                wallet: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EntryPage"];
                };
            };
        };
    };
    "wallets.replay": {
        parameters: {
            query?: {
                /** @description Start behind this entry. */
                afterSeq?: number;
            };
            header?: never;
            path: {
                /** @description The id of the wallet, yours. 1 to 200 printable characters, not "." or "..". */
                wallet: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/x-ndjson": components["schemas"]["Entry"];
                };
            };
        };
    };
    "wallets.grant": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the wallet, yours. 1 to 200 printable characters, not "." or "..". */
                wallet: string;
                /** @description Your key of this entry (a payment, a ticket): once per wallet, for ever. 1 to 200 printable characters, not "." or "..". */
                key: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Credits to add. */
                    amount: number;
                    /** @description A short code that stays in the ledger. */
                    reason?: string;
                    /** @description Who did it. 1 to 200 printable characters, not "." or "..". */
                    actor?: string;
                    /** @description Free text that can be erased. */
                    note?: string;
                    /**
                     * Format: date-time
                     * @description RFC 3339. When what is left of it expires; it stays unless set.
                     */
                    expiresAt?: string;
                    /** @description What is used first: 0 before 1; 5 unless set. Among equals what expires first, then the oldest. */
                    priority?: number;
                };
            };
        };
        responses: {
            /** @description It was there already, just so. */
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
    "wallets.grantMany": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description 1 to 1,000 of what the single form takes; each is answered at its place. */
                    items: {
                        /** @description The id of the wallet, yours. 1 to 200 printable characters, not "." or "..". */
                        wallet: string;
                        /** @description Your key of this entry (a payment, a ticket): once per wallet, for ever. 1 to 200 printable characters, not "." or "..". */
                        key: string;
                        /** @description Credits to add. */
                        amount: number;
                        /** @description A short code that stays in the ledger. */
                        reason?: string;
                        /** @description Who did it. 1 to 200 printable characters, not "." or "..". */
                        actor?: string;
                        /** @description Free text that can be erased. */
                        note?: string;
                        /**
                         * Format: date-time
                         * @description RFC 3339. When what is left of it expires; it stays unless set.
                         */
                        expiresAt?: string;
                        /** @description What is used first: 0 before 1; 5 unless set. Among equals what expires first, then the oldest. */
                        priority?: number;
                    }[];
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: (components["schemas"]["Granted"] | components["schemas"]["Refused"])[];
                    };
                };
            };
        };
    };
    "wallets.adjust": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the wallet, yours. 1 to 200 printable characters, not "." or "..". */
                wallet: string;
                /** @description Your key of this entry (a payment, a ticket): once per wallet, for ever. 1 to 200 printable characters, not "." or "..". */
                key: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Credits to add or take; not 0. May go into debt. */
                    amount: number;
                    /** @description A short code that stays in the ledger. */
                    reason?: string;
                    /** @description Who did it. 1 to 200 printable characters, not "." or "..". */
                    actor?: string;
                    /** @description Free text that can be erased. */
                    note?: string;
                    /** @description The job it is about. 1 to 200 printable characters, not "." or "..". */
                    job?: string;
                };
            };
        };
        responses: {
            /** @description It was there already, just so. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Adjusted"];
                };
            };
        };
    };
    "wallets.adjustMany": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description 1 to 1,000 of what the single form takes; each is answered at its place. */
                    items: {
                        /** @description The id of the wallet, yours. 1 to 200 printable characters, not "." or "..". */
                        wallet: string;
                        /** @description Your key of this entry (a payment, a ticket): once per wallet, for ever. 1 to 200 printable characters, not "." or "..". */
                        key: string;
                        /** @description Credits to add or take; not 0. May go into debt. */
                        amount: number;
                        /** @description A short code that stays in the ledger. */
                        reason?: string;
                        /** @description Who did it. 1 to 200 printable characters, not "." or "..". */
                        actor?: string;
                        /** @description Free text that can be erased. */
                        note?: string;
                        /** @description The job it is about. 1 to 200 printable characters, not "." or "..". */
                        job?: string;
                    }[];
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: (components["schemas"]["Adjusted"] | components["schemas"]["Refused"])[];
                    };
                };
            };
        };
    };
    "plans.set": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the plan, yours. 1 to 200 printable characters, not "." or "..". */
                plan: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description What a period grants. */
                    credits?: number;
                    /**
                     * @description The length of a period, in civil time of the zone.
                     * @enum {string}
                     */
                    every?: "day" | "week" | "month" | "year";
                    /** @description So many of them; 1 unless set. */
                    everyCount?: number;
                    /** @description An IANA zone; UTC unless set. */
                    zone?: string;
                    /**
                     * @description Whether each period has to be paid, or begins by itself; paid unless set.
                     * @enum {string}
                     */
                    renews?: "paid" | "itself";
                    /** @description Whether what is left of a period’s credit expires with it; true unless set. */
                    expires?: boolean;
                    /** @description Of its grants: 0 is used before 1; 5 unless set. */
                    priority?: number;
                    /** @description How long after its end a period may still be paid; 3 days unless set. */
                    graceMs?: number;
                    /**
                     * @description Off: it takes nobody new.
                     * @enum {string}
                     */
                    status?: "on" | "off";
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        outcome: "set" | "duplicate";
                    };
                };
            };
        };
    };
    "plans.list": {
        parameters: {
            query?: {
                /** @description Where to go on: the `cursor` of the page before. 1 to 200 printable characters, not "." or "..". */
                cursor?: string;
                /** @description At most this many. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PlanPage"];
                };
            };
        };
    };
    "subscriptions.get": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the subscription, yours. */
                subscription: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Subscription"];
                };
            };
        };
    };
    "subscriptions.start": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the subscription, yours. */
                subscription: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Who pays: an id of yours. 1 to 200 printable characters, not "." or "..". */
                    customer: string;
                    /** @description The wallet of the customer that the credit goes to. 1 to 200 printable characters, not "." or "..". */
                    wallet: string;
                    /** @description The id of the plan, yours. 1 to 200 printable characters, not "." or "..". */
                    plan: string;
                    /** @description How long it waits for its payment; a day unless set. */
                    pendingMs?: number;
                    /** @description Who did it. 1 to 200 printable characters, not "." or "..". */
                    actor?: string;
                };
            };
        };
        responses: {
            /** @description It was there already, just so. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        outcome: "started" | "duplicate";
                    };
                };
            };
        };
    };
    "subscriptions.pay": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the subscription, yours. */
                subscription: string;
                /** @description Of the payment (an invoice, a charge): once per subscription, for ever. 1 to 200 printable characters, not "." or "..". */
                key: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description Who did it. 1 to 200 printable characters, not "." or "..". */
                    actor?: string;
                    /** @description A short code that stays. */
                    reason?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Paid"];
                };
            };
        };
    };
    "subscriptions.change": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the subscription, yours. */
                subscription: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The id of the plan, yours. 1 to 200 printable characters, not "." or "..". */
                    plan: string;
                    /** @enum {string} */
                    from: "now" | "period";
                    /** @description Of yours: said again with it, it changes nothing more. 1 to 200 printable characters, not "." or "..". */
                    key?: string;
                    /** @description Who did it. 1 to 200 printable characters, not "." or "..". */
                    actor?: string;
                    /** @description A short code that stays. */
                    reason?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        outcome: "plan_changed" | "plan_planned" | "duplicate";
                        granted: number;
                        periodEnd: string | null;
                    };
                };
            };
        };
    };
    "subscriptions.cancel": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the subscription, yours. */
                subscription: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * @description Never: it goes on after all.
                     * @enum {string}
                     */
                    at: "now" | "period" | "never";
                    /** @description Of yours: said again with it, it changes nothing more. 1 to 200 printable characters, not "." or "..". */
                    key?: string;
                    /** @description Who did it. 1 to 200 printable characters, not "." or "..". */
                    actor?: string;
                    /** @description A short code that stays. */
                    reason?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        outcome: "revoked" | "canceling" | "resumed" | "duplicate";
                        /** @enum {string} */
                        status: "pending" | "active" | "past_due" | "expired" | "revoked";
                    };
                };
            };
        };
    };
    "subscriptions.history": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the subscription, yours. */
                subscription: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        events: components["schemas"]["SubscriptionEvent"][];
                    };
                };
            };
        };
    };
    "subscriptions.list": {
        parameters: {
            query?: {
                /** @description Only of this customer. 1 to 200 printable characters, not "." or "..". */
                customer?: string;
                /** @description Only those. */
                status?: "pending" | "active" | "past_due" | "expired" | "revoked";
                /** @description Where to go on: the `cursor` of the page before. 1 to 200 printable characters, not "." or "..". */
                cursor?: string;
                /** @description At most this many. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SubscriptionPage"];
                };
            };
        };
    };
    "subscriptions.strays": {
        parameters: {
            query?: {
                /** @description RFC 3339. Only older ones. */
                before?: string;
                /** @description At most this many. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        payments: components["schemas"]["StrayPayment"][];
                    };
                };
            };
        };
    };
    "payments.tell": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The payment’s id at its provider, with the provider’s name. */
                payment: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    purchase?: {
                        /** @description The id of the wallet, yours. 1 to 200 printable characters, not "." or "..". */
                        wallet: string;
                        /** @description What it buys. */
                        credits: number;
                        /**
                         * Format: date-time
                         * @description RFC 3339. When what is left of it expires.
                         */
                        expiresAt?: string;
                        /** @description What is used first: 0 before 1. */
                        priority?: number;
                    };
                    /** @description Instead: the subscription whose period it pays for. 1 to 200 printable characters, not "." or "..". */
                    subscription?: string;
                    /** @description Another id of the same payment. */
                    also?: string;
                    /** @description All of it, in the currency’s smallest unit. */
                    amount?: number;
                    /** @description True once the money has come. */
                    paid?: boolean;
                    /** @description How much was given back so far, all refunds together. */
                    refunded?: number;
                    dispute?: {
                        /** @description Of the dispute. 1 to 200 printable characters, not "." or "..". */
                        id: string;
                        /** @description The part in dispute. */
                        amount: number;
                        /** @enum {string} */
                        state: "open" | "won" | "lost";
                    };
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ToldPayment"];
                };
            };
        };
    };
    "payments.list": {
        parameters: {
            query?: {
                /** @description Only those that are paid and granted nothing: somebody has to look. */
                open?: boolean;
                /** @description RFC 3339. Only older ones. */
                before?: string;
                /** @description At most this many. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        payments: components["schemas"]["Payment"][];
                    };
                };
            };
        };
    };
    "payments.missing": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    payments: string[];
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        missing: string[];
                    };
                };
            };
        };
    };
    "payments.take": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Who sends it. */
                provider: "stripe" | "generic";
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PaymentTaken"];
                };
            };
        };
    };
    "jobs.get": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the wallet, yours. 1 to 200 printable characters, not "." or "..". */
                wallet: string;
                /** @description The id of the job in its wallet, yours; it is the idempotency key. 1 to 200 printable characters, not "." or "..". */
                job: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        job: components["schemas"]["Job"];
                        /** @description As submitted. */
                        payload: unknown;
                        /** @description As reported. */
                        result: unknown;
                    };
                };
            };
        };
    };
    "jobs.submit": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the wallet, yours. 1 to 200 printable characters, not "." or "..". */
                wallet: string;
                /** @description The id of the job in its wallet, yours; it is the idempotency key. 1 to 200 printable characters, not "." or "..". */
                job: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    queue: string | null;
                    /** @description What it is charged. */
                    price: number;
                    /** @description JSON for the worker, at most 1 MiB. */
                    payload?: unknown;
                    /** @description 0 first … 9 last; 5 unless set. */
                    priority?: number;
                    /**
                     * Format: date-time
                     * @description The earliest instant of the first attempt.
                     */
                    notBefore?: string;
                    /** @description The same as a delay. */
                    delayMs?: number;
                    /** @description After this many failures it is a dead letter. */
                    maxFailures?: number;
                    /** @description Your own words about the job, {"name": "value"}: for reading, nothing goes by them. */
                    labels?: {
                        [key: string]: string;
                    };
                    /** @description Only without a queue: when it counts as failed unless it is heard of. */
                    deadlineMs?: number;
                    /** @description Only without a queue: the reference that the upstream gave. 1 to 200 printable characters, not "." or "..". */
                    upstreamRef?: string;
                };
            };
        };
        responses: {
            /** @description It was there already, just so. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Submitted"];
                };
            };
        };
    };
    "jobs.submitMany": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description 1 to 1,000 of what the single form takes; each is answered at its place. */
                    items: {
                        /** @description The id of the wallet, yours. 1 to 200 printable characters, not "." or "..". */
                        wallet: string;
                        /** @description The id of the job in its wallet, yours; it is the idempotency key. 1 to 200 printable characters, not "." or "..". */
                        job: string;
                        queue: string | null;
                        /** @description What it is charged. */
                        price: number;
                        /** @description JSON for the worker, at most 1 MiB. */
                        payload?: unknown;
                        /** @description 0 first … 9 last; 5 unless set. */
                        priority?: number;
                        /**
                         * Format: date-time
                         * @description The earliest instant of the first attempt.
                         */
                        notBefore?: string;
                        /** @description The same as a delay. */
                        delayMs?: number;
                        /** @description After this many failures it is a dead letter. */
                        maxFailures?: number;
                        /** @description Your own words about the job, {"name": "value"}: for reading, nothing goes by them. */
                        labels?: {
                            [key: string]: string;
                        };
                        /** @description Only without a queue: when it counts as failed unless it is heard of. */
                        deadlineMs?: number;
                        /** @description Only without a queue: the reference that the upstream gave. 1 to 200 printable characters, not "." or "..". */
                        upstreamRef?: string;
                    }[];
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: (components["schemas"]["Submitted"] | components["schemas"]["Refused"])[];
                    };
                };
            };
        };
    };
    "jobs.list": {
        parameters: {
            query?: {
                /** @description Only those in this state. */
                state?: "queued" | "running" | "waiting" | "succeeded" | "dead" | "failed" | "canceled" | "discarded";
                /** @description The name of the queue. 1 to 200 printable characters, not "." or "..". */
                queue?: string;
                /** @description Where to go on: the `cursor` of the page before. */
                cursor?: number;
                /** @description At most this many. */
                limit?: number;
            };
            header?: never;
            path: {
                /** @description The id of the wallet, yours. 1 to 200 printable characters, not "." or "..". */
                wallet: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JobPage"];
                };
            };
        };
    };
    "jobs.attempts": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the wallet, yours. 1 to 200 printable characters, not "." or "..". */
                wallet: string;
                /** @description The id of the job in its wallet, yours; it is the idempotency key. 1 to 200 printable characters, not "." or "..". */
                job: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        attempts: components["schemas"]["Attempt"][];
                    };
                };
            };
        };
    };
    "jobs.entries": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the wallet, yours. 1 to 200 printable characters, not "." or "..". */
                wallet: string;
                /** @description The id of the job in its wallet, yours; it is the idempotency key. 1 to 200 printable characters, not "." or "..". */
                job: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        entries: components["schemas"]["Entry"][];
                    };
                };
            };
        };
    };
    "jobs.byUpstreamRef": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The reference that the upstream gave. 1 to 200 printable characters, not "." or "..". */
                upstreamRef: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        jobs: {
                            job: components["schemas"]["Job"];
                            attempt: number;
                        }[];
                    };
                };
            };
        };
    };
    "jobs.prune": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Only jobs that ended longer ago. */
                    olderThanMs: number;
                    /**
                     * @description Only jobs that ended so; both unless set.
                     * @enum {string}
                     */
                    state?: "succeeded" | "canceled";
                    /** @description At most this many; 1,000 unless set. */
                    count?: number;
                    /** @description Delete nothing; say how many there are in all. */
                    dryRun?: boolean;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Rows that this call deleted. */
                        pruned: number;
                        /** @description Of a dry run: how many there are in all. */
                        prunable?: number;
                    };
                };
            };
        };
    };
    "jobs.fail": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the wallet, yours. 1 to 200 printable characters, not "." or "..". */
                wallet: string;
                /** @description The id of the job in its wallet, yours; it is the idempotency key. 1 to 200 printable characters, not "." or "..". */
                job: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description The number of the attempt: the fencing token. */
                    attempt?: number;
                    /**
                     * @description What the report is worth; `presumed` unless set.
                     * @enum {string}
                     */
                    verdict?: "definitive" | "presumed";
                    /** @description False: straight to the dead letters. */
                    retryable?: boolean;
                    /** @description The Retry-After of the upstream. */
                    retryAfterMs?: number;
                    /** @description Why, for people. Cut at 2,000 characters. */
                    reason?: string;
                    /** @description The reference that the upstream gave. 1 to 200 printable characters, not "." or "..". */
                    upstreamRef?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failed"];
                };
            };
        };
    };
    "jobs.succeed": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the wallet, yours. 1 to 200 printable characters, not "." or "..". */
                wallet: string;
                /** @description The id of the job in its wallet, yours; it is the idempotency key. 1 to 200 printable characters, not "." or "..". */
                job: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description The number of the attempt: the fencing token. */
                    attempt?: number;
                    /** @description JSON, at most 1 MiB. */
                    result?: unknown;
                    /** @description What the job turned out to be worth: settles the difference to its price. */
                    finalPrice?: number;
                    /** @description The reference that the upstream gave. 1 to 200 printable characters, not "." or "..". */
                    upstreamRef?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Succeeded"];
                };
            };
        };
    };
    "jobs.settle": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the wallet, yours. 1 to 200 printable characters, not "." or "..". */
                wallet: string;
                /** @description The id of the job in its wallet, yours; it is the idempotency key. 1 to 200 printable characters, not "." or "..". */
                job: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description What it was worth. */
                    finalPrice: number;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        outcome: "settled" | "duplicate";
                        finalPrice: number;
                        amount: number;
                    };
                };
            };
        };
    };
    "jobs.cancel": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the wallet, yours. 1 to 200 printable characters, not "." or "..". */
                wallet: string;
                /** @description The id of the job in its wallet, yours; it is the idempotency key. 1 to 200 printable characters, not "." or "..". */
                job: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description What the part already delivered is worth. */
                    keep?: number;
                    /** @description Why, for people. Cut at 2,000 characters. */
                    reason?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        outcome: "canceled" | "succeeded" | "duplicate";
                        state: string;
                        refunded: boolean;
                        kept: number | null;
                    };
                };
            };
        };
    };
    "jobs.failMany": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description 1 to 1,000 of what the single form takes; each is answered at its place. */
                    items: {
                        /** @description The id of the wallet, yours. 1 to 200 printable characters, not "." or "..". */
                        wallet: string;
                        /** @description The id of the job in its wallet, yours; it is the idempotency key. 1 to 200 printable characters, not "." or "..". */
                        job: string;
                        /** @description The number of the attempt: the fencing token. */
                        attempt?: number;
                        /**
                         * @description What the report is worth; `presumed` unless set.
                         * @enum {string}
                         */
                        verdict?: "definitive" | "presumed";
                        /** @description False: straight to the dead letters. */
                        retryable?: boolean;
                        /** @description The Retry-After of the upstream. */
                        retryAfterMs?: number;
                        /** @description Why, for people. Cut at 2,000 characters. */
                        reason?: string;
                        /** @description The reference that the upstream gave. 1 to 200 printable characters, not "." or "..". */
                        upstreamRef?: string;
                    }[];
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: (components["schemas"]["Failed"] | components["schemas"]["Refused"])[];
                    };
                };
            };
        };
    };
    "jobs.succeedMany": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description 1 to 1,000 of what the single form takes; each is answered at its place. */
                    items: {
                        /** @description The id of the wallet, yours. 1 to 200 printable characters, not "." or "..". */
                        wallet: string;
                        /** @description The id of the job in its wallet, yours; it is the idempotency key. 1 to 200 printable characters, not "." or "..". */
                        job: string;
                        /** @description The number of the attempt: the fencing token. */
                        attempt?: number;
                        /** @description JSON, at most 1 MiB. */
                        result?: unknown;
                        /** @description What the job turned out to be worth: settles the difference to its price. */
                        finalPrice?: number;
                        /** @description The reference that the upstream gave. 1 to 200 printable characters, not "." or "..". */
                        upstreamRef?: string;
                    }[];
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: (components["schemas"]["Succeeded"] | components["schemas"]["Refused"])[];
                    };
                };
            };
        };
    };
    "upstreamRefs.fail": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The reference that the upstream gave. 1 to 200 printable characters, not "." or "..". */
                upstreamRef: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /**
                     * @description What the report is worth; `presumed` unless set.
                     * @enum {string}
                     */
                    verdict?: "definitive" | "presumed";
                    /** @description False: straight to the dead letters. */
                    retryable?: boolean;
                    /** @description The Retry-After of the upstream. */
                    retryAfterMs?: number;
                    /** @description Why, for people. Cut at 2,000 characters. */
                    reason?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failed"];
                };
            };
        };
    };
    "upstreamRefs.succeed": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The reference that the upstream gave. 1 to 200 printable characters, not "." or "..". */
                upstreamRef: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description JSON, at most 1 MiB. */
                    result?: unknown;
                    /** @description What the job turned out to be worth: settles the difference to its price. */
                    finalPrice?: number;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Succeeded"];
                };
            };
        };
    };
    "queues.lease": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The name of the queue. 1 to 200 printable characters, not "." or "..". */
                queue: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description At most this many; 1 unless set. */
                    count?: number;
                    /** @description Who works, for people. 1 to 200 printable characters, not "." or "..". */
                    worker?: string;
                    /** @description The length of the lease; the queue’s unless set. */
                    leaseMs?: number;
                    /** @description Makes a lost answer repeatable. 1 to 200 printable characters, not "." or "..". */
                    requestId?: string;
                    /** @description How long to wait where nothing is due; 0 unless set. */
                    waitMs?: number;
                    /** @description The model it is for. 1 to 200 printable characters, not "." or "..". */
                    model?: string;
                    /** @description The capability it is for. 1 to 200 printable characters, not "." or "..". */
                    capability?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        jobs: components["schemas"]["LeasedJob"][];
                        out: components["schemas"]["PoolOut"] | null;
                    };
                };
            };
        };
    };
    "jobs.extend": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the wallet, yours. 1 to 200 printable characters, not "." or "..". */
                wallet: string;
                /** @description The id of the job in its wallet, yours; it is the idempotency key. 1 to 200 printable characters, not "." or "..". */
                job: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The number of the attempt: the fencing token. */
                    attempt: number;
                    /** @description From now; the queue’s unless set. */
                    leaseMs?: number;
                    /** @description The reference that the upstream gave: a callback finds the job by it. 1 to 200 printable characters, not "." or "..". */
                    upstreamRef?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        outcome: "extended" | "canceled" | "succeeded" | "stale";
                        leaseUntil: string | null;
                    };
                };
            };
        };
    };
    "jobs.handOver": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the wallet, yours. 1 to 200 printable characters, not "." or "..". */
                wallet: string;
                /** @description The id of the job in its wallet, yours; it is the idempotency key. 1 to 200 printable characters, not "." or "..". */
                job: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The number of the attempt: the fencing token. */
                    attempt: number;
                    /** @description When it counts as failed unless it is heard of; an hour unless set. */
                    deadlineMs?: number;
                    /** @description The reference that the upstream gave: a callback finds the job by it. 1 to 200 printable characters, not "." or "..". */
                    upstreamRef?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        outcome: "handed_over" | "canceled" | "succeeded" | "stale" | "duplicate";
                        deadlineAt: string | null;
                    };
                };
            };
        };
    };
    "jobs.release": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the wallet, yours. 1 to 200 printable characters, not "." or "..". */
                wallet: string;
                /** @description The id of the job in its wallet, yours; it is the idempotency key. 1 to 200 printable characters, not "." or "..". */
                job: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The number of the attempt: the fencing token. */
                    attempt: number;
                    /** @description Not before this delay. */
                    delayMs?: number;
                    /** @description Why, for people. Cut at 2,000 characters. */
                    reason?: string;
                    /** @description The reference that the upstream gave: a callback finds the job by it. 1 to 200 printable characters, not "." or "..". */
                    upstreamRef?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        outcome: "released" | "canceled" | "succeeded" | "stale" | "duplicate";
                        notBefore: string | null;
                    };
                };
            };
        };
    };
    "jobs.report": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the wallet, yours. 1 to 200 printable characters, not "." or "..". */
                wallet: string;
                /** @description The id of the job in its wallet, yours; it is the idempotency key. 1 to 200 printable characters, not "." or "..". */
                job: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The number of the attempt: the fencing token. */
                    attempt: number;
                    answer: components["schemas"]["ProviderAnswer"];
                    /** @description Of a success: JSON, at most 1 MiB. */
                    result?: unknown;
                    /** @description Of a success: what the job turned out to be worth. */
                    finalPrice?: number;
                    /** @description The reference that the upstream gave: a callback finds the job by it. 1 to 200 printable characters, not "." or "..". */
                    upstreamRef?: string;
                    /** @description What was used, by unit: `{"tokens": 1200}`. One of `requests` unless it says how many. */
                    use?: {
                        [key: string]: number;
                    };
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JobReported"];
                };
            };
        };
    };
    "deadLetters.list": {
        parameters: {
            query?: {
                /** @description The name of the queue. 1 to 200 printable characters, not "." or "..". */
                queue?: string;
                /** @description The id of the wallet, yours. 1 to 200 printable characters, not "." or "..". */
                wallet?: string;
                /** @description The exact reason of the last failure. */
                reason?: string;
                /** @description Dead by this instant; what died later is not touched. */
                asOf?: string;
                /** @description Where to go on: the `cursor` of the page before. */
                cursor?: string;
                /** @description At most this many. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        jobs: components["schemas"]["Job"][];
                        cursor: string | null;
                    };
                };
            };
        };
    };
    "deadLetters.preview": {
        parameters: {
            query?: {
                /** @description The name of the queue. 1 to 200 printable characters, not "." or "..". */
                queue?: string;
                /** @description The id of the wallet, yours. 1 to 200 printable characters, not "." or "..". */
                wallet?: string;
                /** @description The exact reason of the last failure. */
                reason?: string;
                /** @description Dead by this instant; what died later is not touched. */
                asOf?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RedrivePreview"];
                };
            };
        };
    };
    "deadLetters.redriveAll": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The name of the queue. 1 to 200 printable characters, not "." or "..". */
                    queue?: string;
                    /** @description The id of the wallet, yours. 1 to 200 printable characters, not "." or "..". */
                    wallet?: string;
                    /** @description The exact reason of the last failure. */
                    reason?: string;
                    /**
                     * Format: date-time
                     * @description Dead by this instant; what died later is not touched.
                     */
                    asOf?: string;
                    /** @description The count that the preview showed. */
                    confirm: number;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/x-ndjson": components["schemas"]["RedriveProgress"];
                };
            };
        };
    };
    "deadLetters.redrive": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the wallet, yours. 1 to 200 printable characters, not "." or "..". */
                wallet: string;
                /** @description The id of the job in its wallet, yours; it is the idempotency key. 1 to 200 printable characters, not "." or "..". */
                job: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        outcome: "redriven" | "canceled" | "succeeded" | "stale" | "duplicate";
                    };
                };
            };
        };
    };
    "deadLetters.discard": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the wallet, yours. 1 to 200 printable characters, not "." or "..". */
                wallet: string;
                /** @description The id of the job in its wallet, yours; it is the idempotency key. 1 to 200 printable characters, not "." or "..". */
                job: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        outcome: "discarded" | "canceled" | "succeeded" | "stale" | "duplicate";
                    };
                };
            };
        };
    };
    "queues.list": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        queues: components["schemas"]["QueueDepth"][];
                    };
                };
            };
        };
    };
    "queues.get": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The name of the queue. 1 to 200 printable characters, not "." or "..". */
                queue: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["QueueSettings"];
                };
            };
        };
    };
    "queues.configure": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The name of the queue. 1 to 200 printable characters, not "." or "..". */
                queue: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /**
                     * @description When the price of a failed job goes back.
                     * @enum {string}
                     */
                    refundOn?: "failure" | "final";
                    /** @description Back-off before the second run. */
                    backoffBaseMs?: number;
                    /** @description The longest back-off. */
                    backoffMaxMs?: number;
                    /** @description The longest that a Retry-After may postpone the next run. */
                    retryAfterMaxMs?: number;
                    /** @description After this many failures a job is a dead letter. */
                    maxFailures?: number;
                    /** @description How often a job may be given back unfinished. */
                    maxReleases?: number;
                    /** @description The length of a lease. */
                    leaseMs?: number;
                    /** @description Nothing is leased; what runs goes on. */
                    paused?: boolean;
                    pool?: string | null;
                    /** @description How often a job may go back to its place for trouble of its upstream that it may have caused (5xx, no answer); then that is a failure. */
                    maxUpstreamErrors?: number;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["QueueSettings"];
                };
            };
        };
    };
    "upstreams.list": {
        parameters: {
            query?: {
                /** @description The name of the pool. 1 to 200 printable characters, not "." or "..". */
                pool?: string;
                /** @description Only those at this provider. 1 to 200 printable characters, not "." or "..". */
                provider?: string;
                /** @description Only those of this group. 1 to 200 printable characters, not "." or "..". */
                quotaGroup?: string;
                status?: "on" | "off" | "draining" | "retired";
                /** @description Only those that may be used now, or only those that may not. */
                usable?: boolean;
                /** @description Where to go on: the `cursor` of the page before, an upstream. 1 to 200 printable characters, not "." or "..". */
                cursor?: string;
                /** @description At most this many. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UpstreamPage"];
                };
            };
        };
    };
    "upstreams.register": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the upstream, yours. 1 to 200 printable characters, not "." or "..". */
                upstream: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The name of the pool. 1 to 200 printable characters, not "." or "..". */
                    pool: string;
                    /** @description Whose account it is: `openai`, `fal` … 1 to 200 printable characters, not "." or "..". */
                    provider: string;
                    quotaGroup?: string | null;
                    /** @description The way there: a proxy, an egress address; `direct` unless set. 1 to 200 printable characters, not "." or "..". */
                    route?: string;
                    /** @description Where the credential is kept: a name in your secret store, never the secret. */
                    credentialRef?: string;
                    /** @description 0 first … 9 last; 5 unless set. */
                    priority?: number;
                    /** @description Its share among those of one priority; 1 unless set. */
                    weight?: number;
                    maxConcurrency?: number | null;
                    /** @description Who did it. */
                    actor?: string;
                    /** @description Why, for people. Cut at 2,000 characters. */
                    reason?: string;
                };
            };
        };
        responses: {
            /** @description It was there already, just so. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Registered"];
                };
            };
        };
    };
    "upstreams.change": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the upstream, yours. 1 to 200 printable characters, not "." or "..". */
                upstream: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /**
                     * @description `draining`: nothing new, what is under way goes on. `retired`: for ever.
                     * @enum {string}
                     */
                    status?: "on" | "off" | "draining" | "retired";
                    quotaGroup?: string | null;
                    /** @description The way there: a proxy, an egress address; `direct` unless set. 1 to 200 printable characters, not "." or "..". */
                    route?: string;
                    /** @description Where the credential is kept: a name in your secret store, never the secret. */
                    credentialRef?: string;
                    /** @description 0 first … 9 last; 5 unless set. */
                    priority?: number;
                    /** @description Its share among those of one priority; 1 unless set. */
                    weight?: number;
                    maxConcurrency?: number | null;
                    /** @description Who did it. */
                    actor?: string;
                    /** @description Why, for people. Cut at 2,000 characters. */
                    reason?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        outcome: "changed" | "duplicate";
                    };
                };
            };
        };
    };
    "upstreams.replaceCredential": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the upstream, yours. 1 to 200 printable characters, not "." or "..". */
                upstream: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description Where the credential is kept: a name in your secret store, never the secret. */
                    credentialRef?: string;
                    /** @description Who did it. */
                    actor?: string;
                    /** @description Why, for people. Cut at 2,000 characters. */
                    reason?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CredentialReplaced"];
                };
            };
        };
    };
    "upstreams.explain": {
        parameters: {
            query?: {
                /** @description The model it is for. 1 to 200 printable characters, not "." or "..". */
                model?: string;
                /** @description The capability it is for. 1 to 200 printable characters, not "." or "..". */
                capability?: string;
            };
            header?: never;
            path: {
                /** @description The id of the upstream, yours. 1 to 200 printable characters, not "." or "..". */
                upstream: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Upstream"];
                };
            };
        };
    };
    "upstreams.history": {
        parameters: {
            query?: {
                /** @description Where to go on: the `cursor` of the page before. */
                cursor?: string;
                /** @description At most this many. */
                limit?: number;
                /** @description From the first one on. */
                oldestFirst?: boolean;
            };
            header?: never;
            path: {
                /** @description The id of the upstream, yours. 1 to 200 printable characters, not "." or "..". */
                upstream: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HistoryPage"];
                };
            };
        };
    };
    "upstreams.select": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The name of the pool. 1 to 200 printable characters, not "." or "..". */
                pool: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description The model it is for. 1 to 200 printable characters, not "." or "..". */
                    model?: string;
                    /** @description The capability it is for. 1 to 200 printable characters, not "." or "..". */
                    capability?: string;
                    /** @description How long the slot is held; 60,000 unless set. */
                    leaseMs?: number;
                    /** @description Who uses it, for people. 1 to 200 printable characters, not "." or "..". */
                    holder?: string;
                    /** @description An id of yours for the lease: makes a lost answer repeatable. 1 to 200 printable characters, not "." or "..". */
                    lease?: string;
                    /** @description A key of yours, such as a conversation: the same upstream while it is usable, then another, and stays there. 1 to 200 printable characters, not "." or "..". */
                    sticky?: string;
                    /** @description How long a key that is not used is remembered; an hour unless set. */
                    stickyMs?: number;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    /** @description Seconds. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Selected"];
                };
            };
        };
    };
    "upstreams.extend": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the lease. 1 to 200 printable characters, not "." or "..". */
                lease: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description How long the slot is held; 60,000 unless set. */
                    leaseMs?: number;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        outcome: "extended" | "stale";
                        leaseUntil: string | null;
                    };
                };
            };
        };
    };
    "upstreams.release": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the lease. 1 to 200 printable characters, not "." or "..". */
                lease: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description The model it is for. 1 to 200 printable characters, not "." or "..". */
                    model?: string;
                    /** @description The capability it is for. 1 to 200 printable characters, not "." or "..". */
                    capability?: string;
                    /** @description What was used, by unit: `{"tokens": 1200}`. One of `requests` unless it says how many. */
                    use?: {
                        [key: string]: number;
                    };
                    /** @description What makes the use count once: a key of yours, instead of the lease. 1 to 200 printable characters, not "." or "..". */
                    key?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        outcome: "released" | "duplicate";
                    };
                };
            };
        };
    };
    "upstreams.report": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the upstream, yours. 1 to 200 printable characters, not "." or "..". */
                upstream: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    answer?: components["schemas"]["ProviderAnswer"];
                    /** @description Whether the provider did what was asked; not beside `answer`. */
                    success?: boolean;
                    /** @description The lease it was used under: it is given back. 1 to 200 printable characters, not "." or "..". */
                    lease?: string;
                    /**
                     * Format: date-time
                     * @description RFC 3339. When the request started.
                     */
                    startedAt?: string;
                    /** @description How long ago the request started. */
                    elapsedMs?: number;
                    /** @description The model it is for. 1 to 200 printable characters, not "." or "..". */
                    model?: string;
                    /** @description The capability it is for. 1 to 200 printable characters, not "." or "..". */
                    capability?: string;
                    block?: {
                        /** @description The class of trouble: `rate_limited`, `billing`, `server_error` … 1 to 200 printable characters, not "." or "..". */
                        kind: string;
                        /**
                         * @description What is out; `upstream` unless set.
                         * @enum {string}
                         */
                        subject?: "upstream" | "quota_group" | "provider" | "route";
                        /** @description Only a model or a capability: `model:…`, `capability:…`; everything unless set. */
                        scope?: string;
                        /**
                         * @description How its end is known; from the rest unless set.
                         * @enum {string}
                         */
                        source?: "retry_after" | "reset_announced" | "backoff" | "operator";
                        /**
                         * @description What ends it; `rolling` unless set.
                         * @enum {string}
                         */
                        policy?: "auto" | "manual" | "snapshot" | "rolling";
                        /** @description How long, as the provider says. */
                        forMs?: number;
                        /**
                         * Format: date-time
                         * @description RFC 3339. Until when, as the provider says; not beside `forMs`.
                         */
                        until?: string;
                        /** @description What was said, for people. Cut at 2,000 characters. */
                        reason?: string;
                        /** @description What to do, for people. Cut at 2,000 characters. */
                        nextStep?: string;
                    };
                    /** @description What was used, by unit: `{"tokens": 1200}`. One of `requests` unless it says how many. */
                    use?: {
                        [key: string]: number;
                    };
                    /** @description What makes the use count once: a key of yours, instead of the lease. 1 to 200 printable characters, not "." or "..". */
                    key?: string;
                    /** @description What makes the use count once: the attempt of a job, instead of the lease. */
                    job?: {
                        /** @description The id of the wallet, yours. 1 to 200 printable characters, not "." or "..". */
                        wallet: string;
                        /** @description The id of the job in its wallet, yours; it is the idempotency key. 1 to 200 printable characters, not "." or "..". */
                        job: string;
                        /** @description The number of the attempt: the fencing token. */
                        attempt: number;
                    };
                    /** @description Who did it. */
                    actor?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Reported"];
                };
            };
        };
    };
    "upstreams.note": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the upstream, yours. 1 to 200 printable characters, not "." or "..". */
                upstream: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description The windows. */
                    snapshots?: {
                        /** @description As the provider calls it. 1 to 200 printable characters, not "." or "..". */
                        name: string;
                        used?: number | null;
                        resetsAt?: string | null;
                        /** @description Used up; unless set, whether `used` is 1 or more. */
                        exhausted?: boolean;
                        /** @enum {string} */
                        kind?: "short" | "daily" | "weekly" | "monthly" | "other" | "unknown";
                        lengthMs?: number | null;
                        /** @description Only a model or a capability: `model:…`, `capability:…`; everything unless set. */
                        scope?: string;
                    }[];
                    answer?: components["schemas"]["ProviderAnswer"];
                    /**
                     * @description Whose quota it is; `upstream` unless set.
                     * @enum {string}
                     */
                    subject?: "upstream" | "quota_group";
                    /**
                     * Format: date-time
                     * @description RFC 3339. When the request for it started.
                     */
                    startedAt?: string;
                    /** @description How long ago the request started. */
                    elapsedMs?: number;
                    /**
                     * Format: date-time
                     * @description RFC 3339. When the `snapshots` were observed; now unless set.
                     */
                    observedAt?: string;
                    /** @description The model it is for. 1 to 200 printable characters, not "." or "..". */
                    model?: string;
                    /** @description The capability it is for. 1 to 200 printable characters, not "." or "..". */
                    capability?: string;
                    /** @description Who did it. */
                    actor?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Noted"];
                };
            };
        };
    };
    "upstreams.snapshots": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the upstream, yours. 1 to 200 printable characters, not "." or "..". */
                upstream: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Snapshots"];
                };
            };
        };
    };
    "blocks.list": {
        parameters: {
            query?: {
                /** @description `manual`: those that wait for a person. */
                policy?: "auto" | "manual" | "snapshot" | "rolling";
                /** @description Only of this class of trouble. 1 to 200 printable characters, not "." or "..". */
                kind?: string;
                /** @description Only those on such subjects. */
                subject?: "upstream" | "quota_group" | "provider" | "route";
                /** @description Where to go on: the `cursor` of the page before. */
                cursor?: number;
                /** @description At most this many. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BlockPage"];
                };
            };
        };
    };
    "upstreams.block": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the upstream, yours. 1 to 200 printable characters, not "." or "..". */
                upstream: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Why, for people. Cut at 2,000 characters. */
                    reason: string;
                    /** @description Who did it. */
                    actor?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        outcome: "blocked" | "duplicate";
                        /** @description Free it by this number. */
                        block: number;
                    };
                };
            };
        };
    };
    "upstreams.free": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The number of the block. */
                block: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /**
                     * @description On what evidence; `operator` unless set.
                     * @enum {string}
                     */
                    as?: "operator" | "credential" | "probe" | "snapshot";
                    /** @description The generation of the block that was seen. */
                    generation?: number;
                    /** @description Why, for people. Cut at 2,000 characters. */
                    reason?: string;
                    /** @description Who did it. */
                    actor?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        outcome: "closed" | "duplicate";
                    };
                };
            };
        };
    };
    "limits.list": {
        parameters: {
            query?: {
                /** @description Of this upstream. 1 to 200 printable characters, not "." or "..". */
                upstream?: string;
                /** @description Of this quota group. 1 to 200 printable characters, not "." or "..". */
                quotaGroup?: string;
                /** @description Of this provider. 1 to 200 printable characters, not "." or "..". */
                provider?: string;
                /** @description Of this route. 1 to 200 printable characters, not "." or "..". */
                route?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Limits"];
                };
            };
        };
    };
    "limits.get": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the limit, yours. 1 to 200 printable characters, not "." or "..". */
                limit: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Limit"];
                };
            };
        };
    };
    "limits.set": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the limit, yours. 1 to 200 printable characters, not "." or "..". */
                limit: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Of this upstream. 1 to 200 printable characters, not "." or "..". */
                    upstream?: string;
                    /** @description Of this quota group. 1 to 200 printable characters, not "." or "..". */
                    quotaGroup?: string;
                    /** @description Of this provider. 1 to 200 printable characters, not "." or "..". */
                    provider?: string;
                    /** @description Of this route. 1 to 200 printable characters, not "." or "..". */
                    route?: string;
                    /** @description Only a model or a capability: `model:…`, `capability:…`. */
                    scope?: string;
                    /** @description What is counted: `requests` are by themselves, anything else as reports say. 1 to 200 printable characters, not "." or "..". */
                    unit: string;
                    /** @description What may be used in a window. */
                    amount: number;
                    /**
                     * @description By the calendar, from the first use on, or the last so many ms (`rolling`).
                     * @enum {string}
                     */
                    kind: "daily" | "weekly" | "monthly" | "first_use" | "rolling";
                    /** @description Of the calendar: an IANA time zone. 1 to 200 printable characters, not "." or "..". */
                    zone?: string;
                    /** @description Of the calendar: the hour at which a window begins; 0 unless set. */
                    startHour?: number;
                    /** @description Of `weekly`: 0 (Sunday) to 6. */
                    weekday?: number;
                    /** @description Of `monthly`; where a month has no such day, its last. */
                    day?: number;
                    /** @description Of `first_use` (from a minute) and `rolling` (from a second). */
                    lengthMs?: number;
                };
            };
        };
        responses: {
            /** @description It was there already, just so. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        outcome: "set" | "changed" | "duplicate";
                    };
                };
            };
        };
    };
    "limits.end": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the limit, yours. 1 to 200 printable characters, not "." or "..". */
                limit: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        outcome: "ended" | "duplicate";
                    };
                };
            };
        };
    };
    "limits.reset": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the limit, yours. 1 to 200 printable characters, not "." or "..". */
                limit: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /**
                     * Format: date-time
                     * @description RFC 3339. The `windowStart` that was seen.
                     */
                    window?: string;
                    /** @description Who did it. */
                    actor?: string;
                    /** @description Why, for people. Cut at 2,000 characters. */
                    reason?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        outcome: "reset" | "duplicate";
                    };
                };
            };
        };
    };
    "limits.windows": {
        parameters: {
            query?: {
                /** @description How many; 100 unless set. */
                count?: number;
            };
            header?: never;
            path: {
                /** @description The id of the limit, yours. 1 to 200 printable characters, not "." or "..". */
                limit: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LimitWindows"];
                };
            };
        };
    };
    "pools.list": {
        parameters: {
            query?: {
                /** @description Where to go on: the `cursor` of the page before, a pool. 1 to 200 printable characters, not "." or "..". */
                cursor?: string;
                /** @description At most this many. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PoolPage"];
                };
            };
        };
    };
    "pools.get": {
        parameters: {
            query?: {
                /** @description The model it is for. 1 to 200 printable characters, not "." or "..". */
                model?: string;
                /** @description The capability it is for. 1 to 200 printable characters, not "." or "..". */
                capability?: string;
            };
            header?: never;
            path: {
                /** @description The name of the pool. 1 to 200 printable characters, not "." or "..". */
                pool: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    /** @description Seconds. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PoolState"];
                };
            };
        };
    };
    "pools.explain": {
        parameters: {
            query?: {
                /** @description The model it is for. 1 to 200 printable characters, not "." or "..". */
                model?: string;
                /** @description The capability it is for. 1 to 200 printable characters, not "." or "..". */
                capability?: string;
                /** @description At most this many. */
                limit?: number;
            };
            header?: never;
            path: {
                /** @description The name of the pool. 1 to 200 printable characters, not "." or "..". */
                pool: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        upstreams: components["schemas"]["Upstream"][];
                    };
                };
            };
        };
    };
    "probes.set": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The pool. 1 to 200 printable characters, not "." or "..". */
                pool: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    http?: components["schemas"]["HttpProbe"];
                    /** @description How long a block waits for the answer; 30,000 unless set. */
                    graceMs?: number;
                    /** @description How often an announced reset is asked early; 900,000 unless set. */
                    everyMs?: number;
                    /** @description How long an answer may take; 10,000 unless set. */
                    timeoutMs?: number;
                    /** @description By unit. */
                    cost?: {
                        [key: string]: number;
                    };
                    /** @description Who says so. 1 to 200 printable characters, not "." or "..". */
                    actor?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        outcome: "set" | "duplicate";
                    };
                };
            };
        };
    };
    "probes.remove": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The pool. 1 to 200 printable characters, not "." or "..". */
                pool: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        outcome: "removed" | "duplicate";
                    };
                };
            };
        };
    };
    "probes.probers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        probers: components["schemas"]["Prober"][];
                    };
                };
            };
        };
    };
    "probes.list": {
        parameters: {
            query?: {
                /** @description Only of this block. */
                block?: number;
                /** @description Only of this upstream. 1 to 200 printable characters, not "." or "..". */
                upstream?: string;
                /** @description Where to go on: the `cursor` of the page before. */
                cursor?: number;
                /** @description At most this many. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProbePage"];
                };
            };
        };
    };
    "probes.report": {
        parameters: {
            query?: {
                /** @description RFC 3339. Probes of this instant or later. */
                since?: string;
                /** @description The pool. 1 to 200 printable characters, not "." or "..". */
                pool?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        scores: components["schemas"]["ProbeScore"][];
                    };
                };
            };
        };
    };
    "probes.preview": {
        parameters: {
            query?: {
                /** @description Only blocks of this policy. */
                policy?: "auto" | "manual" | "snapshot" | "rolling";
                /** @description Only blocks of this kind. 1 to 200 printable characters, not "." or "..". */
                kind?: string;
            };
            header?: never;
            path: {
                /** @description The pool. 1 to 200 printable characters, not "." or "..". */
                pool: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Confirm this number. */
                        count: number;
                        /** @description Not asked: orders to wait that last, and what a person has decided; all, where the pool has no prober. */
                        left: number;
                    };
                };
            };
        };
    };
    "probes.recheck": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The pool. 1 to 200 printable characters, not "." or "..". */
                pool: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * @description Only blocks of this policy.
                     * @enum {string}
                     */
                    policy?: "auto" | "manual" | "snapshot" | "rolling";
                    /** @description Only blocks of this kind. 1 to 200 printable characters, not "." or "..". */
                    kind?: string;
                    /** @description The count that the preview showed. */
                    confirm: number;
                    /** @description Who wants it. 1 to 200 printable characters, not "." or "..". */
                    actor: string;
                    /** @description How long to wait for answers; 600,000 unless set. */
                    withinMs?: number;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/x-ndjson": components["schemas"]["RecheckProgress"];
                };
            };
        };
    };
    "estimates.report": {
        parameters: {
            query?: {
                /** @description Only blocks that ended at this instant or after it. */
                since?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EstimateReport"];
                };
            };
        };
    };
    "inbox.list": {
        parameters: {
            query?: {
                /** @description Only what concerns this pool. 1 to 200 printable characters, not "." or "..". */
                pool?: string;
                /** @description Only what this person took. */
                owner?: string;
                /** @description Only what nobody took; not beside `owner`. */
                unowned?: boolean;
                /** @description Those that are put off, instead of those that are not. */
                snoozed?: boolean;
                /** @description Where to go on: the `cursor` of the page before, an item. 1 to 200 printable characters, not "." or "..". */
                cursor?: string;
                /** @description At most this many. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InboxPage"];
                };
            };
        };
    };
    "inbox.take": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The item, as the list names it: `block:12`. 1 to 200 printable characters, not "." or "..". */
                item: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Who says so. */
                    actor: string;
                    /** @description Take it from whoever has it. */
                    force?: boolean;
                    /** @description A remark, for whoever looks next. */
                    note?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Taken"];
                };
            };
        };
    };
    "inbox.snooze": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The item, as the list names it: `block:12`. 1 to 200 printable characters, not "." or "..". */
                item: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Who says so. */
                    actor: string;
                    /**
                     * Format: date-time
                     * @description RFC 3339. Until when; not beside `forMs`.
                     */
                    until?: string;
                    /** @description For how long. */
                    forMs?: number;
                    /** @description A remark, for whoever looks next. */
                    note?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        outcome: "snoozed" | "woken" | "duplicate";
                    };
                };
            };
        };
    };
    "inbox.note": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The item, as the list names it: `block:12`. 1 to 200 printable characters, not "." or "..". */
                item: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Who says so. */
                    actor: string;
                    /** @description A remark, for whoever looks next. */
                    note: string;
                    /** @description A key of yours. 1 to 200 printable characters, not "." or "..". */
                    key?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Remarked"];
                };
            };
        };
    };
    "feed.read": {
        parameters: {
            query?: {
                /** @description Where to go on: the `cursor` of the page before. */
                cursor?: string;
                /** @description At most this many; 500 unless set. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        events: (components["schemas"]["EntryEvent"] | components["schemas"]["AttemptEvent"])[];
                        cursor: string | null;
                        /** @description True: nothing more is there now; the cursor stays good for what comes. */
                        ended: boolean;
                    };
                };
            };
        };
    };
    "feed.entries": {
        parameters: {
            query?: {
                /** @description The id of the wallet, yours. 1 to 200 printable characters, not "." or "..". */
                wallet?: string;
                /** @description Only wallets of this customer. 1 to 200 printable characters, not "." or "..". */
                customer?: string;
                /** @description RFC 3339. Entries of this instant or later. */
                from?: string;
                /** @description RFC 3339. Entries before this instant. */
                to?: string;
                /** @description Where to go on: the `cursor` of the page before. */
                cursor?: string;
                /** @description Looks at this many; 1,000 unless set. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LedgerPage"];
                };
            };
        };
    };
    "feed.stream": {
        parameters: {
            query?: {
                /** @description Where to go on: the `cursor` of the page before. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": components["schemas"]["EntryEvent"] | components["schemas"]["AttemptEvent"];
                };
            };
        };
    };
    "epochs.list": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        epochs: components["schemas"]["Epoch"][];
                    };
                };
            };
        };
    };
    "epochs.open": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Which backup, which failover; for people. */
                    reason: string;
                    /** @description Who did it. 1 to 200 printable characters, not "." or "..". */
                    actor?: string;
                    /**
                     * Format: date-time
                     * @description Where work went on before this call: what was written since is told again to readers of older cursors.
                     */
                    since?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Epoch"];
                };
            };
        };
    };
    "keys.list": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        keys: components["schemas"]["ApiKey"][];
                    };
                };
            };
        };
    };
    "keys.create": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description What it is for, for people. 1 to 200 printable characters, not "." or "..". */
                    name: string;
                    /** @description What it may do: app, worker, viewer, support, operator, admin. */
                    scopes: ("app" | "worker" | "viewer" | "support" | "operator" | "admin")[];
                    /** @description Bound to the wallets of this customer; only for the scope `viewer` alone. 1 to 200 printable characters, not "." or "..". */
                    customer?: string;
                };
            };
        };
        responses: {
            /** @description It was there already, just so. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        outcome: "created";
                        key: components["schemas"]["ApiKey"];
                        /** @description Send it as `Authorization: Bearer …`. Stored as a hash only. */
                        secret: string;
                    };
                };
            };
        };
    };
    "keys.revoke": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the key, or its prefix. 1 to 200 printable characters, not "." or "..". */
                key: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        outcome: "revoked" | "duplicate";
                        key: components["schemas"]["ApiKey"];
                    };
                };
            };
        };
    };
    "callbacks.sign": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the wallet, yours. 1 to 200 printable characters, not "." or "..". */
                wallet: string;
                /** @description The id of the job in its wallet, yours; it is the idempotency key. 1 to 200 printable characters, not "." or "..". */
                job: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * @description Who sends it.
                     * @enum {string}
                     */
                    provider: "generic" | "replicate" | "fal" | "runpod";
                    /** @description The number of the attempt: the fencing token. */
                    attempt?: number;
                    /** @description A week unless set. */
                    expiresInMs?: number;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        path: string;
                        url: string | null;
                        /**
                         * Format: date-time
                         * @description RFC 3339.
                         */
                        expiresAt: string;
                    };
                };
            };
        };
    };
    "webhooks.take": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Who sends it. */
                provider: "generic" | "replicate" | "fal" | "runpod";
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookSettled"];
                };
            };
        };
    };
    "webhooks.takeSigned": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Who sends it. */
                provider: "generic" | "replicate" | "fal" | "runpod";
                token: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookSettled"];
                };
            };
        };
    };
    "webhookEndpoints.get": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the endpoint, yours. 1 to 200 printable characters, not "." or "..". */
                endpoint: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookEndpoint"];
                };
            };
        };
    };
    "webhookEndpoints.register": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the endpoint, yours. 1 to 200 printable characters, not "." or "..". */
                endpoint: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description https or http, without user and password. Only public addresses are sent to, unless others are allowed. */
                    url: string;
                    /** @description What it is told of: job.succeeded, job.dead, job.reclaimed, wallet.low, wallet.debt, upstream.blocked, upstream.freed, inbox.opened, inbox.closed, alert.firing, alert.recovered. */
                    kinds: ("job.succeeded" | "job.dead" | "job.reclaimed" | "wallet.low" | "wallet.debt" | "upstream.blocked" | "upstream.freed" | "inbox.opened" | "inbox.closed" | "alert.firing" | "alert.recovered")[];
                    /** @description `wallet.low` is a balance that falls below it. */
                    lowBalance?: number;
                    /** @description `whsec_` and the base64 of 24 to 64 bytes; one is made unless given. */
                    secret?: string;
                    /**
                     * @description Off: nothing is sent until it is on.
                     * @enum {string}
                     */
                    status?: "on" | "off";
                };
            };
        };
        responses: {
            /** @description It was there already, just so. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        outcome: "registered" | "duplicate";
                        secret: string | null;
                    };
                };
            };
        };
    };
    "webhookEndpoints.remove": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the endpoint, yours. 1 to 200 printable characters, not "." or "..". */
                endpoint: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        outcome: "removed" | "duplicate";
                    };
                };
            };
        };
    };
    "webhookEndpoints.change": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the endpoint, yours. 1 to 200 printable characters, not "." or "..". */
                endpoint: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description https or http, without user and password. Only public addresses are sent to, unless others are allowed. */
                    url?: string;
                    /** @description What it is told of: job.succeeded, job.dead, job.reclaimed, wallet.low, wallet.debt, upstream.blocked, upstream.freed, inbox.opened, inbox.closed, alert.firing, alert.recovered. */
                    kinds?: ("job.succeeded" | "job.dead" | "job.reclaimed" | "wallet.low" | "wallet.debt" | "upstream.blocked" | "upstream.freed" | "inbox.opened" | "inbox.closed" | "alert.firing" | "alert.recovered")[];
                    lowBalance?: number | null;
                    /**
                     * @description Off: nothing is sent until it is on.
                     * @enum {string}
                     */
                    status?: "on" | "off";
                    /** @description Leave out what happened until now and was not delivered yet. */
                    skip?: boolean;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        outcome: "changed" | "duplicate";
                    };
                };
            };
        };
    };
    "webhookEndpoints.rotate": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the endpoint, yours. 1 to 200 printable characters, not "." or "..". */
                endpoint: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description `whsec_` and the base64 of 24 to 64 bytes; one is made unless given. */
                    secret?: string;
                    /** @description How long the one of before signs too; a day unless set. */
                    keepMs?: number;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        outcome: "rotated";
                        /** @description Verify signatures with it. Shown this once. */
                        secret: string;
                    };
                };
            };
        };
    };
    "webhookEndpoints.list": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        endpoints: components["schemas"]["WebhookEndpoint"][];
                    };
                };
            };
        };
    };
    "webhookEndpoints.test": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the endpoint, yours. 1 to 200 printable characters, not "." or "..". */
                endpoint: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description A key of yours. 1 to 200 printable characters, not "." or "..". */
                    key?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        outcome: "sent" | "duplicate";
                        delivery: string;
                    };
                };
            };
        };
    };
    "webhookEndpoints.replay": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the endpoint, yours. 1 to 200 printable characters, not "." or "..". */
                endpoint: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description This one alone. 1 to 200 printable characters, not "." or "..". */
                    delivery?: string;
                    /**
                     * Format: date-time
                     * @description RFC 3339. Events of this instant or later.
                     */
                    since?: string;
                    /** @description Dead ones only. */
                    dead?: boolean;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        replayed: number;
                    };
                };
            };
        };
    };
    "webhookDeliveries.list": {
        parameters: {
            query?: {
                /** @description Only those. */
                state?: "pending" | "delivered" | "dead";
                /** @description Where to go on: the `cursor` of the page before. */
                cursor?: string;
                /** @description At most this many. */
                limit?: number;
            };
            header?: never;
            path: {
                /** @description The id of the endpoint, yours. 1 to 200 printable characters, not "." or "..". */
                endpoint: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookDeliveryPage"];
                };
            };
        };
    };
    "webhookDeliveries.get": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The `webhook-id`. 1 to 200 printable characters, not "." or "..". */
                delivery: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookDelivery"];
                };
            };
        };
    };
    "alerts.list": {
        parameters: {
            query?: {
                /** @description Only of this kind. */
                kind?: "exhausted" | "near_exhausted" | "snapshot_exhausted" | "idle" | "blocked_long";
                /** @description Those that are over too. */
                recovered?: boolean;
                /** @description At most this many. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        alerts: components["schemas"]["Alert"][];
                    };
                };
            };
        };
    };
    "system.info": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Info"];
                };
            };
        };
    };
    "system.verify": {
        parameters: {
            query?: {
                /** @description At most this many problems per check; 20 unless set. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Verified"];
                };
            };
        };
    };
}
