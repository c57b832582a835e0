/**
 * Two clusters as in the guides, east (source) and west (target), a gateway, and the operator between them, in this
 * process. The same on both backings; a test changes the clusters and checks the result.
 */
import { linkCrd } from '../../crds/index.ts';
import { type Backing, borrowCluster, startCluster, type StartOptions, type TestCluster } from '../cluster/index.ts';
import { api, type Api, eventually, installCrd, type KubeObject, type ObjectRef } from '../cluster/workload/index.ts';
import { credentials, link, LINKS_NAMESPACE, namespace } from './builders.ts';
import { TestGateway } from './gateway.ts';
import type { EndpointsObject, LinkCondition, LinkObject } from './objects.ts';
import { type OperatorOptions, TestOperator } from './operator.ts';

/** What runs in a cluster. One with DNS is started for the suite; others are shared. */
type ClusterNeeds = Pick<StartOptions, 'dns' | 'controllers'>;

export interface TwoClustersOptions {
  readonly backing: Backing;
  readonly east?: ClusterNeeds;
  readonly west?: ClusterNeeds;
  /** Namespaces made in both clusters. @default shop */
  readonly namespaces?: readonly string[];
  /** Put in place of our Link CRD. */
  readonly crd?: ObjectRef;
}

export class TwoClusters {
  readonly backing: Backing;
  readonly eastCluster: TestCluster;
  readonly westCluster: TestCluster;
  readonly east: Api;
  readonly west: Api;
  readonly gateway: TestGateway;
  readonly #operators = new Set<TestOperator>();

  private constructor(east: TestCluster, west: TestCluster, gateway: TestGateway) {
    this.backing = east.backing;
    this.eastCluster = east;
    this.westCluster = west;
    this.east = api(east);
    this.west = api(west);
    this.gateway = gateway;
  }

  /** Both clusters up, with namespaces, the Link CRD and a gateway that is alive; no Link and no operator yet. */
  static async start({ backing, east, west, namespaces = ['shop'], crd }: TwoClustersOptions): Promise<TwoClusters> {
    const cluster = (name: string, { dns = false, controllers = [] }: ClusterNeeds = {}): Promise<TestCluster> =>
      dns ? startCluster({ backing, name, dns, controllers }) : borrowCluster(backing, name, controllers);
    const [eastCluster, westCluster] = await Promise.all([cluster('east', east), cluster('west', west)]);
    const gateway = new TestGateway();
    await gateway.revive();
    const clusters = new TwoClusters(eastCluster, westCluster, gateway);
    await Promise.all([
      installCrd(eastCluster, crd ?? (linkCrd as unknown as ObjectRef)),
      ...[LINKS_NAMESPACE, ...namespaces].map((name) => clusters.east.apply(namespace(name))),
      ...namespaces.map((name) => clusters.west.apply(namespace(name))),
    ]);
    return clusters;
  }

  /** Applies the Link to west and its credentials. */
  async link(spec: object = {}): Promise<void> {
    await this.east.apply(credentials('west', this.westCluster.kubeconfig));
    await this.east.apply(link('west', spec));
  }

  operator(options: OperatorOptions = {}): TestOperator {
    const operator = new TestOperator(options.kubeconfigFile ?? this.eastCluster.kubeconfigFile, this.gateway, options);
    this.#operators.add(operator);
    return operator;
  }

  /** An object of the source cluster, or undefined. */
  async get<T = KubeObject>(kind: string, name: string, within = 'shop'): Promise<T | undefined> {
    return this.east.get<T>({ apiVersion: VERSIONS[kind] ?? 'v1', kind, metadata: { name, namespace: within } });
  }

  /** The IPs of an Endpoints object, `!` before those that are not ready; undefined if there is no such object. */
  async addresses(name: string, within = 'shop'): Promise<readonly string[] | undefined> {
    const found = await this.get<EndpointsObject>('Endpoints', name, within);
    return found?.subsets === undefined && found !== undefined
      ? []
      : found?.subsets?.flatMap((subset) => [
          ...(subset.addresses ?? []).map(({ ip }) => ip),
          ...(subset.notReadyAddresses ?? []).map(({ ip }) => `!${ip}`),
        ]);
  }

  /** The Link's condition of a type. */
  async condition(type: string, name = 'west'): Promise<LinkCondition | undefined> {
    const found = await this.get<LinkObject>('Link', name, LINKS_NAMESPACE);
    return found?.status?.conditions?.find((condition) => condition.type === type);
  }

  /** The status entry of a target Service in a Link. */
  async mirrorCondition(name: string, within = 'shop', of = 'west'): Promise<LinkCondition | undefined> {
    const found = await this.get<LinkObject>('Link', of, LINKS_NAMESPACE);
    return found?.status?.mirrorServices?.find(
      ({ remoteRef }) => remoteRef.name === name && remoteRef.namespace === within,
    )?.conditions[0];
  }

  /** Waits until the Link is Ready: listed, caught up, gateway alive. */
  async ready(): Promise<void> {
    await eventually('the Link is Ready', async () => (await this.condition('Ready'))?.status === 'True');
  }

  /** Requests that changed anything but Leases in the source cluster, since the audit was cleared. */
  async writes(): Promise<readonly string[]> {
    const entries = await this.eastCluster.audit();
    return entries
      .filter(({ verb, userAgent }) => WRITES.has(verb) && userAgent.startsWith('linkspan-operator'))
      .filter(({ resource }) => resource !== 'leases' && resource !== 'events')
      .map(({ verb, resource, subresource, namespace: within, name, code }) =>
        [
          verb,
          `${resource}${subresource === undefined ? '' : `/${subresource}`}`,
          `${within ?? ''}/${name ?? ''}`,
          code,
        ].join(' '),
      );
  }

  async stopOperators(): Promise<void> {
    await Promise.all([...this.#operators].map((operator) => operator.stop()));
    this.#operators.clear();
  }

  async stop(): Promise<void> {
    await this.stopOperators();
    await Promise.all([this.east.close(), this.west.close(), this.gateway.die()]);
    await Promise.all([this.eastCluster.stop(), this.westCluster.stop()]);
  }
}

const VERSIONS: Readonly<Record<string, string>> = {
  Link: 'multicluster.linkerd.io/v1alpha3',
  EndpointSlice: 'discovery.k8s.io/v1',
  Lease: 'coordination.k8s.io/v1',
  StatefulSet: 'apps/v1',
};

const WRITES = new Set(['create', 'update', 'patch', 'delete', 'deletecollection']);
