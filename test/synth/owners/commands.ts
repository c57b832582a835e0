/** The commands that write, each with what it meets: made by nobody, by itself, and by each of the others. */
import { gatewayIdentity } from '../../../crds/wire.ts';
import { eventually, type KubeObject } from '../../cluster/workload/index.ts';
import {
  credentials,
  EXPORTED,
  LINKS_NAMESPACE,
  objectRef,
  secretRef,
  service,
  slice,
} from '../../support/builders.ts';
import { linkerdGateway } from '../../support/linkerd-cluster.ts';
import { linkerdChart } from '../../support/linkerd-chart.ts';
import type { StopStage } from '../stops/stage.ts';
import { served } from '../stops/scenarios.ts';
import type { Role } from './bystanders.ts';
import { editAs, handOver, installChart, madeByCommands, MANAGERS, type Owner } from './owners.ts';

export interface OwnedCommand {
  readonly name: string;
  /** Whether the command waits for the operator. */
  readonly operator?: true;
  /** What the first cluster is to it. */
  readonly east: Role;
  /** Brings the clusters to where the command meets what an owner has made. What it returns ends what it has started. */
  prepare(stage: StopStage, owner: Owner): Promise<void | (() => Promise<void>)>;
  args(stage: StopStage): readonly string[];
}

const IMAGE = '--image=registry.example.com/linkspan:0.1.0';
const OWN_KINDS = [
  ['v1', 'ServiceAccount'],
  ['v1', 'Secret'],
  ['v1', 'ConfigMap'],
  ['v1', 'Service'],
  ['apps/v1', 'Deployment'],
  ['policy/v1', 'PodDisruptionBudget'],
  ['rbac.authorization.k8s.io/v1', 'Role'],
  ['rbac.authorization.k8s.io/v1', 'RoleBinding'],
  ['rbac.authorization.k8s.io/v1', 'ClusterRole'],
  ['rbac.authorization.k8s.io/v1', 'ClusterRoleBinding'],
  ['networking.k8s.io/v1', 'NetworkPolicy'],
  ['policy.linkerd.io/v1beta3', 'Server'],
  ['policy.linkerd.io/v1alpha1', 'AuthorizationPolicy'],
  ['policy.linkerd.io/v1alpha1', 'MeshTLSAuthentication'],
  ['policy.linkerd.io/v1alpha1', 'NetworkAuthentication'],
  ['multicluster.linkerd.io/v1alpha3', 'Link'],
] as const;

/** Makes what the command line has made in both clusters somebody else's. */
const handOverAll = async ({ clusters }: StopStage, owner: keyof typeof MANAGERS): Promise<void> => {
  for (const client of [clusters.east, clusters.west]) {
    for (const [apiVersion, kind] of OWN_KINDS) {
      const all = await client.list({ apiVersion, kind }).catch((): KubeObject[] => []);
      for (const object of madeByCommands(all)) await handOver(client, object, MANAGERS[owner]);
    }
  }
};

const named = (apiVersion: string, kind: string, name: string) => objectRef(apiVersion, kind, name, LINKS_NAMESPACE);
const GATEWAY = named('v1', 'Service', 'linkerd-gateway');
const DEPLOYMENT = named('apps/v1', 'Deployment', 'linkerd-gateway');
const NETWORKS = named('policy.linkerd.io/v1alpha1', 'NetworkAuthentication', 'source-cluster');
const CONTROLLER = named('apps/v1', 'Deployment', 'controller-west');
const LINK = named('multicluster.linkerd.io/v1alpha3', 'Link', 'west');
const ROLE = objectRef('rbac.authorization.k8s.io/v1', 'ClusterRole', 'linkerd-service-mirror-remote-access-east');

/** What Linkerd's command line reads in the target. */
const OF_WEST = {
  gatewayAddress: '203.0.113.20',
  gatewayIdentity: gatewayIdentity('linkerd', 'west.example'),
  targetClusterDomain: 'west.local',
  probeSpec: { path: '/ready', port: '4191', period: '1s' },
};

const install = (stage: StopStage): readonly string[] => ['install', ...stage.east, IMAGE, '--apply'];

const prepareInstall = async (stage: StopStage, owner: Owner): Promise<void> => {
  const { east } = stage.clusters;
  if (owner === 'nothing there') return;
  if (owner === "Linkerd's command line" || owner === 'Helm') {
    const manager = owner === 'Helm' ? MANAGERS.Helm : { ...MANAGERS['kubectl apply'] };
    await installChart(east, manager);
    return;
  }
  await stage.prepare(...install(stage));
  if (owner === 'kubectl apply' || owner === 'Argo CD') await handOverAll(stage, owner);
  if (owner !== 'its own, changed by an administrator') return;
  await editAs(east, GATEWAY, { spec: { type: 'ClusterIP' } });
  await editAs(east, DEPLOYMENT, { spec: { replicas: 7 } });
  await editAs(east, NETWORKS, { spec: { networks: [{ cidr: '10.20.0.0/16' }] } });
};

