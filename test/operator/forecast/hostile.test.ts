/**
 * Targets that are hostile, under an import policy (rule N4): whatever they export, nothing comes of it that is outside the
 * policy, in a namespace that is not mirrored into, or in place of what is there. The operator's own derivations are played
 * against lists. `LINKSPAN_HOSTILE_TARGETS=20000` plays as many.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { readLink } from '../../../crds/index.ts';
import { parseOperatorConfig } from '../../../operator/config/config.ts';
import { forecast, ListedExports, ListedTarget, ModelCluster } from '../../../operator/forecast/index.ts';
import type { EndpointSlice, KubeObject, Service } from '../../../operator/kube/objects.ts';
import { link } from '../../support/builders.ts';

const TARGETS = Number(process.env['LINKSPAN_HOSTILE_TARGETS'] ?? 300);
const MAX_PODS = 3;
const parsed = parseOperatorConfig(
  { enableHeadlessServices: true, maxServicePods: String(MAX_PODS), maxMirrors: '4' },
  {},
);
if (!parsed.ok) throw new Error('the settings are invalid');
const config = parsed.value;

const NAMESPACES = ['shop', 'till', 'kube-system', config.namespace];
const NAMES = ['web', 'db', 'web-west', 'probe-west', 'web-federated', 'mine', 'mine-west', 'Bad_Name', 'w'.repeat(62)];
const PORTS = [22, 80, 443, 8080, 0, 70_000, -1];
const HOSTS = ['web-0', 'db-0', 'mine', 'web', 'Bad_Host', ''];
const POLICIES = [
  { namespaces: ['shop'] },
  { names: ['web*', 'mine'] },
  { ports: ['80', '8000-9000'] },
  { types: ['Headless'] },
  { approval: 'required', approved: ['shop/web', 'till/*'] },
  { names: ['web*'], approval: 'required', approved: ['*/web', 'shop/db'] },
  { namespaces: ['shop', 't*'], names: ['*b*'], ports: ['80-443'], types: ['ClusterIP', 'Headless'] },
];

type Policy = Partial<Record<'namespaces' | 'names' | 'ports' | 'types' | 'approved', readonly string[]>> & {
  readonly approval?: string;
};

/** Most are exported: what is not says nothing. */
const labels = fc.oneof(
  { weight: 2, arbitrary: fc.constant({ 'mirror.linkerd.io/exported': 'true' }) },
  {
    weight: 1,
    arbitrary: fc.constant({ 'mirror.linkerd.io/federated': 'member', 'mirror.linkerd.io/exported': 'true' }),
  },
  {
    weight: 1,
    arbitrary: fc.dictionary(
      fc.constantFrom(
        'mirror.linkerd.io/exported',
        'mirror.linkerd.io/federated',
        'mirror.linkerd.io/mirrored-service',
      ),
      fc.constantFrom('true', 'member', 'remote-discovery'),
    ),
  },
);
const annotations = fc.dictionary(
  fc.constantFrom('mirror.linkerd.io/remote-svc-fq-name', 'multicluster.linkerd.io/remote-discovery', 'example.com/a'),
  fc.constantFrom('mine.shop.svc.cluster.local', 'mine@east', 'x'),
);
const hostileService = fc.record({
  namespace: fc.constantFrom(...NAMESPACES),
  name: fc.constantFrom(...NAMES),
  labels,
  annotations,
  ports: fc.array(fc.constantFrom(...PORTS), { maxLength: 3 }),
  clusterIP: fc.constantFrom('None', '10.0.0.1', undefined, 'mine'),
  type: fc.constantFrom('ClusterIP', 'NodePort', 'ExternalName', undefined, 7),
  hosts: fc.array(fc.constantFrom(...HOSTS), { maxLength: 6 }),
  exported: fc.boolean(),
});
type HostileService = typeof hostileService extends fc.Arbitrary<infer T> ? T : never;

const identified = <T extends KubeObject>(kind: string, of: { namespace?: string; name: string }, more: object): T =>
  ({ ...more, metadata: { uid: `${kind}-${of.namespace}-${of.name}`, resourceVersion: '1', ...of } }) as unknown as T;

const servicesOf = (all: readonly HostileService[]): readonly Service[] =>
  all.map(({ namespace, name, ports, clusterIP, type, ...each }) => {
    const spec = { clusterIP, type, ports: ports.map((port, at) => ({ name: `p${at}`, port })) };
    const service = identified<Service>('Service', { namespace, name }, { spec });
    const { labels: own, annotations: noted } = each;
    return { ...service, metadata: { ...service.metadata, labels: own, annotations: noted } };
  });

const slicesOf = (all: readonly HostileService[]): readonly EndpointSlice[] =>
  all.map(({ namespace, name, labels: own, hosts }) => {
    const endpoints = hosts.map((hostname) => ({ addresses: ['10.244.9.9'], hostname, conditions: { ready: true } }));
    const body = { addressType: 'IPv4', endpoints, ports: [{ name: 'p0', port: 8080, protocol: 'TCP' }] };
    const slice = identified<EndpointSlice>('EndpointSlice', { namespace, name: `${name}-1` }, body);
    const behind = { ...own, 'kubernetes.io/service-name': name };
    return { ...slice, metadata: { ...slice.metadata, labels: behind } };
  });

