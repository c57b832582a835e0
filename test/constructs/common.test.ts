/** What all constructs do alike: where they take their namespace from, how they are found, and how errors come. */
import { ApiObject, App, Chart, Duration, JsonPatch, Testing } from 'cdk8s';
import { describe, expect, test } from 'vitest';
import {
  ArgoCd,
  ClusterSet,
  CredentialsReference,
  Gateway,
  Link,
  LinkCredentials,
  MirrorOperator,
  Monitoring,
  RemoteAccess,
} from '../../constructs/index.ts';
import { render } from '../../constructs/rendered/render.ts';
import { CERTIFICATE } from '../cluster/certificate.ts';
import { clusterSetProps } from '../support/cluster-file.ts';

const TARGET = {
  targetCluster: 'west',
  server: 'https://203.0.113.7:6443',
  caData: Buffer.from(CERTIFICATE).toString('base64'),
  copies: 'link',
} as const;

const IMAGE = { image: 'linkspan:1' };

describe('the chart around', () => {
  test('gives its namespace to a Link and to its credentials alike', () => {
    const chart = new Chart(new App(), 'chart', { namespace: 'mesh' });
    new Link(chart, 'Link', { targetCluster: 'west' });
    new LinkCredentials(chart, 'Credentials', { ...TARGET, token: 't' });
    new CredentialsReference(chart, 'Reference', { ...TARGET, targetCluster: 'north' });
    expect(Testing.synth(chart).map(({ metadata }) => (metadata as { namespace: string }).namespace)).toEqual([
      'mesh',
      'mesh',
      'mesh',
    ]);
  });

  test('gives a set of clusters its namespace and its labels, beside those of the set', () => {
    const chart = new Chart(new App(), 'chart', { namespace: 'mesh', labels: { team: 'net' } });
    const set = new ClusterSet(chart, 'Set', { ...clusterSetProps(2), labels: { env: 'prod' } });
    const objects = set.clusters.flatMap((cluster) => Testing.synth(cluster.chart) as unknown[]) as {
      readonly kind: string;
      readonly metadata: { readonly namespace?: string; readonly labels: object };
    }[];
    for (const { metadata } of objects) expect(metadata.labels).toMatchObject({ team: 'net', env: 'prod' });
    expect(objects.find(({ kind }) => kind === 'Link')?.metadata.namespace).toBe('mesh');
  });
});

test('the main object of a construct is its default child', () => {
  const app = new App();
  const chart = new Chart(app, 'chart');
  const operator = new MirrorOperator(chart, 'Operator', IMAGE);
  const clusterSet = new ClusterSet(app, 'Set', clusterSetProps(2));
  expect(ApiObject.of(new Monitoring(chart, 'Monitoring', { operator })).kind).toBe('ServiceMonitor');
  expect(ApiObject.of(new ArgoCd(app, 'ArgoCd', { clusterSet, repoUrl: 'https://git.example.com/a.git' })).kind).toBe(
    'AppProject',
  );
});

test('a time is a Duration, a Go duration or a number of seconds, everywhere the same', () => {
  const rendered = ([90, '90s', Duration.seconds(90)] as const).map((time) =>
    JSON.stringify(
      render((chart) => {
        new MirrorOperator(chart, 'Operator', { ...IMAGE, leaseDuration: time, gatewayResolvePeriod: time });
        new Link(chart, 'Link', { targetCluster: 'west', gatewayAddresses: ['gw'], probe: { period: time } });
      }),
    ),
  );
  expect(rendered[0]).toContain('--lease-duration=90s');
  expect(new Set(rendered).size).toBe(1);
});

describe('invalid props', () => {
  const compose = (): { readonly app: App; readonly chart: Chart } => {
    const app = new App();
    const chart = new Chart(app, 'shop');
    new Gateway(chart, 'Gateway', { replicas: -1 });
    new RemoteAccess(chart, 'Access', { sourceCluster: 'East' });
    return { app, chart };
  };

  test.each([
    ['App.synthYaml', ({ app }: ReturnType<typeof compose>) => app.synthYaml()],
    ['Testing.synth', ({ chart }: ReturnType<typeof compose>) => void Testing.synth(chart)],
  ])('of all constructs are reported at once by %s, each with its path in the tree', (_, synth) => {
    const composed = compose();
    expect(() => synth(composed)).toThrow(
      /\[shop\/Gateway\] Gateway linkerd-multicluster\/linkerd-gateway: replicas: -1 .+\n.+\[shop\/Access\] RemoteAccess .+: sourceCluster: "East"/,
    );
  });

  test('let the program go on to where all of them are reported', () => {
    const app = new App();
    const chart = new Chart(app, 'shop');
    const link = new Link(chart, 'Link', { targetCluster: 'West' });
    link.link.addJsonPatch(JsonPatch.add('/metadata/labels', { a: 'b' }));
    const { clusters } = new ClusterSet(chart, 'Set', { members: [{ name: 'a/b' }, { name: 'a/b' }], operator: IMAGE });
    for (const cluster of clusters) cluster.multicluster.namespace.metadata.addLabel('a', 'b');
    expect(clusters).toHaveLength(2);
    expect(() => app.synthYaml()).toThrow(/targetCluster: "West"[^]+members\[1\]\.name: "a\/b" must be unique/);
  });

  test('never quote a token', () => {
    const app = new App();
    const chart = new Chart(app, 'shop');
    new LinkCredentials(chart, 'Credentials', { ...TARGET, token: 123_456 as unknown as string });
    expect(() => app.synthYaml()).toThrow(/token: must be a string/);
    expect(() => app.synthYaml()).not.toThrow(/123456/);
  });
});
