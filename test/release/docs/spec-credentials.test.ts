/** docs/spec/credentials.md against the code, both ways: no field, key or reason is missing, and none is too many. */
import { readFile } from 'node:fs/promises';
import { load } from 'js-yaml';
import { expect, test } from 'vitest';
import { Annotation, CredentialsSecret, Label } from '../../../crds/wire.ts';
import { checkKubeconfig, SCHEMA } from '../../../operator/kube/access/secret-kubeconfig.schema.ts';
import { EXAMPLE, FIELDS, KEYS, REASONS, REMEDIES } from './spec-credentials.ts';

interface Schema {
  readonly const?: unknown;
  readonly type?: unknown;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema | boolean>>;
  readonly items?: Schema;
}

const sourceOf = (path: string): Promise<string> => readFile(new URL(`../../../${path}`, import.meta.url), 'utf8');

/** Paths of all fields, as `clusters[].name`, each with whether it is required. */
const fieldsOf = (schema: Schema, path = ''): readonly (readonly [string, boolean])[] =>
  Object.entries(schema.properties ?? {}).flatMap(([name, child]) => {
    const at = path === '' ? name : `${path}.${name}`;
    const isRequired = schema.required?.includes(name) ?? false;
    if (typeof child === 'boolean') return [[at, isRequired] as const];
    const below = child.items === undefined ? fieldsOf(child, at) : fieldsOf(child.items, `${at}[]`);
    return [[at, isRequired] as const, ...below];
  });

test('has each field that is accepted, and no other, and says which are required', () => {
  const documented = Object.entries(FIELDS).map(([path, meaning]) => [path, meaning.endsWith('; required')] as const);
  expect(documented).toEqual(fieldsOf(SCHEMA));
});

test('has an example that lacks nothing but the certificate and the token', () => {
  const { type, stringData } = load(EXAMPLE) as {
    readonly type: string;
    readonly stringData: Readonly<Record<string, string>>;
  };
  expect(type).toBe(CredentialsSecret.type);
  const checked = checkKubeconfig(load(stringData[CredentialsSecret.key] ?? ''));
  expect(checked.ok ? [] : checked.errors.map(({ path }) => path).toSorted()).toEqual([
    'clusters[0].cluster.certificate-authority-data',
    'users[0].user.token',
  ]);
});

test('has each label and annotation of these Secrets, and no other', async () => {
  const wire = await sourceOf('crds/wire.ts');
  const keys = { ...Label, ...Annotation } as Readonly<Record<string, string>>;
  const comments = wire.matchAll(/\/\*\* ([^/]*?) \*\/\n {2}(\w+): '/g);
  const found = [...comments].flatMap(([, comment = '', name = '']) =>
    /^(Ours, o|O)n the (credentials of a target|control plane's copy of the credentials)/.test(comment)
      ? [keys[name]]
      : [],
  );
  expect(Object.keys(KEYS).toSorted()).toEqual(found.toSorted());
});

test('has a remedy for each reason but the good one', () => {
  expect(Object.keys(REMEDIES)).toEqual(Object.keys(REASONS).filter((reason) => reason !== 'Valid'));
});

test('has each reason that the code gives credentials, and no other', async () => {
  const credentials = await sourceOf('operator/target/credentials.ts');
  const reasons = [...credentials.matchAll(/'([A-Z][A-Za-z]+)'/g)].map(([, word = '']) => word);
  const said = new Set(reasons.filter((word) => word !== 'True' && word !== 'False'));
  const session = await sourceOf('operator/link/session.ts');
  const [, unusable = ''] = /setCredentials\(verdict\('False', '(\w+)'/.exec(session) ?? [];
  expect(Object.keys(REASONS).toSorted()).toEqual([...said, unusable, 'Pending'].toSorted());
});
