/**
 * A source cluster as Linkerd's extension leaves it, for one Link: mirrors, headless ones among them, the probe Service,
 * and the Deployment of the controller, whose pod stands in for Kubernetes' controllers and the kubelet.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Api, api, eventually, installCrd, type KubeObject, type ObjectRef } from '../cluster/workload/index.ts';
import type { TestCluster } from '../cluster/index.ts';
import { EXPORTED, GATEWAY, LINKS_NAMESPACE, service, slice, statefulSlice } from './builders.ts';
import { concurrently } from './concurrently.ts';
import { LinkerdController, linkerdEndpoints, linkerdMirror, type LinkerdOptions } from './linkerd-controller.ts';

const IDENTITY = 'linkerd-gateway.linkerd-multicluster.serviceaccount.identity.linkerd.cluster.local';
const OWN = { 'mirror.linkerd.io/mirrored-service': 'true', 'mirror.linkerd.io/cluster-name': 'west' };
/** Linkerd gives endpoint mirrors the Service's ports: those of the pods only where both are the same. */
const PORTS = [{ name: 'http', port: 8080, targetPort: 8080, protocol: 'TCP' }];
const WRITER = { fieldManager: 'controller' };

/** How many of each there are. */
export interface Counts {
  readonly plain: number;
  readonly headless: number;
  /** Of each headless Service. */
  readonly pods: number;
}

/** Exports Services in the target, and writes their mirrors as Linkerd's controller has. */
export const seedMirrors = async (east: Api, west: Api, counts: Counts): Promise<void> => {
  const plain = Array.from({ length: counts.plain }, (_, at) => `web-${at}`);
  const headless = Array.from({ length: counts.headless }, (_, at) => `db-${at}`);
  await concurrently(plain, 8, async (name) => {
    const labels = { ...EXPORTED, app: name };
    await west.create(slice(name, { labels }));
    const target = await west.create(service(name, { labels, ports: PORTS }));
    await east.create(linkerdMirror('west', target.metadata, PORTS), WRITER);
    await east.create(linkerdEndpoints('west', target.metadata, PORTS, [GATEWAY]), WRITER);
  });
  await concurrently(headless, 4, async (name) => {
    const hosts = Array.from({ length: counts.pods }, (_, at) => `${name}-${at}`);
    await west.create(statefulSlice(name, hosts));
    const { metadata } = await west.create(service(name, { labels: EXPORTED, headless: true, ports: PORTS }));
    const mirror = linkerdMirror('west', metadata, PORTS) as ObjectRef & { readonly spec: object };
    await east.create({ ...mirror, spec: { ...mirror.spec, clusterIP: 'None' } } as ObjectRef, WRITER);
    const addresses = await Promise.all(
      hosts.map(async (host) => ({ hostname: host, ip: await endpointMirror(east, host, name) })),
    );
    const { subsets: _, ...empty } = linkerdEndpoints('west', metadata, PORTS, []) as ObjectRef & {
      readonly subsets?: unknown;
    };
    const ports = [{ name: 'http', port: 8080, protocol: 'TCP' }];
    await east.create({ ...empty, subsets: [{ addresses, ports }] } as ObjectRef, WRITER);
  });
  await seedProbe(east);
};

/** @returns its ClusterIP */
const endpointMirror = async (east: Api, host: string, of: string): Promise<string> => {
  const labels = { ...OWN, 'mirror.linkerd.io/headless-mirror-svc-name': `${of}-west` };
  const annotation = { 'mirror.linkerd.io/remote-svc-fq-name': `${host}.${of}.shop.svc.cluster.local` };
  const written = await east.create<KubeObject & { readonly spec: { readonly clusterIP: string } }>(
    service(`${host}-west`, {
      labels,
      annotations: { ...annotation, 'mirror.linkerd.io/remote-resource-version': '1' },
      ports: PORTS,
      selector: null,
    }),
    WRITER,
  );
  const endpoints = {
    apiVersion: 'v1',
    kind: 'Endpoints',
    metadata: {
      name: `${host}-west`,
      namespace: 'shop',
      labels,
      annotations: { ...annotation, 'mirror.linkerd.io/remote-gateway-identity': IDENTITY },
    },
    subsets: [{ addresses: [{ ip: GATEWAY }], ports: [{ name: 'http', port: 4143, protocol: 'TCP' }] }],
  };
  await east.create(endpoints, WRITER);
  return written.spec.clusterIP;
};

/** The Service is the chart's, its Endpoints are the controller's. */
const seedProbe = async (east: Api): Promise<void> => {
  const metadata = { name: 'probe-west', namespace: LINKS_NAMESPACE };
  const labels = {
    'mirror.linkerd.io/mirrored-gateway': 'true',
    'mirror.linkerd.io/cluster-name': 'west',
    'linkerd.io/extension': 'multicluster',
  };
  const ports = [{ name: 'mc-probe', port: 4191, protocol: 'TCP' }];
  await east.create({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { ...metadata, labels },
    spec: { ports },
  } as ObjectRef);
  const endpoints = {
    apiVersion: 'v1',
    kind: 'Endpoints',
    metadata: {
      ...metadata,
      labels: { 'mirror.linkerd.io/cluster-name': 'west' },
      annotations: { 'mirror.linkerd.io/remote-gateway-identity': IDENTITY },
    },
    subsets: [{ addresses: [{ ip: GATEWAY }], ports }],
  };
  await east.create(endpoints, WRITER);
};

