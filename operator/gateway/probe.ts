/**
 * Whether a target's gateway is alive (rule F1). It is probed at once and then every period, each time on a new
 * connection. `failureThreshold` failures in a row make it not alive; one success makes it alive. The verdict is
 * reported when it is first known, and when it changes; so is that nothing can be probed, after as long as it takes to find
 * a gateway not alive.
 */
import type { ProbeSettings } from '../../crds/index.ts';
import { withDeadline } from '../kube/abort.ts';
import { sleep } from '../kube/backoff.ts';
import { describe } from '../kube/errors.ts';
import type { Network } from '../kube/network.ts';

export interface ProbeOptions {
  readonly settings: ProbeSettings;
  /**
   * Returns what to probe, all at once; one answer is enough. Called before each probe, since addresses change.
   * Undefined if it is not known yet, and nothing is found.
   */
  readonly targets: () => readonly ProbeTarget[] | undefined;
  readonly network: Pick<Network, 'probe'>;
  readonly onVerdict: (alive: boolean, message: string) => void;
  /** Nothing is there to probe: the last verdict does not hold any longer. */
  readonly onUnprobed: () => void;
  readonly onProbe: (ok: boolean, latencyMs: number) => void;
}

export interface ProbeTarget {
  /** Host as the gateway is to see it: an address or a name. */
  readonly host: string;
  /** Port as the gateway is to see it. */
  readonly port: number;
  /** Where to connect. */
  readonly at: { readonly host: string; readonly port: number };
}

/** Longest time in milliseconds until what was not known is looked for again. */
const UNKNOWN_RETRY_MS = 100;

/** Largest random extension of the period, as a fraction of it: the probes of several Links do not run in step. */
const JITTER = 0.1;

/** Probes until the signal aborts. */
export async function probeGateway(options: ProbeOptions, signal: AbortSignal): Promise<void> {
  const { settings, targets, onProbe, onVerdict, onUnprobed } = options;
  let failures = 0;
  let alive: boolean | undefined;
  let probedAt = performance.now();
  let isUnprobed = false;
  while (!signal.aborted) {
    const began = performance.now();
    const present = targets();
    if (present === undefined) {
      // A probe Service that somebody deletes is there again before.
      if (!isUnprobed && began - probedAt > settings.periodMs * settings.failureThreshold) {
        isUnprobed = true;
        failures = 0;
        alive = undefined;
        onUnprobed();
      }
      await sleep(Math.min(settings.periodMs, UNKNOWN_RETRY_MS), signal);
      continue;
    }
    const problem = await probeAny(present, options, signal);
    probedAt = performance.now();
    isUnprobed = false;
    if (signal.aborted) return;
    onProbe(problem === undefined, performance.now() - began);
    if (problem === undefined) {
      failures = 0;
      if (alive !== true) onVerdict(true, 'the gateway answers its probes');
      alive = true;
    } else {
      failures += 1;
      if (failures >= settings.failureThreshold && alive !== false) {
        onVerdict(false, `${failures} probes in a row failed; the last one: ${problem}`);
        alive = false;
      }
    }
    await sleep(settings.periodMs * (1 + Math.random() * JITTER), signal);
  }
}

/**
 * Asks all targets at once: one timeout holds for all of them. Returns undefined as soon as one answers, and otherwise
 * the problem of the last.
 */
function probeAny(
  targets: readonly ProbeTarget[],
  options: ProbeOptions,
  signal: AbortSignal,
): Promise<string | undefined> {
  return withDeadline(options.settings.timeoutMs, signal, async (until) => {
    const ended = new AbortController();
    const either = AbortSignal.any([until, ended.signal]);
    try {
      await Promise.any(targets.map((target) => probe(target, options, either)));
      return undefined;
    } catch (error) {
      const host = targets.at(-1)?.host;
      if (host === undefined) return 'no address of the gateway is known';
      return `${host}: ${describe((error as AggregateError).errors.at(-1))}`;
    } finally {
      ended.abort();
    }
  });
}

/** @throws Error unless the target answers 2xx. */
async function probe(
  { host, port, at }: ProbeTarget,
  { settings: { path }, network }: ProbeOptions,
  signal: AbortSignal,
): Promise<void> {
  const headers = {
    host: host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`,
    'user-agent': 'linkspan-probe',
  };
  const status = await network.probe({ ...at, path, headers }, signal);
  if (status < 200 || status > 299) throw new Error(`${path} answered ${status}`);
}
