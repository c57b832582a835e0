/** Whether a client is admitted through a gateway, and by what: by each sort of policy, and as Linkerd's proxies have it. */
import { describe, expect, test } from 'vitest';
import type { AccessRoute, Authorization } from '../../../../operator/access/objects.ts';
import type { Service } from '../../../../operator/kube/objects.ts';
import { explainAdmission } from '../../../../synth/commands/explain/admission.ts';
import type { AdmissionFacts } from '../../../../synth/commands/explain/admission-facts.ts';
import {
  type Authentication,
  GatewayPolicyModel,
  type PolicyObjects,
} from '../../../../synth/commands/explain/gateway-policy.ts';
import { GatewayModel, type PolicyObject } from '../../../operator/access/model.ts';
import { randomOf } from '../../../simulation/world/random.ts';
import { EXPORTED, LINKS_NAMESPACE as namespace, service } from '../../../support/builders.ts';

const identity = (account: string, domain = 'cluster.local'): string =>
  `${account}.shop.serviceaccount.identity.linkerd.${domain}`;
const host = (name: string): string => `${name}.shop.svc.cluster.local`;
const NAMES = { controlPlaneNamespace: 'linkerd', trustDomain: 'cluster.local' };
const OPAQUE = { 'config.linkerd.io/opaque-ports': '9000' };
const PORTS = [
  { name: 'http', port: 80 },
  { name: 'tcp', port: 9000 },
];

const route = (name: string, hostnames: readonly string[], isAccepted = true, labels: object = {}): AccessRoute => ({
  kind: 'HTTPRoute',
  metadata: { name, namespace, labels: { 'linkspan.dev/gateway-access': name, ...labels } },
  spec: { hostnames },
  status: {
    parents: [
      {
        parentRef: { kind: 'Server', name: 'linkerd-gateway' },
        conditions: [{ type: 'Accepted', status: isAccepted ? 'True' : 'False' }],
      },
    ],
  },
});

const policyOf = (
  kind: string,
  target: string,
  ...requires: readonly (readonly [string, string])[]
): Authorization => ({
  kind: 'AuthorizationPolicy',
  metadata: { name: kind === 'HTTPRoute' ? target : `for-${target}`, namespace },
  spec: {
    targetRef: { kind, name: target },
    requiredAuthenticationRefs: requires.map(([of, name]) => ({ kind: of, name, namespace })),
  },
});

const clients = (name: string, ...identities: readonly string[]): Authentication => ({
  kind: 'MeshTLSAuthentication',
  metadata: { name, namespace },
  spec: { identities },
});

const SERVER = { metadata: { name: 'linkerd-gateway', namespace } };
const FROM = ['NetworkAuthentication', 'from'] as const;
const NETWORKS = [{ metadata: { name: 'from', namespace }, spec: { networks: [{ cidr: '0.0.0.0/0' }] } }];

/** A gateway that admits client a to web, and nobody else to anything. */
const CLOSED: PolicyObjects = {
  server: SERVER,
  routes: [route('for-a', [host('web')]), route('nothing', ['nothing.linkspan.invalid'])],
  authorizations: [policyOf('HTTPRoute', 'for-a', ['MeshTLSAuthentication', 'a'], FROM)],
  authentications: [clients('a', identity('a'))],
  networks: NETWORKS,
};

const exported = (name: string, named?: string, more: Parameters<typeof service>[1] = {}): Service =>
  service(name, {
    labels: EXPORTED,
    ...more,
    annotations: { ...more.annotations, ...(named && { 'linkspan.dev/clients': named }) },
  });

const facts = (changed: Partial<AdmissionFacts> = {}, policy: Partial<PolicyObjects> = {}): AdmissionFacts => ({
  target: { context: 'west', namespace },
  ref: { namespace: 'shop', name: 'web' },
  client: identity('a'),
  unread: [],
  domains: { clusterDomain: 'cluster.local', trustDomain: 'cluster.local' },
  linkerdNamespace: 'linkerd',
  service: exported('web', 'shop/a'),
  serviceExport: undefined,
  policy: { ...CLOSED, ...policy },
  older: [],
  config: { gatewayAccess: 'clients', gatewayTcp: 'none' } as AdmissionFacts['config'],
  ...changed,
});

