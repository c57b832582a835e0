/** Checks of Links by themselves: valid, one for each cluster, and seen by the operator. */
import { formatFieldErrors } from '../../../../crds/field-error.ts';
import { Annotation, LinkApi, OPERATOR_LEASE, writeLeaseName } from '../../../../crds/wire.ts';
import { byKubectl, byLinkspan, operatorLog } from '../../common/remedies.ts';
import { type Check, error, type Finding, judged, skipped, warning } from '../check-type.ts';
import { missingFields, servesLinks } from '../crd-fields.ts';
import {
  asReported,
  conditionOf,
  conditionText,
  eachLink,
  isHeldByAnother,
  notFalse,
  notJudged,
  placeOf,
} from '../link-judgement.ts';
import type { LinkFacts, Survey } from '../survey.ts';

const CATEGORY = 'links';

/** Conditions that have a check of their own. */
const EXPLAINED: readonly string[] = [
  'CredentialsValid',
  'TargetReachable',
  'TargetWithinLimits',
  'GatewayResolved',
  'GatewayAlive',
  'Synced',
];

/** Reports whether the CRD drops the conditions that the operator reports. */
const dropsConditions = ({ crd }: Survey): boolean =>
  crd.ok && crd.value !== undefined && missingFields(crd.value).includes('status.conditions');

const served = (link: LinkFacts, survey: Survey): readonly Finding[] => {
  const { conditions, object, namespace, title } = link;
  if (conditions === undefined && namespace !== survey.namespace) {
    const reason = `is not in namespace ${survey.namespace}, and no operator reports on it`;
    return [error(title, reason, `create it in namespace ${survey.namespace}, where the operator serves Links`)];
  }
  if (namespace !== survey.namespace) {
    const remedy = `check it there: ${byLinkspan(placeOf(link, survey), 'check', '--link', link.name)}`;
    return [warning(title, `is in namespace ${namespace}, and whether an operator serves it is not looked at`, remedy)];
  }
  if (dropsConditions(survey)) return [];
  if (conditions === undefined) {
    return [error(title, 'the operator has not reported on it', operatorLog(placeOf(link, survey)))];
  }
  const seen = conditions.get('Ready')?.observedGeneration ?? 0;
  const { generation = 0 } = object.metadata;
  return seen < generation
    ? [
        error(
          title,
          `the operator has not seen its generation ${generation} yet, but ${seen}`,
          `wait a moment, then ${operatorLog(placeOf(link, survey))}`,
        ),
      ]
    : [];
};

/** Names of the other Links of the namespace that name the same cluster; undefined if Links cannot be read. */
const namesakes = ({ name, cluster }: LinkFacts, { allLinks, namespace }: Survey): readonly string[] | undefined =>
  allLinks.ok
    ? allLinks.value
        .filter(({ metadata, spec }) => metadata.namespace === namespace && spec?.targetClusterName === cluster)
        .map(({ metadata }) => metadata.name)
        .filter((other) => other !== name && cluster !== '')
    : undefined;

/** Whether another check says why the Link is not accepted, or it is left to somebody who writes for it. */
const isRefusalExplained = (link: LinkFacts, survey: Survey): boolean => {
  const { conditions, errors, name } = link;
  const { heartbeats } = survey;
  switch (conditions?.get('Accepted')?.reason) {
    case 'InvalidLink':
      return errors.length > 0;
    case 'DuplicateCluster':
      return (namesakes(link, survey) ?? []).length > 0;
    case 'Suspended': {
      if (!heartbeats.ok) return true;
      const operator = heartbeats.value.get(OPERATOR_LEASE)?.holder;
      const beat = heartbeats.value.get(writeLeaseName(name));
      return beat?.isAlive === true && beat.holder !== operator;
    }
    default:
      return false;
  }
};

const ready = (link: LinkFacts, survey: Survey): readonly Finding[] => {
  const condition = link.conditions?.get('Ready');
  if (condition === undefined || condition.status === 'True') return [];
  if (condition.status === 'Unknown')
    return [
      warning(
        link.title,
        conditionText(condition),
        `wait until it is Ready: ${byLinkspan(placeOf(link, survey), 'status', link.name, '--watch')}`,
      ),
    ];
  if (link.conditions?.get('Accepted')?.status === 'False') {
    const remedy = 'do what the message says to have it served';
    return isRefusalExplained(link, survey) ? [] : [error(link.title, conditionText(condition), remedy)];
  }
  const isExplained =
    isHeldByAnother(link) ||
    EXPLAINED.some((type) => link.conditions?.get(type)?.status === 'False') ||
    link.conditions?.get('PruneHeld')?.status === 'True';
  return isExplained ? [] : [error(link.title, conditionText(condition), operatorLog(placeOf(link, survey)))];
};

