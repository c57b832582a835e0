/**
 * Where the operator is soaked: a source and two targets of real API servers, Links that share the targets, each with a
 * cluster name and Services of its own, gateways that serve some Links each, and objects of others that have the names
 * of mirrors.
 */
import { linkCrd } from '../../crds/index.ts';
import { type Api, api, installCrd, type KubeObject, type ObjectRef } from '../cluster/workload/index.ts';
import { type RealCluster, startReal } from '../cluster/real/real.ts';
import { credentials, EXPORTED, link, LINKS_NAMESPACE, namespace, service, slice } from '../support/builders.ts';
import { concurrently } from '../support/concurrently.ts';
import { TestGateway } from '../support/gateway.ts';
import type { LinkObject } from '../support/objects.ts';
import { clusterOf, type ExportedService, mirrorOf, Model } from './model.ts';
import { Replicas } from './replicas.ts';
import { Seen } from './seen.ts';

const TARGETS = ['west', 'north'] as const;
const GATEWAYS = 4;
const SETUP_CONCURRENCY = 16;
const PROBE = { path: '/ready', port: '4191', period: '1s', timeout: '1s', failureThreshold: '2' };
const LEASE = ['--lease-duration=8s', '--renew-deadline=5s', '--retry-period=1s'];
export const NAMESPACE = 'shop';
/** A Service of this name is exported to each Link, and somebody else's has the name of its mirror. */
const takenOf = (link: string): string => `taken-of-${link}`;

export interface Target {
  readonly name: string;
  readonly cluster: RealCluster;
  readonly api: Api;
}

/** A gateway, and the Links whose mirrors lead to it. */
export interface Gateway {
  readonly gateway: TestGateway;
  readonly links: readonly string[];
}

export interface StageOptions {
  readonly links: number;
  /** Number of Services over all Links. */
  readonly services: number;
}

export class Stage {
  readonly source: RealCluster;
  readonly east: Api;
  readonly targets: readonly Target[];
  readonly gateways: readonly Gateway[];
  readonly links: readonly string[];
  readonly model: Model;
  readonly seen: Seen;
  readonly replicas: Replicas;
  /** Objects of others, as they were made, by kind and name. */
  readonly #foreign = new Map<string, KubeObject>();

  private constructor(source: RealCluster, targets: readonly Target[], links: readonly string[], gateways: Gateway[]) {
    this.source = source;
    this.east = api(source);
    this.targets = targets;
    this.links = links;
    this.gateways = gateways;
    this.model = new Model();
    this.seen = new Seen(this.east, this.model);
    const probes = gateways.flatMap(({ gateway, links: led }) =>
      led.map((name) => `probe-${name}.${LINKS_NAMESPACE}.svc=${gateway.address.host}:${gateway.address.port}`),
    );
    this.replicas = new Replicas([
      `--kubeconfig=${source.kubeconfigFile}`,
      `--probe-connect-to=${probes.join(',')}`,
      '--log-level=info',
      ...LEASE,
    ]);
  }

  static async set({ links: count, services }: StageOptions): Promise<Stage> {
    const links = Array.from({ length: count }, (_, index) => `soak-${index}`);
    const source = await startReal({ name: 'east' });
    const targets: Target[] = [];
    for (const name of TARGETS) {
      const cluster = await startReal({ name });
      targets.push({ name, cluster, api: api(cluster) });
    }
    const gateways = await Promise.all(
      Array.from({ length: GATEWAYS }, async (_, at): Promise<Gateway> => {
        const gateway = new TestGateway();
        await gateway.revive();
        return { gateway, links: links.filter((_name, index) => index % GATEWAYS === at) };
      }),
    );
    const stage = new Stage(source, targets, links, gateways);
    await stage.#fill(services);
    return stage;
  }

