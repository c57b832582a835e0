/** What users do in a scene. Objects are named by what they are called; namespace `shop` where none is given. */
import type { KubeObject } from '../cluster/simulated/storage/object.ts';
import { EXPORTED, EXPORTED_FLAT, link as linkObject, LINKS_NAMESPACE } from '../support/builders.ts';
import type { HistoryCluster } from '../simulation/cluster.ts';
import { type Export, type Kind, type PodState, PORTS } from '../simulation/command.ts';
import { putDiscovery } from '../simulation/federation-users.ts';
import { MEMBER_LABEL } from '../simulation/members.ts';
import { PROBE } from '../simulation/probe-spec.ts';
import { EXPORT_LABEL, putService, setPods } from '../simulation/target-users.ts';
import { CLUSTER_PROPERTY, LINK, SERVICE_EXPORT, SERVICE_FAILOVER } from './kinds.ts';
import type { ClusterName, Scene, TargetName } from './scene.ts';

/** The target that a Link of this name leads to. */
const targetOf = (name: string): TargetName => (name === 'bar' || name === 'late' ? 'bar' : 'west');

/** Spec of the Links of scenes, besides who they lead to. */
export const SPEC = {
  probeSpec: PROBE,
  selector: { matchLabels: EXPORTED },
  remoteDiscoverySelector: { matchLabels: EXPORTED_FLAT },
};
export const FEDERATED = { federatedServiceSelector: { matchLabels: { [MEMBER_LABEL]: 'member' } } };

export interface Backing {
  readonly namespace?: string;
  readonly kind?: Kind;
  readonly exported?: Export;
  /** Index into PORTS. */
  readonly ports?: number;
  readonly tag?: string;
  readonly member?: boolean;
}

export class Users {
  readonly #scene: Scene;
  readonly #tokens = new Map<TargetName, string>();

  constructor(scene: Scene) {
    this.#scene = scene;
  }

