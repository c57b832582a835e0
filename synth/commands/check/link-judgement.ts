/** What the judgements of Links have in common. Pure. */
import { OPERATOR_LEASE, writeLeaseName } from '../../../crds/wire.ts';
import { cut } from '../../../operator/kube/errors.ts';
import { isOperator } from '../common/link-served.ts';
import type { LinkCondition } from '../common/link-status.ts';
import type { Place } from '../common/remedies.ts';
import { error, type Finding, type Judgement, judged, skipped, warning } from './check-type.ts';
import type { LinkFacts, Survey } from './survey.ts';

/** Why something of one Link is not judged. */
export interface NotJudged {
  readonly why: string;
}

export const notJudged = (why: string): NotJudged => ({ why });

/** Where the commands for a Link act: in its namespace, whichever was asked about. Another may have a Link of its name. */
export const placeOf = ({ namespace }: LinkFacts, survey: Survey): Place => ({ ...survey, namespace });

/** Links that are named where they could not be judged. */
const NAMED = 3;

/** Judges each Link: passed over if none can be judged; those that cannot be judged are named. */
export const eachLink = (
  survey: Survey,
  judge: (link: LinkFacts, survey: Survey) => readonly Finding[] | NotJudged,
): Judgement => {
  const { links } = survey;
  if (!links.ok) return skipped('Links cannot be read');
  if (links.value.length === 0) return skipped('there is no Link');
  const results = links.value.map((link) => ({ link, result: judge(link, survey) }));
  const findings = results.flatMap(({ result }) => ('why' in result ? [] : result));
  const left = results.flatMap(({ link, result }) => ('why' in result ? [{ title: link.title, why: result.why }] : []));
  const [first] = left;
  if (first !== undefined && left.length === results.length) return skipped(first.why);
  const named = left.slice(0, NAMED).map(({ title, why }) => `${title}, ${why}`);
  const more = left.length > NAMED ? [`and ${left.length - NAMED} more`] : [];
  return judged(findings, first && [...named, ...more].join('; '));
};

/** Why what a Link reports is not to be relied on; undefined if somebody keeps it true. */
const outdated = (link: LinkFacts, { heartbeats, namespace }: Survey): string | undefined => {
  if (link.conditions === undefined) return 'the operator has not reported on it';
  if (isHeldByAnother(link)) return 'the operator stands by for the Link';
  if (!heartbeats.ok) return 'whether an operator serves the Link is not known';
  if (link.namespace !== namespace) return `its Lease is in namespace ${link.namespace}`;
  const beat = heartbeats.value.get(writeLeaseName(link.name));
  if (beat?.isAlive !== true) return 'nobody serves the Link: what it reports may be old';
  return isOperator(beat.holder, heartbeats.value.get(OPERATOR_LEASE)?.lease, link.object)
    ? undefined
    : `its Lease is held by ${cut(beat.holder)}, which is not the operator that reports: what it reports may be old`;
};

/** What was found in what a Link reports. Nothing found says nothing where the report may be old. */
export const asReported = (
  link: LinkFacts,
  survey: Survey,
  findings: readonly Finding[],
): readonly Finding[] | NotJudged => {
  const why = findings.length > 0 ? undefined : outdated(link, survey);
  return why === undefined ? findings : notJudged(why);
};

/** Text of a condition, for a reason. */
export const conditionText = ({ reason, message }: LinkCondition): string =>
  message === '' ? reason : `${reason}: ${message}`;

/** Reports whether another than the operator holds the Link's Lease, so that the operator finds nothing out. */
export const isHeldByAnother = ({ conditions }: LinkFacts): boolean =>
  conditions?.get('Ready')?.reason === 'HeldByAnother';

/** Judges one condition that the operator reports. */
export const conditionOf = (
  link: LinkFacts,
  survey: Survey,
  type: string,
  judge: (condition: LinkCondition) => readonly Finding[],
): readonly Finding[] | NotJudged => {
  if (link.settings === undefined) return notJudged('the Link is invalid');
  if (link.conditions?.get('Accepted')?.status === 'False') return notJudged('the operator does not serve the Link');
  if (isHeldByAnother(link)) return notJudged('the operator stands by for the Link');
  const condition = link.conditions?.get(type);
  return condition === undefined
    ? notJudged('the operator has not reported on it')
    : asReported(link, survey, judge(condition));
};

/** Judges each Link by one condition that must not be False, nor Unknown for long. */
export const notFalse = (survey: Survey, type: string, remedy: (place: Place) => string): Judgement =>
  eachLink(survey, (link) =>
    conditionOf(link, survey, type, (condition) => {
      if (condition.status === 'True') return [];
      const report = condition.status === 'False' ? error : warning;
      return [report(link.title, conditionText(condition), remedy(placeOf(link, survey)))];
    }),
  );
