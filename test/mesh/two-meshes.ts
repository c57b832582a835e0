/**
 * Two clusters, east (source) and west (target), between which there is no way but west's gateways: what our constructs
 * render is applied to both, and the operator runs as a process of its own. Test files share them, one after the other.
 */
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Chart } from 'cdk8s';
import { Annotation, Default } from '../../crds/wire.ts';
import {
  Gateway,
  GatewayPolicy,
  Link,
  LinkCrd,
  LinkCredentials,
  type LinkProps,
  McsCrds,
  RemoteAccess,
  ServiceFailoverCrd,
} from '../../constructs/index.ts';
import { type ApiJson, render } from '../../constructs/rendered/render.ts';
import { eventually, type KubeObject } from '../cluster/workload/index.ts';
import { LINKS_NAMESPACE, namespace, objectRef, secretRef } from '../support/builders.ts';
import type { LinkObject } from '../support/objects.ts';
import { OperatorProcess } from '../support/operator-process.ts';
import { TrustAnchor } from './certificates.ts';
import { MeshCluster } from './mesh-cluster.ts';
import { AppPort, type Batch } from './messages.ts';
import type { MeshPod } from './pod.ts';

/** Public addresses of the gateways of west. */
export const GATEWAYS = ['203.0.113.10', '203.0.113.11'] as const;

const OPERATOR_FLAGS = ['--enable-headless-services', '--probe-via=address', '--endpoint-mirror-grace=0s'];

interface Deployment extends KubeObject {
  readonly spec: { readonly template: { readonly metadata: Pick<KubeObject['metadata'], 'labels' | 'annotations'> } };
}

/** Two clusters that run. */
export class TwoMeshes {
  readonly east: MeshCluster;
  readonly west: MeshCluster;
  /** Of west; both in the Link. */
  readonly gateways: readonly MeshPod[];
  #operator: OperatorProcess | undefined;

  private constructor(east: MeshCluster, west: MeshCluster, gateways: readonly MeshPod[]) {
    this.east = east;
    this.west = west;
    this.gateways = gateways;
  }

  /** Both clusters with a control plane, west with gateways; no Link and no operator yet. */
  static async start(): Promise<TwoMeshes> {
    const anchor = await TrustAnchor.create(await mkdtemp(join(tmpdir(), 'anchor-')));
    const [east, west] = await Promise.all([
      MeshCluster.start('east', '10.1', anchor),
      MeshCluster.start('west', '10.2', anchor),
    ]);
    await east.bridge.seesGateways();
    await Promise.all([installSource(east), installTarget(west)]);
    const gateways = await Promise.all(
      GATEWAYS.map((address, at) => startGateway(west, east, `gateway-${at}`, address)),
    );
    return new TwoMeshes(east, west, gateways);
  }

  /** Applies Link and credentials of west, and starts the operator; waits until the Link is Ready. */
  async link(props: Partial<LinkProps> = {}): Promise<void> {
    const token = await eventually('the token is issued', async () => {
      const name = 'linkerd-service-mirror-remote-access-east-token';
      const found = await this.west.client.get<KubeObject & { readonly data?: { readonly token?: string } }>(
        secretRef(name),
      );
      return found?.data?.token;
    });
    const { server, caData } = this.west.cluster;
    await this.east.apply(
      rendered((chart) => {
        new LinkCredentials(chart, 'Credentials', {
          targetCluster: 'west',
          server,
          caData,
          token: Buffer.from(token, 'base64').toString(),
        });
        new Link(chart, 'Link', {
          targetCluster: 'west',
          gatewayAddresses: [...GATEWAYS],
          probe: { period: '300ms', timeout: '1s', failureThreshold: 2 },
          serviceExports: true,
          federation: 'gateway',
          ...props,
        });
      }),
    );
    this.#operator ??= new OperatorProcess({
      flags: [`--kubeconfig=${this.east.cluster.kubeconfigFile}`, ...OPERATOR_FLAGS],
      env: { POD_IPS: '10.1.0.1' },
    });
    try {
      await eventually('the Link is Ready', () => this.#isReady());
    } catch (error) {
      throw new Error(`the Link is not Ready; the operator says:\n${this.operator.log().slice(-20).join('\n')}`, {
        cause: error,
      });
    }
  }

  /** Applies the policy by which whoever is meshed may use the gateways. */
  async openGateways(): Promise<void> {
    await this.west.apply(
      rendered((chart) => {
        new GatewayPolicy(chart, 'GatewayPolicy');
      }),
    );
  }

  async #isReady(): Promise<boolean> {
    const ref = objectRef('multicluster.linkerd.io/v1alpha3', 'Link', 'west', LINKS_NAMESPACE);
    const link = await this.east.client.get<LinkObject>(ref);
    return link?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;
  }

  get operator(): OperatorProcess {
    if (this.#operator === undefined) throw new Error('link() starts the operator');
    return this.#operator;
  }

  async stop(): Promise<void> {
    await this.#operator?.stop();
    await Promise.all([this.east.stop(), this.west.stop()]);
  }
}

