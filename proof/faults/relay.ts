// A TCP relay that a fault run puts before a server or PostgreSQL: it cuts, stalls, and loses the answer of what was done.
import { connect, createServer, type Server, type Socket } from 'node:net';
import type { Random } from './random.ts';

export type Speaks = 'http' | 'postgres';

/** ReadyForQuery outside of a transaction: what was asked has been done and committed. */
const READY = Buffer.from([0x5a, 0, 0, 0, 5, 0x49]);
/** The code of an error of PostgreSQL that its disk is full. */
const DISK_FULL = Buffer.from('C53100\0');
const CHANGES_OF: Record<Speaks, (asked: Buffer) => boolean> = {
  http: (asked) => /^(PUT|POST|PATCH) /.test(asked.toString('latin1', 0, 6)),
  // The name of a statement is in every message that runs it. Reads, which have other names, are of no interest.
  postgres: (asked) => /(job|wallet)\.[a-z]/.test(asked.toString('latin1')),
};

interface Link {
  readonly client: Socket;
  readonly server: Socket;
  /** The answer that comes is for nobody. */
  losing: boolean;
}

export class Relay {
  readonly #server: Server;
  readonly #speaks: Speaks;
  readonly #links = new Set<Link>();
  #target: number | undefined;
  /** Whether the answer to this change is to be lost. */
  #loses: () => boolean = () => false;
  #stalled: NodeJS.Timeout | undefined;
  /** Answers that were dropped with their connection after the other side had done what was asked. */
  answersLost = 0;
  /** Answers of PostgreSQL that its disk was full. */
  diskFull = 0;

  private constructor(speaks: Speaks, server: Server) {
    this.#speaks = speaks;
    this.#server = server;
  }

  /** A relay that refuses everybody until it is told where to lead. */
  static async open(speaks: Speaks): Promise<Relay> {
    const server = createServer({ noDelay: true });
    const relay = new Relay(speaks, server);
    server.on('connection', (client) => relay.#serve(client));
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    return relay;
  }

  get port(): number {
    return (this.#server.address() as { port: number }).port;
  }

  /** Who connects from now on gets there; undefined: is refused. */
  leadTo(port: number | undefined): void {
    this.#target = port;
  }

  /**
   * Of the answers to changes this share is lost: the change was done, and nobody hears of it. A share and not so many a second:
   * where everything is slow, the second would lose every answer there is.
   */
  lose(share: number, random: Random): void {
    this.#loses = () => random.next() < share;
  }

  /** Cuts every connection, whatever is on its way. Returns how many there were. */
  cut(): number {
    const count = this.#links.size;
    for (const link of this.#links) this.#end(link);
    return count;
  }

  /** Nothing gets through, either way, for so long; nothing is lost. */
  stall(ms: number): void {
    if (this.#stalled) return;
    for (const { client, server } of this.#links) {
      client.pause();
      server.pause();
    }
    this.#stalled = setTimeout(() => this.flow(), ms);
  }

  /** No fault is left: what is stalled flows, what was to be lost is not. */
  flow(): void {
    clearTimeout(this.#stalled);
    this.#stalled = undefined;
    for (const { client, server } of this.#links) {
      client.resume();
      server.resume();
    }
  }

  calm(): void {
    this.#loses = () => false;
    this.flow();
  }

  async close(): Promise<void> {
    this.flow();
    this.#target = undefined;
    this.cut();
    await new Promise((done) => this.#server.close(done));
  }

  #end(link: Link): void {
    link.client.destroy();
    link.server.destroy();
    this.#links.delete(link);
  }

  #serve(client: Socket): void {
    client.on('error', () => {});
    if (this.#target === undefined) {
      client.resetAndDestroy();
      return;
    }
    const server = connect({ host: '127.0.0.1', port: this.#target, noDelay: true });
    const link: Link = { client, server, losing: false };
    this.#links.add(link);
    for (const socket of [client, server]) {
      socket.on('error', () => this.#end(link));
      socket.on('close', () => this.#end(link));
    }
    client.on('data', (asked) => {
      if (!link.losing && CHANGES_OF[this.#speaks](asked) && this.#loses()) link.losing = true;
      server.write(asked);
    });
    server.on('data', (answer) => this.#answered(link, answer));
    if (this.#stalled) {
      client.pause();
      server.pause();
    }
  }

  #answered(link: Link, answer: Buffer): void {
    if (this.#speaks === 'postgres' && answer.includes(DISK_FULL)) this.diskFull += 1;
    if (!link.losing) {
      link.client.write(answer);
      return;
    }
    const done = this.#speaks === 'http' || answer.subarray(-READY.length).equals(READY);
    if (!done) return;
    // A refusal is no loss: what counts is what was done and not heard of.
    if (this.#speaks === 'postgres' || /^HTTP\/1.1 20/.test(answer.toString('latin1', 0, 12))) this.answersLost += 1;
    this.#end(link);
  }
}
