/** What the judgements of Links have in common. Pure. */
import type { LinkCondition } from '../common/link-status.ts';
import { error, type Finding, type Judgement, judged, skipped } from './check-type.ts';
import type { LinkFacts, Survey } from './survey.ts';

/** Why something of one Link is not judged. */
export interface NotJudged {
  readonly why: string;
}

export const notJudged = (why: string): NotJudged => ({ why });

/** Judges each Link: passed over if none can be judged. */
export const eachLink = ({ links }: Survey, judge: (link: LinkFacts) => readonly Finding[] | NotJudged): Judgement => {
  if (!links.ok) return skipped('Links cannot be read');
  if (links.value.length === 0) return skipped('there is no Link');
  const results = links.value.map(judge);
  const findings = results.flatMap((result) => ('why' in result ? [] : result));
  const [first] = results;
  return first !== undefined && results.every((result) => 'why' in result) && 'why' in first
    ? skipped(first.why)
    : judged(findings);
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
  type: string,
  judge: (condition: LinkCondition) => readonly Finding[],
): readonly Finding[] | NotJudged => {
  if (link.settings === undefined) return notJudged('the Link is invalid');
  if (link.conditions?.get('Accepted')?.status === 'False') return notJudged('the operator does not serve the Link');
  if (isHeldByAnother(link)) return notJudged('the operator stands by for the Link');
  const condition = link.conditions?.get(type);
  return condition === undefined ? notJudged('the operator has not reported on it') : judge(condition);
};

/** Judges each Link by one condition that must not be False. */
export const notFalse = (survey: Survey, type: string, remedy: string): Judgement =>
  eachLink(survey, (link) =>
    conditionOf(link, type, (condition) =>
      condition.status === 'False' ? [error(link.title, conditionText(condition), remedy)] : [],
    ),
  );
