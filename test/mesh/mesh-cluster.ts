/** A cluster with Linkerd's control plane, whose pods are network namespaces. */
import type { ApiJson } from '../../constructs/rendered/render.ts';
import { startReal } from '../cluster/real/real.ts';
import { Processes } from '../cluster/real/processes.ts';
import type { TestCluster } from '../cluster/types.ts';
import { type Api, api, type ObjectRef } from '../cluster/workload/index.ts';
import { namespace, objectRef } from '../support/builders.ts';
import type { TrustAnchor } from './certificates.ts';
import { startControlPlane } from './control-plane.ts';
import { Bridge } from './network.ts';
import { MeshPod, type PodOptions } from './pod.ts';

const CONTROLLERS = [
  'endpoints-controller',
  'endpointslice-controller',
  'endpointslice-mirroring-controller',
  'serviceaccount-token-controller',
  'namespace-controller',
  'garbage-collector-controller',
];

/** A cluster that runs. */
export class MeshCluster {
  readonly name: string;
  readonly cluster: TestCluster;
  readonly client: Api;
  readonly bridge: Bridge;
  readonly processes: Processes;
  readonly anchor: TrustAnchor;
  readonly node: string;

  private constructor(cluster: TestCluster, bridge: Bridge, processes: Processes, anchor: TrustAnchor) {
    this.name = cluster.name;
    this.cluster = cluster;
    this.client = api(cluster);
    this.bridge = bridge;
    this.processes = processes;
    this.anchor = anchor;
    this.node = `${cluster.name}-node`;
  }

  /** @param prefix of the addresses of its pods, as in `10.1` */
  static async start(name: string, prefix: string, anchor: TrustAnchor): Promise<MeshCluster> {
    const cluster = await startReal({ name, controllers: CONTROLLERS, dns: 'clusterset', audit: false });
    const mesh = new MeshCluster(cluster, new Bridge(name, prefix), new Processes(`mesh-${name}`), anchor);
    await mesh.bridge.up(cluster.dns!.port);
    const node = objectRef('v1', 'Node', mesh.node);
    await mesh.client.create(node);
    const ready = [{ type: 'Ready', status: 'True' }];
    await mesh.client.patch(node, { status: { conditions: ready } }, { subresource: 'status' });
    await mesh.client.apply(namespace('shop'));
    // Destination waits for a cluster to have one.
    const slice = { ...objectRef('discovery.k8s.io/v1', 'EndpointSlice', 'first', 'default') };
    await mesh.client.apply({ ...slice, addressType: 'IPv4', endpoints: [], ports: [] } as ObjectRef);
    const { client, processes } = mesh;
    await startControlPlane({ cluster, client, processes, anchor, address: mesh.bridge.address });
    return mesh;
  }

  /** Starts a pod. */
  pod(options: PodOptions): Promise<MeshPod> {
    return MeshPod.start(this, options);
  }

  /** Applies manifests, in their order. */
  async apply(manifests: readonly ApiJson[] | readonly ObjectRef[]): Promise<void> {
    for (const each of manifests) await this.client.apply(each);
  }

  async stop(): Promise<void> {
    await this.client.close();
    await this.processes.close();
    await this.cluster.stop();
  }
}
