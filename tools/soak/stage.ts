/**
 * Where the operator is soaked: a source and two targets of real API servers, Links that share the targets, each with a
 * cluster name and Services of its own, gateways that serve some Links each, and objects of others that have the names
 * of mirrors. One more Link for each target takes part in what Services share over clusters.
 */
import { linkCrd } from '../../crds/index.ts';
import { type Api, api, installCrd, type KubeObject, type ObjectRef } from '../../test/cluster/workload/index.ts';
import { type RealCluster, startReal } from '../../test/cluster/real/real.ts';
import { TARGETS, type TargetName } from '../../test/simulation/command.ts';
import {
  credentials,
  EXPORTED,
  link,
  LINKS_NAMESPACE,
  namespace,
  service,
  slice,
} from '../../test/support/builders.ts';
import { concurrently } from '../../test/support/concurrently.ts';
import { TestGateway } from '../../test/support/gateway.ts';
import type { LinkObject } from '../../test/support/objects.ts';
import { clusterOf, type ExportedService, mirrorOf, Model } from './model.ts';
import { Replicas } from './replicas.ts';
import { Seen } from './seen.ts';
import { exportedOf, fillSource, fillTarget, HERE, installShared, newPodIp, SHARED, SHARED_LINK } from './shared.ts';
import { SharedJudge } from './shared-judge.ts';

const GATEWAYS = 4;
const SETUP_CONCURRENCY = 16;
const PROBE = { path: '/ready', port: '4191', period: '1s', timeout: '1s', failureThreshold: '2' };
export const NAMESPACE = 'shop';
/** A Service of this name is exported to each Link, and somebody else's has the name of its mirror. */
const takenOf = (link: string): string => `taken-of-${link}`;

/** A cluster that users change: a target, or the source. */
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
  /** Whether the operator runs from `dist`, as it is shipped, instead of the sources. */
  readonly built: boolean;
  /** Whether the operator writes snapshots of its heap at rest. */
  readonly heap: boolean;
}

export class Stage {
  readonly source: RealCluster;
  readonly east: Api;
  /** The source as users change it. */
  readonly here: Target;
  readonly targets: readonly Target[];
  readonly gateways: readonly Gateway[];
  readonly links: readonly string[];
  readonly model: Model;
  readonly seen: Seen;
  readonly shared: SharedJudge;
  readonly replicas: Replicas;
  /** Objects of others, as they were made. */
  readonly #foreign: KubeObject[] = [];

  private constructor(
    source: RealCluster,
    targets: readonly Target[],
    links: readonly string[],
    gateways: Gateway[],
    how: Pick<StageOptions, 'built' | 'heap'>,
  ) {
    this.source = source;
    this.east = api(source);
    this.here = { name: HERE, cluster: source, api: this.east };
    this.targets = targets;
    this.links = links;
    this.gateways = gateways;
    this.model = new Model();
    this.seen = new Seen(this.east, this.model);
    this.shared = new SharedJudge({
      east: this.east,
      targets: Object.fromEntries(targets.map((each) => [each.name, each.api])) as Record<TargetName, Api>,
      isAlive: (name) => this.model.isAlive(name),
    });
    const probes = gateways.flatMap(({ gateway, links: led }) =>
      led.map((name) => `probe-${name}.${LINKS_NAMESPACE}.svc=${gateway.address.host}:${gateway.address.port}`),
    );
    this.replicas = new Replicas({
      flags: [`--kubeconfig=${source.kubeconfigFile}`, `--probe-connect-to=${probes.join(',')}`, '--log-level=info'],
      ...how,
    });
  }

  static async set({ links: count, services, built, heap }: StageOptions): Promise<Stage> {
    const links = Array.from({ length: count }, (_, index) => `soak-${index}`);
    const source = await startReal({ name: HERE });
    const targets: Target[] = [];
    for (const name of TARGETS) {
      const cluster = await startReal({ name });
      targets.push({ name, cluster, api: api(cluster) });
    }
    const gateways = await Promise.all(
      Array.from({ length: GATEWAYS }, async (_, at): Promise<Gateway> => {
        const gateway = new TestGateway();
        await gateway.revive();
        return { gateway, links: [...links, ...TARGETS].filter((_name, index) => index % GATEWAYS === at) };
      }),
    );
    const stage = new Stage(source, targets, links, gateways, { built, heap });
    await stage.#fill(services);
    return stage;
  }

  /** Objects that differ from what others made of them, or are gone; each with what differs. */
  async foreignWrites(): Promise<readonly string[]> {
    const complaints: string[] = [];
    for (const before of this.#foreign) {
      const now = await this.east.get(before);
      const { uid, resourceVersion, name } = before.metadata;
      if (now?.metadata.uid !== uid || now?.metadata.resourceVersion !== resourceVersion)
        complaints.push(`${before.kind} ${name}`);
    }
    return complaints;
  }

  /** Names of the Links that are not Ready. */
  async unreadyLinks(): Promise<readonly string[]> {
    const links = [...this.links, ...TARGETS];
    const found = await Promise.all(links.map((name) => this.east.get<LinkObject>(link(name))));
    return links.filter(
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
    for (const { cluster } of [this.here, ...this.targets]) await installShared(cluster);
    for (const name of [LINKS_NAMESPACE, NAMESPACE]) await this.east.apply(namespace(name));
    for (const target of this.targets) await target.api.apply(namespace(NAMESPACE));
    for (const name of this.links) await this.#putForeign(name);
    const shared = TARGETS.flatMap((target) => SHARED.map((name) => exportedOf(name, target)));
    const own = Array.from({ length: services }, (_, index) => this.#newService(index));
    const wanted = [...own, ...shared];
    await concurrently(wanted, SETUP_CONCURRENCY, async (each) => {
      await this.#create(each);
      this.model.put(each);
    });
    for (const [index, name] of this.links.entries()) {
      await this.#create({ ...this.#newService(index), name: takenOf(name) });
      await this.#link(name, this.#targetOf(index), { serviceExports: false });
    }
    this.#foreign.push(...(await fillSource(this.east)));
    for (const target of this.targets) {
      await fillTarget(target.name, target.api);
      await this.#link(target.name, target, SHARED_LINK);
    }
  }

  async #link(name: string, target: Target, spec: object): Promise<void> {
    await this.east.apply(credentials(name, target.cluster.kubeconfig));
    const selector = { matchLabels: exportLabels(name) };
    const own = { selector, remoteDiscoverySelector: undefined, targetClusterName: clusterOf(name), probeSpec: PROBE };
    await this.east.apply(link(name, { ...own, ...spec }));
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
      this.#foreign.push(await this.east.create(object));
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
    endpoints: [{ ready: each.ready, ip: newPodIp() }],
  });
