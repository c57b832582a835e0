/** Checks of credentials, step by step: each is judged when the one before it holds. */
import { Annotation, CredentialsSecret, credentialsName, Label } from '../../../../crds/wire.ts';
import { isLongLived } from '../../../../operator/kube/account-token.ts';
import { type Check, error, type Finding, warning } from '../check-type.ts';
import { type CredentialsRead, readCredentials, readsPodToken } from '../../common/credentials-secret.ts';
import { byLinkspan, linkAgain, operatorLog } from '../../common/remedies.ts';
import {
  asReported,
  conditionOf,
  conditionText,
  eachLink,
  notJudged,
  type NotJudged,
  placeOf,
} from '../link-judgement.ts';
import { rightText } from '../reader.ts';
import { hasFlatMembers, type LinkFacts, type Survey } from '../survey.ts';
import type { Granted } from '../target.ts';

const CATEGORY = 'credentials';
const NO_CREDENTIALS = notJudged('there are no valid credentials');
const NO_TARGET = notJudged('the target cannot be reached');

const secretTitle = ({ namespace, secretName }: LinkFacts): string => `Secret ${namespace}/${secretName}`;

const secretFindings = (link: LinkFacts, survey: Survey): readonly Finding[] | NotJudged => {
  const { credentials } = link;
  if (credentials?.ok !== true) return notJudged('the Secret cannot be read');
  const { value } = credentials;
  if (value.ok || value.in !== 'Secret') return [];
  const remedy = `link the cluster again: ${linkAgain(placeOf(link, survey), link)}; or create it of type ${CredentialsSecret.type} with the kubeconfig of the target under data key ${CredentialsSecret.key}`;
  return [error(secretTitle(link), value.reason, remedy)];
};

const kubeconfigFindings = (link: LinkFacts, survey: Survey): readonly Finding[] | NotJudged => {
  const { credentials } = link;
  if (credentials?.ok !== true) return notJudged('the Secret cannot be read');
  const { value } = credentials;
  if (value.ok) return [];
  if (value.in !== 'kubeconfig') return notJudged('there is no kubeconfig');
  return [
    error(
      secretTitle(link),
      value.reason,
      `link the cluster again: ${linkAgain(placeOf(link, survey), link)}; or correct the kubeconfig`,
    ),
  ];
};

/** Whether an operator that is alive reports that it reads the target with these credentials, whatever this machine finds. */
const isReadByOperator = (link: LinkFacts, survey: Survey): boolean =>
  !('why' in asReported(link, survey, [])) &&
  ['CredentialsValid', 'TargetReachable'].every((type) => {
    const condition = link.conditions?.get(type);
    return condition?.status === 'True' && condition.observedGeneration === link.object.metadata.generation;
  });

const reachFindings = (link: LinkFacts, survey: Survey): readonly Finding[] | NotJudged => {
  const { target } = link;
  if (target === undefined) return NO_CREDENTIALS;
  if (target.version.ok || target.version.obstacle === 'unauthorized') return [];
  const object = `API server ${target.server} of ${link.cluster}`;
  const { why } = target.version;
  const status = byLinkspan(placeOf(link, survey), 'status', link.name);
  return isReadByOperator(link, survey)
    ? [
        warning(
          object,
          `cannot be reached from this machine, and what is in it is not checked: ${why}; the operator reports that it reads it, which it may take minutes to take back`,
          `see in three minutes whether it still reports TargetReachable: ${status}`,
        ),
      ]
    : [error(object, why, 'check that it is up, and that the address in the kubeconfig is the one that pods reach')];
};

const acceptFindings = (link: LinkFacts, survey: Survey): readonly Finding[] | NotJudged => {
  const { target } = link;
  if (target === undefined) return NO_CREDENTIALS;
  if (target.version.ok) return [];
  if (target.version.obstacle !== 'unauthorized') return NO_TARGET;
  const mint = byLinkspan(placeOf(link, survey), 'credentials', 'mint', '--name', link.name, '--apply');
  const remedy = `the token was revoked, has expired, or is of another cluster: make a new one: ${mint}, with --to-context and the context of ${link.cluster}`;
  return [error(secretTitle(link), `${link.cluster} refuses the credentials: ${target.version.why}`, remedy)];
};

