/** What `linkspan check --gateway-access` finds: what would be refused of what is used, and what nobody could look at. */
import { describe, expect, test } from 'vitest';
import { ACCESS_CHECKS } from '../../../../../synth/commands/check/access/checks.ts';
import { usageReport, usageText } from '../../../../../synth/commands/check/access/report.ts';
import type { AccessSurvey } from '../../../../../synth/commands/check/access/survey.ts';
import { readMetrics } from '../../../../../synth/commands/check/access/usage.ts';
import { outlookOf } from '../../../../../synth/commands/check/access/verdicts.ts';
import { service } from '../../../../support/builders.ts';
import { serviceExport } from '../../../../support/mcs.ts';
import { operatorDeployment, read, unread } from '../facts.ts';
import { checked, countedUses, exported, found, gatewayPod, policy, survey } from './facts.ts';
import { admitted, type CountedUse, inShop, metricsText } from './proxy-metrics.ts';

const config = (settings: object) => settings as AccessSurvey['config'];
const OLD = readMetrics(metricsText(admitted('shop/a')).split('\n'), 'gateway-0');
const OPAQUE = {
  labels: { 'mirror.linkerd.io/exported': 'true' },
  annotations: { 'config.linkerd.io/opaque-ports': '9000' },
  ports: [{ name: 'tcp', port: 9000 }],
};

test('nothing is found where all that is used is exported to whom uses it', () => {
  expect(found()).toEqual([]);
});

/** A fault for each check, and what is found. */
const FAULTS: readonly (readonly [id: string, changed: Partial<AccessSurvey>, found: string])[] = [
  ['access-api', { kubernetes: unread('unreachable') }, 'error west: not allowed'],
  ['access-reads', { unread: [unread()] }, 'error west: cannot list things: not allowed'],
  ['access-gateway', { gateway: read(undefined) }, 'error Server linkerd-multicluster/linkerd-gateway: not found'],
  [
    'access-networks',
    { networks: read([]) },
    'error NetworkAuthentication linkerd-multicluster/source-cluster: is missing',
  ],
  ['access-operator', { operator: read(undefined), config: undefined }, 'warning Deployment .*: not found'],
  ['access-operator', { config: undefined }, 'warning Deployment .*: its settings cannot be read'],
  [
    'access-operator',
    { config: config({ mirrorNamespaces: ['shop'] }) },
    'error Deployment .*: has --mirror-namespaces',
  ],
  [
    'access-operator',
    { config: config({ gatewayAccess: 'clients', clusterDomain: 'cluster.local', trustDomain: 'other.example' }) },
    'error Deployment .*: has --trust-domain "other.example", and Linkerd has "cluster.local"',
  ],
  ['access-policies', { authorizations: read([policy('mine')]) }, 'warning AuthorizationPolicy .*/mine: authorizes'],
  ['access-usage', { counted: [{ pod: 'gateway-0', obstacle: 'HTTP 403' }] }, 'error Pod .*/gateway-0: .*: HTTP 403'],
  ['access-usage', { counted: OLD }, 'error Pod .*/gateway-0: its proxy has let in a client, and does not say'],
  [
    'access-usage',
    { counted: countedUses({ client: 'shop/a', host: 'not a name' }) },
    'warning Pod .*/gateway-0: has counted 1 connections whose client or Service has no valid name',
  ],
  ['access-usage', { pods: read([]), counted: [] }, 'error Deployment .*/linkerd-gateway: no pod of it runs'],
  [
    'access-usage',
    { pods: read([gatewayPod('gateway-0'), gatewayPod('gateway-1')]) },
    'error Pod .*/gateway-1: runs, and is not in the metrics that were given',
  ],
  [
    'exported-used',
    { services: read([service('web')]) },
    'error Service shop/web: is not exported, and shop/a opened 1 connection to it: 404',
  ],
  [
    'exported-clients',
    { services: read([exported('web', 'shop/a'), exported('bad', 'shop')]) },
    'error Service shop/bad: annotation linkspan.dev/clients "shop" must be a valid client: nobody is admitted',
  ],
  [
    'exported-opaque',
    { services: read([exported('web', 'shop/a'), exported('db', 'shop/a', OPAQUE)]) },
    'warning Service shop/db: its opaque ports 9000 admit nobody, as gatewayTcp of the operator is none',
  ],
  [
    'clients-used',
    { services: read([exported('web')]) },
    'error Service shop/web: names no clients, and shop/a opened 1 connection to it: 404',
  ],
  [
    'clients-named',
    { services: read([exported('web')]) },
    'warning Service shop/web: names no clients: everyone gets 404',
  ],
];

