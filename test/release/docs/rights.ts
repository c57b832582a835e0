/**
 * docs/rights.md, produced by the constructs that grant the rights: each row is a rule that is rendered, with its
 * purpose as the code states it.
 */
import { App, Chart } from 'cdk8s';
import type { Grant, PolicyRule } from '../../../constructs/common/grant.ts';
import { MirrorOperator } from '../../../constructs/operator/mirror-operator.ts';
import type { MirrorOperatorProps } from '../../../constructs/operator/props.ts';
import { RemoteAccess, type RemoteAccessProps } from '../../../constructs/gateway/remote-access.ts';

/** A grant as far as the page shows it. */
export type ShownGrant = Pick<Grant, 'namespace' | 'rules'>;

/** One table: whose rights, and under which props. */
interface Table {
  readonly heading: string;
  readonly text: string;
  readonly grants: readonly ShownGrant[];
}

const chart = (): Chart => new Chart(new App(), 'chart', { namespace: 'linkerd-multicluster' });

const operator = (props: Partial<MirrorOperatorProps> = {}): readonly ShownGrant[] =>
  new MirrorOperator(chart(), 'operator', { image: 'linkspan', ...props }).grants;

const remote = (props: Partial<RemoteAccessProps> = {}): readonly ShownGrant[] =>
  new RemoteAccess(chart(), 'remote', { sourceCluster: 'east', ...props }).grants;

/** With nothing that an operator need not do. */
const PLAIN = { failover: false, serviceImports: false };

/** The rules that others do not have. */
const beyond = (grants: readonly ShownGrant[], others: readonly ShownGrant[]): readonly ShownGrant[] => {
  const known = new Set(others.flatMap(({ rules }) => rules.map((rule) => JSON.stringify(rule))));
  return grants.map(({ namespace, rules }) => ({
    namespace,
    rules: rules.filter((rule) => !known.has(JSON.stringify(rule))),
  }));
};

