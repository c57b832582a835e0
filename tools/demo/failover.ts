/**
 * A Service that fails over between three clusters, step by step: first its own pods are gone, then the gateway of the
 * cluster that took over dies, and then all come back. A step that does not come true ends it.
 */
import { isDeepStrictEqual } from 'node:util';
import { failoverCrd } from '../../crds/failover/definition.ts';
import { federatedName, Label, mirrorName, Value } from '../../crds/wire.ts';
import { httpRouteCrds } from '../../test/support/route-crds.ts';
import { httpRouteCrd } from './http-route-crd.ts';
import { LINKS_SOURCE, linksTo } from './links.ts';
import type { Play } from './play.ts';
import { failover, FAILOVER_SOURCE, HOLD_DOWN_MS } from './service-failover.ts';
import { LINKS_NAMESPACE, type Stage } from './stage.ts';
import { duration, stopwatch } from './stopwatch.ts';
import { isJust, layOut, type Row } from './table.ts';
import { WEB } from './web.ts';
import { WeightHistory, type Weights, type WeightsSeen } from './weight-history.ts';

const TARGETS = ['west', 'north'] as const;
type Target = (typeof TARGETS)[number];
type FailoverStage = Stage<Target>;

const GATEWAYS: Readonly<Record<Target, string>> = { west: '203.0.113.10', north: '198.51.100.10' };
const SERVICE = 'web';
const FEDERATED = federatedName(SERVICE);
const ROUTE = 'web-80';
const BACKENDS = [SERVICE, ...TARGETS.map((target) => mirrorName(SERVICE, target))];

/** Failover, with two targets. */
export const FAILOVER: Play<Target> = {
  title: 'failover between three clusters',
  targets: TARGETS,
  crds: (backing) => [failoverCrd, ...(backing === 'real' ? httpRouteCrds() : [httpRouteCrd])],
  roles: {
    east: 'the source: clients, web, the Links, the operator',
    west: 'a target: web, and its gateway',
    north: 'another target: web, and its gateway',
  },
  perform: playFailover,
  end: 'that was failover',
  commands: [
    'kubectl --context=east get servicefailovers --watch',
    'kubectl --context=east scale statefulset web --replicas=0  # in another terminal still',
    'kubectl --context=west label service web mirror.linkerd.io/exported-',
    'kubectl --context=east describe servicefailover web',
    'kubectl --context=east get httproute web-80 -o yaml',
  ],
};

async function playFailover(stage: FailoverStage): Promise<void> {
  await deploy(stage);
  await runOperator(stage);
  await link(stage);
  await exportServices(stage);
  const history = await WeightHistory.start(stage.clusters.east, ROUTE);
  try {
    await declare(stage);
    await losePods(stage);
    await loseGateway(stage);
    await regainGateway(stage);
    await regainPods(stage);
  } catch (error) {
    await history.stop().catch(() => undefined);
    throw error;
  }
  review(stage, await history.stop());
  await federate(stage);
}

async function deploy({ terminal, kubectl }: FailoverStage): Promise<void> {
  terminal.step('east, west and north run web, two pods behind a Service each');
  for (const cluster of Object.values(kubectl)) await cluster.apply({ file: 'web.yaml' }, WEB);
  await kubectl.east.get('pods', {
    what: 'two pods of web run',
    holds: (rows) => isJust(rows, ['web-0', 'web-1']) && rows.every(({ READY }) => READY === '1/1'),
  });
}

async function runOperator(stage: FailoverStage): Promise<void> {
  const { terminal } = stage;
  terminal.step('east runs the operator');
  await stage.runOperator([]);
  terminal.note('no proxies here: --probe-connect-to leads probes to the gateways of west and north');
}

