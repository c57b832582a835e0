/** The cluster file that `linkspan init` writes: always one that can be rendered, with what is open in comments. */
import { describe, expect, test } from 'vitest';
import { parseYaml } from '../../../../operator/kube/access/yaml.ts';
import { parseClusterFile } from '../../../../synth/cluster-file/cluster-file.ts';
import { clusterName, clusterNames } from '../../../../synth/commands/init/cluster-name.ts';
import { composition } from '../../../../synth/commands/init/composition.ts';
import { clusterFileText } from '../../../../synth/commands/init/file-text.ts';
import { type Found, NOTHING } from '../../../../synth/commands/init/found.ts';
import type { Surveyed } from '../../../../synth/commands/init/survey.ts';
import { CERTIFICATE } from '../../../cluster/certificate.ts';
import { link } from '../../../support/builders.ts';

const OPTIONS = {
  namespace: 'linkerd-multicluster',
  linkerdNamespace: 'linkerd',
  image: undefined,
  exampleImage: 'registry.example.com/linkspan:0.1.0',
};

const caData = Buffer.from(CERTIFICATE).toString('base64');

const east: Surveyed = {
  context: 'east',
  name: 'east',
  server: 'https://api.east.example.com:6443',
  apiServer: { url: 'https://api.east.example.com:6443', caData, tlsServerName: 'kubernetes' },
  domains: { clusterDomain: 'east.local', trustDomain: 'east.example' },
  gatewayAddresses: ['203.0.113.5', '2001:db8::5'],
  silence: undefined,
};
const silent: Surveyed = {
  context: 'west\n  - name: injected',
  name: 'west',
  server: 'https://127.0.0.1:1',
  apiServer: { problem: 'https://127.0.0.1:1 leads to this machine' },
  domains: undefined,
  gatewayAddresses: [],
  silence: 'connect ECONNREFUSED\n127.0.0.1:1',
};

/** The file of clusters, and of what runs in them. */
const fileOf = (
  members: readonly Surveyed[],
  options: Parameters<typeof clusterFileText>[1],
  found: readonly Found[] = [],
) =>
  clusterFileText(
    composition(
      members,
      members.map((_, index) => found[index] ?? NOTHING),
      options,
    ),
    options,
  );

const loaded = (text: string) => {
  const checked = parseClusterFile(text);
  if (!checked.ok) expect.fail(JSON.stringify(checked.errors));
  return checked.value;
};

const read = (text: string): unknown => {
  const checked = parseClusterFile(text);
  expect(checked, text).toMatchObject({ ok: true });
  return parseYaml(text);
};

test('what the clusters have answered is written, and can be rendered', () => {
  const { text, decisions } = fileOf([{ ...east, gatewayAddresses: ['203.0.113.5'] }], {
    ...OPTIONS,
    image: 'a/b:1',
  });
  expect(decisions).toEqual([]);
  expect(read(text)).toEqual({
    members: [
      {
        name: 'east',
        clusterDomain: 'east.local',
        trustDomain: 'east.example',
        gatewayAddresses: ['203.0.113.5'],
        apiServer: { url: 'https://api.east.example.com:6443', caData, tlsServerName: 'kubernetes' },
      },
    ],
    operator: { image: 'a/b:1' },
  });
});