interface Deployment extends KubeObject {
  readonly spec: { readonly replicas: number };
}

const DEPLOYMENTS = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'deployments.apps' },
  spec: {
    group: 'apps',
    scope: 'Namespaced',
    names: { plural: 'deployments', singular: 'deployment', kind: 'Deployment', listKind: 'DeploymentList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
} satisfies ObjectRef & { readonly spec: object };

/** Has a simulated API server store Deployments, which it does not serve by itself. */
export const serveDeployments = (cluster: TestCluster): Promise<void> => installCrd(cluster, DEPLOYMENTS);

/** What a Deployment of Linkerd's is called, and the Lease that its pod takes. */
interface Installed {
  readonly ref: ObjectRef;
  readonly labels: Readonly<Record<string, string>>;
  readonly pod: LinkerdOptions;
  /** Arguments of the pod's container. @default - none */
  readonly args?: readonly string[];
}

/** A Deployment in the namespace of the Links. */
export const deploymentRef = (name: string): ObjectRef => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, namespace: LINKS_NAMESPACE },
});

/** The Deployment of one of Linkerd's controllers, and the pod that it runs. */
export class LinkerdDeployment {
  /** The controller of Link `west`. */
  static readonly ref = deploymentRef('controller-west');
  /** The local mirror. */
  static readonly localRef = deploymentRef('linkerd-local-service-mirror');
  readonly #east: TestCluster;
  readonly #west: TestCluster;
  readonly #api: Api;
  readonly #installed: Installed;
  readonly #stopping = new AbortController();
  #pod: LinkerdController | undefined;
  #running: Promise<void> = Promise.resolve();
  /** A pod that does not end when it is told to, as on a node that is gone. */
  isStuck = false;

  private constructor(east: TestCluster, west: TestCluster, installed: Installed) {
    this.#east = east;
    this.#west = west;
    this.#installed = installed;
    this.#api = api(east);
  }

  /**
   * Creates the Deployment of the controller with one replica, and waits until its pod leads.
   * @param args of its container, as the chart renders them
   */
  static start(east: TestCluster, west: TestCluster, args: readonly string[] = []): Promise<LinkerdDeployment> {
    return LinkerdDeployment.#start(east, west, {
      args,
      ref: LinkerdDeployment.ref,
      labels: { component: 'controller', 'mirror.linkerd.io/cluster-name': 'west' },
      pod: {},
    });
  }

  /** The same of the local mirror, of a cluster in which federated Services are as it would have written them. */
  static startLocal(east: TestCluster): Promise<LinkerdDeployment> {
    return LinkerdDeployment.#start(east, east, {
      ref: LinkerdDeployment.localRef,
      labels: { component: 'local-service-mirror' },
      pod: { identity: 'linkerd-local-service-mirror-0', lease: 'local-service-mirror-write' },
    });
  }

  static async #start(east: TestCluster, west: TestCluster, installed: Installed): Promise<LinkerdDeployment> {
    const deployment = new LinkerdDeployment(east, west, installed);
    const { ref, args = [] } = installed;
    const labels = { 'linkerd.io/extension': 'multicluster', ...installed.labels };
    await deployment.#api.create({
      ...ref,
      metadata: { ...ref.metadata, labels },
      spec: {
        replicas: 1,
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: { containers: [{ name: 'controller', image: 'example/controller', args }] },
        },
      },
    } as ObjectRef);
    deployment.#running = deployment.#run();
    await eventually(`${ref.metadata.name} leads`, async () => deployment.#pod?.leading === true);
    return deployment;
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
    await this.#pod?.stop();
    await this.#api.close();
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    const { ref, pod } = this.#installed;
    while (!signal.aborted) {
      const found = await this.#api.get<Deployment>(ref);
      const replicas = found?.spec.replicas ?? 0;
      if (replicas > 0 && this.#pod === undefined) {
        // A Lease that a busy machine does not lose; whoever stops releases it.
        const options = { ...pod, mirrors: false, leaseDurationSeconds: 15 };
        this.#pod = new LinkerdController(this.#east, this.#west, options);
        await this.#available(1);
      } else if (replicas === 0 && this.#pod !== undefined && !this.isStuck) {
        await this.#pod.stop();
        this.#pod = undefined;
        await this.#available(0);
      }
      await sleep(100, undefined, { signal }).catch(() => undefined);
    }
  }

  async #available(replicas: number): Promise<void> {
    const status = { replicas, updatedReplicas: replicas, readyReplicas: replicas, availableReplicas: replicas };
    await this.#api.patch(this.#installed.ref, { status }, { subresource: 'status' });
  }
}
