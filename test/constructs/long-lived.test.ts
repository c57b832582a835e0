/**
 * No construct renders a token that does not end, or a Secret that Kubernetes fills with one, unless it is asked for by name
 * (rules P1, P6); and what `linkspan synth` writes to Git has no key and no token.
 */
import { App } from 'cdk8s';
import { expect, test } from 'vitest';
import { ClusterSet, type ClusterSetProps, RemoteAccess, type RemoteAccessProps } from '../../constructs/index.ts';
import { type ApiJson, render } from '../../constructs/rendered/render.ts';
import { clusterSetTree } from '../../constructs/tree/cluster-tree.ts';
import { parseYaml } from '../../operator/kube/access/yaml.ts';
import { constructExamples } from '../release/docs/constructs.ts';

const ENDLESS = 'kubernetes.io/service-account-token';
const endless = (objects: readonly ApiJson[]): readonly ApiJson[] => objects.filter(({ type }) => type === ENDLESS);

/** All combinations of the values of some props. */
const combinations = <T extends object>(values: { readonly [K in keyof T]: readonly T[K][] }): readonly T[] =>
  Object.entries(values as Readonly<Record<string, readonly unknown[]>>).reduce<readonly T[]>(
    (all, [key, each]) => all.flatMap((one) => each.map((value) => ({ ...one, [key]: value }))),
    [{} as T],
  );

// test/release/docs holds that each construct has an example.
test.each(await constructExamples())('P1: $construct renders no token that does not end', ({ objects }) => {
  expect(endless(objects)).toEqual([]);
});

test.each(
  combinations<Partial<RemoteAccessProps>>({
    name: [undefined, 'reader'],
    flat: [undefined, false, true],
    linkerdController: [undefined, false, true],
    longLivedToken: [undefined, false],
  }),
)('P1: an account with %j has none', (props) => {
  const objects = render((chart) => {
    new RemoteAccess(chart, 'access', { sourceCluster: 'east', ...props });
  });
  expect(endless(objects)).toEqual([]);
  expect(objects.filter(({ kind }) => kind === 'Secret')).toHaveLength(1);
});

const CA = Buffer.from('-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n').toString('base64');
const member = (name: string) => ({
  name,
  gatewayAddresses: [`gateway.${name}.example.com`],
  apiServer: { url: `https://api.${name}.example.com`, caData: CA },
});

test.each(
  combinations<Pick<ClusterSetProps, 'flat' | 'credentials' | 'federation'>>({
    flat: [undefined, false, true],
    federation: [undefined, 'gateway'],
    credentials: [
      undefined,
      { type: 'left-out' },
      { type: 'placeholder' },
      { type: 'external-secret', store: { name: 'vault' } },
    ],
  }),
)('what linkspan synth writes for %j has no key, no token, and no Secret for one that does not end', (props) => {
  const clusterSet = new ClusterSet(new App(), 'set', {
    members: ['east', 'west', 'north'].map(member),
    operator: { image: 'registry.example.com/linkspan:0.1.0' },
    ...props,
  });
  const files = [...clusterSetTree(clusterSet)];
  const objects = files.map(([, text]) => parseYaml(text) as ApiJson);
  expect(endless(objects)).toEqual([]);
  const tokens = files.flatMap(([, text]) => [...text.matchAll(/^ *token: *(.*)$/gm)].map(([, value]) => value));
  expect(tokens.filter((value) => !['""', "''", '"{{ .token | trim }}"'].includes(value ?? ''))).toEqual([]);
  const secrets = objects.filter(({ kind }) => kind === 'Secret');
  expect(secrets.filter((secret) => 'data' in secret)).toEqual([]);
  const filled = secrets.filter((secret) => 'stringData' in secret);
  expect(filled.length > 0).toBe(props.credentials?.type === 'placeholder');
  for (const [path, text] of files) {
    expect(text, path).not.toMatch(/PRIVATE KEY|eyJ[\w-]+\.[\w-]+\.|client-key-data|password:/);
  }
});