/** Rights that are not granted, or could not be asked for. */
export const lackingRights = (
  object: string,
  rights: readonly Granted[],
  remedy: string,
  report = error,
): readonly Finding[] =>
  rights.flatMap(({ right, granted }) => {
    if (!granted.ok)
      return [warning(object, `cannot ask for the right to ${rightText(right)}: ${granted.why}`, 'try again')];
    return granted.value ? [] : [report(object, `may not ${rightText(right)}`, remedy)];
  });

const rightsFindings = (link: LinkFacts, survey: Survey): readonly Finding[] | NotJudged => {
  const { target } = link;
  if (target === undefined) return NO_CREDENTIALS;
  if (!target.version.ok) return NO_TARGET;
  const object = `account of ${secretTitle(link)} in ${link.cluster}`;
  return lackingRights(
    object,
    target.rights,
    `grant it in ${link.cluster}: link it again, which writes the account with its rights: ${linkAgain(placeOf(link, survey), link)}`,
  );
};

/** What could not be read in a target, but for what other checks report: rights that lack, and Linkerd's settings. */
const unreadFindings = (link: LinkFacts): readonly Finding[] | NotJudged => {
  const { target, cluster } = link;
  if (target === undefined) return NO_CREDENTIALS;
  if (!target.version.ok) return NO_TARGET;
  const isLacking = target.rights.some(({ granted }) => granted.ok && !granted.value);
  return target.unread
    .filter(({ what, obstacle }) => obstacle !== 'forbidden' || !(isLacking || what.startsWith('get ConfigMap')))
    .map(({ what, why, obstacle }) =>
      obstacle === 'forbidden'
        ? warning(cluster, `cannot ${what}, which is not checked: ${why}`, 'grant the right, or check it there')
        : error(cluster, `cannot ${what}: ${why}`, 'try again'),
    );
};

const STEPS = [secretFindings, kubeconfigFindings, reachFindings, acceptFindings, rightsFindings];

/** Reports whether this machine has found anything wrong with the credentials. */
const isFaulty = (link: LinkFacts, survey: Survey): boolean =>
  STEPS.some((step) => {
    const found = step(link, survey);
    return !('why' in found) && found.length > 0;
  });

const inUse = (link: LinkFacts, survey: Survey, type: string): readonly Finding[] | NotJudged =>
  conditionOf(link, survey, type, (condition) => {
    if (condition.status === 'True' || isFaulty(link, survey)) return [];
    const report = condition.status === 'False' ? error : warning;
    return [report(link.title, conditionText(condition), operatorLog(placeOf(link, survey)))];
  });

/** Tokens that somebody must replace: that of the Link, which the operator would renew, and that of Linkerd. */
const endlessFindings = (link: LinkFacts, survey: Survey): readonly Finding[] | NotJudged => {
  const { credentials, destination, cluster } = link;
  if (credentials?.ok !== true) return notJudged('the Secret cannot be read');
  const copy = destination?.ok === true ? readCredentials(destination.value) : undefined;
  const rotate = byLinkspan(placeOf(link, survey), 'credentials', 'rotate', link.name, '--apply');
  const mint = byLinkspan(placeOf(link, survey), 'credentials', 'mint', '--name', link.name, '--apply');
  const where = `with --to-context and the context of ${cluster}`;
  const reason = 'its token does not end: whoever has a copy of it reads the target until it is revoked';
  return [
    ...(isEndless(credentials.value)
      ? [
          warning(
            secretTitle(link),
            reason,
            `give it one that ends, and that the operator renews: ${rotate}, or with another account, if its own may not renew it: ${mint}; both ${where}`,
          ),
        ]
      : []),
    ...(isEndless(copy)
      ? [
          warning(
            `Secret ${survey.linkerdNamespace}/${credentialsName(cluster)}`,
            `${reason}; Linkerd's destination controller reads it once, so that nobody can renew it`,
            `replace it from time to time: ${rotate}, ${where}; or let Linkerd read with the token of its own pod, as operations.md has it`,
          ),
        ]
      : []),
  ];
};

const isEndless = (read: CredentialsRead | undefined): boolean =>
  read?.ok === true && isLongLived(read.access.token ?? '');

