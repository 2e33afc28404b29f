// Ports: find a free one, and say in one line which variable to change when a wanted one is taken.
import { createServer } from 'node:net';

/** A wanted port is in use. `message` is the whole answer for the terminal. */
export class PortTaken extends Error {
  override readonly name = 'PortTaken';
  constructor(port: number, variable: string) {
    super(`Port ${port} is already in use: set ${variable} to a free port.`);
  }
}

function listenOnce(port: number, host: string | null): Promise<number | 'taken'> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve('taken');
      else reject(error);
    });
    server.listen({ port, ...(host === null ? {} : { host }), exclusive: true }, () => {
      const address = server.address();
      const got = typeof address === 'object' && address !== null ? address.port : port;
      server.close(() => resolve(got));
    });
  });
}

/** A port nobody listens on at this moment. Races are possible: take it soon. */
export async function freePort(host = '127.0.0.1'): Promise<number> {
  const port = await listenOnce(0, host);
  if (port === 'taken') throw new Error('The system has no free port.');
  return port;
}

/** @param host null: on every address. @throws PortTaken when `port` cannot be listened on; 0 gives any free one. */
export async function claimPort(port: number, variable: string, host: string | null = '127.0.0.1'): Promise<number> {
  let got: number | 'taken';
  try {
    got = await listenOnce(port, host);
  } catch (error) {
    throw new Error(`${variable}: cannot listen on port ${port} (${(error as NodeJS.ErrnoException).code ?? 'unknown error'}).`);
  }
  if (got === 'taken') throw new PortTaken(port, variable);
  return got;
}
