/** Endpoints are never synthesized for Git but where a static mirror is asked for; the operator's own rendering is not Git. */
import { App, Chart, Testing } from 'cdk8s';
import { describe, expect, it } from 'vitest';
import { EndpointMirror } from '../../../../constructs/rendered/mirror/endpoint-mirror.ts';
import { FederatedService } from '../../../../constructs/rendered/federated/federated-service.ts';
import { GatewayProbe } from '../../../../constructs/rendered/mirror/gateway-probe.ts';
import { HeadlessMirror } from '../../../../constructs/rendered/mirror/headless-mirror.ts';
import { MirrorService } from '../../../../constructs/rendered/mirror/mirror-service.ts';
import { render } from '../../../../constructs/rendered/render.ts';
import { errorsOf } from '../../errors-of.ts';

const TARGET = { service: 'web', namespace: 'shop', targetCluster: 'west' };
const PORTS = [{ name: 'http', port: 80 }];
const GATEWAY = { addresses: ['203.0.113.10', '2001:db8::10'], port: 4143 };
const SUBSETS = { subsets: [{ addresses: [{ hostname: 'web-0', ip: '10.96.7.7' }], ports: PORTS }] };

interface Said {
  readonly static?: boolean;
  readonly kind?: 'endpoints' | 'slices';
}

const constructs: readonly (readonly [string, string, (chart: Chart, said: Said) => void])[] = [
  [
    'MirrorService',
    'shop/web-west',
    (chart, { kind, ...said }) =>
      new MirrorService(chart, 'mirror', { ...TARGET, ports: PORTS, endpoints: { ...GATEWAY, kind }, ...said }),
  ],
  [
    'HeadlessMirror',
    'shop/web-west',
    (chart, { kind, ...said }) =>
      new HeadlessMirror(chart, 'mirror', { ...TARGET, ports: PORTS, endpoints: { ...SUBSETS, kind }, ...said }),
  ],
  [
    'EndpointMirror',
    'shop/web-0-west',
    (chart, { kind, ...said }) => {
      const endpoints = { ...GATEWAY, kind };
      new EndpointMirror(chart, 'mirror', { ...TARGET, hostname: 'web-0', ports: PORTS, endpoints, ...said });
    },
  ],
  [
    'GatewayProbe',
    'linkerd-multicluster/probe-west',
    (chart, said) => new GatewayProbe(chart, 'probe', { link: 'west', targetCluster: 'west', ...GATEWAY, ...said }),
  ],
];

const chartWith = (make: (chart: Chart, said: Said) => void, said: Said = {}): Chart => {
  const chart = new Chart(new App(), 'east');
  make(chart, said);
  return chart;
};

const kindsOf = (chart: Chart): readonly string[] =>
  (Testing.synth(chart) as { readonly kind: string }[]).map(({ kind }) => kind);

describe.each(constructs)('a %s with endpoints', (_, name, make) => {
  it('is not synthesized, and the reason and the ways out are said', () => {
    expect(() => kindsOf(chartWith(make))).toThrow(
      `Endpoints ${name} must not be in Git: Argo CD leaves Endpoints out and says Synced all the same, and the Service ` +
        'would have nothing behind it (render a Link instead, and let the operator write the mirror; where no operator ' +
        'may run, set static: true, and read there what Argo CD must be told)',
    );
  });

  it('is synthesized if it is meant to be static', () => {
    expect(kindsOf(chartWith(make, { static: true }))).toEqual(['Service', 'Endpoints']);
  });

  it('is no different with EndpointSlices', () => {
    expect(() => kindsOf(chartWith(make, { kind: 'slices' }))).toThrow(`EndpointSlice ${name}-ipv4 must not be in Git`);
    expect(kindsOf(chartWith(make, { kind: 'slices', static: true }))).toContain('EndpointSlice');
  });

  it('is rendered in memory all the same, since that is applied as it is', () => {
    expect(render((chart) => make(chart, {})).map(({ kind }) => kind)).toEqual(['Service', 'Endpoints']);
  });
});

it('a FederatedService with slices is not synthesized, unless it is meant to be static', () => {
  const slice = { name: 'web-1', addressType: 'IPv4' as const, endpoints: [], ports: PORTS };
  const make = (said: Said, members: object): Chart =>
    chartWith(
      (chart) =>
        new FederatedService(chart, 'web', {
          ...{ service: 'web', namespace: 'shop', mode: 'gateway', ports: PORTS },
          ...members,
          ...said,
        }),
    );
  for (const members of [
    { members: [{ targetCluster: 'west', endpoints: { addresses: ['203.0.113.10'], port: 4143 } }] },
    { local: { slices: [slice] } },
  ]) {
    expect(() => kindsOf(make({}, members))).toThrow(/EndpointSlice shop\/web-federated\..* must not be in Git/);
    expect(kindsOf(make({ static: true }, members))).toEqual(['Service', 'EndpointSlice']);
  }
});

it('every endpoints object of an app is named at once', () => {
  const chart = new Chart(new App(), 'east');
  for (const service of ['web', 'db']) {
    new MirrorService(chart, service, { ...TARGET, service, ports: PORTS, endpoints: GATEWAY });
  }
  expect(() => kindsOf(chart)).toThrow(/shop\/web-west must not .*shop\/db-west must not /s);
});

it.each<readonly [string, (chart: Chart, said: Pick<Said, 'static'>) => void]>([
  ['MirrorService', (chart, said) => new MirrorService(chart, 'web', { ...TARGET, ports: PORTS, ...said })],
  ['HeadlessMirror', (chart, said) => new HeadlessMirror(chart, 'db', { ...TARGET, ports: PORTS, ...said })],
  [
    'EndpointMirror',
    (chart, said) => new EndpointMirror(chart, 'db-0', { ...TARGET, hostname: 'db-0', ports: PORTS, ...said }),
  ],
])('a %s without endpoints is for Git, and has nothing to be static', (_, make) => {
  expect(kindsOf(chartWith(make))).toEqual(['Service']);
  expect(errorsOf(() => chartWith(make, { static: true }))).toEqual(['static: true must not be set without endpoints']);
});