/** Confirms just the deletions that the message says are held. */
const confirmRemedy = ({ name, namespace }: LinkFacts, survey: Survey, message: string): string => {
  const restore = 'restore the Services in the target';
  const [, confirmation, held] = new RegExp(`${Annotation.confirmPrune}="((\\d+)-[0-9a-f]+)"`).exec(message) ?? [];
  if (confirmation === undefined) return `${restore}, or confirm the deletion as the message says`;
  const words = [
    '-n',
    namespace,
    'annotate',
    '--overwrite',
    LinkApi.crd,
    name,
    `${Annotation.confirmPrune}=${confirmation}`,
  ];
  return `${restore}; or, if they are gone for good, confirm the deletion of ${held}: ${byKubectl(survey, ...words)}`;
};

export const LINK_CHECKS: readonly Check<Survey>[] = [
  {
    id: 'links-valid',
    category: CATEGORY,
    title: 'Links are valid',
    means: 'The operator refuses the Link. What it was served as stays served; its changes have no effect.',
    remedy: 'Correct the field that is named.',
    judge: (survey) =>
      eachLink(survey, ({ title, errors }) =>
        errors.map((each) => {
          const { remedy, ...finding } = each;
          return error(title, formatFieldErrors([finding]), remedy ?? 'correct the field');
        }),
      ),
  },
  {
    id: 'links-unique',
    category: CATEGORY,
    title: 'each target cluster has one Link',
    means: 'Two Links name one cluster. Only one of them is served; the other has no effect.',
    remedy: 'Delete one of them, or give it the name of another cluster.',
    judge: (survey) => {
      if (!survey.allLinks.ok) return skipped('Links cannot be read');
      return eachLink(survey, (link) => {
        const { title, cluster, name, namespace: own } = link;
        // Named once, at the Link that comes after the other.
        const [other] = (namesakes(link, survey) ?? []).toSorted();
        return own === survey.namespace && other !== undefined && other < name
          ? [
              error(
                title,
                `names cluster ${cluster}, as Link ${other} does`,
                'delete one of them, or name another cluster',
              ),
            ]
          : [];
      });
    },
  },
  {
    id: 'links-served',
    category: CATEGORY,
    title: 'the operator has seen each Link as it is',
    means: 'The status of the Link is missing or older than the Link: no operator serves it, or it is behind.',
    remedy: 'See the checks of the operator. A Link must be in the namespace of the operator.',
    judge: (survey) => eachLink(survey, (link) => served(link, survey)),
  },
  {
    id: 'links-ready',
    category: CATEGORY,
    title: 'Links are ready',
    means: 'The operator reports that the Link is not ready, for a reason that no other check explains.',
    remedy: 'See the reason, and the log of the operator.',
    judge: (survey) =>
      eachLink(survey, (link) =>
        link.conditions === undefined
          ? notJudged('there is no condition')
          : asReported(link, survey, ready(link, survey)),
      ),
  },
  {
    id: 'links-synced',
    category: CATEGORY,
    title: 'the operator keeps the mirrors of each Link true',
    means: "The operator cannot take the Link's Lease, or still removes the mirrors of another cluster.",
    remedy: 'See the reason, and the log of the operator.',
    judge: (survey) => notFalse(survey, 'Synced', operatorLog),
  },
  {
    id: 'deletions-held',
    category: CATEGORY,
    title: 'no deletion is held',
    means:
      'A list of the target lacked so many Services at once that the operator keeps their mirrors until a person decides.',
    remedy:
      'If the Services are gone for good, confirm with the command in the message; otherwise restore them in the target.',
    judge: (survey) =>
      eachLink(survey, (link) =>
        conditionOf(link, survey, 'PruneHeld', (condition) =>
          condition.status === 'True'
            ? [error(link.title, condition.message, confirmRemedy(link, survey, condition.message))]
            : [],
        ),
      ),
  },
  {
    id: 'target-limits',
    category: CATEGORY,
    title: 'targets are within limits',
    means: 'The target sends or exports more than the operator takes. What is beyond the limit is not mirrored.',
    remedy: 'Export fewer Services, or raise the limit that the message names.',
    judge: (survey) => notFalse(survey, 'TargetWithinLimits', () => 'export fewer Services, or raise the limit'),
  },
  {
    id: 'links-there',
    category: CATEGORY,
    title: 'the extension has a Link',
    means: 'There is no Link, so nothing is mirrored.',
    remedy: 'Link a cluster: `linkspan link --to-context <target> --apply`.',
    judge: (survey) => {
      const { links, namespace, crd, extensionNamespace } = survey;
      if (extensionNamespace.ok && extensionNamespace.value === undefined) {
        return skipped('there is no namespace of the extension');
      }
      if (!links.ok) return skipped('Links cannot be read');
      if (crd.ok && !servesLinks(crd.value)) return skipped('Links are not served');
      const remedy = `link a cluster: ${byLinkspan(survey, 'link', '--apply')}, with --to-context and its context`;
      return judged(links.value.length === 0 ? [warning(`Namespace ${namespace}`, 'has no Link', remedy)] : []);
    },
  },
];
