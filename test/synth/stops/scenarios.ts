/** The commands that write, each from where it has something to do. */
import { EXPORTED, LINKS_NAMESPACE, namespace, objectRef, secretRef, service, slice } from '../../support/builders.ts';
import { linkerdGateway } from '../../support/linkerd-cluster.ts';
import { linkCrd } from '../../../crds/index.ts';
import { routeAuthorization } from '../../../operator/access/objects.ts';
import { currentBacking } from '../../cluster/on-each-backing.ts';
import { eventually, installCrd, type ObjectRef } from '../../cluster/workload/index.ts';
import { LinkerdDeployment, seedMirrors, serveDeployments } from '../../support/linkerd-install.ts';
import type { StopStage } from './stage.ts';

export interface Scenario {
  readonly name: string;
  /** Whether the command waits for the operator. */
  readonly operator?: true;
  /** Whether nothing that it writes is there. @default false */
  readonly isFirst?: true;
  /** Brings the clusters to where the command begins. What it returns ends what it has started. */
  prepare(stage: StopStage): Promise<void | (() => Promise<void>)>;
  args(stage: StopStage): readonly string[];
  /** What somebody runs between the stopped run and the second. @default - nothing */
  readonly between?: (stage: StopStage) => readonly string[];
  /** The second run. @default - as the first */
  readonly again?: (stage: StopStage) => readonly string[];
}

const IMAGE = '--image=registry.example.com/linkspan:0.1.0';

const install = (stage: StopStage, ...more: readonly string[]): readonly string[] => [
  'install',
  ...stage.east,
  IMAGE,
  '--apply',
  ...more,
];

const linkWest = (stage: StopStage, command: readonly string[], ...more: readonly string[]): readonly string[] => [
  ...command,
  ...stage.pair,
  `--api-server-address=${stage.clusters.westCluster.server}`,
  '--apply',
  ...more,
];

const allowRemote = ({ east }: StopStage): readonly string[] => [
  ...['allow', ...east, '--service-account-name=remote', '--apply', '--ignore-cluster'],
];

const giveGateway = async ({ clusters }: StopStage): Promise<void> => {
  for (const [client, name, ip] of [
    [clusters.west, 'west', '203.0.113.20'],
    [clusters.east, 'east', '203.0.113.10'],
  ] as const) {
    await client.apply(linkerdGateway(name));
    const status = { loadBalancer: { ingress: [{ ip }] } };
    await client.patch(linkerdGateway(name), { status }, { subresource: 'status' });
  }
};

/** A Link that the operator serves, with a mirror. */
const linked = async (stage: StopStage, ...flags: readonly string[]): Promise<void> => {
  const { clusters } = stage;
  await giveGateway(stage);
  await stage.prepare(...linkWest(stage, ['link'], ...flags));
  await clusters.west.apply(service('web', { labels: EXPORTED }));
  await clusters.west.apply(slice('web'));
  await eventually('the mirror is there', async () => (await clusters.get('Service', 'web-west')) !== undefined);
};

/** The Link reads by a Secret of another name than the usual one. */
const renameSecret = async ({ clusters }: StopStage): Promise<void> => {
  const { east } = clusters;
  const usual = secretRef('cluster-credentials-west');
  const { metadata: _, ...contents } = (await east.get(usual)) ?? usual;
  await east.apply({ ...contents, ...secretRef('west-by-hand') });
  await east.patch(objectRef('multicluster.linkerd.io/v1alpha3', 'Link', 'west', LINKS_NAMESPACE), {
    spec: { clusterCredentialsSecret: 'west-by-hand' },
  });
  await east.delete(usual);
  await eventually(
    'the Link is served by the other Secret',
    async () => (await clusters.get('Service', 'web-west')) !== undefined,
  );
};

/** A Link that Linkerd's controller serves, with mirrors, beside an operator that stands by. */
export const served = async ({ clusters }: StopStage): Promise<() => Promise<void>> => {
  if (currentBacking() === 'simulated') await serveDeployments(clusters.eastCluster);
  await clusters.link({ enableHeadlessServices: true });
  await seedMirrors(clusters.east, clusters.west, { plain: 2, headless: 1, pods: 2 });
  const linkerd = await LinkerdDeployment.start(clusters.eastCluster, clusters.westCluster);
  clusters.operator();
  return () => linkerd.stop();
};

export const installations: readonly Scenario[] = [
  { name: 'install', isFirst: true, prepare: async () => undefined, args: (stage) => install(stage) },
];

/** One of the policies of a closed gateway, which its operator keeps. */
const CLOSING = routeAuthorization(LINKS_NAMESPACE, 'abc', 'linkspan-abc-0').object as unknown as ObjectRef;