/** Each step in a line, and what the client is answered at each port. */
const outline = (...given: Parameters<typeof facts>) => {
  const { steps, admitted, refused } = explainAdmission(facts(...given));
  return [
    ...steps.map(
      ({ step, state, message, remedy }) => `${step} ${state}: ${message}${remedy === undefined ? '' : ` → ${remedy}`}`,
    ),
    ...admitted.map((port) => `${port}: admitted`),
    ...refused.map(({ port, answer }) => `${port}: ${answer}`),
  ];
};

test('a client that an export names is admitted, by the route and the policy of its set', () => {
  expect(outline()).toEqual([
    `client ok: shop/a is ${identity('a')}`,
    `route ok: HTTPRoute linkerd-multicluster/for-a has ${host('web')}`,
    `requests ok: AuthorizationPolicy linkerd-multicluster/for-a admits the client to ${host('web')}`,
    '80: admitted',
  ]);
});

test('M7: another is answered 403, and told whom the Service is exported to, and who it is', () => {
  expect(outline({ client: identity('b', 'east.example') }).slice(2)).toEqual([
    'requests stop: 403: shop/web is exported to shop/a; the client is shop/b@east.example → name it: ' +
      '`kubectl --context west -n shop annotate service web linkspan.dev/clients=shop/a,shop/b@east.example --overwrite`',
    '80: 403',
  ]);
});

