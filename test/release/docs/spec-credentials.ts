/**
 * docs/spec/credentials.md: the Secret with the credentials of a target. What it says of fields, labels and reasons is held
 * against the code both ways by spec-credentials.test.ts.
 */
import { CredentialsSecret, credentialsName, Annotation, Label } from '../../../crds/wire.ts';
import { REFUSED } from '../../../operator/kube/access/secret-kubeconfig.schema.ts';
import { MAX_KUBECONFIG_BYTES } from '../../../operator/kube/access/secret-kubeconfig.ts';
import { LINK } from './spec-link.ts';

/** Where the certificate and the token of the example are left out. */
const LEFT_OUT = '…';

/** The kubeconfig of the example. */
export const EXAMPLE_KUBECONFIG = `apiVersion: v1
kind: Config
clusters:
  - name: west
    cluster:
      server: https://west.example.com:6443
      certificate-authority-data: ${LEFT_OUT}
users:
  - name: west
    user:
      token: ${LEFT_OUT}
contexts:
  - name: west
    context: { cluster: west, user: west }
current-context: west`;

/** The Secret of the example. */
export const EXAMPLE = `apiVersion: v1
kind: Secret
type: ${CredentialsSecret.type}
metadata:
  name: ${credentialsName('west')}
  namespace: linkerd-multicluster
stringData:
  ${CredentialsSecret.key}: |
${EXAMPLE_KUBECONFIG.replace(/^/gm, '    ')}`;

const IGNORED = 'ignored: kubectl and Linkerd write it';

/** What each field of the kubeconfig means, by path. */
export const FIELDS: Readonly<Record<string, string>> = {
  apiVersion: '`v1`',
  kind: '`Config`',
  preferences: IGNORED,
  extensions: IGNORED,
  'current-context': 'the context to use; required',
  clusters: 'exactly one; required',
  'clusters[].name': 'its name in this file; required',
  'clusters[].cluster': 'how the API server of the target is reached; required',
  'clusters[].cluster.server':
    'URL of the API server, as reached from this cluster; https, without credentials, query or fragment; required',
  'clusters[].cluster.certificate-authority-data':
    'certificates that the API server is trusted by, as base64 of PEM; required',
  'clusters[].cluster.tls-server-name': 'name in the certificate of the API server; the host of the URL when absent',
  'clusters[].cluster.insecure-skip-tls-verify': '`false`, or absent',
  'clusters[].cluster.disable-compression': IGNORED,
  'clusters[].cluster.extensions': IGNORED,
  users: 'exactly one; required',
  'users[].name': 'its name in this file; required',
  'users[].user': 'who reads the target, by a token or by a certificate; required',
  'users[].user.token': 'bearer token of a ServiceAccount of the target',
  'users[].user.client-certificate-data': 'in place of a token: a certificate, as base64 of PEM, with its key',
  'users[].user.client-key-data': 'key of that certificate, as base64 of PEM, without a passphrase',
  'users[].user.extensions': IGNORED,
  contexts: 'at least one; required',
  'contexts[].name': 'its name; required',
  'contexts[].context': 'what it leads to; required',
  'contexts[].context.cluster': 'the name of the cluster; required',
  'contexts[].context.user': 'the name of the user; required',
  'contexts[].context.namespace': IGNORED,
  'contexts[].context.extensions': IGNORED,
};

interface Key {
  readonly on: string;
  readonly meaning: string;
}

const LINK_COPY = 'the Secret of the Link';
const CONTROL_PLANE = 'the copy of the control plane';

/** What labels and annotations of the Secrets mean, by key. */
export const KEYS: Readonly<Record<string, Key>> = {
  [Label.credentialsClusterName]: {
    on: CONTROL_PLANE,
    meaning: "the target cluster; Linkerd's destination controller finds the Secret by this label",
  },
  [Annotation.trustDomain]: {
    on: CONTROL_PLANE,
    meaning: 'identity trust domain of the target; without it Linkerd ignores the copy',
  },
  [Annotation.clusterDomain]: {
    on: CONTROL_PLANE,
    meaning: 'DNS domain of the target; without it Linkerd ignores the copy',
  },
  [Annotation.targetClusterUid]: {
    on: LINK_COPY,
    meaning:
      'uid of Namespace `kube-system` of the target, written by `linkspan link` and `linkspan credentials rotate`: neither replaces credentials by those of another cluster',
  },
  [Annotation.rotation]: {
    on: LINK_COPY,
    meaning: 'what `linkspan credentials rotate` has yet to do; the same command goes on where it was stopped',
  },
};

/** What to do about each reason that condition `CredentialsValid` is not true for. */
export const REMEDIES: Readonly<Record<string, string>> = {
  SecretNotFound: `create the Secret, of type \`${CredentialsSecret.type}\`, in the namespace of the Link; \`linkspan link\` does`,
  SecretNotListed: 'add it to `credentialsSecrets` of `MirrorOperator`, or install again',
  SecretInvalid: `put the kubeconfig under the key \`${CredentialsSecret.key}\``,
  CredentialsExpired: 'run the command with the contexts of both clusters',
  KubeconfigInvalid: 'mend each field that the message names, or run `linkspan link` again',
  CredentialsUnusable: 'see the message; mint new credentials',
  Unauthorized: 'the token was revoked, or is of another cluster: `linkspan credentials mint --apply`',
  Forbidden: 'give the account its rights back: `linkspan link`, or `linkspan allow` in the target',
  Untried: 'the target was away: nothing, it is tried again',
  Pending: 'nothing',
};

