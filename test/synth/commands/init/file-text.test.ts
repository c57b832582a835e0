/** The cluster file that `linkspan init` writes: always one that can be rendered, with what is open in comments. */
import { describe, expect, test } from 'vitest';
import { parseYaml } from '../../../../operator/kube/access/yaml.ts';
import { parseClusterFile } from '../../../../synth/cluster-file/cluster-file.ts';
import { clusterName, clusterNames } from '../../../../synth/commands/init/cluster-name.ts';
import { clusterFileText } from '../../../../synth/commands/init/file-text.ts';
import type { Surveyed } from '../../../../synth/commands/init/survey.ts';
import { CERTIFICATE } from '../../../cluster/certificate.ts';

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

const read = (text: string): unknown => {
  const checked = parseClusterFile(text);
  expect(checked, text).toMatchObject({ ok: true });
  return parseYaml(text);
};

test('what the clusters have answered is written, and can be rendered', () => {
  const { text, decisions } = clusterFileText([{ ...east, gatewayAddresses: ['203.0.113.5'] }], {
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
  const { text, decisions } = clusterFileText([east, silent], OPTIONS);
  expect(read(text)).toMatchObject({
    members: [{ name: 'east' }, { name: 'west', gatewayAddresses: ['gateway.west.example.com'] }],
    operator: { image: 'registry.example.com/linkspan:0.1.0' },
  });
  expect(decisions).toEqual([
    'members[1]: clusterDomain and trustDomain, unless both are cluster.local',
    'members[1].gatewayAddresses: the addresses at which other clusters reach its gateway',
    'operator.image: an image that your clusters can pull: none is published yet',
  ]);
  expect(text.match(/# DECIDE: /g)).toHaveLength(decisions.length);
  expect(text).toContain(
    '# Context west - name: injected, https://127.0.0.1:1; not asked: connect ECONNREFUSED 127.0.0.1:1\n',
  );
});

test('namespaces other than the defaults, and names that YAML would read otherwise', () => {
  const { text } = clusterFileText([{ ...east, name: '123' }], {
    ...OPTIONS,
    namespace: 'mesh',
    linkerdNamespace: 'null',
  });
  expect(read(text)).toMatchObject({ members: [{ name: '123' }], namespace: 'mesh', linkerdNamespace: 'null' });
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
