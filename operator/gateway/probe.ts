/**
 * Whether a target's gateway is alive (rule F1). It is probed at once and then every period, each time on a new
 * connection. `failureThreshold` failures in a row make it not alive; one success makes it alive. The verdict is
 * reported when it is first known, and when it changes.
 */
import type { ProbeSettings } from '../../crds/index.ts';
import { sleep } from '../kube/backoff.ts';
import { describe } from '../kube/errors.ts';
import { machineNetwork, type Network } from '../kube/network.ts';

export interface ProbeOptions {
  readonly settings: ProbeSettings;
  /** Returns the hosts to probe; one answer is enough. Called before each probe, since addresses change. */
  readonly hosts: () => readonly string[];
  /** Address to connect to instead of the host itself, by host. */
  readonly connectTo: ReadonlyMap<string, { readonly host: string; readonly port: number }>;
  /** @default the machine's */
  readonly network?: Pick<Network, 'probe'> | undefined;
  readonly onVerdict: (alive: boolean, message: string) => void;
  readonly onProbe: (ok: boolean, latencyMs: number) => void;
}

/** Largest random extension of the period, as a fraction of it: the probes of several Links do not run in step. */
const JITTER = 0.1;

/** Probes until the signal aborts. */
export async function probeGateway(options: ProbeOptions, signal: AbortSignal): Promise<void> {
  const { settings, hosts, onProbe, onVerdict } = options;
  let failures = 0;
  let alive: boolean | undefined;
  while (!signal.aborted) {
    const began = performance.now();
    const problem = await probeAny(hosts(), options, signal);
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

/** Returns undefined if one of the hosts answers, and otherwise the last problem. */
async function probeAny(
  hosts: readonly string[],
  options: ProbeOptions,
  signal: AbortSignal,
): Promise<string | undefined> {
  let problem = 'no address of the gateway is known';
  for (const host of hosts) {
    try {
      await probe(host, options, signal);
      return undefined;
    } catch (error) {
      problem = `${host}: ${describe(error)}`;
      if (signal.aborted) return problem;
    }
  }
  return problem;
}

/** @throws Error unless the host answers 2xx within the timeout. */
async function probe(
  host: string,
  { settings, connectTo, network = machineNetwork }: ProbeOptions,
  signal: AbortSignal,
): Promise<void> {
  const { path, port, timeoutMs } = settings;
  const at = connectTo.get(host) ?? { host, port };
  const deadline = AbortSignal.timeout(timeoutMs);
  const headers = {
    host: host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`,
    'user-agent': 'linkspan-probe',
  };
  let status: number;
  try {
    status = await network.probe({ ...at, path, headers }, AbortSignal.any([signal, deadline]));
  } catch (error) {
    throw deadline.aborted ? new Error(`no answer in ${timeoutMs / 1000} s`) : error;
  }
  if (status < 200 || status > 299) throw new Error(`${path} answered ${status}`);
}