const rendered = (compose: (chart: Chart) => void) =>
  render((chart) => compose(chart)).map((each) =>
    NOT_NAMESPACED.has(each.kind) ? each : within(LINKS_NAMESPACE, each),
  );

const NOT_NAMESPACED = new Set(['CustomResourceDefinition', 'ClusterRole', 'ClusterRoleBinding', 'Namespace']);

const within = (name: string, manifest: ApiJson): ApiJson => ({
  ...manifest,
  metadata: { namespace: name, ...manifest.metadata },
});

const installSource = async (east: MeshCluster): Promise<void> => {
  await east.apply([namespace(LINKS_NAMESPACE)]);
  await east.apply(
    rendered((chart) => {
      new LinkCrd(chart, 'LinkCrd');
      new ServiceFailoverCrd(chart, 'ServiceFailoverCrd');
      new McsCrds(chart, 'McsCrds');
    }),
  );
};

const installTarget = async (west: MeshCluster): Promise<void> => {
  await west.apply([namespace(LINKS_NAMESPACE)]);
  await west.apply(
    rendered((chart) => {
      new LinkCrd(chart, 'LinkCrd');
      new McsCrds(chart, 'McsCrds');
      new Gateway(chart, 'Gateway');
      new GatewayPolicy(chart, 'GatewayPolicy');
      new RemoteAccess(chart, 'RemoteAccess', { sourceCluster: 'east', flat: true, longLivedToken: true });
    }),
  );
};

/** A pod of the Deployment `linkerd-gateway`, which no controller of the tests makes. */
const startGateway = async (west: MeshCluster, east: MeshCluster, name: string, address: string): Promise<MeshPod> => {
  const ref = objectRef('apps/v1', 'Deployment', Default.gatewayName, LINKS_NAMESPACE);
  const { metadata } = (await west.client.get<Deployment>(ref))!.spec.template;
  return west.pod({
    name,
    namespace: LINKS_NAMESPACE,
    labels: metadata.labels ?? {},
    annotations: metadata.annotations ?? {},
    serviceAccount: Default.gatewayName,
    public: { address, of: east },
  });
};

/** Ports of Services in these tests, by protocol: gRPC is HTTP/2, and TCP is opaque. */
export const PORT = { http1: 80, http2: 81, grpc: 81, tcp: AppPort.tcp } as const;

/** The same of headless Services, whose pods are reached at the ports that they listen on. */
export const POD_PORT = { ...AppPort, grpc: AppPort.http2 } as const;

/** What the Services of these tests have. */
export const served = (ports: Readonly<Record<keyof typeof AppPort, number>> = PORT) => ({
  annotations: { [Annotation.opaquePorts]: String(AppPort.tcp) },
  ports: (['http1', 'http2', 'tcp'] as const).map((name) => ({ name, port: ports[name], targetPort: AppPort[name] })),
});

/** Waits until a client is answered by a pod: proxies take a moment to hear of what was written. */
export const untilAnswered = async (client: MeshPod, batch: Omit<Batch, 'count'>, by: string): Promise<void> => {
  await eventually(
    `${by} answers ${client.name} at ${batch.host}`,
    async () => (await client.requests({ ...batch, count: 1 }))[by] === 1,
    60_000,
  );
};

/** The full name of a Service, or of a pod of one, in namespace `shop`. */
export const inShop = (name: string): string => `${name}.shop.svc.cluster.local`;

let shared: Promise<TwoMeshes> | undefined;

/** The two clusters of this run, started when they are first asked for, and linked. */
export const twoMeshes = (): Promise<TwoMeshes> => (shared ??= TwoMeshes.start());
