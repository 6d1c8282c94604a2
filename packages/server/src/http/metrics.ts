// Metrics for Prometheus: transitions, requests, queues, connections, sweeps, the last verification. Few labels, bounded each.
import { readFileSync } from 'node:fs';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { asRefusal, type DroppedHint, type Recoup, type Swept, type Verified } from 'recoup';
import { ALIASES, PROVIDERS } from 'recoup/decoders';
import { BLOCK_CAP, COUNT_CAP, type Figures } from './figures.ts';

const BUCKETS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60];

const { version: VERSION } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

const KNOWN: ReadonlySet<string> = new Set([...PROVIDERS, ...Object.keys(ALIASES)]);

const CONNECTIONS = {
  open: 'Connections to the database that are open.',
  idle: 'Connections that nobody uses now.',
  waiting: 'Calls that wait for a connection.',
  max: 'Connections that there may be.',
};

export class Metrics {
  readonly registry = new Registry();
  /** Answers since the last scrape: counting in here costs a tenth of what the counter's labels do. */
  readonly #answers = new Map<string, Map<string, number>>();
  readonly #requests = new Histogram({
    name: 'recoup_http_request_duration_seconds',
    help: 'Requests by operation and status; those that wait on purpose are in it too.',
    labelNames: ['operation', 'status'],
    buckets: BUCKETS,
    registers: [this.registry],
  });
  readonly #recoveries = this.#counter(
    'recoup_recoveries_total',
    'Blocks that ended, were tried with success (waiting) or opened again (error), by what ends them and how.',
    ['policy', 'outcome'],
  );
  readonly #restarts = this.#counter(
    'recoup_window_resets_total',
    'Windows of limits that a person ended (reset) or the sweep (rolled); duplicate: somebody had. By whose limit it is.',
    ['scope', 'outcome'],
  );
  readonly #dropped = this.#counter(
    'recoup_hints_dropped_total',
    'Values in answers of providers that were implausible and count for nothing, by why.',
    ['provider', 'rule'],
  );
  readonly #blocks = this.#gauge('recoup_blocks_open', `Blocks that are open, counted up to ${BLOCK_CAP}.`, ['policy']);
  readonly #verifyOk = this.#gauge(
    'recoup_verify_ok',
    'Whether the last verification found no problem; absent before the first.',
  );
  readonly #verifyProblems = this.#gauge('recoup_verify_problems', 'Problems that the last verification named.');
  readonly #verifyAt = this.#gauge('recoup_verify_timestamp_seconds', 'When the last verification ended.');
  readonly #verifyTook = this.#gauge('recoup_verify_duration_seconds', 'How long the last verification took.');
  readonly #sweptAt = this.#gauge('recoup_sweep_timestamp_seconds', 'When the last pass of the sweeps here ended.');
  readonly #swept = this.#counter(
    'recoup_swept_total',
    'What the sweeps here did: jobs lapsed and pruned, credit expired, what failed.',
    ['what'],
  );
  readonly #background = this.#counter('recoup_background_errors_total', 'Errors of no request, by code.', ['code']);
  readonly #up = this.#gauge('recoup_database_up', 'Whether the figures of this scrape could be read.');
  readonly #snapshot = this.#gauge(
    'recoup_oldest_snapshot_seconds',
    'Age of the oldest transaction that the role may see (all of them with pg_read_all_stats): it holds the feed back.',
  );
  readonly #dead = this.#gauge('recoup_dead_letters', `Dead letters, counted up to ${COUNT_CAP}.`);
  readonly #running = this.#gauge('recoup_jobs_running', `Jobs that workers hold, counted up to ${COUNT_CAP}.`);
  readonly #handedOver = this.#gauge(
    'recoup_jobs_waiting',
    `Jobs that wait for a callback or their deadline, counted up to ${COUNT_CAP}.`,
  );
  readonly #overdue = this.#gauge(
    'recoup_overdue_seconds',
    'How long the first lapsed lease or deadline has waited for a sweep.',
  );
  readonly #later = this.#gauge('recoup_queue_later', `Jobs that are queued for later, counted up to ${COUNT_CAP}.`, [
    'queue',
  ]);
  readonly #ready = this.#gauge('recoup_queue_ready', `Jobs that are due, counted up to ${COUNT_CAP}.`, ['queue']);
  readonly #due = this.#gauge('recoup_queue_oldest_due_seconds', 'How long the oldest job has been due.', ['queue']);
  readonly #alerts = this.#gauge('recoup_alerts_firing', `Alerts that fire, counted up to ${BLOCK_CAP}.`, ['kind']);
  readonly #deliveries = this.#gauge(
    'recoup_webhook_deliveries',
    `Deliveries to webhook endpoints that are pending or dead, each counted up to ${COUNT_CAP}.`,
    ['state'],
  );
  readonly #deliveryDue = this.#gauge(
    'recoup_webhook_oldest_due_seconds',
    'How long the oldest delivery to an endpoint that is on has been due.',
  );

  constructor(waiting: () => number, maxWaiting: number) {
    collectDefaultMetrics({ register: this.registry });
    this.#gauge('recoup_build_info', 'Always 1; the labels say which build this is.', ['version', 'node']).set(
      { version: VERSION, node: process.version },
      1,
    );
    this.#gauge('recoup_http_waiting_max', 'Requests that may wait at once.').set(maxWaiting);
    this.#countTransitions();
    new Gauge({
      name: 'recoup_http_waiting',
      help: 'Requests that wait: long polls and streams.',
      registers: [this.registry],
      collect() {
        this.set(waiting());
      },
    });
    // A gauge says 0 before it was set: not what was verified or swept.
    const notYet = [this.#verifyOk, this.#verifyProblems, this.#verifyAt, this.#verifyTook, this.#sweptAt];
    for (const gauge of notYet) gauge.remove();
  }

  transition(transition: string, outcome: string, labels?: Readonly<Record<string, string>>): void {
    if (transition === 'block.recover') {
      this.#recoveries.inc({ ...labels, outcome });
      return;
    }
    if (transition === 'window.restart') {
      this.#restarts.inc({ ...labels, outcome });
      return;
    }
    const outcomes = this.#answers.get(transition) ?? new Map<string, number>();
    if (outcomes.size === 0) this.#answers.set(transition, outcomes);
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  }

  /** The counter that says most; a lost race is `duplicate`, never an error. */
  #countTransitions(): void {
    const answers = this.#answers;
    new Counter({
      name: 'recoup_transitions_total',
      help: 'Answers of transitions.',
      labelNames: ['transition', 'outcome'],
      registers: [this.registry],
      collect() {
        for (const [transition, outcomes] of answers) {
          for (const [outcome, count] of outcomes) this.inc({ transition, outcome }, count);
        }
        answers.clear();
      },
    });
  }

  /** Providers that no decoder knows have names of the operator's: one series for all of them. */
  dropped({ provider, rule }: Pick<DroppedHint, 'provider' | 'rule'>): void {
    this.#dropped.inc({ provider: KNOWN.has(provider.toLowerCase()) ? provider.toLowerCase() : 'other', rule });
  }

  request(operation: string, status: number, seconds: number): void {
    this.#requests.observe({ operation, status }, seconds);
  }

  /** Shows the connections of a handle with each scrape. */
  watch(recoup: Recoup): void {
    for (const [what, help] of Object.entries(CONNECTIONS)) {
      new Gauge({
        name: `recoup_connections_${what}`,
        help,
        labelNames: ['purpose'],
        registers: [this.registry],
        collect() {
          for (const usage of recoup.connections()) this.set({ purpose: usage.purpose }, usage[what as 'open']);
        },
      });
    }
  }

  swept(swept: Swept): void {
    this.#sweptAt.setToCurrentTime();
    for (const [what, count] of Object.entries(swept)) this.#swept.inc({ what }, count);
  }

  background(error: Error): void {
    this.#background.inc({ code: asRefusal(error.cause ?? error, false).code });
  }

  verified({ ok, problems, ms }: Verified): void {
    this.#verifyOk.set(ok ? 1 : 0);
    this.#verifyProblems.set(problems.length);
    this.#verifyAt.setToCurrentTime();
    this.#verifyTook.set(ms / 1000);
  }

  /** Undefined: the database did not answer. */
  figures(figures: Figures | undefined): void {
    this.#up.set(figures ? 1 : 0);
    for (const gauge of [this.#ready, this.#later, this.#due]) gauge.reset();
    if (!figures) return;
    this.#snapshot.set(figures.oldestSnapshotSeconds);
    this.#dead.set(figures.deadLetters);
    this.#running.set(figures.running);
    this.#handedOver.set(figures.waiting);
    this.#overdue.set(figures.overdueSeconds);
    for (const [policy, count] of Object.entries(figures.blocks)) this.#blocks.set({ policy }, count);
    for (const [kind, count] of Object.entries(figures.alerts)) this.#alerts.set({ kind }, count);
    const { pending, dead, oldestDueSeconds: deliveryDue } = figures.webhooks;
    this.#deliveries.set({ state: 'pending' }, pending);
    this.#deliveries.set({ state: 'dead' }, dead);
    this.#deliveryDue.set(deliveryDue);
    for (const { queue, ready, later, oldestDueSeconds } of figures.queues) {
      this.#ready.set({ queue }, ready);
      this.#later.set({ queue }, later);
      this.#due.set({ queue }, oldestDueSeconds);
    }
  }

  #counter(name: string, help: string, labelNames: string[]): Counter {
    return new Counter({ name, help, labelNames, registers: [this.registry] });
  }

  #gauge(name: string, help: string, labelNames: string[] = []): Gauge {
    return new Gauge({ name, help, labelNames, registers: [this.registry] });
  }
}
