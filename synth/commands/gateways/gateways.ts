/**
 * `linkspan gateways`: the gateways of the target clusters, as `linkerd multicluster gateways` shows them. What is alive,
 * and how many Services are mirrored, is read from the cluster. Where nobody serves a Link, nobody probes its gateway:
 * whether it is alive is not known then, whatever was reported. The latency is in the metrics of the pod that probes, which
 * is asked through the API server; without it, the column has `-`, and stderr why. The exit code is 0 if all are alive.
 */
import { Label, OPERATOR_LEASE, PolicyApi, Value, writeLeaseName } from '../../../crds/wire.ts';
import { cut } from '../../../operator/kube/errors.ts';
import { type KubeObject, type Lease, LEASES, SERVICES } from '../../../operator/kube/objects.ts';
import { type Cluster, withCluster } from '../common/cluster.ts';
import { ExitCode, reportingProblems } from '../common/command-error.ts';
import { PODS } from '../common/kinds.ts';
import { holderOf, type Unserved } from '../common/lease.ts';
import { type LinkLeases, unservedLink } from '../common/link-served.ts';
import { type LinkReport, probedAlive, reportOf } from '../common/link-status.ts';
import { linksOf } from '../common/links.ts';
import { readable } from '../common/readable.ts';
import { reportText } from '../common/output.ts';
import { type Column, tableText } from '../common/table.ts';
import { note, print, printLine } from '../../print.ts';
import type { GatewaysFlags } from './flags.ts';
import { latenciesIn } from './latency.ts';

/** A gateway. The first four fields are those of Linkerd's JSON. */
interface Gateway {
  readonly clusterName: string;
  /** Null if nobody looks at it now, or it is not known whether anybody does. */
  readonly alive: boolean | null;
  readonly numberOfServices: number;
  /** Milliseconds; undefined if it is not known. */
  readonly latency: number | undefined;
  readonly link: string;
  readonly addresses: readonly string[];
  readonly address: string;
  readonly port: string;
  readonly identity: string;
}

/** Runs the command. Sets the exit code. */
export const gateways = (flags: GatewaysFlags): Promise<void> =>
  reportingProblems(() =>
    withCluster(flags, async (source) => {
      const { namespace, clusterName, output } = flags;
      const links = (await linksOf(source, namespace))
        .map((object) => ({ object, link: reportOf(object) }))
        .filter(
          ({ link }) => link.gateway !== undefined && (clusterName === undefined || link.cluster === clusterName),
        );
      if (links.length === 0) {
        const of = clusterName === undefined ? '' : ` to cluster ${clusterName}`;
        printLine(`no Link${of} in namespace ${namespace} of ${source.context} has a gateway`);
      }
      const leaseIn = (name: string) => readable(() => source.find<Lease>(LEASES, { namespace, name }));
      const operators = links.length === 0 ? { found: undefined } : await leaseIn(OPERATOR_LEASE);
      const served = await Promise.all(
        links.map(async (each) => servedBy(each, { operators, link: await leaseIn(writeLeaseName(each.link.name)) })),
      );
      const latencies = await latenciesOf(source, served, flags);
      const mirrors = links.length === 0 ? new Map<string, number>() : await mirrorsByCluster(source);
      const found = served.map((each) =>
        gatewayOf(each, mirrors.get(each.link.cluster) ?? 0, latencies.get(each.link.name)),
      );
      for (const { link, unserved } of served) {
        if (unserved) note(`whether the gateway of ${link.cluster} is alive is not known: ${unserved.message}`);
      }
      const isTable = output === 'table' || output === 'wide';
      await print(isTable ? tableText(found, COLUMNS, output) : reportText(found, output));
      // A gateway that was asked for by name, and that no Link has, is not alive either.
      const isMissing = clusterName !== undefined && links.length === 0;
      if (isMissing || found.some(({ alive }) => alive !== true)) process.exitCode = ExitCode.failed;
    }),
  );

/** A Link, and the pod that writes for it and probes its gateway. */
interface Served {
  readonly link: LinkReport;
  /** Name of the pod; empty if there is none, or it may not be read. */
  readonly holder: string;
  readonly unserved: Unserved | undefined;
}