/** The names and namespaces that a policy admits, by regular expressions; it shares no code with the operator. */
const expressionOf = (patterns: readonly string[] = ['*']): RegExp =>
  new RegExp(`^(${patterns.map((each) => each.replaceAll('*', '.*')).join('|')})$`);
const isOpen = ({ ports }: Policy, port: number): boolean =>
  ports?.some((each) => {
    const [first = '', last = first] = each.split('-');
    return Number(first) <= port && port <= Number(last);
  }) ?? true;

const SUFFIX = /-(west|federated|clusterset)$/;
/** The names of target Services that an object may have been made of. */
const originsOf = ({ metadata: { name, labels: own = {} } }: KubeObject): string => {
  const headless = own['linkspan.dev/service-import'] ?? own['mirror.linkerd.io/headless-mirror-svc-name'];
  return (headless ?? own['kubernetes.io/service-name'] ?? name.replace(/-ipv[46]$/, '')).replace(SUFFIX, '');
};

/** What is wrong about an object that would be written. */
function problemOf(policy: Policy, kind: string, before: KubeObject | undefined, after: KubeObject | undefined) {
  const { namespace = '', name } = (after ?? before)!.metadata;
  const at = `${kind} ${namespace}/${name}`;
  if (before !== undefined) return `${at} was there before`;
  if (!['shop', 'till'].includes(namespace)) return `${at} is in no namespace of users`;
  if (!expressionOf(policy.namespaces).test(namespace)) return `${at} is in a namespace that is not admitted`;
  const origin = kind === 'ServiceImport' ? name : originsOf(after!);
  if (!expressionOf(policy.names).test(origin)) return `${at} is of ${origin}, which is not admitted`;
  if (!expressionOf(policy.approved).test(policy.approved ? `${namespace}/${origin}` : ''))
    return `${at} is not approved`;
  const { ports = [] } = ((after as Service).spec ?? {}) as { readonly ports?: readonly { readonly port: number }[] };
  const closed =
    kind === 'Service' || kind === 'ServiceImport' ? ports.find(({ port }) => !isOpen(policy, port)) : undefined;
  return closed === undefined ? undefined : `${at} has port ${closed.port}, which is not admitted`;
}

it(`makes nothing outside the policy of ${TARGETS} hostile targets, and touches nothing that is there (N4)`, async () => {
  const property = fc.asyncProperty(
    fc.constantFrom(...POLICIES),
    fc.array(hostileService, { minLength: 1, maxLength: 8 }),
    async (policy: Policy, all) => {
      const read = readLink(link('west', { probeSpec: undefined, importPolicy: policy, federation: 'gateway' }));
      if (!read.ok) throw new Error(JSON.stringify(read.errors));
      const settings = read.value;
      const [services, slices] = [servicesOf(all), slicesOf(all)];
      const { selector: gateway, remoteDiscoverySelector: flat, federatedServiceSelector: members } = settings;
      const lists = { services, slices, namespaces: undefined };
      const target = new ListedTarget(lists, { gateway, flat, members, readsMemberSlices: true });
      const exports = all
        .filter(({ exported }) => exported)
        .map(({ namespace, name }) => identified<KubeObject>('ServiceExport', { namespace, name }, {}));
      const nothing = { exports: [], services: [], slices: [], properties: 'missing' as const, namespaces: undefined };
      const model = new ModelCluster({
        namespace: config.namespace,
        objects: {
          namespaces: NAMESPACES.map((name) => identified('Namespace', { name }, {})),
          services: ['mine', 'mine-west', 'mine-clusterset'].map((name) =>
            identified(
              'Service',
              { namespace: 'shop', name },
              { spec: { clusterIP: '10.96.0.9', ports: [{ port: 80 }] } },
            ),
          ),
          endpoints: [],
          slices: [],
        },
        findEndpoints: () => Promise.resolve(undefined),
        findSlices: () => Promise.resolve([]),
        list: ({ kind }) => Promise.resolve(kind === 'ServiceFailover' ? 'missing' : []),
      });
      await forecast({
        config,
        model,
        serve: [
          {
            settings,
            target,
            exports: new ListedExports({ ...nothing, exports, services, slices }),
            gateway: { port: 4143, identity: 'gateway', addresses: ['203.0.113.10'], alive: true },
          },
        ],
        remove: [],
        federation: {
          localSlices: [],
          isLocalHeld: true,
          mayHaveLink: () => true,
          isLinked: () => true,
          seniorityOf: () => undefined,
          isDiscoverable: () => true,
        },
        imports: { local: nothing, families: new Set(['IPv4']), exporting: ['west'], serving: ['west'] },
      });
      const problems = model.touched.flatMap(
        ({ of: { kind }, before, after }) => problemOf(policy, kind, before, after) ?? [],
      );
      const mirrored = model.touched.filter(
        ({ of: { kind }, after }) => kind === 'Service' && after?.metadata.name.endsWith('-west') === true,
      );
      expect(problems).toEqual([]);
      expect(mirrored.length).toBeLessThanOrEqual(config.maxMirrors * (1 + MAX_PODS));
    },
  );
  await fc.assert(property, { numRuns: TARGETS });
}, 600_000);
