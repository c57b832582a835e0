import { describe, expect, it } from 'vitest';

import { formatFieldErrors } from '../../../crds/index.ts';
import { parseClusterFile } from '../../../synth/cluster-file/cluster-file.ts';
import { clusterFile, clusterSetProps } from '../../support/cluster-file.ts';

interface NetworkPolicy {
  readonly spec: { readonly ingress: readonly { readonly from?: readonly object[] }[] };
}

const complaintsOf = (text: string): readonly string[] => {
  const read = parseClusterFile(text);
  return read.ok ? [] : read.errors.map((error) => formatFieldErrors([error]));
};

describe('a cluster file', () => {
  it.each([
    ['member-1', 'member-1', 'members[1].name: "member-1" must be unique'],
    ['West', 'member-0', 'members[0].name: "West" must be a valid DNS label'],
  ])('names the member whose name cannot be, whatever it stands for (%s, %s; L230)', (first, second, complaint) => {
    const members = [first, second].map((name, at) => `{name: ${name}, gatewayAddresses: [${'ab'[at]!}.example]}`);
    expect(complaintsOf(`members: [${members.join(', ')}]\noperator: {image: a/b:1}\n`).join('\n')).toContain(
      complaint,
    );
  });

  it('says what the props of a ClusterSet say, field by field', () => {
    const read = parseClusterFile(clusterFile(clusterSetProps(3)));
    expect(read.ok && read.value.clusterSet.pairs).toHaveLength(6);
  });

  it.each([
    ['by default anybody', '', [undefined]],
    [
      'nobody but the peers',
      ', networkPolicy: {from: [{ipBlock: {cidr: 10.0.0.0/8}}]}',
      [[{ ipBlock: { cidr: '10.0.0.0/8' } }]],
    ],
    ['anybody at all', ', networkPolicy: false', undefined],
  ])('lets %s connect to the operator', (_, field, peers) => {
    const read = parseClusterFile(
      'members: [{name: east}, {name: west, gatewayAddresses: [203.0.113.7]}]\n' +
        `topology: {type: pairs, pairs: [{source: east, target: west}]}\noperator: {image: "linkspan:1"${field}}\n`,
    );
    const policy = read.ok ? read.value.clusterSet.clusters[0]!.multicluster.operator!.networkPolicy : undefined;
    const ingress = (policy?.toJson() as NetworkPolicy | undefined)?.spec.ingress;
    expect({ ok: read.ok, peers: ingress?.map((rule) => rule.from) }).toEqual({ ok: true, peers });
  });

  it('has every operator monitored, if it says so', () => {
    const read = parseClusterFile(
      'members: [{name: east}, {name: west, gatewayAddresses: [203.0.113.7]}]\n' +
        'topology: {type: pairs, pairs: [{source: east, target: west}]}\noperator: {image: "linkspan:1"}\n' +
        'monitoring: {labels: {release: prometheus}, alerts: {PruneHeld: false, MirrorsFailed: {threshold: 5}}, dashboard: {folder: Mesh}}\n',
    );
    const [east, west] = read.ok ? read.value.clusterSet.clusters.map(({ multicluster }) => multicluster) : [];
    const rules = JSON.stringify(east?.monitoring?.alerts?.prometheusRule.toJson());
    expect(rules).toContain('> 5');
    expect(rules).not.toContain('PruneHeld');
    expect(east?.monitoring?.monitor?.serviceMonitor.metadata.getLabel('release')).toBe('prometheus');
    expect(east?.monitoring?.dashboard?.configMap.metadata.toJson()).toHaveProperty(
      'annotations.grafana_folder',
      'Mesh',
    );
    expect(west).toBeDefined();
    expect(west?.monitoring).toBeUndefined();
  });

  it('says what Argo CD is to do, and nothing of it unless asked', () => {
    const set = 'members: [{name: east, gatewayAddresses: [203.0.113.7]}]\noperator: {image: "linkspan:1"}\n';
    const plain = parseClusterFile(set);
    expect(plain.ok && plain.value.argoCd).toBeUndefined();

    const read = parseClusterFile(
      `${set}argoCd: {repoUrl: "https://git.example.com/a.git", path: "", destinations: {east: {name: e}}, automated: false}\n`,
    );
    const application = read.ok ? (read.value.argoCd?.applications.get('east')?.toJson() as unknown) : undefined;
    expect(application).toMatchObject({ spec: { source: { path: 'east' }, destination: { name: 'e' } } });
    expect(application).not.toHaveProperty('spec.syncPolicy.automated');
  });

  it.each([
    ['is no YAML', 'members: [', [/^it is not valid YAML: .* \(line 1\)$/]],
    ['has a field twice', 'flat: true\nflat: false\n', [/^it is not valid YAML: duplicated mapping key \(line 2\)$/]],
    ['is no map', '- east\n', [/^must be a map of fields \(write members: and operator:\)$/]],
    ['is empty', '# nothing\n', [/^it is not valid YAML: expected a document, but the input is empty/]],
    [
      'has fields of other names and types',
      'members: [{name: 1, gateways: []}]\noperator: {}\ntopology: {type: ring}\n',
      [
        /^members\[0\]\.gateways: is not a known field \(.+\)$/,
        /^members\[0\]\.name: 1 must be a string \(put it in quotes: "1"\)$/,
        /^topology\.type: "ring" must be one of full-mesh, hub-and-spokes, pairs$/,
        /^operator\.image: is required$/,
      ],
    ],
    [
      'asks of Argo CD and of the clusters what neither can be',
      'members: [{name: argocd}, {name: West}]\noperator: {image: "linkspan:1"}\ntopology: {type: pairs, pairs: [{source: argocd, target: West}]}\n' +
        'argoCd: {repoUrl: "https://u:p@git.example.com/a.git", path: ../a, destinations: {north: {name: n}, West: {}}}\n',
      [
        /^members\[1\]\.name: "West" must be a valid DNS label \(.+\)$/,
        /^members\[1\]\.gatewayAddresses: is required: .+$/,
        /^members\[0\]\.name: "argocd" must not be argocd, the folder of Argo CD's own objects \(rename it\)$/,
        /^argoCd\.repoUrl: must not contain a password \(register the repository with Argo CD\)$/,
        /^argoCd\.path: "\.\.\/a" must be a folder of the repository \(.+\)$/,
        /^argoCd\.destinations\.north: "north" must be the name of a member \(one of argocd, West\)$/,
        /^argoCd\.destinations\.West: \{\} must have exactly one of name and server$/,
      ],
    ],
    [
      'sets alerts that there are not',
      'members: [{name: east}, {name: west, gatewayAddresses: [203.0.113.7]}]\noperator: {image: "linkspan:1"}\n' +
        'topology: {type: pairs, pairs: [{source: east, target: west}]}\nmonitoring: {alerts: {Doom: {for: 5m}, PruneHeld: {for: soon}}}\n',
      [
        /^monitoring\.alerts\.Doom: must be the name of an alert \(one of LinkNotReady, .+\)$/,
        /^monitoring\.alerts\.PruneHeld\.for: "soon" must be a valid Prometheus duration \(.+\)$/,
      ],
    ],
    [
      'narrows the NetworkPolicy by what none knows',
      'members: [{name: east}]\noperator: {image: "linkspan:1", networkPolicy: {from: [{podSelektor: {}}]}}\n',
      [/^operator\.networkPolicy\.from\[0\]\.podSelektor: is not a known field \(.+\)$/],
    ],
    [
      'wants a NetworkPolicy without saying for whom',
      'members: [{name: east}]\noperator: {image: "linkspan:1", networkPolicy: true}\n',
      [/^operator\.networkPolicy: true must be false, or an object$/],
    ],
    [
      'has values that no cluster can have',
      'members: [{name: East, networks: [ten]}]\noperator: {image: "linkspan:1"}\ntopology: {type: pairs}\n',
      [
        /^topology\.pairs: is required when type is pairs \(at least one\)$/,
        /^members\[0\]\.name: "East" must be a valid DNS label \(.+\)$/,
        /^members\[0\]\.networks\[0\]: "ten" must be a network in CIDR notation \(as in .+\)$/,
      ],
    ],
  ])('that %s is refused for all that is wrong, by path', (_, text, complaints) => {
    const said = complaintsOf(text);
    expect(said).toHaveLength(complaints.length);
    for (const complaint of complaints)
      expect(
        said.some((each) => complaint.test(each)),
        String(said),
      ).toBe(true);
  });
});
