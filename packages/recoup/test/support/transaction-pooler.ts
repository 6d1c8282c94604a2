// A small transaction-mode pooler: each transaction gets whichever server connection has rested longest, for that long.
import { type AddressInfo, createServer, type Socket } from 'node:net';
import pg from 'pg';

export interface Pooler {
  /** The database through the pooler. */
  url: string;
  stop(): Promise<void>;
}

const SSL_REQUEST = 80877103;
/** What poolers take as startup parameters; `options` is not among them. */
const STARTUP = new Set(['user', 'database', 'application_name', 'client_encoding', 'datestyle', 'timezone']);

/** Splits a stream into the protocol's messages: one type byte, four bytes of length that count themselves. */
function framed(onMessage: (message: Buffer) => void): (chunk: Buffer) => void {
  let rest = Buffer.alloc(0);
  return (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= 5 && rest.length > rest.readInt32BE(1)) {
      const length = rest.readInt32BE(1) + 1;
      onMessage(rest.subarray(0, length));
      rest = rest.subarray(length);
    }
  };
}

function message(type: string, body: string): Buffer {
  const head = Buffer.alloc(5, type);
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, Buffer.from(body)]);
}
const READY = message('Z', 'I');
// Logged in (R with 0), the key of a cancel request that nobody honours, ready.
const WELCOME = Buffer.concat([message('R', '\0\0\0\0'), message('K', '\0\0\0\0\0\0\0\0'), READY]);
const refused = (name: string) => message('E', `SFATAL\0VFATAL\0C08P01\0Munsupported startup parameter: ${name}\0\0`);

/** One connection to the server: pg logs in, then the bytes are ours. */
interface Backend {
  socket: Socket;
  onMessage(message: Buffer): void;
}

class Backends {
  readonly #url: string;
  readonly #resting: Backend[] = [];
  readonly #takers: ((backend: Backend) => void)[] = [];

  constructor(url: string) {
    this.#url = url;
  }

  async add(): Promise<void> {
    const client = new pg.Client({ connectionString: this.#url });
    client.on('error', () => {});
    await client.connect();
    const { stream } = (client as unknown as { connection: { stream: Socket } }).connection;
    const backend: Backend = { socket: stream, onMessage: () => {} };
    stream.removeAllListeners('data');
    stream.on(
      'data',
      framed((received) => backend.onMessage(received)),
    );
    this.give(backend);
  }

  take(): Promise<Backend> {
    const backend = this.#resting.shift();
    return backend ? Promise.resolve(backend) : new Promise((done) => this.#takers.push(done));
  }

  give(backend: Backend): void {
    const taker = this.#takers.shift();
    if (taker) taker(backend);
    else this.#resting.push(backend);
  }

  end(): void {
    for (const { socket } of this.#resting) socket.destroy();
  }
}

/** Serves one client: it holds a backend from a first message until the server says that no transaction is open. */
function serve(socket: Socket, backends: Backends): void {
  let backend: Backend | undefined;
  let waiting: Buffer[] | undefined;
  /** Answers still to come: one ReadyForQuery for each Query and Sync. */
  let pending = 0;

  const assign = (taken: Backend) => {
    if (socket.destroyed) return backends.give(taken);
    backend = taken;
    backend.onMessage = (received) => {
      socket.write(received);
      if (received[0] !== READY[0]) return;
      pending -= 1;
      if (pending > 0 || received[5] !== READY[5]) return;
      backend = undefined;
      backends.give(taken);
    };
    for (const sent of waiting ?? []) backend.socket.write(sent);
    waiting = undefined;
  };
  const onMessage = (sent: Buffer) => {
    const type = String.fromCharCode(sent[0]!);
    if (type === 'X') return socket.end();
    if (type === 'Q' || type === 'S') pending += 1;
    if (backend) return backend.socket.write(sent);
    if (waiting) return waiting.push(sent);
    waiting = [sent];
    return backends.take().then(assign);
  };
  const startup = (chunk: Buffer) => {
    if (chunk.readInt32BE(4) === SSL_REQUEST) return socket.once('data', startup).write('N');
    const words = chunk.subarray(8).toString().split('\0');
    const unknown = words.find((word, index) => index % 2 === 0 && word !== '' && !STARTUP.has(word));
    if (unknown) return socket.end(refused(unknown));
    return socket.on('data', framed(onMessage)).write(WELCOME);
  };
  socket.once('data', startup);
  socket.on('error', () => socket.destroy());
  socket.on('close', () => {
    // Gone in the middle of a transaction: so is the server's connection.
    if (!backend) return;
    backend.socket.destroy();
    void backends.add().catch(() => {});
  });
}

/** Starts it for one database with `connections` to the server. */
export async function startTransactionPooler(databaseUrl: string, connections: number): Promise<Pooler> {
  const backends = new Backends(databaseUrl);
  for (let i = 0; i < connections; i++) await backends.add();
  const sockets = new Set<Socket>();
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket.on('close', () => sockets.delete(socket)));
    serve(socket, backends);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const url = new URL(databaseUrl);
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: url.href,
    async stop() {
      for (const socket of sockets) socket.destroy();
      await new Promise((done) => server.close(done));
      backends.end();
    },
  };
}
