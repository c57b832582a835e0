/** What the judgements of objects have in common that are of no one Link, and that the operator reports on. Pure. */
import { OPERATOR_LEASE } from '../../../crds/wire.ts';
import { type Finding, type Judgement, judged, skipped } from './check-type.ts';
import type { Read } from './reader.ts';
import type { Survey } from './survey.ts';

/**
 * Judges each object. Nothing found says nothing where no operator keeps true what they report.
 * @param kind plural, as in `ServiceImports`
 */
export const eachObject = <T>(
  survey: Survey,
  kind: string,
  read: Read<readonly T[] | undefined>,
  judge: (object: T) => readonly Finding[],
): Judgement => {
  if (survey.link !== undefined) return skipped('one Link alone is checked');
  if (!read.ok) return skipped(`${kind} cannot be read`);
  if (read.value === undefined) return skipped(`the API server serves no ${kind}`);
  if (read.value.length === 0) return skipped(`there are no ${kind}`);
  const findings = read.value.flatMap(judge);
  const { heartbeats } = survey;
  const isLed = heartbeats.ok && heartbeats.value.get(OPERATOR_LEASE)?.isAlive === true;
  return findings.length > 0 || isLed ? judged(findings) : skipped('no operator leads: what they report may be old');
};
