/**
 * What Linkerd's controllers write of federated Services, beside the operator (rule I7): the one of a Link, and the local
 * mirror. Each contends for its Lease, and while it holds it, adds and removes its own entry, and replaces labels,
 * annotations and ports if its member is the one that counts. Nothing is taken from the operator's own code.
 */
import type { KubeObject } from '../cluster/simulated/storage/object.ts';
import { LinkerdLease, type OpenCluster } from './linkerd-lease.ts';

const MIRRORED = 'mirror.linkerd.io/mirrored-service';
const REMOTE = 'multicluster.linkerd.io/remote-discovery';
const LOCAL = 'multicluster.linkerd.io/local-discovery';

export interface LinkerdFederationOptions {
  readonly here: OpenCluster;
  /** The cluster of its members; of the local mirror, the same. */
  readonly there: Pick<OpenCluster, 'list'>;
  /** Of Leases and Links. */
  readonly namespace: string;
  /** The Link, which has the name of its cluster; undefined: it is the local mirror. */
  readonly link: string | undefined;
  readonly nowMs: () => number;
}

interface Service extends KubeObject {
  readonly spec: {
    readonly clusterIP?: string;
    readonly ports?: readonly Readonly<Record<'name' | 'protocol' | 'port' | 'targetPort', unknown>>[];
  };
}

type Texts = Readonly<Record<string, string>>;

export class LinkerdFederation {
  readonly #options: LinkerdFederationOptions;
  readonly #lease: LinkerdLease;
  /** Members that it has seen since it started: only their end is an event to it. */
  readonly #seen = new Map<string, Service>();

  constructor(options: LinkerdFederationOptions) {
    const { here: cluster, namespace, link, nowMs } = options;
    this.#options = options;
    const name = link === undefined ? 'local-service-mirror-write' : `service-mirror-write-${link}`;
    const identity = `linkerd-${link ?? 'local'}-mirror`;
    this.#lease = new LinkerdLease({ cluster, namespace, name, identity, nowMs });
  }

  /** Contends for the Lease, and handles every Service once, if it is held. @returns whether it is */
  act(): boolean {
    if (!this.#lease.acquire()) return false;
    const services = this.#options.there.list('v1', 'Service') as readonly Service[];
    const gone = [...this.#seen].filter(([key]) => !services.some((each) => keyOf(each) === key));
    for (const [key, service] of gone) {
      this.#seen.delete(key);
      this.#leave(service);
    }
    for (const service of services) {
      this.#seen.set(keyOf(service), service);
      if (service.metadata.labels?.['mirror.linkerd.io/federated'] === 'member') this.#join(service);
      else this.#leave(service);
    }
    return true;
  }

  /** Ends, and releases the Lease, or leaves it to expire, as when it is killed; what it wrote stays. */
  stop(how: 'release' | 'kill' = 'release'): void {
    this.#seen.clear();
    if (how === 'release') this.#lease.release();
  }

  #join(service: Service): void {
    const { here, link } = this.#options;
    const { name, namespace } = service.metadata;
    if (here.get('v1', 'Namespace', undefined, namespace!) === undefined || service.spec.clusterIP === 'None') return;
    // The API server refuses what it would write.
    if ((service.spec.ports ?? []).length === 0) return;
    const live = this.#federated(service);
    const { [REMOTE]: remote, [LOCAL]: local } = live?.metadata.annotations ?? {};
    const entries = (remote ?? '').split(',').filter((each) => each !== '');
    const own = `${name}@${link}`;
    const joined = link === undefined || entries.includes(own) ? entries : [...entries, own];
    const isLocal = link === undefined || local !== undefined;
    const memberships: Texts = {
      ...(remote === undefined && joined.length === 0 ? {} : { [REMOTE]: joined.join(',') }),
      ...(isLocal && { [LOCAL]: name }),
    };
    const counts = live === undefined || (isLocal ? link === undefined : this.#isOldest(entries));
    const of = counts ? rendered(service) : { ...live.metadata, spec: live.spec };
    const annotations = { ...of.annotations, ...memberships };
    this.#put(service, live, { labels: of.labels, annotations }, of.spec);
  }

  /** The local mirror takes every mirrored Service of this name for one that its Service has left. */
  #leave(service: Service): void {
    const { here, link } = this.#options;
    const live = this.#federated(service);
    if (live?.metadata.labels?.[MIRRORED] !== 'true') return;
    const { [REMOTE]: remote, [LOCAL]: local, ...others } = live.metadata.annotations ?? {};
    const { name, namespace } = service.metadata;
    const entries = (remote ?? '').split(',').filter((each) => each !== '');
    if (link !== undefined && !entries.includes(`${name}@${link}`)) return;
    const left = entries.filter((each) => each !== `${name}@${link}`);
    const isLocal = link !== undefined && local !== undefined;
    if (left.length === 0 && !isLocal) {
      here.remove('v1', 'Service', namespace, `${name}-federated`);
      return;
    }
    const annotations = {
      ...others,
      ...(remote === undefined ? {} : { [REMOTE]: left.join(',') }),
      ...(isLocal && { [LOCAL]: local }),
    };
    this.#put(service, live, { labels: live.metadata.labels, annotations }, live.spec);
  }

  #put(
    { metadata: { name, namespace } }: Service,
    live: Service | undefined,
    metadata: { readonly labels?: Texts | undefined; readonly annotations: Texts },
    spec: Service['spec'],
  ): void {
    const wanted = { ...metadata, spec: { ...live?.spec, ...spec } };
    const there = live && { labels: live.metadata.labels, annotations: live.metadata.annotations, spec: live.spec };
    if (same(wanted, there)) return;
    this.#options.here.put({
      ...{ apiVersion: 'v1', kind: 'Service' },
      metadata: { ...metadata, name: `${name}-federated`, namespace },
      spec: wanted.spec,
    });
  }

  /** Whether no Link of another member is older; the Link of a member has the name of its cluster. */
  #isOldest(entries: readonly string[]): boolean {
    const { here, namespace, link = '' } = this.#options;
    const createdAt = (of: string): string | undefined =>
      here.get('multicluster.linkerd.io/v1alpha3', 'Link', namespace, of)?.metadata.creationTimestamp;
    const own = createdAt(link) ?? '';
    return entries.every((each) => (createdAt(each.split('@')[1]!) ?? own) >= own);
  }

  #federated({ metadata: { name, namespace } }: Service): Service | undefined {
    return this.#options.here.get('v1', 'Service', namespace, `${name}-federated`) as Service | undefined;
  }
}

/** Labels, annotations and ports of a federated Service whose member counts: without appProtocol. */
function rendered({ metadata: { labels = {}, annotations = {} }, spec: { ports = [] } }: Service) {
  const own = Object.entries(labels).filter(([key]) => !key.startsWith('mirror.linkerd.io'));
  return {
    labels: { ...Object.fromEntries(own), [MIRRORED]: 'true' },
    annotations,
    spec: { ports: ports.map(({ name, protocol, port, targetPort }) => ({ name, protocol, port, targetPort })) },
  };
}

const keyOf = ({ metadata: { namespace = '', name } }: KubeObject): string => `${namespace}/${name}`;

const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).filter(([, each]) => each !== undefined);
  return Object.fromEntries(fields.sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, each]) => [key, sorted(each)]));
};
const same = (a: unknown, b: unknown): boolean => JSON.stringify(sorted(a)) === JSON.stringify(sorted(b));
