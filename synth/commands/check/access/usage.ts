/**
 * Who uses a gateway, as its proxies count it: a connection of a client says which Service it is for, and whether Linkerd
 * looks into it (`inbound_tcp_transport_header_connections_total`, of Linkerd 2.18 and later). What proxies print is text
 * that clients have had a hand in: names that are none are left out, and counted. Pure.
 */
import { isDnsSubdomain } from '../../../../crds/names.ts';
import { Default } from '../../../../crds/wire.ts';

/** Connections of one client to one port of one host. */
export interface Use {
  /** TLS identity. */
  readonly client: string;
  /** Full name of a Service, or of a pod of one. */
  readonly host: string;
  readonly port: number;
  /** Whether Linkerd does not look into them. */
  readonly isOpaque: boolean;
  readonly connections: number;
}

/** What one proxy has counted. */
export interface Counted {
  /** Name of its pod; undefined if the text does not say it. */
  readonly pod: string | undefined;
  readonly uses: readonly Use[];
  /** Connections whose client or host is not a name. */
  readonly unnamed: number;
  /** Clients that the proxy has let in; of an older one that is all that is known. */
  readonly clients: readonly string[];
}

/** The part of a text that is of one pod, or why there is none. */
export type Section = Counted | { readonly pod: string | undefined; readonly obstacle: string };

const CONNECTIONS = 'inbound_tcp_transport_header_connections_total';
const ADMITTED = ['inbound_http_authz_allow_total', 'inbound_tcp_authz_allow_total'];
/** What every proxy prints: a text without it, and without counts, is not what a proxy has printed. */
const BUILD = 'proxy_build_info';
const READ = [CONNECTIONS, ...ADMITTED, BUILD].map((metric) => `${metric}{`);
const POD = /^# POD (\S+) \(\d+ of \d+\)/;
const FAILURE = /^# ERROR (.*)/;

/** Reports whether a line of metrics is read at all: a gateway prints millions of others. */
export const isRead = (line: string): boolean =>
  READ.some((start) => line.startsWith(start)) || POD.test(line) || FAILURE.test(line);

/**
 * Reads the metrics of proxies, as a proxy prints them, or as `linkerd diagnostics proxy-metrics` prints those of several,
 * or as Prometheus gives them to another.
 * @param pod whose they are, where the text does not say it
 */
export function readMetrics(lines: Iterable<string>, pod?: string): readonly Section[] {
  const sections = new Map<string | undefined, Reading>();
  const failed: Section[] = [];
  let of = pod;
  const readingOf = (name: string | undefined): Reading => {
    const reading = sections.get(name) ?? new Reading();
    sections.set(name, reading);
    return reading;
  };
  for (const line of lines) {
    of = POD.exec(line)?.[1] ?? of;
    const [, failure] = FAILURE.exec(line) ?? [];
    if (failure !== undefined) failed.push({ pod: of, obstacle: failure });
    if (line.startsWith(BUILD)) readingOf(of);
    const sample = readSample(line);
    if (sample !== undefined) readingOf(sample.labels.get('pod') ?? of).add(sample);
  }
  const found = [...[...sections].map(([name, reading]) => reading.end(name)), ...failed];
  return found.length > 0 ? found : [{ pod, obstacle: "there are no metrics of Linkerd's proxy in it" }];
}

/** What several proxies have counted together. Of two texts of one pod, the larger count is the later one. */
export function usesOf(all: readonly Counted[]): readonly Use[] {
  const byPod = new Map<string, Use>();
  for (const { pod = '', uses } of all) {
    for (const use of uses) {
      const key = JSON.stringify([pod, ...keyOf(use)]);
      if ((byPod.get(key)?.connections ?? 0) < use.connections) byPod.set(key, use);
    }
  }
  const together = new Map<string, Use>();
  for (const use of byPod.values()) {
    const key = JSON.stringify(keyOf(use));
    const connections = (together.get(key)?.connections ?? 0) + use.connections;
    together.set(key, { ...use, connections });
  }
  return [...together.entries()].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, use]) => use);
}

const keyOf = ({ host, port, isOpaque, client }: Use) => [host, port, isOpaque, client] as const;

interface Sample {
  readonly metric: string;
  readonly labels: ReadonlyMap<string, string>;
  readonly value: number;
}

const SAMPLE = /^(?<metric>[a-zA-Z_:][\w:]*)\{(?<labels>.*)\} (?<value>\S+)(?: -?\d+)?$/;
const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"/g;

/** A line of one of the metrics that are read; undefined of any other. */
function readSample(line: string): Sample | undefined {
  if (![CONNECTIONS, ...ADMITTED].some((each) => line.startsWith(`${each}{`))) return undefined;
  const { metric = '', labels = '', value = '' } = SAMPLE.exec(line)?.groups ?? {};
  const count = Number(value);
  if (metric === '' || !Number.isFinite(count) || count < 0) return undefined;
  return {
    metric,
    labels: new Map([...labels.matchAll(LABEL)].map(([, name = '', text = '']) => [name, text])),
    value: count,
  };
}

/** The samples of one proxy, as they are read. */
class Reading {
  readonly #uses: Use[] = [];
  readonly #clients = new Set<string>();
  #unnamed = 0;

  add({ metric, labels, value }: Sample): void {
    const client = labels.get('client_id') ?? '';
    if (metric !== CONNECTIONS) {
      if (labels.get('srv_name') === Default.gatewayName && isDnsSubdomain(client)) this.#clients.add(client);
      return;
    }
    const host = (labels.get('target_name') ?? '').replace(/\.$/, '').toLowerCase();
    // One without a host is for the pod of the gateway itself.
    if (host === '' || value === 0) return;
    const port = Number(labels.get('target_port'));
    if (!isDnsSubdomain(client) || !isDnsSubdomain(host) || !(port >= 1 && port <= 65_535)) this.#unnamed += value;
    else this.#uses.push({ client, host, port, isOpaque: labels.get('session_protocol') === '', connections: value });
  }

  end(pod: string | undefined): Counted {
    return { pod, uses: this.#uses, unnamed: this.#unnamed, clients: [...this.#clients].sort() };
  }
}
