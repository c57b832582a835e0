/**
 * Two clusters in which the extension is installed by our constructs: east, with the operator and a Link, and west, with
 * a gateway. Kubernetes' own controllers and a stand-in for the kubelet run the pods of the operator's Deployment; the
 * operator itself runs in this process, under the account and with the arguments of that Deployment, as its first pod.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LinkCredentials, Multicluster, type MulticlusterProps } from '../../../../constructs/index.ts';
import { type ApiJson, render } from '../../../../constructs/mirror/render.ts';
import { diagnose } from '../../../../synth/commands/check/check.ts';
import type { Checked } from '../../../../synth/commands/check/report.ts';
import type { Backing } from '../../../cluster/index.ts';
import { ACCOUNTS } from '../../../cluster/guests.ts';
import {
  type Api,
  eventually,
  type Kubelet,
  type KubeObject,
  type ObjectRef,
  startKubelet,
} from '../../../cluster/workload/index.ts';
import {
  EXPORTED,
  EXPORTED_FLAT,
  GATEWAY,
  LINKS_NAMESPACE,
  namespace,
  service,
  slice,
} from '../../../support/builders.ts';
import { renderedFlags } from '../../../support/rendered-operator.ts';
import type { TestOperator } from '../../../support/operator.ts';
import { ANCHOR } from '../../../support/trust-anchors.ts';
import { TwoClusters } from '../../../support/two-clusters.ts';

export const IMAGE = 'registry.example/linkspan:0.1.0';

/** The version of Linkerd's settings, as its ConfigMap has them. */
export const linkerdConfig = (
  anchors: string,
  { clusterDomain = 'cluster.local', trustDomain = 'cluster.local' } = {},
): ObjectRef => {
  const indented = anchors.trim().replaceAll(/^/gm, '  ');
  const manifest = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'linkerd-config', namespace: 'linkerd' },
    data: {
      values: [
        `clusterDomain: ${clusterDomain}`,
        `identityTrustDomain: ${trustDomain}`,
        'linkerdVersion: edge-26.8.1',
        'identityTrustAnchorsPEM: |',
        indented,
        '',
      ].join('\n'),
    },
  };
  return manifest;
};

/** What differs from the usual installation. */
export interface InstallOptions {
  readonly east?: MulticlusterProps;
  readonly west?: MulticlusterProps;
  readonly copies?: 'both' | 'link';
}

const LINK = {
  targetCluster: 'west',
  gatewayAddresses: [GATEWAY],
  probe: { period: '100ms', timeout: '1s' },
} as const;

const OPERATOR = { image: IMAGE, meshed: false } as const;

/** What the account of the remote cluster and the operator are known by: tokens that need no controller. */
const [OPERATOR_ACCOUNT, REMOTE_ACCOUNT] = ACCOUNTS;

export class Installed {
  readonly clusters: TwoClusters;
  operator: TestOperator | undefined;
  readonly #directory: string;
  readonly #kubelet: Kubelet;
  #rendered: readonly ApiJson[] = [];

  private constructor(clusters: TwoClusters, kubelet: Kubelet, directory: string) {
    this.clusters = clusters;
    this.#kubelet = kubelet;
    this.#directory = directory;
  }

  get east(): Api {
    return this.clusters.east;
  }

  get west(): Api {
    return this.clusters.west;
  }

  /** Clusters with Linkerd's settings, and nothing of the extension yet. */
  static async start(backing: Backing, crd?: ObjectRef): Promise<Installed> {
    const clusters = await TwoClusters.start({
      backing,
      east: { controllers: ['deployment-controller', 'replicaset-controller', 'garbage-collector-controller'] },
      ...(crd && { crd }),
    });
    for (const client of [clusters.east, clusters.west]) {
      await client.apply(namespace('linkerd'));
      await client.apply(linkerdConfig(ANCHOR));
    }
    const directory = await mkdtemp(join(tmpdir(), 'linkspan-check-'));
    return new Installed(clusters, await startKubelet(clusters.eastCluster), directory);
  }

