/** `linkspan plan` on dumped manifests: what it prints, its exit codes, and what it refuses. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Yaml } from 'cdk8s';
import type { ObjectRef } from '../../../cluster/workload/index.ts';
import {
  credentials,
  EXPORTED,
  EXPORTED_FLAT,
  link,
  LINKS_NAMESPACE,
  namespace,
  service,
  slice,
  statefulSlice,
} from '../../../support/builders.ts';
import { linkerdEndpoints, linkerdMirror } from '../../../support/linkerd-controller.ts';
import { planReport, type PlanReport, planSummary } from '../../../../synth/commands/plan/report.ts';
import { linkspan, type Outcome } from '../../linkspan.ts';

const PORTS = [{ name: 'http', port: 80, targetPort: 8080 }];
const WEST = link('west', { enableHeadlessServices: true });

/** Documents without aliases. */
const yaml = (...objects: readonly object[]): string =>
  Yaml.stringify(...(JSON.parse(JSON.stringify(objects)) as object[]));

/** As a target sends it. */
const stored = (object: ObjectRef, at = '2026-01-01T00:00:00Z'): ObjectRef => {
  const { namespace: within, name } = object.metadata;
  const metadata = { uid: `${object.kind}-${name}`, resourceVersion: '7', creationTimestamp: at, ...object.metadata };
  return { ...object, metadata: { ...metadata, ...(within !== undefined && { namespace: within }) } };
};

const TARGET = [
  service('web', { labels: EXPORTED }),
  slice('web'),
  service('old', { labels: EXPORTED, ports: [{ name: 'http', port: 81, targetPort: 8080 }] }),
  slice('old'),
  service('db', { labels: EXPORTED, headless: true }),
  statefulSlice('db', ['db-0']),
  service('flat', { labels: EXPORTED_FLAT }),
  service('taken', { labels: EXPORTED }),
  service('away', { labels: EXPORTED, namespace: 'nowhere' }),
  service('n'.repeat(60), { labels: EXPORTED }),
].map((object) => stored(object));

const policed = (importPolicy: object): ObjectRef =>
  link('west', { enableHeadlessServices: true, probeSpec: undefined, importPolicy });

/** With an address, as the API server stores it. */
const addressed = (object: ObjectRef): ObjectRef => {
  const { spec } = object as { readonly spec?: object };
  return { ...object, spec: { clusterIP: '10.96.0.9', ...spec } } as ObjectRef;
};

const GONE = { name: 'gone', namespace: 'shop' };
const SOURCE = [
  namespace('shop'),
  namespace(LINKS_NAMESPACE),
  service('taken-west'),
  addressed(linkerdMirror('west', { name: 'old', namespace: 'shop' }, PORTS)),
  linkerdEndpoints('west', { name: 'old', namespace: 'shop' }, PORTS, ['203.0.113.10']),
  linkerdMirror('west', GONE, PORTS),
  linkerdEndpoints('west', GONE, PORTS, ['203.0.113.10']),
].map((object) => stored(object));