  /** Objects that differ from what others made of them, or are gone; each with what differs. */
  async foreignWrites(): Promise<readonly string[]> {
    const complaints: string[] = [];
    for (const [what, before] of this.#foreign) {
      const now = await this.east.get({ ...before, apiVersion: 'v1', kind: what.split(' ')[0]! });
      const { uid, resourceVersion } = before.metadata;
      if (now?.metadata.uid !== uid || now?.metadata.resourceVersion !== resourceVersion) complaints.push(what);
    }
    return complaints;
  }

  /** Names of the Links that are not Ready. */
  async unreadyLinks(): Promise<readonly string[]> {
    const found = await Promise.all(this.links.map((name) => this.east.get<LinkObject>(link(name))));
    return this.links.filter(
      (_, index) =>
        found[index]?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') !== true,
    );
  }

  async stop(): Promise<void> {
    await this.seen.stop();
    await this.replicas.stop();
    await Promise.all(this.gateways.map(({ gateway }) => gateway.die()));
    await Promise.all([this.east, ...this.targets.map((target) => target.api)].map((each) => each.close()));
    await Promise.all([this.source, ...this.targets.map(({ cluster }) => cluster)].map((each) => each.stop()));
  }

  async #fill(services: number): Promise<void> {
    await installCrd(this.source, linkCrd);
    for (const name of [LINKS_NAMESPACE, NAMESPACE]) await this.east.apply(namespace(name));
    for (const target of this.targets) await target.api.apply(namespace(NAMESPACE));
    for (const name of this.links) await this.#putForeign(name);
    const wanted = Array.from({ length: services }, (_, index) => this.#newService(index));
    await concurrently(wanted, SETUP_CONCURRENCY, async (each) => {
      await this.#create(each);
      this.model.put(each);
    });
    for (const [index, name] of this.links.entries()) {
      const target = this.#targetOf(index);
      await this.#create({ ...this.#newService(index), name: takenOf(name) });
      await this.east.apply(credentials(name, target.cluster.kubeconfig));
      const selector = { matchLabels: exportLabels(name) };
      await this.east.apply(
        link(name, {
          selector,
          remoteDiscoverySelector: undefined,
          targetClusterName: clusterOf(name),
          probeSpec: PROBE,
        }),
      );
    }
  }

  #newService(index: number): ExportedService {
    const at = index % this.links.length;
    const name = `web-${Math.floor(index / this.links.length)}`;
    const state = { exported: true, ready: true, port: 80 };
    return { ...state, link: this.links[at]!, target: this.#targetOf(at).name, name: `${name}-of-${at}` };
  }

  #targetOf(link: number): Target {
    return this.targets[link % this.targets.length]!;
  }

  async #create(each: ExportedService): Promise<void> {
    const { api: target } = this.targets.find(({ name }) => name === each.target)!;
    await target.create(serviceOf(each));
    await target.create(sliceOf(each));
  }

  async #putForeign(link: string): Promise<void> {
    const name = mirrorOf({ name: takenOf(link), link });
    const own = { ...service(name, { namespace: NAMESPACE }) };
    const endpoints = { apiVersion: 'v1', kind: 'Endpoints', metadata: { name: `own-${link}`, namespace: NAMESPACE } };
    for (const object of [own, endpoints]) {
      this.#foreign.set(`${object.kind} ${object.metadata.name}`, await this.east.create(object));
    }
  }
}

/** Labels by which a Service is exported to one Link. */
const exportLabels = (link: string): Readonly<Record<string, string>> => ({ ...EXPORTED, soak: link });

/** A Service of a target as its users write it. */
export const serviceOf = (each: ExportedService): ObjectRef & { readonly spec: object } =>
  service(each.name, {
    namespace: NAMESPACE,
    labels: { ...exportLabels(each.link), 'mirror.linkerd.io/exported': String(each.exported) },
    ports: [{ name: 'http', port: each.port, targetPort: 8080 }],
  });

/** Its slice, as Kubernetes would write it. */
export const sliceOf = (each: ExportedService): ObjectRef =>
  slice(each.name, {
    namespace: NAMESPACE,
    labels: exportLabels(each.link),
    endpoints: [{ ready: each.ready }],
  });