/** The tables of the page. */
export const rightsTables = (): readonly Table[] => [
  {
    heading: 'The operator, in a whole cluster',
    text: '`MirrorOperator` with `failover: false` and `serviceImports: false`. It may read only the Secrets of its own namespace.',
    grants: operator(PLAIN),
  },
  {
    heading: 'The operator, with failover',
    text: 'By default, in addition to those above; the right to Events in its own namespace becomes one in the whole cluster:',
    grants: beyond(operator({ serviceImports: false }), operator(PLAIN)),
  },
  {
    heading: 'The operator, with the MCS API',
    text: 'By default, in addition to those above. An operator that is limited to namespaces has them there, but for the last one, which no Role can grant:',
    grants: beyond(operator(), operator({ serviceImports: false })),
  },
  {
    heading: 'The operator, with who may come through the gateway',
    text: 'With `gatewayAccess`, in addition to those above:',
    grants: beyond(operator({ gatewayAccess: 'exported' }), operator()),
  },
  {
    heading: 'The operator, with EndpointSlices',
    text: "With `endpoints: 'slices'`, in place of the rules above for Endpoints and EndpointSlices that it writes:",
    grants: beyond(operator({ endpoints: 'slices' }), operator()),
  },
  {
    heading: 'The operator, on a flat network',
    text: 'With `flat: true`, in addition to those above; with `credentialsSecrets`, for these Secrets alone. `Multicluster` and `ClusterSet` set it where a Link joins federated Services, or imports what is exported, on a flat network:',
    grants: beyond(operator({ flat: true }), operator()),
  },
  {
    heading: 'The operator, with namespace creation',
    text: 'With `enableNamespaceCreation: true` or `grantNamespaceCreation: true`, which is `--grant-namespace-creation` of `linkspan install`, in addition to those above. `Multicluster` and `ClusterSet` set the latter where a Link has `enableNamespaceCreation: true`:',
    grants: beyond(operator({ grantNamespaceCreation: true }), operator()),
  },
  {
    heading: 'The operator, limited to namespaces and to Secrets by name',
    text: "With `mirrorNamespaces: ['shop']` and `credentialsSecrets: ['cluster-credentials-west']`: one Role in its own namespace, where probe Services are, one in each named namespace, and no ClusterRole. No Role can grant watching Namespaces; [ADR 7](adr/0007-how-a-namespace-is-known-to-be-there.md) explains how the operator finds them. Each Secret is watched by a field selector on its name, which is how RBAC authorizes `list` and `watch` of one object. `Multicluster` and `ClusterSet` name the Secrets of their Links; `credentialsSecrets: 'any'` is for Links that other tools create.",
    grants: operator({ mirrorNamespaces: ['shop'], credentialsSecrets: ['cluster-credentials-west'] }),
  },
  {
    heading: 'A source cluster, in a target',
    text: '`RemoteAccess` with `linkerdController: false`: one account for each source cluster, so that each can be revoked alone.',
    grants: remote({ linkerdController: false }),
  },
  {
    heading: "A source cluster, for Linkerd's own controller and checks",
    text: "By default, besides those above, so that a Link can go back to Linkerd's service mirror controller and `linkerd multicluster check` passes. Linkspan itself uses none of them: `linkerdController: false` leaves them out. Nor does Linkerd's controller get to write Events in the target, which it goes on without.",
    grants: beyond(remote(), remote({ linkerdController: false })),
  },
  {
    heading: 'A source cluster, in a target on a flat network',
    text: "With `flat: true`, or `--flat` of `linkspan link`, `credentials mint` and `allow`, besides those above, for Linkerd's destination controller, which reads the target with the same account and dies without these rights:",
    grants: beyond(remote({ flat: true }), remote()),
  },
  {
    heading: 'A source cluster, in some namespaces of a target',
    text: "With `exportNamespaces: ['shop']`, or `--export-namespaces shop` of these commands: a Role in each, and nothing in the whole cluster. The Link must name them too, as `targetNamespaces`; `exportNamespaces` of a member of a `ClusterSet`, and `--export-namespaces` of `link`, do both. Linkerd's own Link CRD drops `targetNamespaces`: Linkspan's must be installed. Linkerd's destination controller reads whole clusters, so on a flat network the account that it uses must not be limited.",
    grants: remote({ exportNamespaces: ['shop'] }),
  },
];

const code = (texts: readonly string[]): string => texts.map((text) => `\`${text}\``).join(', ');

const row = (where: string, { group, resources, resourceNames, verbs, why = '' }: PolicyRule): string => {
  const plurals = resources.map((resource) => (group === '' ? resource : resource.replace(/(?=\/|$)/, `.${group}`)));
  const only = resourceNames === undefined ? '' : ` called ${code(resourceNames)}`;
  return `| ${where} | ${code(plurals)}${only} | ${verbs.join(', ')} | ${why} |`;
};

const table = ({ heading, text, grants }: Table): string =>
  [
    `## ${heading}`,
    '',
    text,
    '',
    '| where | what | verbs | why |',
    '| --- | --- | --- | --- |',
    ...grants.flatMap(({ namespace, rules }) =>
      rules.map((rule) => row(namespace === undefined ? 'the whole cluster' : `namespace \`${namespace}\``, rule)),
    ),
  ].join('\n');

/** The page. */
export const rightsPage = (): string =>
  [
    '# Rights, and why',
    '',
    'All rights that the constructs grant, to whom, and why. The tests run the operator under these roles on API servers that enforce them, and show that it uses each of its rights.',
    '',
    'Without a right, the operator retries until it is granted. It reports a right that it needs as a whole in the log and at `/readyz`, and a right that concerns one Link, one namespace or one Service in the Link.',
    '',
    '`npm run docs` generates this page from the code that grants the rights, and a test fails when the page differs from it.',
    '',
    rightsTables().map(table).join('\n\n'),
    '',
  ].join('\n');
