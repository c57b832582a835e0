/** The source cluster as a forecast needs it, read once: its objects, its Links, and what their Leases record. */
import { PODS as PODS_OF_OPERATOR } from '../../../constructs/operator/pods.ts';
import type { OperatorConfig } from '../../../operator/config/config.ts';
import {
  familiesOfIPs,
  familiesOfService,
  type Listed,
  type LinkRead,
  type ModelCluster,
  readLinkObject,
  recordedClusters,
  SERVICE_FAILOVERS,
} from '../../../operator/forecast/index.ts';
import {
  type IpFamily,
  type KubeObject,
  type Lease,
  LEASES,
  type Service,
  SERVICES,
} from '../../../operator/kube/objects.ts';
import { LINKS, PODS } from '../common/kinds.ts';
import type { LinkObject } from '../common/link-object.ts';
import { type FoundSettings, operatorSettings } from '../common/operator-settings.ts';
import type { ClusterReader } from '../common/reader.ts';
import { fixedSelector } from '../common/selectors.ts';
import { readModel } from '../common/source-model.ts';
import { readImports, type SourceImports } from './exports.ts';
import { type FailoverManifest, withFailovers } from './failovers.ts';
import { readFederation, type SourceFederation } from './federation.ts';

/** What is read of the source cluster. */
export interface Source {
  readonly reader: ClusterReader;
  readonly config: OperatorConfig;
  /** Whether an operator is installed, whose settings these are. */
  readonly isInstalled: boolean;
  readonly model: ModelCluster;
  readonly families: ReadonlySet<IpFamily>;
  /** Links as they are in the cluster, by name. */
  readonly live: ReadonlyMap<string, LinkObject>;
  /** All Links, those that are given in place of those in the cluster, by name. */
  readonly links: ReadonlyMap<string, LinkObject>;
  /** The same, read. */
  readonly reads: ReadonlyMap<string, LinkRead>;
  /** The cluster that each Link's Lease records. */
  readonly served: ReadonlyMap<string, string>;
  /** By name. */
  readonly leases: ReadonlyMap<string, Lease>;
  readonly federation: SourceFederation;
  /** Undefined if the MCS API is left alone. */
  readonly imports: SourceImports | undefined;
  /** Whether there are ServiceFailovers that the operator serves. */
  readonly hasFailovers: boolean;
}

/** Where the operator and the Links are. */
export interface Namespaces {
  readonly namespace: string;
  readonly linkerdNamespace: string;
}

/**
 * Reads the source cluster.
 * @param given Links that are about to be applied
 * @param settings those to plan with, made of those that were found
 * @param failovers ServiceFailovers that are about to be applied
 */
export const readSource = async (
  reader: ClusterReader,
  namespaces: Namespaces,
  given: readonly LinkObject[],
  settings: (found: FoundSettings) => FoundSettings = (found) => found,
  failovers: readonly FailoverManifest[] = [],
): Promise<Source> => {
  const { config, isInstalled } = settings(await operatorSettings(reader, namespaces));
  const { namespace } = config;
  const stored = await reader.select<LinkObject>(LINKS, { namespace });
  const now = new Date().toISOString().replace(/\.\d+Z$/, 'Z');
  const live = new Map(stored.map((link) => [link.metadata.name, link]));
  const links = new Map([...live, ...given.map((link) => [link.metadata.name, overLive(link, live, now)] as const)]);
  const recorded = await reader.select<Lease>(LEASES, { namespace });
  const leases = new Map(recorded.map((lease) => [lease.metadata.name, lease]));
  const model = await readModel(reader, config, (of, listed) => withFailovers(of, listed, failovers));
  return {
    reader,
    config,
    isInstalled,
    model,
    families: await readFamilies(reader, namespace),
    live,
    links,
    reads: new Map([...links].map(([name, link]) => [name, readLinkObject(link)])),
    served: recordedClusters(recorded),
    leases,
    federation: await readFederation(reader, config, model.services, leases),
    imports: await readImports(reader, config, model),
    hasFailovers: config.failover && hasAny(await model.list(SERVICE_FAILOVERS)),
  };
};

const hasAny = (listed: Listed): boolean => typeof listed !== 'string' && listed.length > 0;

/** The Link as the API server would store it. A new one is younger than all others; timestamps are whole seconds. */
const overLive = (link: LinkObject, live: ReadonlyMap<string, LinkObject>, now: string): LinkObject => {
  const before = live.get(link.metadata.name)?.metadata;
  const { labels, annotations } = link.metadata;
  return {
    ...link,
    metadata: {
      creationTimestamp: before?.creationTimestamp ?? now,
      ...before,
      ...link.metadata,
      ...(before?.creationTimestamp !== undefined && { creationTimestamp: before.creationTimestamp }),
      labels: { ...before?.labels, ...labels },
      annotations: { ...before?.annotations, ...annotations },
    },
  };
};

interface Pod extends KubeObject {
  readonly status?: { readonly podIPs?: readonly { readonly ip: string }[] };
}

/** Labels of the operator's pods. */
const OPERATOR_PODS = fixedSelector({ matchLabels: PODS_OF_OPERATOR });

/** As the operator knows them: those of its pods, else those of the API server's Service, else IPv4. */
const readFamilies = async (reader: ClusterReader, namespace: string): Promise<ReadonlySet<IpFamily>> => {
  const pods = await reader.select<Pod>(PODS, { namespace, selector: OPERATOR_PODS });
  const ips = pods.flatMap(({ status }) => (status?.podIPs ?? []).map(({ ip }) => ip));
  if (ips.length > 0) return familiesOfIPs(ips);
  const service = await reader.find<Service>(SERVICES, { namespace: 'default', name: 'kubernetes' });
  const families = service && familiesOfService(service);
  return families !== undefined && families.size > 0 ? families : new Set(['IPv4']);
};
