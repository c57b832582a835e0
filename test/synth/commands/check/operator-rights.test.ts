/** H6: check asks for the rights that `MirrorOperator` grants, as the Deployment beside them says, and for no others. */
import { describe, expect, test } from 'vitest';
import { MirrorOperator, type MirrorOperatorProps } from '../../../../constructs/index.ts';
import { type ApiJson, render } from '../../../../constructs/rendered/render.ts';
import type { LinkSettings } from '../../../../crds/index.ts';
import type { ServiceImport } from '../../../../operator/mcs/objects.ts';
import type { Deployment } from '../../../../synth/commands/check/objects.ts';
import { CHECKS } from '../../../../synth/commands/check/checks/index.ts';
import { type AskedByLinks, operatorRights } from '../../../../synth/commands/check/operator-rights.ts';
import { type Reader, type Right, rightText } from '../../../../synth/commands/check/reader.ts';
import { runChecks } from '../../../../synth/commands/check/report.ts';
import { askedBy, type LinkFacts } from '../../../../synth/commands/check/survey.ts';
import { LINKS_NAMESPACE } from '../../../support/builders.ts';
import { facts, found, linkFacts, read, target } from './facts.ts';

interface Role extends ApiJson {
  readonly rules: readonly {
    readonly apiGroups: readonly string[];
    readonly resources: readonly string[];
    readonly resourceNames?: readonly string[];
    readonly verbs: readonly string[];
  }[];
}

const isRole = (object: ApiJson): object is Role => object.kind === 'Role' || object.kind === 'ClusterRole';

const granted = (objects: readonly ApiJson[]): readonly string[] =>
  objects.filter(isRole).flatMap(({ metadata: { namespace }, rules }) =>
    rules.flatMap(({ apiGroups: [group = ''], resources: [resource = ''], resourceNames = [undefined], verbs }) =>
      resourceNames.flatMap((name) =>
        verbs.map((verb) =>
          rightText({
            verb,
            group,
            resource,
            ...(namespace !== undefined && { namespace }),
            ...(name !== undefined && { name }),
          }),
        ),
      ),
    ),
  );

const asked = async (objects: readonly ApiJson[], links: AskedByLinks): Promise<readonly string[]> => {
  const rights: Right[] = [];
  const reader = {
    may: async () => read(true),
    mayUser: async (_user: string, _groups: readonly string[], right: Right) => {
      rights.push(right);
      return read(true);
    },
  } as unknown as Reader;
  const deployment = objects.find(({ kind }) => kind === 'Deployment') as unknown as Deployment;
  await operatorRights(reader, deployment, links);
  return rights.map(rightText);
};

test.each<Partial<MirrorOperatorProps>>([
  {},
  { failover: false },
  { endpoints: 'slices', enableNamespaceCreation: true },
  { flat: true },
  { grantNamespaceCreation: true },
  { mirrorNamespaces: ['shop', 'bank'], credentialsSecrets: ['cluster-credentials-west'] },
  {
    mirrorNamespaces: ['shop'],
    credentialsSecrets: ['a', 'b'],
    flat: true,
    linkerdNamespace: 'l5d',
    namespace: 'mesh',
  },
])('%j', async (props) => {
  const objects = render((chart) => {
    new MirrorOperator(chart, 'operator', { image: 'linkspan:1', ...props });
  });
  const { flat = false, grantNamespaceCreation: createsNamespaces = false } = props;
  expect((await asked(objects, { flat, createsNamespaces })).toSorted()).toEqual(granted(objects).toSorted());
});

test('no namespaces are created by an operator that is limited to some', async () => {
  const objects = render((chart) => {
    new MirrorOperator(chart, 'operator', { image: 'linkspan:1', mirrorNamespaces: ['shop'] });
  });
  const rights = await asked(objects, { flat: false, createsNamespaces: true });
  expect(rights.toSorted()).toEqual(granted(objects).toSorted());
});