const giveGateways = async ({ clusters }: StopStage): Promise<void> => {
  await clusters.west.apply(linkerdGateway('west'));
  const status = { loadBalancer: { ingress: [{ ip: '203.0.113.20' }] } };
  await clusters.west.patch(linkerdGateway('west'), { status }, { subresource: 'status' });
};

const pairArgs = (stage: StopStage, ...command: readonly string[]): readonly string[] => [
  ...command,
  ...stage.pair,
  `--api-server-address=${stage.clusters.westCluster.server}`,
  '--apply',
];

const prepareLink = async (stage: StopStage, owner: Owner): Promise<void> => {
  const { east, west } = stage.clusters;
  await giveGateways(stage);
  if (owner === 'nothing there') return;
  if (owner === "Linkerd's command line") {
    const fieldManager = 'kubectl-client-side-apply';
    const link = linkerdChart.find(({ kind }) => kind === 'Link');
    for (const object of linkerdChart.filter(({ metadata }) => metadata.name.includes('remote-access'))) {
      await west.create(object, { fieldManager });
    }
    const token = await eventually('the account has a token', async () => {
      const found = await west.get<KubeObject & { readonly data?: { readonly token?: string } }>(
        secretRef('linkerd-service-mirror-remote-access-default-token'),
      );
      return found?.data?.token;
    });
    const kubeconfig = stage.clusters.westCluster.kubeconfigFor(Buffer.from(token, 'base64').toString());
    await east.create(credentials('west', kubeconfig), { fieldManager });
    const generated = { ...LINK, ...link, spec: { ...(link?.['spec'] as object), ...OF_WEST } };
    await east.create(generated, { fieldManager });
  } else {
    await stage.prepare(...pairArgs(stage, 'link'));
    if (owner === 'Helm' || owner === 'kubectl apply' || owner === 'Argo CD') await handOverAll(stage, owner);
    if (owner === 'its own, changed by an administrator') {
      await editAs(east, LINK, { spec: { selector: { matchLabels: { team: 'shop' } }, excludedLabels: ['secret'] } });
      await editAs(west, ROLE, { metadata: { labels: { audited: 'yes' } } });
    }
  }
  await west.apply(service('web', { labels: EXPORTED }));
  await west.apply(slice('web'));
};

const migrate = (stage: StopStage): readonly string[] => ['migrate', 'west', ...stage.east, '--apply', '--timeout=60s'];

/** What the command line scales down is Linkerd's controller, whoever has installed it. */
const prepareMigrate = async (stage: StopStage, owner: Owner): Promise<void | (() => Promise<void>)> => {
  const { east } = stage.clusters;
  if (owner === 'nothing there') return;
  const end = await served(stage);
  if (owner === 'Helm' || owner === 'kubectl apply' || owner === 'Argo CD') {
    const { manager: fieldManager, labels, annotations } = MANAGERS[owner];
    const { spec } = (await east.get<KubeObject & { readonly spec: { readonly replicas: number } }>(CONTROLLER)) ?? {};
    const replicas = spec?.replicas;
    await east.patch(CONTROLLER, { metadata: { labels, annotations }, spec: { replicas } }, { fieldManager });
  }
  if (owner.startsWith('its own')) await stage.prepare(...migrate(stage));
  if (owner === 'its own, changed by an administrator') await editAs(east, CONTROLLER, { spec: { replicas: 1 } });
  return end;
};

export const COMMANDS: readonly OwnedCommand[] = [
  { name: 'install', east: 'target', prepare: prepareInstall, args: install },
  {
    name: 'upgrade --ha',
    east: 'target',
    prepare: prepareInstall,
    args: (stage) => ['upgrade', ...stage.east, '--ha', '--apply'],
  },
  {
    name: 'uninstall',
    east: 'unused',
    prepare: prepareInstall,
    args: (stage) => ['uninstall', ...stage.east, '--apply'],
  },
  { name: 'link', east: 'source', prepare: prepareLink, args: (stage) => pairArgs(stage, 'link') },
  {
    name: 'credentials mint',
    east: 'source',
    prepare: prepareLink,
    args: (stage) => pairArgs(stage, 'credentials', 'mint'),
  },
  {
    name: 'credentials rotate',
    east: 'source',
    operator: true,
    prepare: prepareLink,
    args: (stage) => ['credentials', 'rotate', 'west', ...stage.pair, '--apply', '--timeout=30s'],
  },
  {
    name: 'unlink',
    east: 'source',
    operator: true,
    prepare: prepareLink,
    args: (stage) => ['unlink', ...stage.pair, '--apply', '--timeout=30s'],
  },
  {
    name: 'allow',
    east: 'source',
    prepare: prepareLink,
    args: (stage) => [
      'allow',
      ...stage.west,
      '--service-account-name=linkerd-service-mirror-remote-access-east',
      '--apply',
    ],
  },
  {
    name: 'approve',
    east: 'source',
    prepare: prepareLink,
    args: (stage) => ['approve', 'shop/web', ...stage.east, '--from=west'],
  },
  { name: 'migrate', east: 'source', prepare: prepareMigrate, args: migrate },
];