async function link({ terminal, kubectl: { east }, clusters }: FailoverStage): Promise<void> {
  terminal.step('east is linked to west and north');
  terminal.print('', ...LINKS_SOURCE);
  const targets = TARGETS.map((name) => {
    const { server, caData, adminToken } = clusters[name];
    return { name, gateway: GATEWAYS[name], access: { server, caData, token: adminToken } };
  });
  await east.apply({ command: 'node links.ts' }, linksTo(targets));
  await east.get('links', {
    namespace: LINKS_NAMESPACE,
    what: 'the Links are ready and their gateways are alive',
    holds: (rows) => rows.length === 2 && rows.every(({ READY, GATEWAY }) => READY === 'True' && GATEWAY === 'True'),
  });
}

async function exportServices({ terminal, kubectl }: FailoverStage): Promise<void> {
  terminal.step('west and north export web');
  for (const target of TARGETS) await kubectl[target].label(SERVICE, Label.exported, 'true');
  await kubectl.east.get('services', {
    what: 'the mirrors of web are there',
    holds: (rows) => isJust(rows, ['kubernetes', ...BACKENDS.toSorted()]),
  });
}

async function declare(stage: FailoverStage): Promise<void> {
  const { terminal, kubectl } = stage;
  terminal.step('Requests to web go to the pods of east, else to west, else to north');
  terminal.print('', ...FAILOVER_SOURCE);
  await kubectl.east.apply({ command: 'node failover.ts' }, failover());
  await leadsTo(stage, 'web');
  terminal.note("the operator owns a route, which Linkerd's proxies in east follow:");
  await kubectl.east.getRoute(ROUTE, { what: 'there is a route', holds: () => true });
  terminal.note(
    'a standby is listed with weight 0: proxies know it before it is needed',
    'back to an earlier backend when that has been ready for 3 s, or for 30 s without holdDown',
  );
}

async function losePods(stage: FailoverStage): Promise<void> {
  stage.terminal.step('The pods of east are gone');
  await stage.kubectl.east.scale(SERVICE, 0);
  const took = stopwatch();
  await showWeights(stage, 'web-west');
  stage.terminal.note(`${took.text()} later: west takes the requests`);
  await leadsTo(stage, 'web-west');
}

async function loseGateway(stage: FailoverStage): Promise<void> {
  const { terminal, gateways } = stage;
  terminal.step('The gateway of west dies');
  await gateways.west.die();
  const took = stopwatch();
  terminal.note('its probe port refuses connections');
  await showWeights(stage, 'web-north');
  const sinceVerdict = Date.now() - verdictMs(stage.operatorLog);
  terminal.note(
    `${took.text()} later: north takes the requests, after three probes in vain, 250 ms apart,`,
    `and ${sinceVerdict} ms after the verdict that they lead to`,
  );
  await leadsTo(stage, 'web-north');
}

async function regainGateway(stage: FailoverStage): Promise<void> {
  const { terminal, gateways, kubectl } = stage;
  terminal.step('The gateway of west comes back');
  await gateways.west.revive();
  const took = stopwatch();
  const backends = '.status.backends[*]';
  await kubectl.east.getColumns(
    'servicefailovers',
    { BACKENDS: `${backends}.service`, READY: `${backends}.ready`, WEIGHTS: `${backends}.weight` },
    { name: SERVICE, what: 'web-west is ready', holds: ([row]) => row?.['READY'] === 'false,true,true' },
  );
  terminal.note('west is ready, and has to stay so for 3 s before it is trusted again');
  await showWeights(stage, 'web-west');
  if (took.ms() < HOLD_DOWN_MS) throw new Error('west takes requests again before it has been ready for 3 s');
  terminal.note(`${took.text()} after its gateway came back, west takes the requests again`);
}

async function regainPods(stage: FailoverStage): Promise<void> {
  stage.terminal.step('The pods of east are back');
  await stage.kubectl.east.scale(SERVICE, 2);
  const took = stopwatch();
  await showWeights(stage, 'web');
  if (took.ms() < HOLD_DOWN_MS) throw new Error('east takes requests again before it has been ready for 3 s');
  stage.terminal.note(`${took.text()} later: east takes the requests again`);
  await leadsTo(stage, 'web');
}

