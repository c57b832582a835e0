/**
 * The gateway of a Link and its probe. Everything that Linkerd's controller runs is valid: an empty `gatewayAddress` means
 * no gateway, an empty `probeSpec.path` no probe, and the other fields of an absent gateway or probe are not read
 * (Linkerd's own tool writes `gatewayPort: "0"` there).
 */
import { parseDuration, parsePort } from '../duration.ts';
import { addressProblem, splitAddresses } from '../gateway-address.ts';
import type { LinkSpec } from './types.gen.ts';
import { isServiceName } from '../names.ts';
import { type Report, fieldError } from '../field-error.ts';
import { Default, probeName } from '../wire.ts';

/** The gateway of the target. */
export interface GatewaySettings {
  /** IPs and host names, trimmed, each once, in the Link's order; at least one. */
  readonly addresses: readonly string[];
  readonly port: number;
  /** TLS identity; absent means plaintext. */
  readonly identity?: string;
}

/** How the gateway's health is probed. */
export interface ProbeSettings {
  /** Starts with a slash. */
  readonly path: string;
  /** Port on the gateway's addresses. */
  readonly port: number;
  /** From 1 ms to 480 h, so that a timer can hold it, jitter included. */
  readonly periodMs: number;
  /** From 1 ms to 480 h. */
  readonly timeoutMs: number;
  /** Consecutive failures that make the gateway not alive; at least 1. */
  readonly failureThreshold: number;
}

const DEFAULT_TIMEOUT = '30s';
const DEFAULT_FAILURE_THRESHOLD = '3';
const SHORTEST = '1ms';
const LONGEST = '480h';
const MAX_FAILURE_THRESHOLD = 2 ** 32 - 1;
/** Characters that a request line may hold. */
const URL_CHARACTERS = /^[!-~]*$/;

const ADDRESS_REMEDY = 'write IP addresses and host names, comma separated';
const PORT_REMEDY = 'write a number from 1 to 65535, as a string';
const PERIOD_REMEDY = 'write a duration such as 3s or 1m30s';
const THRESHOLD_REMEDY = 'write a whole number of 1 or more, as a string';

/** Reads the gateway; `undefined` when there is none. The result is invalid once an error was reported. */
export const readGateway = (spec: LinkSpec, report: Report): GatewaySettings | undefined => {
  const written = textOf(spec.gatewayAddress);
  if (written === '') return undefined;

  const addresses = splitAddresses(written);
  if (addresses.length === 0)
    report(fieldError('spec.gatewayAddress', written, 'must name at least one address', ADDRESS_REMEDY));
  for (const address of addresses) {
    const problem = addressProblem(address);
    if (problem !== undefined) report(fieldError('spec.gatewayAddress', address, problem, ADDRESS_REMEDY));
  }
  const port = readNumber(parsePort, textOf(spec.gatewayPort) || String(Default.gatewayPort), {
    path: 'spec.gatewayPort',
    remedy: PORT_REMEDY,
    report,
  });
  const identity = textOf(spec.gatewayIdentity);
  return { addresses, port, ...(identity !== '' && { identity }) };
};

/**
 * Reads the probe of a gateway; `undefined` when there is none. The result is not valid once an error was reported.
 * `port` and `period` are required, as they are for Linkerd, which logs the error and never probes.
 * @param link the Link's name, which the probe Service's is made of
 */
export const readProbe = (spec: LinkSpec, link: string, report: Report): ProbeSettings | undefined => {
  const { path, port, period, timeout, failureThreshold } = spec.probeSpec ?? {};
  const written = textOf(path);
  if (written === '') return undefined;

  if (!written.startsWith('/')) {
    report(fieldError('spec.probeSpec.path', written, 'must start with a slash', `write /${written}`));
  } else if (!URL_CHARACTERS.test(written)) {
    const reason = 'must not have spaces, control characters or characters beyond ASCII';
    report(fieldError('spec.probeSpec.path', written, reason, 'percent-encode them: a space is %20'));
  }
  if (!isServiceName(probeName(link))) {
    const remedy = `name the Link so that ${probeName('<name>')} is a DNS label: at most 57 lower-case letters, digits and -`;
    report(fieldError('metadata.name', link, 'must make a valid name for the probe Service', remedy));
  }
  return {
    path: written,
    port: readNumber(parsePort, textOf(port), { path: 'spec.probeSpec.port', remedy: PORT_REMEDY, report }),
    periodMs: readNumber(parseTimerDuration, textOf(period), {
      path: 'spec.probeSpec.period',
      remedy: PERIOD_REMEDY,
      report,
    }),
    timeoutMs: readNumber(parseTimerDuration, textOf(timeout) || DEFAULT_TIMEOUT, {
      path: 'spec.probeSpec.timeout',
      remedy: PERIOD_REMEDY,
      report,
    }),
    failureThreshold: readNumber(parseThreshold, textOf(failureThreshold) || DEFAULT_FAILURE_THRESHOLD, {
      path: 'spec.probeSpec.failureThreshold',
      remedy: THRESHOLD_REMEDY,
      report,
    }),
  };
};

/** A string field; one of another type has been reported as such, and is read as absent. */
const textOf = (field: unknown): string => (typeof field === 'string' ? field : '');

/** The number in a text, or NaN once it is reported. */
const readNumber = (
  parse: (text: string) => number,
  text: string,
  { path, remedy, report }: { readonly path: string; readonly remedy: string; readonly report: Report },
): number => {
  if (text === '') {
    report(fieldError(path, undefined, 'is required', remedy));
    return NaN;
  }
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    report(fieldError(path, text, error.message, remedy));
    return NaN;
  }
};

/** Milliseconds that a timer can wait. */
const parseTimerDuration = (text: string): number => {
  const ms = parseDuration(text);
  if (ms < parseDuration(SHORTEST) || ms > parseDuration(LONGEST)) {
    throw new RangeError(`must be between ${SHORTEST} and ${LONGEST}`);
  }
  return ms;
};

const parseThreshold = (text: string): number => {
  const threshold = /^[0-9]+$/.test(text) ? Number(text) : NaN;
  if (!(threshold >= 1 && threshold <= MAX_FAILURE_THRESHOLD)) {
    throw new RangeError(`must be a whole number between 1 and ${MAX_FAILURE_THRESHOLD}`);
  }
  return threshold;
};