const isSelectedFlat = (link: LinkFacts, { mirrors }: Survey): boolean =>
  (mirrors.ok && mirrors.value.some(({ metadata }) => metadata.labels?.[Label.remoteDiscovery] === link.cluster)) ||
  (link.target?.exports.ok === true && link.target.exports.value.some(({ mode }) => mode === 'flat')) ||
  hasFlatMembers(link);

const destinationFindings = (link: LinkFacts, survey: Survey): readonly Finding[] | NotJudged => {
  const { destination, settings, cluster } = link;
  if (settings === undefined) return notJudged('the Link is invalid');
  if (destination?.ok !== true) return notJudged('the Secret cannot be read');
  const object = `Secret ${survey.linkerdNamespace}/${credentialsName(cluster)}`;
  const remedy = `link the cluster again: ${linkAgain(placeOf(link, survey), link, undefined, '--flat')}`;
  if (destination.value === undefined) {
    if (!isSelectedFlat(link, survey)) return notJudged('no Service is mirrored or federated on a flat network');
    const reason = "not found: Linkerd's destination controller cannot find pods on a flat network";
    return [error(object, reason, remedy)];
  }
  const credentials = readCredentials(destination.value);
  const { labels = {}, annotations = {} } = destination.value.metadata;
  const linkerd = link.target?.linkerd.ok === true ? link.target.linkerd.value : undefined;
  const known = linkerd === undefined || 'invalid' in linkerd ? undefined : linkerd;
  const wanted = [
    ['label', Label.credentialsClusterName, labels[Label.credentialsClusterName], cluster],
    ['annotation', Annotation.trustDomain, annotations[Annotation.trustDomain], known?.trustDomain],
    ['annotation', Annotation.clusterDomain, annotations[Annotation.clusterDomain], known?.clusterDomain],
  ] as const;
  return [
    ...(credentials.ok || readsPodToken(destination.value) ? [] : [error(object, credentials.reason, remedy)]),
    ...wanted.flatMap(([what, key, found, right]) => {
      if (found === undefined) return [error(object, `has no ${what} ${key}`, remedy)];
      return right === undefined || found === right
        ? []
        : [error(object, `has ${what} ${key}: "${found}", not "${right}"`, remedy)];
    }),
  ];
};

const destinationRightsFindings = (link: LinkFacts, survey: Survey): readonly Finding[] | NotJudged => {
  const { destination, destinationAccess, cluster } = link;
  if (destination?.ok === true && readsPodToken(destination.value))
    return notJudged("Linkerd's destination reads the target with the token of its own pod");
  if (destinationAccess === undefined)
    return notJudged("there is no copy of the credentials for Linkerd's destination");
  const { version, rights } = destinationAccess;
  const object = `account of Secret ${survey.linkerdNamespace}/${credentialsName(cluster)} in ${cluster}`;
  if (!version.ok) {
    const remedy = `link the cluster again: ${linkAgain(placeOf(link, survey), link, undefined, '--flat')}`;
    if (version.obstacle === 'unauthorized') {
      return [error(object, `${cluster} refuses the credentials: ${version.why}`, remedy)];
    }
    // The same server as in the credentials of the Link is reported there.
    return link.target?.version.ok === true ? [error(object, version.why, remedy)] : NO_TARGET;
  }
  return lackingRights(
    object,
    rights,
    `grant it in ${cluster}, since Linkerd's destination controller ends itself without it: link it again: ${linkAgain(placeOf(link, survey), link, undefined, '--flat')}`,
  );
};

