/**
 * Loopback ports for servers that need to know their port before they start, assigned without races: a block of ports
 * belongs to the process that listens on its first one, so the kernel frees it when that process dies. Blocks lie below
 * the range of outgoing connections, so a server that was stopped finds its port free again.
 */
import { createServer, type Server } from 'node:net';

const FIRST = 20_000;
const LAST = 32_000;
const BLOCK = 8;
const ATTEMPTS = 200;

/** A block of ports that no other test process is given. */
export interface PortBlock {
  /** Another port of the block, to listen on on 127.0.0.1; there are 7. */
  take(): number;
  /** Gives the block back. */
  release(): void;
}

const listen = (port: number): Promise<Server | undefined> =>
  new Promise((resolve) => {
    const server = createServer((socket) => socket.destroy());
    server.unref();
    server.once('error', () => resolve(undefined));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => resolve(server));
  });

const isFree = async (port: number): Promise<boolean> => {
  const server = await listen(port);
  if (server === undefined) return false;
  await new Promise((resolve) => server.close(resolve));
  return true;
};

const next = (ports: number[]): number => {
  const port = ports.shift();
  if (port === undefined) throw new Error(`a block has ${BLOCK - 1} ports, all of them taken`);
  return port;
};

/** A block of ports that are free now and stay ours until released. */
export const reservePorts = async (): Promise<PortBlock> => {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const first = FIRST + BLOCK * Math.floor(Math.random() * ((LAST - FIRST) / BLOCK));
    const guard = await listen(first);
    if (guard === undefined) continue;
    const ports = Array.from({ length: BLOCK - 1 }, (_, i) => first + 1 + i);
    const free = await Promise.all(ports.map(isFree));
    if (free.every(Boolean)) return { take: () => next(ports), release: () => void guard.close() };
    guard.close();
  }
  throw new Error(`no free block of ${BLOCK} ports between ${FIRST} and ${LAST} on 127.0.0.1`);
};
