/** Asks a server whether it is up: the status of one GET, on a connection of its own, so that none outlives a restart. */
import { Agent, request } from 'undici';

/** How to be let in. */
export interface ProbeOptions {
  /** PEM of the CA, for https. */
  readonly ca?: string;
  /** Bearer token. */
  readonly token?: string;
}

const TIMEOUT_MS = 2_000;

/**
 * The HTTP status of a GET.
 * @throws Error when nobody answers
 */
export const httpStatus = async (url: string, { ca, token }: ProbeOptions = {}): Promise<number> => {
  const dispatcher = new Agent({ connect: ca === undefined ? {} : { ca }, headersTimeout: TIMEOUT_MS });
  try {
    const { statusCode, body } = await request(url, {
      dispatcher,
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    });
    await body.dump();
    return statusCode;
  } finally {
    await dispatcher.destroy();
  }
};
