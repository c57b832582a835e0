/**
 * The walk-through of Linkerd's guide "Multi-cluster communication with StatefulSets", step by step: each step is a
 * command that a user would type, and what the API server answers. A step that does not come true ends it.
 */
import { Default, Label, mirrorName } from '../../crds/wire.ts';
import type { Endpoints } from './kubectl.ts';
import { LINK_SOURCE, linkToWest } from './link.ts';
import { NGINX } from './nginx.ts';
import type { Play } from './play.ts';
import { LINKS_NAMESPACE, type Stage } from './stage.ts';
import { stopwatch } from './stopwatch.ts';
import { isJust, isSame, names, type Row } from './table.ts';

const SERVICE = 'nginx-svc';
const STATEFUL_SET = 'nginx-set';
const WEST = 'west';
const MIRROR = mirrorName(SERVICE, WEST);

type GuideStage = Stage<typeof WEST>;

/** The guide, with one target. */
export const GUIDE: Play<typeof WEST> = {
  title: 'the StatefulSet guide',
  targets: [WEST],
  roles: {
    east: 'the source: clients, the Link, the operator',
    west: 'the target: nginx, and its gateway',
  },
  perform: playGuide,
  end: 'that was the guide',
  commands: [
    'kubectl --context=west label service nginx-svc mirror.linkerd.io/exported=true',
    'kubectl --context=east get services',
    'kubectl --context=west scale statefulset nginx-set --replicas=5',
    'kubectl --context=east describe service nginx-svc-west',
    'kubectl --context=east delete service nginx-set-0-west  # it comes back',
    'kubectl --context=east describe links -n linkerd-multicluster',
  ],
};

async function playGuide(stage: GuideStage): Promise<void> {
  await deploy(stage);
  await runOperator(stage);
  await link(stage);
  const mirrored = await exportService(stage);
  await lookCloser(stage);
  await scale(stage, mirrored);
  await loseGateway(stage);
  await unexport(stage);
}

async function deploy({ terminal, kubectl: { west } }: GuideStage): Promise<void> {
  terminal.step('west runs nginx, a StatefulSet behind a headless Service');
  await west.apply({ file: 'nginx.yaml' }, NGINX);
  await west.get('pods', {
    what: 'three pods of nginx-set run',
    holds: (rows) => isJust(rows, pods(3)) && rows.every(({ READY }) => READY === '1/1'),
  });
  await west.get('services', { what: 'nginx-svc is there', holds: (rows) => names(rows).includes(SERVICE) });
}

async function runOperator(stage: GuideStage): Promise<void> {
  const { terminal } = stage;
  terminal.step('east runs the operator');
  const admin = await stage.runOperator(['--enable-headless-services', '--endpoint-mirror-grace=1s']);
  terminal.note(
    'no proxies here: --probe-connect-to leads probes to the gateway of west',
    'a pod that is gone keeps its mirror for a minute, in case it is made anew; here for a second',
    `metrics: http://${admin}/metrics`,
  );
}

async function link({ terminal, kubectl: { east }, clusters }: GuideStage): Promise<void> {
  terminal.step('east is linked to west, by two constructs');
  const { server, caData, adminToken } = clusters.west;
  terminal.print('', ...LINK_SOURCE);
  await east.apply({ command: 'node link.ts' }, linkToWest({ server, caData, token: adminToken }));
  await east.get('links', {
    namespace: LINKS_NAMESPACE,
    what: 'the Link is ready and its gateway is alive',
    holds: ([row]) => row?.['READY'] === 'True' && row['GATEWAY'] === 'True' && row['EXPORTED'] === '0',
  });
  terminal.note('mirrors are constructs too: the operator renders them, then applies them');
}

async function exportService({ terminal, kubectl: { east, west } }: GuideStage): Promise<readonly Row[]> {
  terminal.step('west exports the Service');
  await west.label(SERVICE, Label.exported, 'true');
  const took = stopwatch();
  const rows = await east.get('services', {
    what: 'nginx-svc-west and the mirrors of three pods are there',
    holds: (seen) => isJust(seen, mirrors(3)),
  });
  terminal.note(`${took.text()} later: a headless mirror, and a ClusterIP for each pod of west`);
  return rows;
}