/** Reasons of condition `CredentialsValid` of a Link, with their meanings. */
export const REASONS = LINK.conditions.find(({ type }) => type === 'CredentialsValid')?.reasons ?? {};

const table = (head: readonly string[], rows: readonly (readonly string[])[]): readonly string[] => [
  `| ${head.join(' | ')} |`,
  `| ${head.map(() => '---').join(' | ')} |`,
  ...rows.map((row) => `| ${row.join(' | ')} |`),
  '',
];

const WRITERS = [
  ['`linkspan link`, `linkspan link-gen`', 'make both copies; the second one for flat networks alone'],
  ['`linkspan credentials mint`, `rotate`', 'replace the token'],
  ['`LinkCredentials`, `CredentialsReference`', 'render both copies in Git, the second one without the token'],
  [
    'the operator',
    'renews a token that ends, in the Secret that it came from; it reads the Secrets of its own namespace alone',
  ],
  ["Linkerd's destination controller", "reads the copy in the control plane's namespace, for flat and federated mode"],
];

/** The page. */
export const credentialsPage = (): string =>
  [
    '# Credentials of a target',
    '',
    `A Secret with the kubeconfig of a target cluster. The Link names it in \`spec.clusterCredentialsSecret\`; by convention it is called \`${credentialsName('<cluster>')}\`. The format is that of Linkerd's extension.`,
    '',
    '`npm run docs` writes this page; a test holds its fields, labels and reasons against the code that reads and reports them.',
    '',
    '## Example',
    '',
    `\`\`\`yaml\n${EXAMPLE}\n\`\`\``,
    '',
    `The type must be \`${CredentialsSecret.type}\`, and the kubeconfig must be under the key \`${CredentialsSecret.key}\`.`,
    '',
    '## Fields of the kubeconfig',
    '',
    `It is self-contained: no program is run and no file is read for it. It has at most ${MAX_KUBECONFIG_BYTES / 1024} KiB. A field that is not in this table is refused by its name, and no message quotes a value.`,
    '',
    ...table(
      ['field', 'meaning'],
      Object.entries(FIELDS).map(([path, meaning]) => [`\`${path}\``, meaning]),
    ),
    'Fields that kubeconfigs on disk have, and those of Secrets must not have:',
    '',
    ...table(
      ['field', 'reason', 'remedy'],
      [...REFUSED].map(([field, { reason, remedy }]) => [`\`${field}\``, reason, remedy]),
    ),
    '## Labels and annotations',
    '',
    ...table(
      ['key', 'on', 'meaning'],
      Object.entries(KEYS).map(([key, { on, meaning }]) => [`\`${key}\``, on, meaning]),
    ),
    '## Who writes and reads it',
    '',
    ...table(['who', 'what'], WRITERS),
    'The operator may be limited to Secrets that are named: `--credentials-secrets`, [rights](../rights.md).',
    '',
    '## Conditions',
    '',
    'The Link reports the Secret in its condition `CredentialsValid`. Until new credentials have proven themselves, the old ones stay in use (E2), and no mirror changes because of any of these reasons.',
    '',
    ...table(
      ['reason', 'meaning', 'what to do'],
      Object.entries(REASONS).map(([reason, meaning]) => [`\`${reason}\``, meaning, REMEDIES[reason] ?? '']),
    ),
    '`linkspan check` finds the same from outside the operator: [credentials](../checks.md#credentials).',
    '',
    '## Renewal and rotation',
    '',
    '- **The first token** comes from `linkspan link` or `linkspan credentials mint`, by the TokenRequest API. It ends, and is bound to a Secret of the target: whoever deletes `linkspan-peer-<source>` there voids it (P1).',
    `- **A token that does not end**, as Linkerd makes it, is used until somebody replaces it: \`linkspan credentials rotate\` makes one that ends, waits until it is in use, and revokes the old one. [Operations](../operations.md#rotate-credentials) has the steps. The copy of the control plane keeps such a token, since Linkerd reads it once (P6).`,
    `- **A token that ends** is renewed by the operator when 75 to 80 % of its lifetime are over, or at once when the target refuses it before its end (P2). Nothing is listed anew for it.`,
    '- **The CA** of the target is looked up with each renewal, so that the next one is known before it is used (P3).',
    '- **A Secret that others keep**, such as External Secrets or Argo CD, is not written: the condition names who keeps it (P5).',
    '- **The token ended** while nobody renewed it: `CredentialsExpired`. Only the target can give another (P4).',
    '',
    'Letters with numbers are rules of [behaviour.md](../behaviour.md).',
    '',
  ].join('\n');
