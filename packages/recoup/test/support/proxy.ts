// A TCP proxy before PostgreSQL, or before the service, that counts calls and cuts a connection exactly where a test wants it cut.
import { connect, createServer, type Server, type Socket } from 'node:net';

/** `request`: the server never sees the statement. `answer`: it has done it, and committed, but nobody hears of it. */
export type Cut = 'request' | 'answer';

/** ReadyForQuery outside of a transaction: what was sent has been done and committed. */
const READY = Buffer.from([0x5a, 0, 0, 0, 5, 0x49]);
const byPostgres = (data: Buffer) => data.subarray(-READY.length).equals(READY);
/** The service answers when it has committed. */
export const byHttp = (data: Buffer) => data.includes('HTTP/1.1 ');

export class CuttingProxy {
  readonly #server: Server;
  #target: URL;
  readonly #sockets = new Set<Socket>();
  readonly #seen = new Map<string, number>();
  readonly #names: string[] = [];
  #cuts: { name: string; cut: Cut; times: number }[] = [];
  /** How many connections were cut in all. */
  cut = 0;
  #down = false;
  #silent: Cut | undefined;
  readonly #answered: (data: Buffer) => boolean;

  private constructor(target: URL, server: Server, answered: (data: Buffer) => boolean) {
    this.#target = target;
    this.#server = server;
    this.#answered = answered;
  }

  /** `answered`: whether what the server sends says that the call is done. */
  static async before(url: string, answered = byPostgres): Promise<CuttingProxy> {
    const server = createServer({ noDelay: true });
    const proxy = new CuttingProxy(new URL(url), server, answered);
    server.on('connection', (socket) => proxy.#serve(socket));
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    return proxy;
  }

  /** The database's URL, through this proxy. */
  get url(): string {
    const url = new URL(this.#target);
    const address = this.#server.address();
    url.host = `127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`;
    return url.href;
  }

  /** Cuts the next connections on which a statement of this transition is sent. */
  cutNext(name: string, cut: Cut, times = 1): void {
    this.#cuts.push({ name, cut, times });
  }

  /** How many messages named this transition, since it was asked for the first time. */
  count(name: string): number {
    if (!this.#names.includes(name)) this.#names.push(name);
    return this.#seen.get(name) ?? 0;
  }

  /** Cuts all connections and takes no new ones: the database is gone. */
  down(): void {
    this.#down = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  up(): void {
    this.#down = false;
  }

  /** Keeps every connection open, and loses what is sent one way: nobody is told that the other side is gone. */
  silence(lost: Cut): void {
    this.#silent = lost;
  }

  /** From now on connections work; those that were silent stay lost. */
  speak(): void {
    this.#silent = undefined;
    for (const socket of this.#sockets) socket.destroy();
  }

  /** The database is somewhere else now; who connects again finds it there. */
  moveTo(url: string): void {
    this.#target = new URL(url);
  }

  async close(): Promise<void> {
    this.down();
    await new Promise((done) => this.#server.close(done));
  }

  #serve(client: Socket): void {
    if (this.#down) {
      client.destroy();
      return;
    }
    const server = connect({ host: this.#target.hostname, port: Number(this.#target.port), noDelay: true });
    const both = [client, server];
    const end = () => {
      for (const socket of both) {
        socket.destroy();
        this.#sockets.delete(socket);
      }
    };
    for (const socket of both) {
      this.#sockets.add(socket);
      socket.on('error', end);
      socket.on('close', end);
    }
    let losing = false;
    client.on('data', (data) => {
      const cut = this.#look(data);
      if (this.#silent === 'request') return;
      if (cut === 'request') {
        this.cut += 1;
        end();
        return;
      }
      if (cut === 'answer') losing = true;
      server.write(data);
    });
    server.on('data', (data) => {
      if (this.#silent === 'answer') return;
      if (!losing) client.write(data);
      else if (this.#answered(data)) {
        this.cut += 1;
        end();
      }
    });
  }

  #look(data: Buffer): Cut | undefined {
    for (const name of this.#names) {
      if (data.includes(name)) this.#seen.set(name, (this.#seen.get(name) ?? 0) + 1);
    }
    const wanted = this.#cuts.find(({ name }) => data.includes(name));
    if (!wanted) return undefined;
    wanted.times -= 1;
    if (wanted.times === 0) this.#cuts = this.#cuts.filter((one) => one !== wanted);
    return wanted.cut;
  }
}