  get #source(): HistoryCluster {
    return this.#scene.source;
  }

  in(cluster: ClusterName): HistoryCluster {
    return this.#scene.clusters[cluster];
  }

  /** Puts the credentials of the target of a Link, with a new token; or such as are good for nothing. */
  credentials(link: string, as: 'good' | 'unauthorized' | 'garbage' = 'good'): void {
    const name = targetOf(link);
    const target = this.#scene.targets[name];
    if (as === 'good') this.#tokens.set(name, target.admit());
    const text = as === 'garbage' ? '{' : target.kubeconfigFor(as === 'good' ? this.#tokens.get(name)! : 'expired');
    this.#source.put({
      ...{ apiVersion: 'v1', kind: 'Secret', type: 'mirror.linkerd.io/remote-kubeconfig' },
      metadata: { name: `cluster-credentials-${link}`, namespace: LINKS_NAMESPACE },
      data: { kubeconfig: Buffer.from(text).toString('base64') },
    });
  }

  /** Links a target, with credentials. */
  link(name: string, spec: object = {}, metadata: object = {}): void {
    this.credentials(name);
    const cluster = { targetClusterName: targetOf(name) };
    this.#source.put(linkObject(name, { ...SPEC, ...cluster, ...spec }, metadata));
  }

  /** Changes fields of the spec of an object; undefined takes one away. */
  edit(object: KubeObject | undefined, spec: object): void {
    if (object === undefined) throw new Error('there is no such object to edit');
    const { status: _, ...rest } = object;
    const edited = Object.entries({ ...(object['spec'] as object), ...spec }).filter(
      ([, value]) => value !== undefined,
    );
    this.#source.put({ ...rest, spec: Object.fromEntries(edited) });
  }

  editLink(name: string, spec: object): void {
    this.edit(this.linkOf(name), spec);
  }

  linkOf(name: string): KubeObject | undefined {
    return this.#source.get(LINK.apiVersion, LINK.kind, LINKS_NAMESPACE, name);
  }

  /** Sets an annotation of a Link, or takes it away. */
  annotateLink(name: string, key: string, value: string | undefined): void {
    const link = this.linkOf(name);
    if (link === undefined) throw new Error(`there is no Link ${name}`);
    const { status: _, ...rest } = link;
    const { [key]: _before, ...others } = link.metadata.annotations ?? {};
    const annotations = value === undefined ? others : { ...others, [key]: value };
    this.#source.put({ ...rest, metadata: { ...link.metadata, annotations } });
  }

  unlink(name: string): void {
    this.#source.remove(LINK.apiVersion, LINK.kind, LINKS_NAMESPACE, name);
  }

  /** Puts a Service, by default one of ClusterIP, exported through the gateway from a target. */
  service(cluster: ClusterName, name: string, backing: Backing = {}): void {
    const { namespace = 'shop', kind = 'clusterIP', ports = 0, tag = 'a', member = false } = backing;
    const { exported = cluster === 'source' ? 'none' : 'true' } = backing;
    const home = this.in(cluster);
    putService(home, { namespace, name, kind, exported, ports, tag, publishNotReady: false });
    const there = home.get('v1', 'Service', namespace, name)!;
    const { [MEMBER_LABEL]: _, ...labels } = there.metadata.labels ?? {};
    const wanted = member ? { ...labels, [MEMBER_LABEL]: 'member' } : labels;
    home.put({ ...there, metadata: { ...there.metadata, labels: wanted } });
  }

  /** Sets how a Service is exported, and nothing else. */
  exporting(cluster: TargetName, name: string, exported: Export): void {
    const home = this.in(cluster);
    const there = home.get('v1', 'Service', 'shop', name)!;
    const { [EXPORT_LABEL]: _, ...labels } = there.metadata.labels ?? {};
    const wanted = exported === 'none' ? labels : { ...labels, [EXPORT_LABEL]: exported };
    home.put({ ...there, metadata: { ...there.metadata, labels: wanted } });
  }

  /** Changes the ports of a Service. @param ports index into PORTS */
  ports(cluster: ClusterName, name: string, ports: number): void {
    const home = this.in(cluster);
    const there = home.get('v1', 'Service', 'shop', name)!;
    home.put({ ...there, spec: { ...(there['spec'] as object), ports: PORTS[ports] } });
  }

  /** The pods behind a Service become these: `web-0` has a hostname, `!web-0` is not ready, `-` and `!-` have none. */
  pods(cluster: ClusterName, name: string, ...pods: readonly string[]): void {
    const states = pods.map((text): PodState => {
      const hostname = text.replace(/^!/, '').replace(/^-$/, '');
      return { hostname, ready: !text.startsWith('!') };
    });
    setPods(this.in(cluster), { namespace: 'shop', name, pods: states });
  }

  remove(cluster: ClusterName, kind: string, name: string, namespace = 'shop', apiVersion = 'v1'): void {
    this.in(cluster).remove(apiVersion, kind, namespace, name);
  }

  /** Exports a Service by the MCS API, or takes that back. */
  exportService(cluster: ClusterName, name: string, spec?: object): void {
    this.in(cluster).put({ ...SERVICE_EXPORT, metadata: { name, namespace: 'shop' }, ...(spec && { spec }) });
  }

  unexportService(cluster: ClusterName, name: string): void {
    this.remove(cluster, SERVICE_EXPORT.kind, name, 'shop', SERVICE_EXPORT.apiVersion);
  }

  /** Has each cluster claim an id (MCS API). */
  claimIds(): void {
    for (const [cluster, value] of [
      ['source', 'here'],
      ['west', 'west'],
      ['bar', 'bar'],
    ] as const) {
      this.in(cluster).put({ ...CLUSTER_PROPERTY, metadata: { name: 'cluster.clusterset.k8s.io' }, spec: { value } });
    }
  }

  /** Gives Linkerd's control plane its copies of the credentials, which members on a flat network take. */
  discover(): void {
    putDiscovery(this.#source);
  }

  failover(name: string, spec: object): void {
    this.#source.put({ ...SERVICE_FAILOVER, metadata: { name, namespace: 'shop' }, spec });
  }

  failoverOf(name: string): KubeObject | undefined {
    return this.#source.get(SERVICE_FAILOVER.apiVersion, SERVICE_FAILOVER.kind, 'shop', name);
  }
}