test('what they have not is left to the user, by a comment and a note', () => {
  const { text, decisions } = fileOf([east, silent], OPTIONS);
  expect(read(text)).toMatchObject({
    members: [{ name: 'east' }, { name: 'west', gatewayAddresses: ['gateway.west.example.com'] }],
    operator: { image: 'registry.example.com/linkspan:0.1.0' },
  });
  expect(decisions).toEqual([
    'members[1]: clusterDomain and trustDomain, unless both are cluster.local',
    'members[1].gatewayAddresses: the addresses at which other clusters reach its gateway',
    'operator.image: an image that your clusters can pull',
  ]);
  expect(text.match(/# DECIDE: /g)).toHaveLength(decisions.length);
  expect(text).toContain(
    '# Context west - name: injected, https://127.0.0.1:1; not asked: connect ECONNREFUSED 127.0.0.1:1\n',
  );
});

test('namespaces other than the defaults, and names that YAML would read otherwise', () => {
  const { text } = fileOf([{ ...east, name: '123' }], {
    ...OPTIONS,
    namespace: 'mesh',
    linkerdNamespace: 'null',
  });
  expect(read(text)).toMatchObject({ members: [{ name: '123' }], namespace: 'mesh', linkerdNamespace: 'null' });
});

const running = (spec: object, server: string | undefined, name = 'west'): Found => ({
  ...NOTHING,
  operator: { image: 'a/b:2', credentialsSecrets: 'any' },
  links: [{ link: link(name, spec), server, isFlat: false }],
});

describe('what runs', () => {
  const west = { ...silent, silence: undefined, context: 'admin@w', name: 'w', server: 'https://api.west:6443' };
  const north = { ...west, context: 'north', name: 'north', server: 'https://api.north:6443' };
  const compose = (...found: readonly Found[]) =>
    composition([east, west, north], [...found, NOTHING, NOTHING].slice(0, 3), OPTIONS);

  test('is in the file by the names that Links have for clusters, and the way round that they lead', () => {
    const { members, pairs, operator, notes } = compose(running({}, west.server));
    expect(members.map(({ name }) => name)).toEqual(['east', 'west']);
    expect(pairs).toEqual([{ source: 'east', target: 'west' }]);
    expect(operator).toMatchObject({ image: 'a/b:2' });
    expect(notes).toEqual(['context north is left out: no Link leads to it or from it']);
  });

  test('has the name that Links call it, though a cluster that is left out has it, too (L231)', () => {
    const old = { ...north, context: 'west', name: 'west' };
    const { members, notes } = composition([east, west, old], [running({}, west.server), NOTHING, NOTHING], OPTIONS);
    expect(members.map(({ name }) => name)).toEqual(['east', 'west']);
    expect(notes).toEqual(['context west is left out: no Link leads to it or from it']);
  });

  test('has another name where one that is in the file has it: a note says so (L231)', () => {
    const links = [...running({}, west.server).links, ...running({}, north.server, 'old').links];
    const old = { ...north, name: 'west' };
    const { members, notes } = composition(
      [east, west, old],
      [{ ...running({}, ''), links }, NOTHING, NOTHING],
      OPTIONS,
    );
    expect(members.map(({ name }) => name)).toEqual(['east', 'w', 'old']);
    expect(notes.join()).toContain('Link west of east calls its target west, which the file calls w');
  });

  test('has pods restricted only if all namespaces restrict them: where only some do, a note says so (L251)', () => {
    const installed = (podSecurity?: 'restricted' | 'privileged'): Found => ({
      ...NOTHING,
      installed: { podSecurity },
    });
    const linked: Found = { ...running({}, west.server), installed: { podSecurity: 'restricted' } };
    const inAll = compose(linked, installed('restricted'), installed('privileged'));
    expect(inAll.set).toEqual({ podSecurity: 'restricted' });
    expect(inAll.notes.join()).not.toContain('restricted');
    for (const other of [installed('privileged'), installed(), NOTHING]) {
      const { set, notes } = compose(linked, other, installed('restricted'));
      expect(set).toEqual({});
      expect(notes).toContain(
        'the Pod Security Standard of the namespace is restricted in context east alone: the file has privileged for all',
      );
    }
    expect(compose(running({}, west.server), NOTHING, installed('restricted'))).toMatchObject({ set: {} });
  });

  test('has a gateway on ports of the nodes as its Service has it, whatever it was installed as (L252)', () => {
    const onNodes = { ...west, nodePorts: { nodePort: 30_143, probeNodePort: 30_191 } };
    const service = { type: 'NodePort', nodePort: 30_143, probeNodePort: 30_191 };
    const gatewayOf = (installed: Found['installed'], ...links: readonly Found[]) =>
      composition([east, onNodes], [links[0] ?? NOTHING, { ...NOTHING, installed }], OPTIONS).members[1]?.gateway;
    const linked = running({ gatewayPort: '30143' }, west.server);
    expect(gatewayOf(undefined, linked)).toEqual({ service });
    expect(gatewayOf({ gateway: false }, linked)).toEqual({ service });
    expect(gatewayOf({ gateway: { replicas: 2, service: { port: 4143 } } }, linked)).toEqual({
      replicas: 2,
      service: { port: 4143, ...service },
    });
    expect(gatewayOf(undefined)).toEqual({ service });
  });

  test('is not in the file where its target is none of the contexts: a note says so', () => {
    const { pairs, notes } = compose(running({}, 'https://elsewhere:6443', 'south'));
    expect(pairs).toBeUndefined();
    expect(notes).toEqual([
      'Link south of east is left out: its target south is no cluster of the contexts; name its context as well',
    ]);
  });

  test('has what each Link has of its own, with the addresses that Links have of a gateway', () => {
    const { text } = fileOf([east, west], OPTIONS, [
      running({ federation: 'gateway', excludedLabels: ['team'], enableHeadlessServices: true }, west.server),
    ]);
    expect(read(text)).toMatchObject({
      members: [{ name: 'east' }, { name: 'west', gatewayAddresses: ['203.0.113.10'] }],
      topology: { type: 'pairs', pairs: [{ source: 'east', target: 'west' }] },
      links: [{ source: 'east', target: 'west', excludedLabels: ['team'], enableHeadlessServices: true }],
      operator: { image: 'a/b:2', credentialsSecrets: 'any' },
    });
    expect(text).toContain('# Found: Link west in context east\n');
  });

  test('has for each cluster who may come through its gateway, also where the cluster has no Links', () => {
    const guarded = (access: object): Found => ({
      ...NOTHING,
      operator: { image: 'a/b:2', clusterDomain: 'w.local', trustDomain: 'w.example', ...access },
      installed: { sourceNetworks: ['198.51.100.0/26'] },
    });
    const found = [
      running({}, west.server),
      guarded({ gatewayAccess: 'clients', gatewayTcp: 'clients' }),
      guarded({ gatewayAccess: 'exported' }),
    ];
    const members = [east, { ...west, gatewayAddresses: ['203.0.113.10'] }, north];
    const { text } = fileOf(members, OPTIONS, found);
    expect(read(text)).toMatchObject({
      members: [{ name: 'east' }, { name: 'west', gatewayAccess: 'clients', gatewayTcp: 'clients' }],
    });
    const { clusterSet } = loaded(text);
    const guardedWest = clusterSet.clusters.find(({ name }) => name === 'west')!.multicluster;
    expect(guardedWest.gatewayPolicy?.authorizationPolicy).toBeUndefined();
    expect(guardedWest.operator).toBeDefined();

    const { members: composed, operator, notes } = compose(...found);
    expect(composed.map(({ gatewayAccess }) => gatewayAccess)).toEqual([undefined, 'clients']);
    expect(operator).toEqual({ image: 'a/b:2', credentialsSecrets: 'any' });
    expect(notes).toEqual([
      'context north is left out: no Link leads to it or from it',
      'the gateway of context admin@w admits only 198.51.100.0/26: write them as networks of the members that use it, or it is opened to all networks',
      'the operator of context north is not in the file, as its cluster is not',
      'the operator of context admin@w differs in credentialsSecrets: the file has one for all, as in context east',
    ]);
  });

  test('keeps the operator of a cluster without Links, by a field of its member, and has its settings', () => {
    const idle: Found = { ...NOTHING, operator: { image: 'a/b:2', endpoints: 'slices' } };
    const members = [east, { ...west, gatewayAddresses: ['203.0.113.10'] }];
    const { text } = fileOf(members, OPTIONS, [running({}, west.server), idle]);
    expect(parseYaml(text)).toMatchObject({ members: [{ name: 'east' }, { name: 'west', operator: true }] });
    expect(loaded(text).clusterSet.clusters.map(({ multicluster }) => multicluster.operator !== undefined)).toEqual([
      true,
      true,
    ]);
    const { members: composed, notes } = compose(running({}, west.server), idle);
    expect(composed.map(({ operator }) => operator)).toEqual([undefined, true]);
    expect(notes).toEqual([
      'context north is left out: no Link leads to it or from it',
      'the operator of context admin@w differs in credentialsSecrets, endpoints: the file has one for all, as in context east',
    ]);
  });

  test('has one Link from a cluster to another, and notes the second, as there is while a cluster gets another name (E5)', () => {
    const links = [running({}, west.server), running({}, west.server, 'west-2')].flatMap((each) => each.links);
    const renamed = { ...running({}, west.server), links };
    const { text } = fileOf([east, west], OPTIONS, [renamed]);
    expect(read(text)).toMatchObject({ topology: { type: 'pairs', pairs: [{ source: 'east', target: 'west' }] } });
    const { pairs, members, notes } = compose(renamed, NOTHING, running({}, west.server));
    expect(members.map(({ name }) => name)).toEqual(['east', 'west', 'north']);
    expect(pairs).toEqual(['east', 'north'].map((source) => ({ source, target: 'west' })));
    expect(notes).toEqual([
      'Link west-2 of east is left out: Link west leads to the same cluster, and a set has one Link from a cluster to another',
    ]);
  });

  test('of two operators with different settings the file has one, and a note names the fields', () => {
    const other = { ...running({}, east.server, 'east'), operator: { image: 'a/b:2', endpoints: 'slices' } };
    expect(compose(running({}, west.server), other).notes).toContain(
      'the operator of context admin@w differs in credentialsSecrets, endpoints: the file has one for all, as in context east',
    );
  });
});

describe('the name of a cluster, by its context', () => {
  test.each([
    ['east', 'east'],
    ['kind-east', 'kind-east'],
    ['admin@east', 'east'],
    ['gke_my-project_europe-west1_east', 'east'],
    ['arn:aws:eks:eu-west-1:1234:cluster/east', 'east'],
    ['East_1', 'east-1'],
    ['default/api-east-example-com:6443/kube:admin', 'kube-admin'],
    ['@', 'cluster'],
    ['x'.repeat(300), 'x'.repeat(31)],
  ])('%s: %s', (context, name) => {
    expect(clusterName(context)).toBe(name);
  });

  test('is one of its own', () => {
    expect(clusterNames(['admin@east', 'dev@east', 'east-2', 'east'])).toEqual([
      'east',
      'east-2',
      'east-2-2',
      'east-3',
    ]);
  });
});