describe('a host that no route has is answered 404, and told why', () => {
  const GONE = { routes: [route('nothing', ['nothing.linkspan.invalid'])], authorizations: [] };
  test.each<[string, Service, RegExp]>([
    [
      'it is not exported',
      service('web'),
      /shop\/web is not exported → export it: `kubectl .* label service web mirror.linkerd.io\/exported=true --overwrite`$/,
    ],
    [
      'it names nobody',
      exported('web'),
      /shop\/web names no clients → name it: `kubectl .*linkspan.dev\/clients=shop\/a --overwrite`$/,
    ],
    [
      'its annotation has an error',
      exported('web', 'shop'),
      /annotation linkspan.dev\/clients "shop" must be a valid client → write namespace/,
    ],
    [
      'it is exported, and the operator is behind',
      exported('web', 'shop/a'),
      /the policy does not have it yet → see the log of the operator: `kubectl/,
    ],
  ])('%s', (_, of, text) => {
    const all = outline({ service: of }, GONE);
    expect(all[1]).toMatch(/^requests stop: 404: no route of the gateway has web\.shop\.svc\.cluster\.local: /);
    expect(all[1]).toMatch(text);
    expect(all.at(-1)).toBe('80: 404');
  });
});

test('M3: an annotation with an error is corrected, not added to', () => {
  const [, , last] = outline({ client: identity('b'), service: exported('web', 'shop') });
  expect(last).toMatch(/→ annotation linkspan\.dev\/clients "shop" must be a valid client: write namespace/);
});

test('M3: an export that names as many clients as are read is left as it is', () => {
  const full = Array.from({ length: 64 }, (_, n) => `shop/c${n}`).join(',');
  expect(outline({ client: identity('b'), service: exported('web', full) })[2]).toMatch(
    /→ annotation linkspan\.dev\/clients must name at most 64 clients: let several share a ServiceAccount, or name \*$/,
  );
});

test('an export that names the client already waits for the operator', () => {
  expect(outline({ client: identity('b'), service: exported('web', 'shop/a,shop/b') })[2]).toMatch(
    /^requests stop: 403: .* → it names the client, and the policy does not yet: see the log of the operator/,
  );
});

test('a gateway without routes admits who may use it to every Service', () => {
  const open = {
    routes: [],
    authorizations: [policyOf('Server', 'linkerd-gateway', ['MeshTLSAuthentication', 'all'], FROM)],
  };
  const everyone = { ...open, authentications: [clients('all', '*')] };
  expect(outline({ client: identity('b'), service: service('web') }, everyone).slice(1)).toEqual([
    'route warning: Server linkerd-multicluster/linkerd-gateway has no route: who may use the gateway may use every Service',
    `requests ok: AuthorizationPolicy linkerd-multicluster/for-linkerd-gateway admits the client to ${host('web')}`,
    '80: admitted',
  ]);
  expect(outline({ client: identity('b') }, { ...open, authentications: [] }).at(-1)).toBe('80: 403');
});

test('a policy for the whole gateway counts beside that of the route', () => {
  const everywhere = policyOf('Namespace', namespace, ['MeshTLSAuthentication', 'b'], FROM);
  const policy = {
    authorizations: [...CLOSED.authorizations, everywhere],
    authentications: [clients('b', identity('b'))],
  };
  expect(outline({ client: identity('b') }, policy)).toContain(
    `requests ok: AuthorizationPolicy linkerd-multicluster/for-${namespace} admits the client to ${host('web')}`,
  );
});

describe('opaque ports', () => {
  const of = exported('web', 'shop/a', { ports: PORTS, annotations: OPAQUE });

  test('are judged by themselves', () => {
    expect(outline({ service: of }).slice(-3)).toEqual([
      'opaque stop: closed: no policy for the whole gateway admits the client to port 9000, which Linkerd does not look into; gatewayTcp of the operator is none → set gatewayTcp of the operator, which counts for the whole gateway',
      '80: admitted',
      '9000: closed',
    ]);
    const tcp = policyOf('Server', 'linkerd-gateway', ['MeshTLSAuthentication', 'a'], FROM);
    expect(outline({ service: of }, { authorizations: [...CLOSED.authorizations, tcp] }).slice(-2)).toEqual([
      '80: admitted',
      '9000: admitted',
    ]);
  });

  test('of a Service that has no others need no route', () => {
    const db = exported('web', 'shop/a', { ports: PORTS.slice(1), annotations: OPAQUE });
    expect(outline({ service: db }, { routes: [] }).map((line) => line.split(' ')[0])).toEqual([
      'client',
      'opaque',
      '9000:',
    ]);
  });

  test('with gatewayTcp clients, an export that names the client admits it', () => {
    const config = { gatewayAccess: 'clients', gatewayTcp: 'clients' } as AdmissionFacts['config'];
    expect(outline({ service: of, config, client: identity('b') })).toContainEqual(
      expect.stringMatching(/^opaque stop: .* → name it: `kubectl .*linkspan.dev\/clients=shop\/a,shop\/b /),
    );
  });

  test.each<[string, string | undefined, RegExp]>([
    ['everyone', '*', /→ it names the client, and the policy does not yet: see the log/],
    ['the client', 'shop/a,shop/b', /→ it names the client, and the policy does not yet: see the log/],
    ['clients in an annotation with an error', 'shop', /→ annotation linkspan\.dev\/clients .* valid client: write /],
  ])('with gatewayTcp clients, an export that names %s keeps its annotation', (_, named, remedy) => {
    const config = { gatewayAccess: 'clients', gatewayTcp: 'clients' } as AdmissionFacts['config'];
    const service = exported('web', named, { ports: PORTS.slice(1), annotations: OPAQUE });
    const [, opaque] = outline({ service, config, client: identity('b') });
    expect(opaque).toMatch(remedy);
    expect(opaque).not.toContain('annotate');
  });

  test('with gatewayTcp clients, a Service that is not exported is to be', () => {
    const config = { gatewayAccess: 'clients', gatewayTcp: 'clients' } as AdmissionFacts['config'];
    const own = service('web', { ports: PORTS.slice(1), annotations: OPAQUE });
    expect(outline({ service: own, config })[1]).toMatch(/→ export it: `kubectl .*exported=true --overwrite`$/);
  });
});

test('pods of a headless Service are judged by the wildcard of a route', () => {
  const headless = exported('web', 'shop/a', { headless: true });
  const both = { routes: [route('for-a', [host('web'), `*.${host('web')}`])] };
  expect(outline({ service: headless }, both).at(-2)).toBe(
    `pods ok: AuthorizationPolicy linkerd-multicluster/for-a admits the client to pods of ${host('web')} by name`,
  );
  expect(outline({ service: headless }).at(-1)).toBe('80: 404');
});