  /** Installs the extension in both clusters, and links them. */
  async install({ east = {}, west = {}, copies = 'both' }: InstallOptions = {}): Promise<void> {
    await applyAll(
      this.west,
      render((chart) => {
        new Multicluster(chart, 'west', { sources: [{ sourceCluster: 'east', flat: true }], crd: false, ...west });
      }),
    );
    if (west.gateway !== false) await this.runGateway();
    this.#rendered = render((chart) => {
      new Multicluster(chart, 'east', { gateway: false, operator: OPERATOR, links: [LINK], ...east });
    });
    await this.#credentials(copies);
    await applyAll(this.east, this.#rendered);
  }

  /** What the gateway's pods and a load balancer leave in west. */
  async runGateway(): Promise<void> {
    await this.west.apply(slice('linkerd-gateway', { namespace: LINKS_NAMESPACE, labels: {} }));
    const ref = service('linkerd-gateway', { namespace: LINKS_NAMESPACE });
    await this.west.patch(ref, { status: { loadBalancer: { ingress: [{ ip: GATEWAY }] } } }, { subresource: 'status' });
  }

  async #credentials(copies: 'both' | 'link'): Promise<void> {
    const { server, caData } = this.clusters.westCluster;
    await applyAll(
      this.east,
      render((chart) => {
        new LinkCredentials(chart, 'credentials', {
          targetCluster: 'west',
          server,
          caData,
          token: REMOTE_ACCOUNT.token,
          namespace: LINKS_NAMESPACE,
          copies,
        });
      }),
    );
  }

  /** Services of west: one with a ready pod, one without, and one in flat mode. */
  async exports(): Promise<void> {
    await this.west.apply(service('web', { labels: EXPORTED }));
    await this.west.apply(slice('web'));
    await this.west.apply(service('idle', { labels: EXPORTED }));
    await this.west.apply(slice('idle', { endpoints: [] }));
    await this.west.apply(service('db', { labels: EXPORTED_FLAT }));
    await this.west.apply(slice('db', { labels: EXPORTED_FLAT }));
  }

  /** Runs the operator as its first pod, once the Deployment is available. */
  async run(): Promise<void> {
    const pod = await eventually('the pods of the operator run', async () => {
      const pods = await this.pods();
      const deployment = await this.east.get<KubeObject & { status?: { availableReplicas?: number } }>(DEPLOYMENT);
      return (deployment?.status?.availableReplicas ?? 0) > 0 ? pods[0] : undefined;
    });
    const { eastCluster, gateway } = this.clusters;
    const kubeconfigFile = join(this.#directory, 'operator.kubeconfig');
    await writeFile(kubeconfigFile, eastCluster.kubeconfigFor(OPERATOR_ACCOUNT.token));
    this.operator = this.clusters.operator({
      kubeconfigFile,
      flags: {
        ...renderedFlags(this.#rendered),
        identity: pod.metadata.name,
        probeConnectTo: [`${GATEWAY}=127.0.0.1:${gateway.address.port}`],
        leaseDuration: '5s',
        renewDeadline: '4s',
        retryPeriod: '200ms',
      },
    });
  }

  /** Pods of the operator. */
  pods(): Promise<readonly KubeObject[]> {
    const labelSelector = 'app.kubernetes.io/name=linkspan';
    return this.east.list({ apiVersion: 'v1', kind: 'Pod', namespace: LINKS_NAMESPACE, labelSelector });
  }

  /** Everything that a check finds. */
  check(flags: object = {}): Promise<readonly Checked[]> {
    const { eastCluster } = this.clusters;
    return diagnose({
      kubeconfig: eastCluster.kubeconfigFile,
      context: eastCluster.name,
      namespace: LINKS_NAMESPACE,
      linkerdNamespace: 'linkerd',
      ...flags,
    });
  }

  /** Waits until a check finds nothing. */
  async green(): Promise<void> {
    let found: readonly string[] = [];
    await eventually('all is well', async () => {
      found = textOf(await this.check());
      return found.length === 0;
    }).catch((error: unknown) => {
      throw new Error(`${String(error)}: ${found.join('; ')}`, { cause: error });
    });
  }

  async stop(): Promise<void> {
    await this.#kubelet.stop();
    await this.clusters.stop();
    await rm(this.#directory, { recursive: true });
  }
}

export const DEPLOYMENT: ObjectRef = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'linkspan-operator', namespace: LINKS_NAMESPACE },
};

/** All findings, as `id level object: reason`. */
export const textOf = (all: readonly Checked[]): readonly string[] =>
  all.flatMap(({ id, findings }) => findings.map(({ level, object, reason }) => `${id} ${level} ${object}: ${reason}`));

/** Applies what no CRD of Linkerd's is needed for. */
export const applyAll = async (client: Api, objects: readonly ApiJson[]): Promise<void> => {
  for (const object of objects) {
    if (!object.apiVersion.startsWith('policy.linkerd.io')) await client.apply(object);
  }
};