export const CREDENTIALS_CHECKS: readonly Check<Survey>[] = [
  {
    id: 'credentials-secret',
    category: CATEGORY,
    title: 'each Link has a Secret with credentials',
    means: 'The operator cannot read the target. Mirrors stay as they are.',
    remedy: 'Link the cluster again with `linkspan link`, or create the Secret.',
    judge: (survey) => eachLink(survey, secretFindings),
  },
  {
    id: 'credentials-kubeconfig',
    category: CATEGORY,
    title: 'the kubeconfigs in Secrets are valid',
    means:
      'The operator refuses the kubeconfig. It takes one cluster, with an https server and CA data, and a token or a client certificate, and nothing that names a file or a program.',
    remedy: 'Link the cluster again with `linkspan link`, or correct the field that is named.',
    judge: (survey) => eachLink(survey, kubeconfigFindings),
  },
  {
    id: 'target-api',
    category: CATEGORY,
    title: 'the API servers of targets can be reached',
    means:
      'The API server that the credentials name does not answer. It is a warning if only this machine cannot reach it, while the operator can: then nothing in the target is checked.',
    remedy: 'Check the address in the kubeconfig, firewalls, and whether the API server is up.',
    judge: (survey) => eachLink(survey, reachFindings),
  },
  {
    id: 'credentials-accepted',
    category: CATEGORY,
    title: 'targets accept the credentials',
    means: 'The API server of the target refuses the token or the certificate.',
    remedy: 'Make a new token with `linkspan credentials mint`.',
    judge: (survey) => eachLink(survey, acceptFindings),
  },
  {
    id: 'target-rights',
    category: CATEGORY,
    title: 'the credentials have the rights that the operator needs',
    means:
      'The account in the target may not list or watch what is mirrored, or may not renew its token, which ends. [rights.md](rights.md) says what each right is for.',
    remedy: 'Grant the right that is named, as the account of `linkspan link` or `RemoteAccess` has it.',
    judge: (survey) => eachLink(survey, rightsFindings),
  },
  {
    id: 'target-reads',
    category: CATEGORY,
    title: 'everything that is checked in targets can be read',
    means: 'Something in the target could not be read. The checks that need it say nothing about whether all is well.',
    remedy: 'Run the check again. A warning names a right that neither the operator nor Linkerd needs.',
    judge: (survey) => eachLink(survey, unreadFindings),
  },
  {
    id: 'credentials-in-use',
    category: CATEGORY,
    title: 'the operator uses the credentials',
    means: 'The credentials work from here, and the operator reports that it cannot use them.',
    remedy: 'See the reason that the operator reports.',
    judge: (survey) => eachLink(survey, (link) => inUse(link, survey, 'CredentialsValid')),
  },
  {
    id: 'tokens-end',
    category: CATEGORY,
    title: 'tokens of targets end',
    means:
      "A token does not end. The operator renews those that do, so that a stolen one is of no use for long once it is revoked. Linkerd's own copy of the credentials, for flat networks, needs one that does not (rule P6).",
    remedy:
      "Give the Link a token that ends with `linkspan credentials rotate`, which replaces that of the copy, too. An account that may not renew its token, like that of Linkerd's chart, is refused: `linkspan credentials mint` gives the Link one that may. See [operations.md](operations.md#linkerds-own-credentials-on-a-flat-network).",
    judge: (survey) => eachLink(survey, (link) => endlessFindings(link, survey)),
  },
  {
    id: 'target-reachable',
    category: CATEGORY,
    title: 'the operator reads the targets',
    means: 'The target can be read from here, and the operator reports that it cannot read it.',
    remedy: 'Check network policies and egress from the pods of the operator to the address in the kubeconfig.',
    judge: (survey) => eachLink(survey, (link) => inUse(link, survey, 'TargetReachable')),
  },
  {
    id: 'destination-secret',
    category: CATEGORY,
    title: "Linkerd's destination controller has its copy of the credentials",
    means:
      'Mirrors in flat mode, and federated Services on a flat network, have no endpoints: without this copy, Linkerd cannot find the pods behind them. It ignores one without its label and annotations. A Link without such Services needs none.',
    remedy: 'Link the cluster again: `--flat` of `linkspan link` writes the copy.',
    judge: (survey) => eachLink(survey, (link) => destinationFindings(link, survey)),
  },
  {
    id: 'destination-rights',
    category: CATEGORY,
    title: "the copy of Linkerd's destination controller has the rights that it needs",
    means:
      "Linkerd's destination controller ends itself when it may not read a target that it has credentials for: new connections in the whole mesh wait until it has restarted.",
    remedy: 'Grant the right that is named, as `--flat` of `linkspan link` does, or delete the copy.',
    judge: (survey) => eachLink(survey, (link) => destinationRightsFindings(link, survey)),
  },
];