describe('linkspan plan', () => {
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'linkspan-plan-'));
    await Promise.all([mkdir(join(directory, 'east')), mkdir(join(directory, 'empty'))]);
    const list = (items: readonly object[]): string => yaml({ apiVersion: 'v1', kind: 'List', items });
    await Promise.all(
      Object.entries({
        // One file for each kind, as documents; a list of one kind; a list of all.
        'east/namespaces.yaml': yaml(...SOURCE.slice(0, 2)),
        'east/rest.json': JSON.stringify({ apiVersion: 'v1', kind: 'List', items: SOURCE.slice(2) }),
        'west.yaml': list(TARGET),
        'moved.yaml': yaml(link('west', { targetClusterName: 'north' })),
        'served.yaml': list([...SOURCE, stored(WEST), LEASE]),
        'link.yaml': yaml(WEST),
        'policed.yaml': yaml(policed({ names: ['o*', 'w*'], approval: 'required', approved: ['shop/web'] })),
        'closed.yaml': yaml(policed({ namespaces: ['till'] })),
        'bare.yaml': list(SOURCE.slice(0, 2)),
        'two.yaml': yaml(WEST, link('north')),
        'invalid.yaml': yaml(link('west', { gatewayPort: 'none' })),
        'elsewhere.yaml': yaml(link('west', {}, { namespace: 'other' })),
        'secret.yaml': yaml(credentials('west', 'a-very-secret-token')),
        'with-garbage.yaml': yaml(WEST, credentials('west', 'a-very-secret-token')),
        'broken.yaml': 'a: [',
        'nameless.yaml': 'kind: Link\napiVersion: v1\n',
        'settings.yaml': list([...SOURCE, OPERATOR(['operator', '--endpoints=slices'])]),
        'folder.yaml': yaml(WEST, OPERATOR(['operator', '--endpoints=slices'])),
        'refused.yaml': list([...SOURCE, OPERATOR(['operator', '--endpoints=maybe'])]),
      }).map(([name, text]) => writeFile(join(directory, name), text)),
    );
  });
  afterAll(() => rm(directory, { recursive: true }));

  const plan = (...args: readonly string[]): Promise<Outcome> => linkspan(directory, 'plan', ...args);
  const DUMPS = ['--source-dump=east', '--target-dump=west.yaml'];

  test('prints a table of what would change, with conflicts, and exits 2', async () => {
    const { code, stdout, stderr } = await plan('-f', 'link.yaml', ...DUMPS);
    expect(stderr).not.toContain('error:');
    expect(stdout.replaceAll(/ {3,}/g, '  ').split('\n')).toEqual([
      'ACTION  KIND  NAMESPACE/NAME  REASON',
      `create  Service  ${LINKS_NAMESPACE}/probe-west  probe of the gateway of Link west`,
      'create  Service  shop/db-0-west  shop/db is exported by west',
      'create  Service  shop/db-west  shop/db is exported by west',
      'create  Service  shop/flat-west  shop/flat is exported by west',
      'delete  Service  shop/gone-west  shop/gone is not exported by west',
      'change  Service  shop/old-west  differs in spec.ports',
      'create  Service  shop/web-west  shop/web is exported by west',
      `create  Endpoints  ${LINKS_NAMESPACE}/probe-west  probe of the gateway of Link west`,
      'create  Endpoints  shop/db-0-west  shop/db is exported by west',
      'create  Endpoints  shop/db-west  shop/db is exported by west',
      'delete  Endpoints  shop/gone-west  shop/gone is not exported by west',
      'create  Endpoints  shop/web-west  shop/web is exported by west',
      expect.stringMatching(/^refuse {2}Service {2}nowhere\/away-west {2}MissingNamespace: /),
      expect.stringMatching(/^refuse {2}Service {2}shop\/n+-west {2}InvalidName: /),
      expect.stringMatching(/^refuse {2}Service {2}shop\/taken-west {2}NameConflict: Service shop\/taken-west exists/),
      '',
    ]);
    expect(stderr).toContain('9 to create, 1 to change, 2 to delete; 3 would not be mirrored');
    expect(code).toBe(2);
  });

  test('has whole objects in JSON, and leaves out what only an API server gives', async () => {
    const { stdout } = await plan('-f', 'link.yaml', ...DUMPS, '-o', 'json');
    const { changes } = JSON.parse(stdout) as PlanReport;
    const of = (kind: string, name: string) => changes.find((each) => each.kind === kind && each.name === name)!;
    expect(of('Endpoints', 'db-west').after).toMatchObject({
      subsets: [{ addresses: [{ hostname: 'db-0', ip: '(assigned)' }] }],
    });
    expect(of('Service', 'web-west').after).toMatchObject({ spec: { clusterIP: '(assigned)' } });
    expect(of('Service', 'web-west').after?.metadata).not.toHaveProperty('uid');
    expect(of('Service', 'old-west').differences).toMatchObject([
      { path: 'spec.ports', before: [{ port: 80 }], after: [{ port: 81 }] },
    ]);
    expect(of('Service', 'gone-west')).toMatchObject({ action: 'delete', link: 'west', service: 'shop/gone' });
  });

  test('deletes what a Link has left that names another cluster (E5)', async () => {
    const { stdout } = await plan('-f', 'moved.yaml', '--source-dump=served.yaml', '--target-dump=west.yaml');
    expect(stdout).toMatch(/delete +Service +shop\/old-west +shop\/old is not exported by west/);
    expect(stdout).toMatch(/create +Service +shop\/old-north/);
  });

  test('says what a policy keeps away, and why what it takes away goes (N1, N2)', async () => {
    const { stdout, stderr } = await plan('-f', 'policed.yaml', ...DUMPS);
    const excluded = (name: string) =>
      new RegExp(`exclude +Service +shop/${name}-west +NotAdmitted: the Link takes no`);
    expect(stdout).toMatch(excluded('db'));
    expect(stdout).toMatch(/delete +Service +shop\/old-west +WaitingForApproval: it waits until it is approved/);
    expect(stdout).toMatch(
      /wait +Service +shop\/old-west +WaitingForApproval: .*linkspan approve shop\/old --from west/,
    );
    expect(stdout).toMatch(/create +Service +shop\/web-west +shop\/web is exported by west/);
    expect(stderr).toContain('5 excluded by the policy of Link west; 1 waiting for approval by Link west');
    const { stdout: json } = await plan('-f', 'policed.yaml', ...DUMPS, '-o', 'json');
    const { notAdmitted, refused } = JSON.parse(json) as PlanReport;
    expect(notAdmitted).toMatchObject([{ link: 'west', count: 5, waitingForApproval: 1 }]);
    expect(refused).toEqual([]);
  });

  test('exits 0 where a policy keeps everything away: that is what its Link wants', async () => {
    const { code, stderr } = await plan('-f', 'closed.yaml', '--source-dump=bare.yaml', '--target-dump=west.yaml');
    expect(stderr).toContain('7 excluded by the policy of Link west');
    expect(code).toBe(0);
  });

  test('plans with the settings of the operator that is installed', async () => {
    const { stdout, stderr } = await plan('-f', 'link.yaml', '--source-dump=settings.yaml', '--target-dump=west.yaml');
    expect(stderr).not.toContain('no operator is installed');
    expect(stdout).toMatch(/create +EndpointSlice +shop\/web-west/);
    expect(stdout).not.toMatch(/create +Endpoints/);
  });

  test('plans with the settings of the operator in the file, which come with the Links', async () => {
    const { stdout, stderr } = await plan('-f', 'folder.yaml', ...DUMPS);
    expect(stderr).not.toContain('no operator is installed');
    expect(stdout).toMatch(/create +EndpointSlice +shop\/web-west/);
    expect(stdout).not.toMatch(/create +Endpoints/);
  });

  test.each([
    [['-f', 'nope.yaml'], '--file nope.yaml: cannot be read: ENOENT'],
    [['-f', 'broken.yaml'], 'broken.yaml: '],
    [['-f', 'nameless.yaml'], 'holds a document without apiVersion, kind or metadata.name'],
    [['-f', 'secret.yaml', ...DUMPS], 'secret.yaml: holds no Link'],
    [['-f', 'invalid.yaml', ...DUMPS], 'Link linkerd-multicluster/west of invalid.yaml: spec.gatewayPort: "none"'],
    [['-f', 'elsewhere.yaml', ...DUMPS], 'Link other/west of elsewhere.yaml: is not in linkerd-multicluster'],
    [['-f', 'two.yaml', ...DUMPS], '--target-dump: names one target, and two.yaml holds 2 Links'],
    [['-f', 'link.yaml', '--source-dump=empty'], '--source-dump empty: has no file .yaml, .yml or .json'],
    [
      ['-f', 'link.yaml', '--source-dump=east'],
      'Secret linkerd-multicluster/cluster-credentials-west of east: not found',
    ],
    [['-f', 'with-garbage.yaml', '--source-dump=east'], 'cluster-credentials-west of east: '],
    [
      ['-f', 'link.yaml', '--source-dump=refused.yaml', '--target-dump=west.yaml'],
      'linkspan-operator of refused.yaml: --endpoints',
    ],
    [['-f', 'link.yaml', '--kubeconfig=nope'], 'kubeconfig nope cannot be read'],
    [['-f', 'link.yaml', '-o', 'text'], "argument 'text' is invalid"],
    [[], "required option '-f, --file <file>' not specified"],
  ])('with %j exits 1: %s', async (args, message) => {
    const { code, stdout, stderr } = await plan(...args);
    expect(stderr).toContain(message);
    expect(stderr).not.toContain('a-very-secret-token');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  });
});

/** Records the cluster that the Link was served for. */
const LEASE = {
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: {
    name: 'service-mirror-write-west',
    namespace: LINKS_NAMESPACE,
    annotations: { 'linkspan.dev/target-cluster': 'west' },
  },
};

function OPERATOR(args: readonly string[]): ObjectRef {
  const manifest = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'linkspan-operator', namespace: LINKS_NAMESPACE },
    spec: { template: { spec: { containers: [{ name: 'controller', image: 'x', args }] } } },
  };
  return manifest;
}

test('counts what a policy excludes also where all of the first are kept, since their deletion is held', () => {
  const found = { notAdmitted: 12, waitingForApproval: undefined, first: [] };
  const link = { link: 'west', cluster: 'west', statuses: [], members: [], held: 12, someHeld: [], excess: undefined };
  const report = planReport({ changes: [], refused: [], findings: [], links: [{ ...link, notAdmitted: found }] });
  expect(report.notAdmitted).toEqual([{ link: 'west', count: 12, some: [] }]);
  expect(planSummary(report)).toContain('12 excluded by the policy of Link west');
});
