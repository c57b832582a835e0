/** Checks of Links by themselves: valid, one for each cluster, and seen by the operator. */
import { formatFieldErrors } from '../../../../crds/field-error.ts';
import { type Check, error, type Finding, judged, skipped, warning } from '../check-type.ts';
import { missingFields, servesLinks } from '../crd-fields.ts';
import { conditionOf, conditionText, eachLink, isHeldByAnother, notFalse, notJudged } from '../link-judgement.ts';
import type { LinkFacts, Survey } from '../survey.ts';

const CATEGORY = 'links';

/** Conditions that have a check of their own. */
const EXPLAINED: readonly string[] = [
  'Accepted',
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
  if (dropsConditions(survey) || namespace !== survey.namespace) return [];
  if (conditions === undefined) {
    return [error(title, 'the operator has not reported on it', 'see the checks of the operator, and its log')];
  }
  const seen = conditions.get('Ready')?.observedGeneration ?? 0;
  const { generation = 0 } = object.metadata;
  return seen < generation
    ? [
        error(
          title,
          `the operator has not seen its generation ${generation} yet, but ${seen}`,
          'wait a moment; if this stays, see the checks of the operator, and its log',
        ),
      ]
    : [];
};

const ready = (link: LinkFacts): readonly Finding[] => {
  const condition = link.conditions?.get('Ready');
  if (condition === undefined || condition.status === 'True') return [];
  if (condition.status === 'Unknown') return [warning(link.title, conditionText(condition), 'wait until it is Ready')];
  const isExplained =
    isHeldByAnother(link) ||
    EXPLAINED.some((type) => link.conditions?.get(type)?.status === 'False') ||
    link.conditions?.get('PruneHeld')?.status === 'True';
  return isExplained ? [] : [error(link.title, conditionText(condition), 'see the log of the operator')];
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
      const { allLinks, namespace } = survey;
      if (!allLinks.ok) return skipped('Links cannot be read');
      const ofNamespace = allLinks.value.filter(({ metadata }) => metadata.namespace === namespace);
      return eachLink(survey, ({ title, cluster, name, namespace: own }) => {
        const others = ofNamespace.filter(
          ({ metadata, spec }) => metadata.name !== name && cluster !== '' && spec?.targetClusterName === cluster,
        );
        // Named once, at the Link that comes after the other.
        const [other] = others.map(({ metadata }) => metadata.name).toSorted();
        return own === namespace && other !== undefined && other < name
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
      eachLink(survey, (link) => (link.conditions === undefined ? notJudged('there is no condition') : ready(link))),
  },
  {
    id: 'links-synced',
    category: CATEGORY,
    title: 'the operator keeps the mirrors of each Link true',
    means: "The operator cannot take the Link's Lease, or still removes the mirrors of another cluster.",
    remedy: 'See the reason, and the log of the operator.',
    judge: (survey) => notFalse(survey, 'Synced', 'see the log of the operator'),
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
        conditionOf(link, 'PruneHeld', (condition) =>
          condition.status === 'True'
            ? [error(link.title, condition.message, 'confirm the deletion, or restore the Services in the target')]
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
    judge: (survey) => notFalse(survey, 'TargetWithinLimits', 'export fewer Services, or raise the limit'),
  },
  {
    id: 'links-there',
    category: CATEGORY,
    title: 'the extension has a Link',
    means: 'There is no Link, so nothing is mirrored.',
    remedy: 'Link a cluster: `linkspan link --to-context <target> --apply`.',
    judge: ({ links, namespace, crd, extensionNamespace }) => {
      if (extensionNamespace.ok && extensionNamespace.value === undefined) {
        return skipped('there is no namespace of the extension');
      }
      if (!links.ok) return skipped('Links cannot be read');
      if (crd.ok && !servesLinks(crd.value)) return skipped('Links are not served');
      const remedy = 'linkspan link --to-context <target> --apply';
      return judged(links.value.length === 0 ? [warning(`Namespace ${namespace}`, 'has no Link', remedy)] : []);
    },
  },
];
