/** An address of this machine that an API server proxies to: it refuses those of loopback. */
import { networkInterfaces } from 'node:os';

/** Undefined if it has none. */
export const OWN_ADDRESS = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .find(({ internal, family }) => !internal && family === 'IPv4')?.address;
