// A PostgreSQL of its own that can be killed, stopped and started again under one address.
import { type Embedded, startEmbedded } from '../../../server/src/embedded/embedded.ts';
import { CuttingProxy } from './proxy.ts';
import { until } from './waiting.ts';

/** A server that may be killed and started again, wherever a port is free; callers know it by one address. */
export class RestartableServer {
  readonly proxy: CuttingProxy;
  readonly #folder: string;
  #running: Embedded;

  private constructor(proxy: CuttingProxy, folder: string, running: Embedded) {
    this.proxy = proxy;
    this.#folder = folder;
    this.#running = running;
  }

  static async start(dataDir: string): Promise<RestartableServer> {
    const running = await startEmbedded({ dataDir });
    return new RestartableServer(await CuttingProxy.before(running.url), dataDir, running);
  }

  /** Resolves when the process is gone: a start before that would find its data in use. */
  async kill(): Promise<void> {
    const { pid } = this.#running;
    process.kill(pid, 'SIGKILL');
    await until(() => {
      try {
        return !process.kill(pid, 0);
      } catch {
        return true;
      }
    });
  }

  async startAgain(): Promise<void> {
    this.#running = await startEmbedded({ dataDir: this.#folder });
    this.proxy.moveTo(this.#running.url);
  }

  stop(): Promise<void> {
    return this.#running.stop();
  }

  async gone(): Promise<void> {
    await this.proxy.close();
    await this.stop();
  }
}
