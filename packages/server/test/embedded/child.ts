// A process of its own that starts an embedded server, says how it went, and stops it when it is told to.
import { createInterface } from 'node:readline';
import { type EmbeddedError, type EmbeddedOptions, startEmbedded } from '../../src/embedded/embedded.ts';
import type { Said } from './processes.ts';

const options = JSON.parse(process.argv[2]!) as EmbeddedOptions;
const say = (said: Said) => process.stdout.write(`${JSON.stringify(said)}\n`);

try {
  const server = await startEmbedded({ ...options, onProgress: (progress) => say({ progress }) });
  const { url, port, version, dataDir, pid, adopted } = server;
  say({ started: { url, port, version, dataDir, pid, adopted } });
  for await (const line of createInterface({ input: process.stdin })) {
    if (line === 'stop') break;
  }
  await server.stop();
  process.exit(0);
} catch (error) {
  const { code, exitCode, message } = error as EmbeddedError;
  say({ refused: { code, exitCode, message } });
  process.exit(exitCode);
}