describe('Links ask (L278)', () => {
  const linkOf = (changed: Partial<LinkSettings>) => {
    const facts = linkFacts();
    return { ...facts, settings: { ...(facts.settings as LinkSettings), ...changed } };
  };
  const imported = (
    type: 'ClusterSetIP' | 'Headless',
    changed: Readonly<Record<string, string>> = {},
  ): ServiceImport => ({
    metadata: {
      name: 'web',
      namespace: 'shop',
      labels: { 'linkspan.dev/service-import': 'web' },
      annotations: {
        'linkspan.dev/exports': '/,west/',
        ...(type === 'ClusterSetIP' && { 'multicluster.kubernetes.io/derived-service': 'derived-web' }),
        ...changed,
      },
    },
  });
  const flat: Partial<LinkSettings> = { importsThrough: 'flat' };
  test.each<[string, Partial<LinkSettings>, readonly ServiceImport[], Partial<AskedByLinks>]>([
    ['nothing', {}, [imported('ClusterSetIP')], {}],
    ['for namespaces', { enableNamespaceCreation: true }, [], { createsNamespaces: true }],
    ['for none', { enableNamespaceCreation: false }, [], {}],
    ["for Linkerd's credentials, to import", flat, [imported('ClusterSetIP')], { flat: true }],
    ['not if pods are imported', flat, [imported('Headless')], {}],
    ['not if nothing is', flat, [], {}],
    ['not if another cluster is', flat, [imported('ClusterSetIP', { 'linkspan.dev/exports': 'north/' })], {}],
    ['not if another operator does', flat, [imported('ClusterSetIP', { 'linkspan.dev/operator': 'mesh' })], {}],
    [
      'if this one does',
      flat,
      [imported('ClusterSetIP', { 'linkspan.dev/operator': LINKS_NAMESPACE })],
      { flat: true },
    ],
    ['not if the Link does not', { importsThrough: 'flat', serviceExports: false }, [imported('ClusterSetIP')], {}],
  ])('%s', (_, link, imports, needed) => {
    expect(askedBy([linkFacts(), linkOf(link)], imports, LINKS_NAMESPACE)).toEqual({
      flat: false,
      createsNamespaces: false,
      ...needed,
    });
  });

  test('for the rights of members of a federated Service', () => {
    const member = { ...linkOf({ federation: 'flat' }), target: target({ members: read(['shop/web']) }) };
    expect(askedBy([member], [], LINKS_NAMESPACE).flat).toBe(true);
  });

  test('nothing of an operator in another namespace', () => {
    const links = [linkOf({ enableNamespaceCreation: true }), linkOf(flat)];
    const none = { flat: false, createsNamespaces: false };
    expect(askedBy(links, [imported('ClusterSetIP')], 'mesh')).toEqual(none);
  });

  test('as of an error only where a member waits for it', () => {
    const secrets: Right = { verb: 'list', group: '', resource: 'secrets', namespace: 'linkerd' };
    const operatorRights = read([{ right: secrets, granted: read(false) }]);
    const member = { ...linkOf({ federation: 'flat' }), target: target({ members: read(['shop/web']) }) };
    const level = (...links: readonly LinkFacts[]) =>
      found(facts({ operatorRights }, ...links)).filter((each) => each.startsWith('operator-rights'));
    expect(level(linkOf(flat))).toEqual([expect.stringMatching(/^operator-rights warning /)]);
    expect(level(member)).toEqual([expect.stringMatching(/^operator-rights error /)]);
  });

  test.each<[Right, RegExp]>([
    [
      { verb: 'create', group: '', resource: 'namespaces' },
      /^write its roles again: `.* upgrade --grant-namespace-cr.*`,/,
    ],
    [{ verb: 'watch', group: '', resource: 'namespaces' }, /^write its roles again: `.* upgrade --apply .*`$/],
    [{ verb: 'list', group: '', resource: 'secrets', namespace: 'linkerd' }, /^write its roles again: `.* --flat .*`,/],
  ])('%j is given by', (right, remedy) => {
    const operatorRights = read([{ right, granted: read(false) }]);
    const { findings } = runChecks(CHECKS, facts({ operatorRights })).find(({ id }) => id === 'operator-rights') ?? {};
    expect(findings?.map((finding) => finding.remedy)).toEqual([expect.stringMatching(remedy)]);
  });
});
