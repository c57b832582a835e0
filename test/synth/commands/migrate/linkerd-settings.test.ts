/** How Linkerd's controllers mirror, by their arguments and by what Helm keeps of the chart. */
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { dumpReader, type Manifest } from '../../../../synth/commands/common/manifest-files.ts';
import { localDifferences, withoutOperator } from '../../../../synth/commands/migrate/differences.ts';
import { readRelease, settingsOfLink, settingsOfLocal } from '../../../../synth/commands/migrate/linkerd-settings.ts';
import { parseOperatorConfig } from '../../../../operator/config/config.ts';
import { LINKS_NAMESPACE } from '../../../support/builders.ts';

const deployment = (...args: readonly string[]) => ({
  metadata: { name: 'controller-west', namespace: LINKS_NAMESPACE },
  spec: { template: { spec: { containers: [{ args: ['sidecar'] }, { args: ['service-mirror', ...args] }] } } },
});

const release = (chart: string, config: object, data?: string): Manifest => {
  const packed = gzipSync(JSON.stringify({ name: 'mc', chart: { metadata: { name: chart } }, config }));
  const manifest = {
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'helm.sh/release.v1',
    metadata: {
      name: `sh.helm.release.v1.${chart}.v1`,
      namespace: LINKS_NAMESPACE,
      labels: { owner: 'helm', name: chart, status: 'deployed' },
    },
    data: { release: data ?? Buffer.from(packed.toString('base64')).toString('base64') },
  };
  return manifest;
};

const VALUES = {
  controllerDefaults: { enableHeadlessServices: true },
  enableNamespaceCreation: true,
  controllers: [{ link: { ref: { name: 'north' } }, enableHeadlessServices: false }],
  localServiceMirror: { federatedServiceSelector: 'federated=yes' },
};

const found = (...secrets: readonly Manifest[]) => readRelease(dumpReader('dump', secrets), LINKS_NAMESPACE);

test('the arguments of a controller say how it mirrors, in each form that Go takes', () => {
  const settings = (...args: readonly string[]) => settingsOfLink('west', [deployment(...args)], undefined);
  expect(settings('-enable-headless-services', 'west')).toEqual({
    enableHeadlessServices: true,
    enableNamespaceCreation: false,
  });
  expect(settings('--enable-headless-services=false', '-enable-namespace-creation=true')).toEqual({
    enableHeadlessServices: false,
    enableNamespaceCreation: true,
  });
  expect(settingsOfLocal(deployment('-federated-service-selector=a=b'), undefined)).toEqual({
    federatedSelector: 'a=b',
  });
});

test("what is in no argument is in the values of Linkerd's chart, for each Link", async () => {
  const read = await found(release('something-else', {}), release('linkerd-multicluster', VALUES));
  expect(read?.name).toBe('mc');
  expect(settingsOfLink('west', [], read)).toEqual({ enableHeadlessServices: true, enableNamespaceCreation: true });
  expect(settingsOfLink('north', [], read)).toMatchObject({ enableHeadlessServices: false });
  expect(settingsOfLink('west', [deployment()], read)).toMatchObject({ enableHeadlessServices: false });
  expect(settingsOfLocal(undefined, read)).toEqual({ federatedSelector: 'federated=yes' });
});

test('what cannot be read as a release is none', async () => {
  expect(await found(release('linkerd-multicluster', VALUES, 'AAAA'))).toBeUndefined();
  expect(settingsOfLink('west', [], undefined)).toEqual({});
});

const CLUSTER = { cluster: { context: 'a b' }, namespace: LINKS_NAMESPACE };

test('a note names the release whose values an installation takes, in a command that can be pasted', () => {
  expect(withoutOperator({ enableHeadlessServices: true }, 'mc', CLUSTER)).toBe(
    "no operator is installed in a b: planned with the settings of Linkerd's controllers, which are --enable-headless-services of the operator; `helm get values mc --output yaml --namespace linkerd-multicluster --kube-context 'a b'` prints the values that linkspan install takes with --values",
  );
});

test('another selector of local members is a difference, unless the operator leaves them alone', () => {
  const config = (federatedSelector: string) => {
    const parsed = parseOperatorConfig({ federatedSelector }, {});
    if (!parsed.ok) throw new Error('it is valid');
    return parsed.value;
  };
  const differences = (selector: string) => localDifferences({ federatedSelector: 'a=b' }, config(selector), CLUSTER);
  expect(differences('a=b')).toEqual([]);
  expect(differences('')).toEqual([]);
  expect(differences('a=c')).toEqual([
    expect.stringContaining('by "a=b", and the operator by "a=c": set --federated-selector: localServiceMirror.'),
  ]);
});
