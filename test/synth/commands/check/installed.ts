/**
 * Two clusters in which the extension is installed by our constructs: east, with the operator and a Link, and west, with
 * a gateway. Kubernetes' own controllers and a stand-in for the kubelet run the pods of the operator's Deployment; the
 * operator itself runs in this process, under the account and with the arguments of that Deployment, as its first pod.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LinkCredentials, MirrorOperator, Multicluster, type MulticlusterProps } from '../../../../constructs/index.ts';
import { type ApiJson, render } from '../../../../constructs/rendered/render.ts';
import { mcsCrds } from '../../../../crds/index.ts';
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
  credentials,
  EXPORTED,
  EXPORTED_FLAT,
  GATEWAY,
  LINKS_NAMESPACE,
  namespace,
  service,
  slice,
} from '../../../support/builders.ts';
import { linkerdChart } from '../../../support/linkerd-chart.ts';
import { renderedFlags } from '../../../support/rendered-operator.ts';
import type { TestOperator } from '../../../support/operator.ts';
import { requestToken } from '../../../support/tokens.ts';
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

/** The Deployment of Linkerd's controller for the Link to west, as its chart names and labels it. */
const linkerdController = ((): ObjectRef => {
  const labels = { component: 'controller', 'mirror.linkerd.io/cluster-name': 'west' };
  const manifest = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'controller-west', namespace: LINKS_NAMESPACE, labels },
    spec: {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'controller', image: 'controller' }] } },
    },
  };
  return manifest;
})();

/** What differs from the usual installation. */
export interface InstallOptions {
  readonly east?: MulticlusterProps;
  readonly west?: MulticlusterProps;
  readonly copies?: 'both' | 'link';
}

export const LINK = {
  targetCluster: 'west',
  gatewayAddresses: [GATEWAY],
  probe: { period: '100ms', timeout: '1s' },
} as const;

/** Without Linkerd's proxy, which nobody puts into pods here. */
export const OPERATOR = { image: IMAGE, meshed: false } as const;

/** What the account of the remote cluster and the operator are known by: tokens that need no controller. */
const [OPERATOR_ACCOUNT, REMOTE_ACCOUNT] = ACCOUNTS;

