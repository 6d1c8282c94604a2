// Metrics for Prometheus: transitions, requests, what waits, the age of the oldest snapshot, the last verification.
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Verified } from 'recoup';
import { COUNT_CAP, type Figures } from './figures.ts';

const BUCKETS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60];

export class Metrics {
  readonly registry = new Registry();
  /** The counter that says most; a lost race is `duplicate`, never an error. */
  readonly #transitions = new Counter({
    name: 'recoup_transitions_total',
    help: 'Answers of transitions.',
    labelNames: ['transition', 'outcome'],
    registers: [this.registry],
  });
  readonly #requests = new Histogram({
    name: 'recoup_http_request_duration_seconds',
    help: 'Requests by operation and status; those that wait on purpose are in it too.',
    labelNames: ['operation', 'status'],
    buckets: BUCKETS,
    registers: [this.registry],
  });
  readonly #verifyOk = this.#gauge(
    'recoup_verify_ok',
    'Whether the last verification found no problem; absent before the first.',
  );
  readonly #verifyProblems = this.#gauge('recoup_verify_problems', 'Problems that the last verification named.');
  readonly #verifyAt = this.#gauge('recoup_verify_timestamp_seconds', 'When the last verification ended.');
  readonly #up = this.#gauge('recoup_database_up', 'Whether the figures of this scrape could be read.');
  readonly #snapshot = this.#gauge(
    'recoup_oldest_snapshot_seconds',
    'Age of the oldest transaction that the role may see (all of them with pg_read_all_stats): it holds the feed back.',
  );
  readonly #dead = this.#gauge('recoup_dead_letters', `Dead letters, counted up to ${COUNT_CAP}.`);
  readonly #running = this.#gauge('recoup_jobs_running', `Jobs that workers hold, counted up to ${COUNT_CAP}.`);
  readonly #ready = this.#gauge('recoup_queue_ready', `Jobs that are due, counted up to ${COUNT_CAP}.`, ['queue']);
  readonly #due = this.#gauge('recoup_queue_oldest_due_seconds', 'How long the oldest job has been due.', ['queue']);

  constructor(waiting: () => number) {
    collectDefaultMetrics({ register: this.registry });
    new Gauge({
      name: 'recoup_http_waiting',
      help: 'Requests that wait: long polls and streams.',
      registers: [this.registry],
      collect() {
        this.set(waiting());
      },
    });
    // A gauge says 0 before it was set: not what was verified.
    for (const gauge of [this.#verifyOk, this.#verifyProblems, this.#verifyAt]) gauge.reset();
    for (const gauge of [this.#verifyOk, this.#verifyProblems, this.#verifyAt]) gauge.remove();
  }

  transition(transition: string, outcome: string): void {
    this.#transitions.inc({ transition, outcome });
  }

  request(operation: string, status: number, seconds: number): void {
    this.#requests.observe({ operation, status }, seconds);
  }

  verified({ ok, problems }: Verified): void {
    this.#verifyOk.set(ok ? 1 : 0);
    this.#verifyProblems.set(problems.length);
    this.#verifyAt.setToCurrentTime();
  }

  /** Undefined: the database did not answer. */
  figures(figures: Figures | undefined): void {
    this.#up.set(figures ? 1 : 0);
    this.#ready.reset();
    this.#due.reset();
    if (!figures) return;
    this.#snapshot.set(figures.oldestSnapshotSeconds);
    this.#dead.set(figures.deadLetters);
    this.#running.set(figures.running);
    for (const { queue, ready, oldestDueSeconds } of figures.queues) {
      this.#ready.set({ queue }, ready);
      this.#due.set({ queue }, oldestDueSeconds);
    }
  }

  #gauge(name: string, help: string, labelNames: string[] = []): Gauge {
    return new Gauge({ name, help, labelNames, registers: [this.registry] });
  }
}