async function lookCloser({ terminal, kubectl: { east } }: GuideStage): Promise<void> {
  terminal.step('A pod of west has a name in east');
  await east.getSubsets(MIRROR, {
    what: 'the Endpoints of nginx-svc-west have the names of three pods',
    holds: (endpoints) => isSame(hostnames(endpoints), pods(3)),
  });
  terminal.note(
    `${pods(1)[0]!}.${MIRROR}.default.svc.${Default.clusterDomain} is the ClusterIP of`,
    `${mirrorName(pods(1)[0]!, WEST)}, and that one leads to the gateway of west:`,
  );
  await east.getSubsets(mirrorName(pods(1)[0]!, WEST), {
    what: 'the Endpoints of nginx-set-0-west are the gateway, ready',
    holds: isGatewayReady,
  });
  terminal.note('EndpointSlices follow, which proxies and DNS read:');
  await east.get('endpointslices', {
    selector: `${Label.clusterName}=${WEST}`,
    what: 'there is an EndpointSlice for each of the four mirrors',
    holds: (rows) => rows.length === 4 && rows.some((row) => row['ENDPOINTS']?.split(',').length === 3),
  });
}

async function scale({ terminal, kubectl: { east, west } }: GuideStage, before: readonly Row[]): Promise<void> {
  terminal.step('The StatefulSet is scaled up, and down');
  for (const replicas of [4, 2]) {
    await west.scale(STATEFUL_SET, replicas);
    await east.get('services', {
      what: `there are the mirrors of ${replicas} pods, each with the ClusterIP it had`,
      holds: (rows) => isJust(rows, mirrors(replicas)) && keepsAddresses(before, rows),
    });
  }
  terminal.note('a pod that stays keeps its ClusterIP');
}

async function loseGateway({ terminal, kubectl: { east }, gateways: { west } }: GuideStage): Promise<void> {
  const readiness = (ready: 'True' | 'False'): Parameters<typeof east.get>[1] => ({
    namespace: LINKS_NAMESPACE,
    what: `the Link has READY and GATEWAY ${ready}`,
    holds: ([row]) => row?.['READY'] === ready && row['GATEWAY'] === ready,
  });
  const endpointMirror = mirrorName(pods(1)[0]!, WEST);

  terminal.step('The gateway of west dies');
  await west.die();
  const took = stopwatch();
  terminal.note('its probe port refuses connections');
  await east.get('links', readiness('False'));
  terminal.note(`${took.text()} later, after three probes in vain`);
  await east.getSubsets(endpointMirror, {
    what: 'the Endpoints of nginx-set-0-west are the gateway, not ready',
    holds: isGatewayNotReady,
  });
  terminal.note('nothing is deleted: the mirrors have no ready address, so traffic can fail over');

  terminal.step('The gateway of west comes back');
  await west.revive();
  await east.get('links', readiness('True'));
  await east.getSubsets(endpointMirror, {
    what: 'the Endpoints of nginx-set-0-west are the gateway, ready again',
    holds: isGatewayReady,
  });
}

async function unexport({ terminal, kubectl: { east, west } }: GuideStage): Promise<void> {
  terminal.step('west exports the Service no longer');
  await west.label(SERVICE, Label.exported, null);
  await east.get('services', { what: 'no mirror is left', holds: (rows) => isJust(rows, mirrors(0)) });
  await east.get('endpoints', {
    selector: `${Label.mirroredService}=true`,
    what: 'no Endpoints of a mirror are left',
    holds: (rows) => rows.length === 0,
  });
}

const pods = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `${STATEFUL_SET}-${index}`);

/** What `get services` lists in east when so many pods are mirrored. */
const mirrors = (count: number): readonly string[] => [
  'kubernetes',
  ...pods(count).map((pod) => mirrorName(pod, WEST)),
  ...(count === 0 ? [] : [MIRROR]),
];

/** Whether no Service that is in both has another ClusterIP than before. */
const keepsAddresses = (before: readonly Row[], after: readonly Row[]): boolean =>
  after.every((row) => {
    const same = before.find(({ NAME }) => NAME === row['NAME']);
    return same === undefined || same['CLUSTER-IP'] === row['CLUSTER-IP'];
  });

const hostnames = ({ subsets = [] }: Endpoints): readonly string[] =>
  subsets.flatMap(({ addresses = [] }) => addresses.map(({ hostname = '' }) => hostname));

const isGatewayReady = ({ subsets: [subset] = [] }: Endpoints): boolean =>
  subset?.addresses?.length === 1 && subset.notReadyAddresses === undefined;

const isGatewayNotReady = ({ subsets: [subset] = [] }: Endpoints): boolean =>
  subset?.notReadyAddresses?.length === 1 && subset.addresses === undefined;