test('each check has a fault here', () => {
  expect(new Set(FAULTS.map(([id]) => id))).toEqual(new Set(ACCESS_CHECKS.map(({ id }) => id)));
});

test.each(FAULTS.map(([id, changed, text]) => ({ id, changed, text })))('$id: $text', ({ id, changed, text }) => {
  expect(found(changed).filter((line) => line.startsWith(`${id} `))).toEqual([
    expect.stringMatching(new RegExp(`^${id} ${text}`)),
  ]);
});

describe('nothing is green where nobody has looked', () => {
  const USED = ['exported-used', 'clients-used'];
  const EXPORTS = [...USED, 'exported-clients', 'exported-opaque', 'clients-named'];
  test.each<[string, Partial<AccessSurvey>, readonly string[]]>([
    ['proxies', { counted: [{ pod: 'gateway-0', obstacle: 'HTTP 403' }] }, USED],
    ['what older proxies have counted', { counted: OLD }, USED],
    ['a gateway that does not run', { pods: read([]), counted: [] }, USED],
    ['Services', { services: unread() }, EXPORTS],
    ['ServiceExports', { serviceExports: unread() }, EXPORTS],
    ["Linkerd's settings", { linkerd: unread() }, EXPORTS],
    ["Linkerd's settings, which are not there", { linkerd: read(undefined) }, EXPORTS],
    ['Pods', { pods: unread(), counted: [] }, [...USED, 'access-usage']],
    ['Deployments', { operator: unread(), config: undefined }, ['access-operator']],
    ['policies', { authorizations: unread() }, ['access-policies']],
    ['networks', { networks: unread() }, ['access-networks']],
    ['Servers', { gateway: unread() }, ['access-gateway']],
  ])('%s', (_, changed, ids) => {
    const skipped = checked(changed).filter(({ result }) => result === 'skipped');
    expect(skipped.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
  });

  test('one proxy of two is named as not judged', () => {
    const all = found({ pods: read([gatewayPod('gateway-0'), gatewayPod('gateway-1')]) });
    for (const id of USED) expect(all).toContain(`${id} partly the use that gateway-1 has seen`);
  });
});

describe('of what is used', () => {
  const uses = (...all: readonly CountedUse[]) => ({ counted: countedUses(...all) });

  test('an export that names others refuses with both settings, which is said once', () => {
    expect(
      found(uses({ client: 'shop/b', host: inShop('web'), count: 3 }, { client: 'shop/c', host: inShop('web') })),
    ).toEqual([
      'exported-used error Service shop/web: names other clients, and shop/b, shop/c opened 4 connections to it: 403',
    ]);
  });

  test('the remedy names them beside those that the Service names by now', () => {
    const remedies = checked(uses({ client: 'shop/b', host: inShop('web') })).flatMap(({ findings }) => findings);
    expect(remedies.map(({ remedy }) => remedy)).toEqual([
      'name them: `kubectl --context west -n shop annotate service web linkspan.dev/clients=shop/a,shop/b --overwrite`',
    ]);
  });

  const remediesOf = (changed: Partial<AccessSurvey>) =>
    checked(changed).flatMap(({ findings }) => findings.map(({ remedy }) => remedy));

  test('M3: more clients than an annotation may name are not written into it', () => {
    const many = Array.from({ length: 65 }, (_, n) => ({ client: `shop/c${n}`, host: inShop('web') }));
    const full = exported(
      'web',
      many
        .slice(1)
        .map(({ client }) => client)
        .join(','),
    );
    for (const changed of [
      { services: read([exported('web')]), ...uses(...many) },
      { services: read([full]), ...uses(many[0]!) },
    ]) {
      const [remedy, ...others] = remediesOf(changed).filter((each) => !each.includes('linkspan.dev/clients=*'));
      expect(remedy).toMatch(
        /^annotation .* must name at most 64 clients: let several share a ServiceAccount, or name \*$/,
      );
      expect(others).toEqual([]);
    }
  });

  test('each remedy of one Service names all whom it refuses, so that the second takes nobody away', () => {
    const headless = exported('web', undefined, { headless: true });
    const used = uses({ client: 'shop/a', host: inShop('web') }, { client: 'shop/b', host: `one.${inShop('web')}` });
    const all = remediesOf({ services: read([headless]), ...used });
    const found = all.filter((each) => each.startsWith('name them: '));
    expect(new Set(found)).toEqual(new Set([expect.stringContaining('linkspan.dev/clients=shop/a,shop/b ')]));
    expect(found).toHaveLength(2);
  });

  test('an export for everyone, or with an error, is not named anew for a port that it does not call opaque', () => {
    const used = uses({ client: 'shop/b', host: inShop('web'), port: 9000, opaque: true });
    const settings = { ...used, config: config({ gatewayTcp: 'clients' }) };
    const [everyone] = remediesOf({ services: read([exported('web', '*')]), ...settings });
    expect(everyone).toMatch(/^name the port in annotation config\.linkerd\.io\/opaque-ports /);
    const [mistaken] = remediesOf({ services: read([exported('web', 'shop', OPAQUE)]), ...settings });
    expect(mistaken).toMatch(/^write namespace\/serviceaccount/);
  });

  test('a Service that a label keeps from being exported is exported by the command', () => {
    const [remedy] = remediesOf({ services: read([service('web')]) });
    expect(remedy).toMatch(
      /^export it: `kubectl .* label service web mirror\.linkerd\.io\/exported=true --overwrite`; or /,
    );
  });

  test('a client of another trust domain is named by it, and one that no annotation can name is not', () => {
    const stranger = 'a.shop.serviceaccount.identity.linkerd.east.example';
    const unnamed = 'a.shop.serviceaccount.identity.linkerd-two.east.example';
    const [named] = checked(uses({ client: stranger, host: inShop('web') })).flatMap(({ findings }) => findings);
    expect(named).toMatchObject({
      reason: expect.stringContaining('shop/a@east.example opened') as string,
      remedy: expect.stringContaining('linkspan.dev/clients=shop/a,shop/a@east.example') as string,
    });
    const [other] = checked(uses({ client: unnamed, host: inShop('web') })).flatMap(({ findings }) => findings);
    expect(other).toMatchObject({ reason: expect.stringContaining(unnamed) as string });
    expect(other?.remedy).toContain('name * for every meshed client');
  });

  test('a Service exported by a ServiceExport alone is exported, to whom that names', () => {
    const named = serviceExport('web');
    const { metadata } = named;
    const annotated = { ...named, metadata: { ...metadata, annotations: { 'linkspan.dev/clients': 'shop/a' } } };
    expect(found({ services: read([service('web')]), serviceExports: read([annotated]) })).toEqual([]);
  });

  test('a pod by its name is reached by a headless Service alone', () => {
    const host = `one.${inShop('web')}`;
    expect(
      found({ services: read([exported('web', 'shop/a', { headless: true })]), ...uses({ client: 'shop/a', host }) }),
    ).toEqual([]);
    expect(found(uses({ client: 'shop/a', host }))).toEqual([
      'exported-used error Service shop/web: is not headless, and shop/a opened 1 connection to pods of it by name (one): 404',
    ]);
    expect(
      found({ services: read([service('web', { headless: true })]), ...uses({ client: 'shop/a', host }) }),
    ).toEqual(['exported-used error Service shop/web: is not exported, and shop/a opened 1 connection to it: 404']);
  });

  test('an opaque port is closed, unless gatewayTcp says otherwise', () => {
    const used = {
      services: read([exported('web', 'shop/a', OPAQUE)]),
      ...uses({ client: 'shop/a', host: inShop('web'), port: 9000, opaque: true }),
    };
    expect(found(used)).toEqual([
      'exported-used error Service shop/web: shop/a opened 1 connection to port 9000, which Linkerd does not look into: closed, as gatewayTcp of the operator is none',
      'exported-opaque warning Service shop/web: its opaque ports 9000 admit nobody, as gatewayTcp of the operator is none',
    ]);
    expect(found({ ...used, config: config({ gatewayTcp: 'clients' }) })).toEqual([]);
    // With clients, the operator refuses that everyone may.
    expect(found({ ...used, config: config({ gatewayTcp: 'meshed' }) })).toEqual([
      expect.stringMatching(/^clients-used error .*closed, as gatewayTcp of the operator is none$/),
    ]);
  });

  test('with gatewayTcp clients, a client of one opaque export sends requests to every export', () => {
    const services = read([exported('web', 'shop/b'), exported('db', 'shop/a', OPAQUE)]);
    const used = { services, ...uses({ client: 'shop/a', host: inShop('web') }) };
    expect(found({ ...used, config: config({ gatewayTcp: 'clients' }) })).toEqual([]);
    expect(found(used)).toContainEqual(
      expect.stringContaining('exported-used error Service shop/web: names other clients'),
    );
  });

  test('a name that is none of this cluster, or of no Service, is a warning', () => {
    expect(
      found(uses({ client: 'shop/a', host: 'web.shop.svc.other.example' }, { client: 'shop/a', host: inShop('gone') })),
    ).toEqual([
      `exported-used warning host ${inShop('gone')}: shop/a opened 1 connection to it, and there is no such Service`,
      'exported-used warning host web.shop.svc.other.example: shop/a opened 1 connection to it, and it is no Service of this cluster',
    ]);
  });
});

test('a policy of the chart is handed over by a label', () => {
  const [remedy] = checked({ authorizations: read([policy('linkerd-gateway')]) }).flatMap(({ findings }) => findings);
  expect(remedy?.remedy).toContain(
    '`kubectl --context west -n linkerd-multicluster label authorizationpolicy linkerd-gateway linkspan.dev/gateway-access=open`',
  );
});

test('the metrics that cannot be read are to be had by a command', () => {
  const [finding] = checked({
    kubeconfig: '/my kube/config',
    counted: [{ pod: 'gateway-0', obstacle: 'HTTP 403' }],
  }).flatMap(({ findings }) => findings);
  expect(finding?.remedy).toBe(
    "get them by `linkerd diagnostics proxy-metrics -n linkerd-multicluster deploy/linkerd-gateway --kubeconfig '/my kube/config' --context west > gateway.metrics`, and name the file with --gateway-metrics",
  );
});

test('an operator without the setting is not judged by its domains', () => {
  expect(found({ operator: read(operatorDeployment()), config: config({ trustDomain: 'other.example' }) })).toEqual([]);
});

test('what is printed says who uses what, since when, and what it does not show', () => {
  const read = survey({
    counted: countedUses(
      { client: 'shop/a', host: inShop('web'), count: 3 },
      { client: 'shop/b', host: `one.${inShop('set')}`, port: 9000, opaque: true },
    ),
  });
  const report = usageReport({ ...read, outlook: outlookOf(read) });
  expect(report.proxies).toEqual([{ pod: 'gateway-0', since: '2026-11-20T10:00:00Z' }]);
  expect(usageText(report)).toBe(`connections through the gateway, as counted by gateway-0 since 2026-11-20T10:00:00Z,
and what becomes of them with gatewayAccess exported, and clients:

CLIENT   SERVICE        PORT   OPAQUE   CONNECTIONS   EXPORTED   CLIENTS
shop/b   shop/one.set   9000   yes      1             closed     closed
shop/a   shop/web       80     no       3             admitted   admitted

not seen: ${report.notSeen.join('; ')}

`);
});