test('networks that leave some out are named', () => {
  const networks = [{ metadata: { name: 'from', namespace }, spec: { networks: [{ cidr: '10.0.0.0/8' }] } }];
  expect(outline({}, { networks })).toContain(
    'networks warning: it must connect from 10.0.0.0/8, as the gateway sees it',
  );
  expect(outline({}, { networks: [] }).at(-1)).toBe('80: 403');
});

test('a route that is not accepted does not count, and one of others is called so', () => {
  expect(outline({}, { routes: [route('for-a', [host('web')], false), route('nothing', ['x.invalid'])] }).at(-1)).toBe(
    '80: 404',
  );
  const theirs = route('theirs', [host('web')]);
  const policy = policyOf('HTTPRoute', 'theirs', ['MeshTLSAuthentication', 'a'], FROM);
  const objects = {
    routes: [{ ...theirs, metadata: { name: 'theirs', namespace } } as AccessRoute],
    authorizations: [policy],
  };
  expect(outline({}, objects)[1]).toMatch(/^route warning: HTTPRoute .*\/theirs, which is not the operator's, has /);
});

describe('what nobody could look at is not known', () => {
  test.each<[string, Partial<AdmissionFacts>, Partial<PolicyObjects>]>([
    ['a policy that cannot be read', { unread: ['httproutes cannot be read: forbidden'] }, {}],
    ["Linkerd's settings, which are not there", { domains: undefined }, {}],
    ['a gateway without a Server', {}, { server: undefined }],
  ])('%s', (_, changed, policy) => {
    const { steps, admitted, refused } = explainAdmission(facts(changed, policy));
    expect(steps.map(({ state }) => state)).toEqual(['unknown']);
    expect([...admitted, ...refused]).toEqual([]);
  });

  test('a ServerAuthorization, which may admit whom the policies refuse', () => {
    const text = 'policy unknown: ServerAuthorization old may admit it: that kind is not judged';
    expect(outline({ older: ['old'], client: identity('b') })).toContain(text);
    expect(outline({ older: ['old'] })).not.toContain(text);
  });
});

test('a Service that is not there is said to be missing', () => {
  expect(outline({ service: undefined })).toEqual([
    'Service stop: Service shop/web is not in west → check its name and namespace',
  ]);
});

describe('identities', () => {
  const admits = (authentication: Authentication, client: string): boolean =>
    new GatewayPolicyModel({ ...CLOSED, authentications: [authentication] }, NAMES).admitsTo(
      CLOSED.routes[0]!,
      client,
    ) !== undefined;

  test.each<[string, object, string, boolean]>([
    ['exact', { identities: [identity('a')] }, identity('a'), true],
    ['exact, of another', { identities: [identity('a')] }, identity('aa'), false],
    ['all', { identities: ['*'] }, identity('b', 'east.example'), true],
    ['by their end', { identities: ['*.shop.serviceaccount.identity.linkerd.cluster.local'] }, identity('b'), true],
    [
      'by their end, of another',
      { identities: ['*.shop.serviceaccount.identity.linkerd.cluster.local'] },
      identity('b', 'x'),
      false,
    ],
    [
      'of a ServiceAccount here',
      { identityRefs: [{ kind: 'ServiceAccount', name: 'b', namespace: 'shop' }] },
      identity('b'),
      true,
    ],
    ['of a namespace here', { identityRefs: [{ kind: 'Namespace', name: 'shop' }] }, identity('b'), true],
    [
      'of a namespace here, of another cluster',
      { identityRefs: [{ kind: 'Namespace', name: 'shop' }] },
      identity('b', 'x'),
      false,
    ],
  ])('%s', (_, spec, client, isAdmitted) => {
    expect(admits({ metadata: { name: 'a', namespace }, spec }, client)).toBe(isAdmitted);
  });

  test('a ServiceAccount is required by itself, and a policy that requires nobody admits everyone', () => {
    const by = (...requires: Parameters<typeof policyOf>[2][]) =>
      new GatewayPolicyModel({ ...CLOSED, authorizations: [policyOf('HTTPRoute', 'for-a', ...requires)] }, NAMES);
    const of = by(['ServiceAccount', 'b']);
    expect(
      of.admitsTo(CLOSED.routes[0]!, `b.${namespace}.serviceaccount.identity.linkerd.cluster.local`),
    ).toBeDefined();
    expect(of.admitsTo(CLOSED.routes[0]!, identity('b'))).toBeUndefined();
    expect(by().admitsTo(CLOSED.routes[0]!, identity('x'))).toEqual({
      by: expect.any(String) as string,
      networks: undefined,
    });
  });

  test("a Server's accessPolicy admits where it does not deny", () => {
    const server = (accessPolicy: string) => ({ ...CLOSED, server: { ...SERVER, spec: { accessPolicy } } });
    for (const [policy, isAdmitted] of [
      ['deny', false],
      ['all-authenticated', true],
      ['audit', true],
      ['all-unauthenticated', true],
    ] as const)
      expect(new GatewayPolicyModel(server(policy), NAMES).admitsEverywhere(identity('b')) !== undefined).toBe(
        isAdmitted,
      );
  });
});

test('3,000 random policies admit whom a model of the proxies admits, that shares nothing with this one', () => {
  const random = randomOf(7);
  const pick = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)]!;
  const some = <T>(all: readonly T[]): readonly T[] => all.filter(() => random() < 0.5);
  const hosts = [host('web'), host('db'), `*.${host('web')}`, '*.shop.svc.cluster.local'];
  const accounts = ['a', 'b', 'c'];
  let admitted = 0;
  for (let round = 0; round < 3_000; round += 1) {
    const routes = ['r0', 'r1', 'r2']
      .filter(() => random() < 0.7)
      .map((name) => route(name, random() < 0.15 ? [] : some(hosts), random() < 0.8));
    // Of two routes that match as well, either model may take the one or the other.
    const named = routes.flatMap(({ spec }) => (spec?.hostnames?.length === 0 ? ['all'] : (spec?.hostnames ?? [])));
    if (new Set(named).size < named.length) continue;
    const authentications = ['x', 'y'].map((name) =>
      clients(name, ...(random() < 0.2 ? ['*'] : some(accounts).map((each) => identity(each)))),
    );
    const targets = [
      ...routes.map(({ metadata }) => ['HTTPRoute', metadata.name] as const),
      ['Server', 'linkerd-gateway'] as const,
    ];
    const authorizations = some(targets).map(([kind, name]) =>
      policyOf(kind, name, ['MeshTLSAuthentication', pick(['x', 'y', 'gone'])], FROM),
    );
    const networks = random() < 0.9 ? NETWORKS.map((each) => ({ ...each, kind: 'NetworkAuthentication' })) : [];
    const objects = { server: SERVER, routes, authorizations, authentications, networks };
    const accepted = routes.filter(({ status }) => status?.parents?.[0]?.conditions?.[0]?.status === 'True');
    const all = [...routes, ...authorizations, ...authentications, ...networks] as unknown as readonly PolicyObject[];
    const proxies = new GatewayModel(all, new Set(accepted.map(({ metadata }) => metadata.name)));
    const model = new GatewayPolicyModel(objects, NAMES);
    for (const client of accounts.map((each) => identity(each))) {
      for (const asked of [host('web'), host('db'), `one.${host('web')}`, host('other')]) {
        const found = model.routeOf(asked);
        const isAdmitted = (found === undefined ? undefined : model.admitsTo(found, client)) !== undefined;
        const answer =
          model.routes.length === 0
            ? model.admitsEverywhere(client)
              ? 200
              : 403
            : found === undefined
              ? 404
              : isAdmitted
                ? 200
                : 403;
        expect(answer, JSON.stringify({ asked, client, objects })).toBe(proxies.request(client, asked));
        admitted += Number(answer === 200);
      }
      expect(model.admitsEverywhere(client) !== undefined).toBe(proxies.connection(client));
    }
  }
  expect(admitted).toBeGreaterThan(1_000);
});