const servedBy = (
  { object, link }: { readonly object: KubeObject; readonly link: LinkReport },
  leases: LinkLeases,
): Served => ({
  link,
  holder: 'found' in leases.link ? holderOf(leases.link.found) : '',
  unserved: unservedLink(object, leases, Date.now()),
});

/** How many mirrors there are of each cluster. */
const mirrorsByCluster = async (source: Cluster): Promise<ReadonlyMap<string, number>> => {
  const mirrors = await source.list(SERVICES, { labelSelector: `${Label.mirroredService}=${Value.true}` });
  const byCluster = Map.groupBy(mirrors, ({ metadata }) => metadata.labels?.[Label.clusterName] ?? '');
  return new Map([...byCluster].map(([cluster, { length }]) => [cluster, length]));
};

const gatewayOf = ({ link, unserved }: Served, numberOfServices: number, latency: number | undefined): Gateway => {
  const { name, cluster, gateway, gatewayAddresses } = link;
  const alive = unserved === undefined ? (probedAlive(link) ?? null) : null;
  return {
    clusterName: cluster,
    alive,
    numberOfServices,
    latency: alive === true ? latency : undefined,
    link: name,
    addresses: gatewayAddresses,
    address: gateway?.address ?? '',
    port: gateway?.port ?? '',
    identity: gateway?.identity ?? '',
  };
};

const COLUMNS: readonly Column<Gateway>[] = [
  { heading: 'CLUSTER', value: ({ clusterName }) => clusterName },
  { heading: 'ALIVE', value: ({ alive }) => (alive === null ? 'unknown' : alive ? 'True' : 'False') },
  { heading: 'NUM_SVC', value: ({ numberOfServices }) => String(numberOfServices) },
  { heading: 'LATENCY', value: ({ latency }) => (latency === undefined ? '-' : `${latency}ms`) },
  { heading: 'LINK', isWide: true, value: ({ link }) => link },
  { heading: 'ADDRESS', isWide: true, value: ({ address }) => address },
  { heading: 'RESOLVED', isWide: true, value: ({ addresses }) => addresses.join(',') },
  { heading: 'PORT', isWide: true, value: ({ port }) => port },
  { heading: 'IDENTITY', isWide: true, value: ({ identity }) => identity },
];

interface Pod extends KubeObject {
  readonly spec?: {
    readonly containers?: readonly {
      readonly ports?: readonly { readonly name?: string; readonly containerPort?: number }[];
    }[];
  };
}

/** Milliseconds by Link. Notes on stderr say which cannot be read. */
const latenciesOf = async (
  source: Cluster,
  links: readonly Served[],
  { namespace, wait }: GatewaysFlags,
): Promise<ReadonlyMap<string, number>> => {
  const found = new Map<string, number>();
  for (const [holder, served] of Map.groupBy(links, (each) => each.holder)) {
    const metrics = await metricsOf(source, { namespace, name: holder }, wait);
    const latencies = 'text' in metrics ? latenciesIn(metrics.text) : new Map<string, number>();
    for (const { link } of served) {
      const latency = latencies.get(link.cluster);
      if (latency !== undefined) found.set(link.name, latency);
    }
    const names = served.map(({ link }) => link.name).join(', ');
    if ('obstacle' in metrics) note(`no latency for ${names}: ${metrics.obstacle}`);
  }
  return found;
};

const metricsOf = async (
  source: Cluster,
  ref: { readonly namespace: string; readonly name: string },
  timeoutMs: number,
): Promise<{ readonly text: string } | { readonly obstacle: string }> => {
  if (ref.name === '') return { obstacle: 'no operator is seen to hold the Lease of the Link' };
  const pod = await readable(() => source.find<Pod>(PODS, ref));
  if ('obstacle' in pod) return pod;
  if (pod.found === undefined) {
    return { obstacle: `the operator, ${cut(ref.name)}, is no pod of namespace ${ref.namespace}` };
  }
  const ports = (pod.found.spec?.containers ?? []).flatMap((container) => container.ports ?? []);
  const port = ports.find(
    ({ name = '' }) => name.endsWith('-admin') && name !== PolicyApi.adminPortName,
  )?.containerPort;
  if (port === undefined) return { obstacle: `Pod ${cut(ref.name)} has no port whose name ends in -admin` };
  return source.podText({ ...ref, port }, '/metrics', timeoutMs);
};