export const upgrades: readonly Scenario[] = [
  {
    name: 'upgrade to HA',
    prepare: (stage) => stage.prepare(...install(stage)),
    args: (stage) => ['upgrade', ...stage.east, '--ha', '--apply'],
  },
  {
    name: 'upgrade without a gateway',
    prepare: (stage) => stage.prepare(...install(stage)),
    args: (stage) => ['upgrade', ...stage.east, '--gateway=false', '--apply'],
  },
  {
    name: 'upgrade to a gateway for clients',
    prepare: (stage) => stage.prepare(...install(stage)),
    args: (stage) => ['upgrade', ...stage.east, '--gateway-access=clients', '--gateway-tcp=clients', '--apply'],
  },
  {
    name: 'upgrade to an open gateway',
    prepare: async (stage) => {
      await stage.prepare(...install(stage, '--gateway-access=exported'));
      await stage.clusters.east.apply(CLOSING);
    },
    args: (stage) => ['upgrade', ...stage.east, '--gateway-access=open', '--wait=false', '--apply'],
  },
  {
    name: 'uninstall',
    prepare: (stage) => stage.prepare(...install(stage)),
    args: (stage) => ['uninstall', ...stage.east, '--apply'],
  },
];

export const links: readonly Scenario[] = [
  { name: 'link', isFirst: true, prepare: giveGateway, args: (stage) => linkWest(stage, ['link']) },
  {
    name: 'link on a flat network',
    isFirst: true,
    prepare: giveGateway,
    args: (stage) => linkWest(stage, ['link'], '--flat'),
  },
  {
    name: 'link both ways',
    isFirst: true,
    prepare: async (stage) => {
      await installCrd(stage.clusters.westCluster, linkCrd);
      await giveGateway(stage);
    },
    args: (stage) =>
      linkWest(stage, ['link'], '--both', `--source-api-server-address=${stage.clusters.eastCluster.server}`),
  },
  {
    name: 'link again with other settings',
    prepare: async (stage) => {
      await giveGateway(stage);
      await stage.prepare(...linkWest(stage, ['link'], '--excluded-labels=team'));
    },
    args: (stage) => linkWest(stage, ['link'], '--enable-headless-services'),
  },
  {
    name: 'mint',
    isFirst: true,
    prepare: giveGateway,
    args: (stage) => linkWest(stage, ['credentials', 'mint'], '--flat'),
  },
  {
    name: 'allow',
    isFirst: true,
    prepare: async () => undefined,
    args: allowRemote,
  },
  {
    name: 'revoke',
    prepare: (stage) => stage.prepare(...allowRemote(stage)),
    args: (stage) => ['credentials', 'revoke', 'remote', ...stage.east, '--service-account-name=remote', '--apply'],
  },
  {
    name: 'rotate',
    operator: true,
    prepare: (stage) => linked(stage),
    args: (stage) => ['credentials', 'rotate', 'west', ...stage.pair, '--apply'],
  },
  {
    name: 'rotate with the copy of Linkerd',
    operator: true,
    prepare: (stage) => linked(stage, '--flat'),
    args: (stage) => ['credentials', 'rotate', 'west', ...stage.pair, '--apply'],
  },
  {
    name: 'rotate with the copy, link half-way',
    operator: true,
    prepare: (stage) => linked(stage, '--flat'),
    args: (stage) => ['credentials', 'rotate', 'west', ...stage.pair, '--apply'],
    between: (stage) => linkWest(stage, ['link']),
  },
  {
    name: 'rotate with a copy named once',
    operator: true,
    prepare: async (stage) => {
      await stage.clusters.east.apply(namespace('l5d'));
      await linked(stage, '--flat', '--linkerd-namespace=l5d');
    },
    args: (stage) => ['credentials', 'rotate', 'west', ...stage.pair, '--linkerd-namespace=l5d', '--apply'],
    again: (stage) => ['credentials', 'rotate', 'west', ...stage.pair, '--apply'],
  },
  {
    name: 'approve',
    operator: true,
    prepare: (stage) => linked(stage),
    args: (stage) => ['approve', 'shop/web', 'shop/api', ...stage.east, '--from=west', '--existing'],
  },
  {
    name: 'unlink',
    operator: true,
    prepare: (stage) => linked(stage, '--flat'),
    args: (stage) => ['unlink', ...stage.pair, '--apply'],
  },
  {
    name: 'unlink with a Secret of another name',
    operator: true,
    prepare: async (stage) => {
      await linked(stage);
      await renameSecret(stage);
    },
    args: (stage) => ['unlink', ...stage.pair, '--apply'],
  },
  {
    name: 'migrate',
    prepare: served,
    args: (stage) => ['migrate', ...stage.east, '--apply', '--timeout=60s'],
  },
  {
    name: 'migrate back',
    prepare: async (stage) => {
      const release = await served(stage);
      await stage.prepare('migrate', ...stage.east, '--apply', '--timeout=60s');
      return release;
    },
    args: (stage) => ['migrate', ...stage.east, '--back', '--apply', '--timeout=60s'],
  },
];
