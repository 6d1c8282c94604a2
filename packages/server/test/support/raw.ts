// Bytes on a socket, as no HTTP client would send them.
import { connect } from 'node:net';

/** What a socket gets back for these bytes until the server closes it; `more` is sent once `after` holds. */
export function bytes(
  url: string,
  text: string,
  more = '',
  after: (got: () => string) => Promise<unknown> = async () => {},
): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    let got = '';
    const socket = connect(Number(port), hostname, async () => {
      socket.write(text, 'latin1');
      await after(() => got);
      if (more !== '' && socket.writable) socket.write(more, 'latin1');
    });
    socket.setEncoding('utf8').on('data', (chunk) => {
      got += chunk;
    });
    socket.on('error', () => {}).on('close', () => resolve(got));
  });
}