export class Installed {
  readonly clusters: TwoClusters;
  operator: TestOperator | undefined;
  readonly #directory: string;
  readonly #kubelet: Kubelet;
  readonly #rendered: Record<'east' | 'west', readonly ApiJson[]> = { east: [], west: [] };

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
      // A cluster is lent with the kinds that others have installed.
      for (const crd of mcsCrds) await client.delete(crd);
    }
    const directory = await mkdtemp(join(tmpdir(), 'linkspan-check-'));
    return new Installed(clusters, await startKubelet(clusters.eastCluster), directory);
  }

  /** Installs the extension in both clusters, and links them; what was installed before, and is not wanted now, goes. */
  async install({ east = {}, west = {}, copies = 'both' }: InstallOptions = {}): Promise<void> {
    await this.clusters.stopOperators();
    const inWest = render((chart) => {
      new Multicluster(chart, 'west', { sources: [{ sourceCluster: 'east', flat: true }], crd: false, ...west });
    });
    const inEast = render((chart) => {
      new Multicluster(chart, 'east', { gateway: false, operator: OPERATOR, links: [LINK], ...east });
    });
    await this.#applied('west', inWest);
    if (west.gateway !== false) await this.runGateway();
    await this.#applied('east', [...this.#credentials(copies), ...inEast]);
  }

  async #applied(side: 'east' | 'west', objects: readonly ApiJson[]): Promise<void> {
    const wanted = objects.map(injected);
    await applyAll(this[side], wanted);
    const isSame = (one: ApiJson, other: ApiJson): boolean =>
      one.kind === other.kind &&
      one.metadata.name === other.metadata.name &&
      one.metadata.namespace === other.metadata.namespace;
    for (const old of this.#rendered[side]) {
      if (!isPolicy(old) && !wanted.some((each) => isSame(each, old))) await this[side].delete(old);
    }
    this.#rendered[side] = wanted;
  }

  /**
   * Installs Linkerd's extension in both clusters, with a controller in east and credentials as Linkerd links them, and
   * beside it our operator.
   */
  async installChart(): Promise<void> {
    const objects = linkerdChart.filter(({ kind }) => kind !== 'CustomResourceDefinition');
    await this.#applied(
      'west',
      objects.filter(({ kind }) => kind !== 'Link'),
    );
    await this.runGateway();
    const { westCluster } = this.clusters;
    const account = { namespace: LINKS_NAMESPACE, name: 'linkerd-service-mirror-remote-access-default' };
    const token = await requestToken(westCluster, account, undefined, 3600);
    const secret = credentials('west', westCluster.kubeconfigFor(token));
    const copy = {
      ...secret,
      metadata: {
        name: secret.metadata.name,
        namespace: 'linkerd',
        labels: { 'multicluster.linkerd.io/cluster-name': 'west' },
        annotations: {
          'multicluster.linkerd.io/trust-domain': 'cluster.local',
          'multicluster.linkerd.io/cluster-domain': 'cluster.local',
        },
      },
    };
    const operator = render((chart) => {
      new MirrorOperator(chart, 'operator', { ...OPERATOR, namespace: LINKS_NAMESPACE });
    });
    await this.#applied('east', [
      ...objects,
      secret,
      copy,
      linkerdController,
      ...operator,
    ] as unknown as readonly ApiJson[]);
  }

  /** What the gateway's pods and a load balancer leave in west. */
  async runGateway(): Promise<void> {
    await this.west.apply(slice('linkerd-gateway', { namespace: LINKS_NAMESPACE, labels: {} }));
    const ref = service('linkerd-gateway', { namespace: LINKS_NAMESPACE });
    await this.west.patch(ref, { status: { loadBalancer: { ingress: [{ ip: GATEWAY }] } } }, { subresource: 'status' });
  }

  #credentials(copies: 'both' | 'link'): readonly ApiJson[] {
    const { server, caData } = this.clusters.westCluster;
    const { token } = REMOTE_ACCOUNT;
    return render((chart) => {
      const props = { targetCluster: 'west', server, caData, token, namespace: LINKS_NAMESPACE, copies };
      new LinkCredentials(chart, 'credentials', props);
    });
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
        ...renderedFlags(this.#rendered.east),
        identity: pod.metadata.name,
        probeConnectTo: [GATEWAY, '203.0.113.7', `probe-west.${LINKS_NAMESPACE}.svc`].map(
          (host) => `${host}=127.0.0.1:${gateway.address.port}`,
        ),
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

  /** Waits until a check finds nothing but what is given, as patterns of `id level object: reason`. */
  async green(but: readonly RegExp[] = []): Promise<void> {
    let found: readonly string[] = [];
    await eventually('all is well', async () => {
      found = textOf(await this.check());
      return found.length === but.length && but.every((each) => found.some((line) => each.test(line)));
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

/** Linkerd's policy, whose CRDs are not installed here. */
const isPolicy = ({ apiVersion }: ApiJson): boolean => apiVersion.startsWith('policy.linkerd.io');

/** Applies all but policies. */
const applyAll = async (client: Api, objects: readonly ApiJson[]): Promise<void> => {
  for (const object of objects) if (!isPolicy(object)) await client.apply(object);
};

interface Pods extends ApiJson {
  readonly spec: {
    readonly template: {
      readonly metadata: { readonly annotations?: Readonly<Record<string, string>> };
      readonly spec: { readonly containers: readonly object[] };
    };
  };
}

/** A Deployment as its pods are with Linkerd's injector, which puts a proxy into those that ask for one. */
const injected = (object: ApiJson): ApiJson => {
  if (object.kind !== 'Deployment') return object;
  const { spec } = object as Pods;
  const { template } = spec;
  if (template.metadata.annotations?.['linkerd.io/inject'] !== 'enabled') return object;
  const proxy = { name: 'linkerd-proxy', image: 'cr.l5d.io/linkerd/proxy:edge-26.8.1' };
  const containers = [...template.spec.containers, proxy];
  return { ...object, spec: { ...spec, template: { ...template, spec: { ...template.spec, containers } } } };
};
