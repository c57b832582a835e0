/** Values files of Linkerd's chart: each key is taken, ignored with a reason, or refused. */
import { describe, expect, test } from 'vitest';
import { Multicluster } from '../../../../constructs/cluster-set/multicluster.ts';
import { render } from '../../../../constructs/rendered/render.ts';
import { CHART_KEYS } from '../../../../synth/commands/install/chart-keys.ts';
import { mergedProps, readValues, type Values } from '../../../../synth/commands/install/values.ts';

const lines = (values: Values): readonly string[] =>
  readValues(values).errors.map(({ path, reason, remedy }) => `${path}: ${reason} (${remedy ?? ''})`);

/** A tree of maps in which the key has a value. */
const treeOf = (key: string, value: unknown): Values => {
  const [first = '', ...rest] = key.split('.');
  const inner = rest.length === 0 ? value : treeOf(rest.join('.'), value);
  return first.endsWith('[]') ? { [first.slice(0, -2)]: [inner] } : { [first]: inner };
};

test.each(CHART_KEYS)('%s is a key that is taken, or ignored with a reason', (key) => {
  const reads = ['a value', false].map((value) => readValues(treeOf(key, value)));
  const says = reads.flatMap(({ props, labels, warnings, errors }) => [
    ...Object.keys(props),
    ...Object.keys(labels),
    ...warnings,
    ...errors.map(({ reason }) => reason),
  ]);
  expect(says).not.toEqual([]);
  expect(says.filter((each) => each.includes('is not a value of'))).toEqual([]);
  expect(says.filter((each) => / is ignored: ?$/.test(each))).toEqual([]);
});

test('the values that differ from the defaults become props', () => {
  const { props, labels, warnings, errors } = readValues({
    gateway: { replicas: 5, serviceType: 'NodePort', nodePort: 30_143, probe: { seconds: 5 }, serviceAnnotations: {} },
    controllerDefaults: { logLevel: 'debug', logFormat: 'plain', resources: { cpu: { request: '50m', limit: '' } } },
    enablePodAntiAffinity: true,
    cniEnabled: true,
    identityTrustDomain: 'example.com',
    imagePullSecrets: [{ name: 'registry' }],
    serviceMirrorAdditionalEnv: [{ name: 'HTTPS_PROXY', value: 'http://proxy' }],
    commonLabels: { team: 'mesh' },
  });
  expect({ warnings, errors, labels }).toEqual({ warnings: [], errors: [], labels: { team: 'mesh' } });
  expect(props).toEqual({
    podSecurity: 'restricted',
    trustDomain: 'example.com',
    gateway: {
      replicas: 5,
      probePeriod: 5,
      antiAffinity: 'required',
      imagePullSecrets: ['registry'],
      service: { type: 'NodePort', nodePort: 30_143 },
    },
    operator: {
      logLevel: 'debug',
      logFormat: 'pretty',
      resources: { requests: { cpu: '50m' } },
      antiAffinity: 'required',
      imagePullSecrets: ['registry'],
      env: { HTTPS_PROXY: 'http://proxy' },
    },
  });
  const operator = { ...props.operator, image: 'a/b:1' };
  const rendered = render((chart) => {
    new Multicluster(chart, 'multicluster', { ...props, operator });
  });
  expect(rendered).not.toEqual([]);
});

test('what is empty, and what is as the chart has it by default, changes nothing and is not worth a word', () => {
  const read = readValues({
    gateway: { name: 'linkerd-gateway', enabled: true, nodePort: '', nodeSelector: {}, tolerations: [], probe: null },
    proxyOutboundPort: 4140,
    linkerdNamespace: 'linkerd',
    createNamespaceMetadataJob: true,
    remoteMirrorServiceAccount: true,
    remoteMirrorServiceAccountName: 'linkerd-service-mirror-remote-access-default',
    nodeSelector: { 'kubernetes.io/os': 'linux' },
    enablePodAntiAffinity: false,
    cniEnabled: false,
    enablePSP: false,
    controllerDefaults: { retryLimit: 3, enablePprof: false },
  });
  expect(read).toMatchObject({ props: {}, warnings: [], errors: [] });
});

test('what has no meaning here is named, with the reason and what to do instead', () => {
  const { warnings } = readValues({
    gateway: { name: 'gate' },
    linkerdNamespace: 'l5d',
    controllerDefaults: { image: { name: 'cr.l5d.io/linkerd/controller' } },
    controllers: [{ link: { ref: { name: 'west' } }, logLevel: 'debug', gateway: { enabled: true } }],
    localServiceMirror: { replicas: 2, logLevel: 'debug' },
  });
  expect(warnings).toEqual([
    'gateway.name is ignored: always linkerd-gateway: the identity is made of it',
    'linkerdNamespace is ignored: give it with --linkerd-namespace',
    "controllerDefaults.image.name is ignored: it is the image of Linkerd's controller; give that of Linkspan with --image",
    'controllers[0].link.ref.name is ignored: one operator serves every Link of its namespace',
    'controllers[0].logLevel is ignored: one operator serves all Links: props of operator, for all of them',
    'controllers[0].gateway.enabled is ignored: it is a setting of a Link, which linkspan link makes',
    'localServiceMirror.logLevel is ignored: needless: the operator federates the Services of its own cluster too; see controllerDefaults',
  ]);
});

describe('is refused', () => {
  test.each<[Values, string]>([
    [
      { gateway: { replica: 3 } },
      "gateway.replica: is not a value of Linkerd's multicluster chart (did you mean gateway.replicas?)",
    ],
    [{ gatway: { replicas: 3 } }, "gatway: is not a value of Linkerd's multicluster chart (did you mean gateway?)"],
    [
      { serviceType: 'NodePort' },
      "serviceType: is not a value of Linkerd's multicluster chart (did you mean gateway.serviceType?)",
    ],
    [{ frobnicate: 1 }, "frobnicate: is not a value of Linkerd's multicluster chart (remove it)"],
    [{ gateway: 'yes' }, 'gateway: must be a map of values ()'],
    [{ controllers: ['west'] }, 'controllers[0]: must be a map of values ()'],
    [
      { serviceMirrorAdditionalEnv: { A: 'b' } },
      'serviceMirrorAdditionalEnv: must be a list of variables, each with name and value ()',
    ],
    ...['registry', [null], [{}], [3]].map((imagePullSecrets): [Values, string] => [
      { imagePullSecrets },
      'imagePullSecrets: must be a list of names ()',
    ]),
    [{ commonLabels: ['a'] }, 'commonLabels: must be a map of labels ()'],
  ])('%j', (values, line) => {
    expect(lines(values)).toEqual([line]);
  });
});

test('a prop is found again by the key that has set it', () => {
  const { pathOf } = readValues({
    gateway: { port: 'x', tolerations: [{ operator: 'Never' }] },
    podLabels: { a: '?' },
  });
  expect(pathOf('gateway.service.port')).toBe('gateway.port');
  expect(pathOf('gateway.tolerations[0].operator')).toBe('gateway.tolerations[0].operator');
  expect(pathOf('operator.podLabels.a')).toBe('podLabels.a');
  expect(pathOf('operator.image')).toBeUndefined();
});

test('a gateway that one value switches off stays off, whatever others say of it', () => {
  expect(mergedProps({ gateway: { replicas: 3 } }, { gateway: false })).toEqual({ gateway: false });
  expect(mergedProps({ gateway: false }, { gateway: { replicas: 3 } })).toEqual({ gateway: false });
});