/** Prints what clients have seen. @throws Error for a version of the route that would have failed requests */
function review({ terminal }: FailoverStage, history: readonly WeightsSeen[]): void {
  terminal.step('All weights that the route has had, as a watch has seen them');
  const start = history[0]?.atMs ?? 0;
  terminal.print(
    '',
    ...layOut(
      history.map(({ weights, atMs }) => ({
        AFTER: duration(atMs - start),
        ...inCapitals(weights),
      })),
    ),
  );
  for (const { weights } of history) {
    const total = BACKENDS.map((name) => weights[name] ?? Number.NaN).reduce((sum, weight) => sum + weight, 0);
    if (!(total > 0)) throw new Error(`the route has had these weights: ${JSON.stringify(weights)}`);
  }
  terminal.note('never were all weights 0, and never was a backend not listed');
}

async function federate({ terminal, kubectl, gateways }: FailoverStage): Promise<void> {
  const { east } = kubectl;
  const slices = (what: string, ready: Readonly<Record<string, string>>): Promise<void> =>
    east.getColumns(
      'endpointslices',
      { NAME: '.metadata.name', ADDRESSES: '.endpoints[*].addresses[*]', READY: '.endpoints[*].conditions.ready' },
      {
        selector: `${Label.serviceName}=${FEDERATED}`,
        what,
        holds: (rows) => isDeepStrictEqual(Object.fromEntries(rows.map((row) => [memberOf(row), row['READY']])), ready),
      },
    );

  terminal.step('One Service over all clusters, without a route');
  for (const cluster of Object.values(kubectl)) await cluster.label(SERVICE, Label.federated, Value.federatedMember);
  await slices('web-federated leads to all three', { local: 'true,true', north: 'true', west: 'true' });
  terminal.note(`requests to ${FEDERATED} go to the pods of east and through both gateways, all at once`);

  terminal.step('The gateway of north dies');
  await gateways.north.die();
  const took = stopwatch();
  await slices('web-federated leads to east and west', { local: 'true,true', north: 'false', west: 'true' });
  terminal.note(`${took.text()} later: north is not ready, and clients of ${FEDERATED} leave it out`);

  terminal.step('The gateway of north comes back');
  await gateways.north.revive();
  await slices('web-federated leads to all three again', { local: 'true,true', north: 'true', west: 'true' });
}

/** `get servicefailovers`, once requests go to one backend. */
const leadsTo = (stage: FailoverStage, backend: string): Promise<unknown> =>
  stage.kubectl.east.get('servicefailovers', {
    what: `requests to web go to ${backend}`,
    holds: ([row]) => row?.['ACTIVE'] === backend,
  });

/** Backends and weights of the route, once one backend has them all. */
const showWeights = (stage: FailoverStage, backend: string): Promise<void> => {
  const refs = '.spec.rules[0].backendRefs[*]';
  return stage.kubectl.east.getColumns(
    'httproute',
    { BACKENDS: `${refs}.name`, WEIGHTS: `${refs}.weight` },
    {
      name: ROUTE,
      what: `the route has a weight for ${backend} alone`,
      holds: ([row]) => row?.['WEIGHTS'] === BACKENDS.map((name) => (name === backend ? 1 : 0)).join(),
    },
  );
};

/** When the operator last found that a gateway is dead, in milliseconds since 1970. */
const verdictMs = (log: readonly string[]): number => {
  const line = log.findLast((each) => each.includes('"the gateway is not alive"'));
  return Date.parse((JSON.parse(line ?? '{}') as { readonly time?: string }).time ?? '');
};

/** `west`, of slice `web-federated.west-ipv4`. */
const memberOf = ({ NAME = '' }: Row): string => /^web-federated\.([a-z]+)/.exec(NAME)?.[1] ?? NAME;

const inCapitals = (weights: Weights): Row =>
  Object.fromEntries(Object.entries(weights).map(([name, weight]) => [name.toUpperCase(), `${weight}`]));
