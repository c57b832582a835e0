/**
 * Stands in for the scheduler and the kubelet: one node, to which every pod is bound. Pods are reported as running, and
 * are removed when deleted; no container ever runs. With Kubernetes' own controllers beside it, a StatefulSet gets its
 * pods, and a Service its EndpointSlices. The same over both backings.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Api, type KubeObject, type ObjectMeta, type WatchEvent, api } from './api.ts';
import type { TestCluster } from '../types.ts';

/** On a pod: `"false"` makes it not ready, anything else ready. */
export const READY_ANNOTATION = 'linkspan.dev/test-ready';

const PODS = { apiVersion: 'v1', kind: 'Pod' };
const RELIST_AFTER_MS = 100;

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly lastTransitionTime?: string;
}

interface Pod extends KubeObject {
  readonly metadata: ObjectMeta & { readonly namespace: string };
  readonly spec: {
    readonly nodeName?: string;
    readonly containers: readonly { readonly name: string; readonly image: string }[];
  };
  readonly status?: { readonly phase?: string; readonly podIP?: string; readonly conditions?: readonly Condition[] };
}

/** How pods are run. */
export interface KubeletOptions {
  /**
   * Pods take their addresses from here, one after the other, none twice.
   * @default 10.244.0.0/16
   */
  readonly podCidr?: string;
}

/** A node that runs pods until it is stopped. */
export interface Kubelet {
  readonly node: string;
  /** Stops running pods; those that run stay as they are. */
  stop(): Promise<void>;
}

/** Makes a node in the cluster, and runs every pod on it, also those that are there already. */
export const startKubelet = async (
  cluster: TestCluster,
  { podCidr = '10.244.0.0/16' }: KubeletOptions = {},
): Promise<Kubelet> => {
  const client = api(cluster, { userAgent: 'linkspan-test-kubelet' });
  const node = `${cluster.name}-node`;
  await createNode(client, node, podCidr);
  const kubelet = new PodRunner(client, node, addresses(podCidr));
  const running = kubelet.run();
  return {
    node,
    stop: async () => {
      kubelet.abort();
      await running;
      await client.close();
    },
  };
};

class PodRunner {
  readonly #client: Api;
  readonly #node: string;
  readonly #addresses: Iterator<string, never>;
  readonly #stopping = new AbortController();
  /** Pod uid → address. */
  readonly #given = new Map<string, string>();
  readonly #work = new Map<string, Promise<void>>();

  constructor(client: Api, node: string, addresses: Iterator<string, never>) {
    this.#client = client;
    this.#node = node;
    this.#addresses = addresses;
  }

  abort(): void {
    this.#stopping.abort();
  }

  /** The address a pod has, or the next one that no pod seen so far has. */
  #addressOf(pod: Pod): string {
    let address = this.#given.get(pod.metadata.uid);
    const taken = new Set(this.#given.values());
    while (address === undefined) {
      const next = this.#addresses.next().value;
      if (!taken.has(next)) address = next;
    }
    this.#given.set(pod.metadata.uid, address);
    return address;
  }

  /** Lists and watches until aborted; a server that is away, or refuses, is asked again. */
  async run(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      try {
        const { items, resourceVersion } = await this.#client.listAll<Pod>(PODS);
        for (const pod of items) this.#enqueue(pod);
        for await (const event of this.#client.watch<Pod>(PODS, { resourceVersion }, signal)) {
          if (event.type === 'ERROR') break;
          if (isChange(event)) this.#enqueue(event.object);
        }
      } catch {
        await sleep(RELIST_AFTER_MS, undefined, { signal }).catch(() => undefined);
      }
    }
    await Promise.all(this.#work.values());
  }

  /** One step of a pod after the other; a step that fails is taken again when the pod changes or is listed. */
  #enqueue(pod: Pod): void {
    const { uid } = pod.metadata;
    if (pod.status?.podIP !== undefined) this.#given.set(uid, pod.status.podIP);
    const step = (this.#work.get(uid) ?? Promise.resolve()).then(() => this.#advance(pod)).catch(() => undefined);
    this.#work.set(uid, step);
    void step.then(() => {
      if (this.#work.get(uid) === step) this.#work.delete(uid);
    });
  }

  async #advance(pod: Pod): Promise<void> {
    const { uid, name, namespace, deletionTimestamp } = pod.metadata;
    if (deletionTimestamp !== undefined) {
      await this.#client.delete(pod, { gracePeriodSeconds: 0, preconditions: { uid } });
    } else if (pod.spec.nodeName === undefined) {
      const target = { apiVersion: 'v1', kind: 'Node', name: this.#node };
      const binding = { apiVersion: 'v1', kind: 'Binding', metadata: { name, namespace }, target };
      await this.#client.request('POST', `/api/v1/namespaces/${namespace}/pods/${name}/binding`, { body: binding });
    } else if (pod.spec.nodeName === this.#node && !isSettled(pod)) {
      const status = runningStatus(pod, this.#addressOf(pod));
      await this.#client.patch(pod, { metadata: { uid }, status }, { subresource: 'status' });
    }
  }
}

const isChange = <T>({ type }: WatchEvent<T>): boolean => type === 'ADDED' || type === 'MODIFIED';

const isWantedReady = (pod: Pod): boolean => pod.metadata.annotations?.[READY_ANNOTATION] !== 'false';

const asStatus = (value: boolean): string => (value ? 'True' : 'False');

const conditionOf = (pod: Pod, type: string): Condition | undefined =>
  pod.status?.conditions?.find((condition) => condition.type === type);

const isSettled = (pod: Pod): boolean =>
  pod.status?.phase === 'Running' && conditionOf(pod, 'Ready')?.status === asStatus(isWantedReady(pod));

const runningStatus = (pod: Pod, podIP: string): object => {
  const ready = isWantedReady(pod);
  const now = new Date().toISOString().replace(/\.\d+/, '');
  const condition = (type: string, value: boolean): Condition => {
    const before = conditionOf(pod, type);
    const status = asStatus(value);
    return before?.status === status ? before : { type, status, lastTransitionTime: now };
  };
  return {
    phase: 'Running',
    podIP,
    podIPs: [{ ip: podIP }],
    startTime: pod.metadata.creationTimestamp,
    conditions: [
      condition('PodScheduled', true),
      condition('Initialized', true),
      condition('ContainersReady', ready),
      condition('Ready', ready),
    ],
    containerStatuses: pod.spec.containers.map(({ name, image }) => ({
      name,
      image,
      imageID: '',
      ready,
      started: true,
      restartCount: 0,
      state: { running: { startedAt: pod.metadata.creationTimestamp } },
    })),
  };
};

const createNode = async (client: Api, name: string, podCidr: string): Promise<void> => {
  const node = { apiVersion: 'v1', kind: 'Node', metadata: { name } };
  await client.apply({ ...node, spec: { podCIDR: podCidr, podCIDRs: [podCidr] } } as typeof node);
  await client.patch(node, { status: { conditions: [{ type: 'Ready', status: 'True' }] } }, { subresource: 'status' });
};

/** The addresses of an IPv4 range, without its first. */
const addresses = function* (cidr: string): Generator<string, never> {
  const [base = '', bits = ''] = cidr.split('/');
  const first = base.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
  const size = 2 ** (32 - Number(bits));
  for (let i = 1; i < size - 1; i++) {
    const address = first + i;
    yield [24, 16, 8, 0].map((shift) => Math.floor(address / 2 ** shift) % 256).join('.');
  }
  throw new Error(`every address of ${cidr} has been given to a pod`);
};
