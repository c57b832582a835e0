/** Checks of federated Services: each member has joined, and the operator writes the local ones. */
import { federatedName, LOCAL_WRITE_LEASE, OPERATOR_LEASE } from '../../../../crds/wire.ts';
import { listsAll, reportOf } from '../../common/link-status.ts';
import { type Check, error, type Finding, judged, skipped, warning } from '../check-type.ts';
import { byExplain, byLinkspan, linkAgain, operatorLog, patchLink } from '../../common/remedies.ts';
import { asReported, eachLink, isHeldByAnother, notJudged, type NotJudged, placeOf } from '../link-judgement.ts';
import type { LinkFacts, Survey } from '../survey.ts';

const CATEGORY = 'federated Services';

/** A check of members that do not join, for reasons that the status of their Link has. */
interface Refusals extends Pick<Check<Survey>, 'id' | 'title' | 'means' | 'remedy'> {
  readonly reasons: readonly string[];
  /** The remedy of a finding. */
  readonly advice: (link: LinkFacts, survey: Survey) => string;
}

const REFUSALS: readonly Refusals[] = [
  {
    id: 'federated-discovery',
    reasons: ['WaitingForCredentials'],
    title: "Linkerd's control plane can find the members on a flat network",
    means:
      "A Service is to join a federated Service on a flat network, and Linkerd's control plane has no credentials of its cluster: it could not find the pods.",
    remedy:
      "Make the copy of the credentials in the namespace of Linkerd's control plane, as `--flat` of `linkspan link` does, or have federated Services lead through the gateway: `federation: gateway` of the Link.",
    advice: (link, survey) =>
      `link the cluster again: ${linkAgain(placeOf(link, survey), link, undefined, '--flat')}; or have federated Services lead through its gateway: ${patchLink(placeOf(link, survey), link.name, { federation: 'gateway' })}`,
  },
  {
    id: 'federated-ports',
    reasons: ['PortMismatch'],
    title: 'the members of a federated Service have its ports',
    means:
      'A Service lacks a port of the federated Service, which has those of its first member: the local one, or that of the oldest Link. Requests to that port would fail, so the Service does not join.',
    remedy: 'Give all Services of that name the same ports.',
    advice: () => 'give the Services of this name the same ports in all clusters',
  },
  {
    id: 'federated-conflicts',
    reasons: ['NameConflict'],
    title: 'nobody else has the names of federated Services',
    means: 'A Service that is no federated one has the name of a federated Service. It is left alone.',
    remedy: 'Rename or delete the Service that is named.',
    advice: () => 'rename or delete the Service that has the name',
  },
];

const KNOWN: ReadonlySet<string> = new Set(REFUSALS.flatMap(({ reasons }) => reasons));

const refusedFindings = (
  link: LinkFacts,
  isWanted: (reason: string) => boolean,
  remedy: (namespace: string, name: string) => string,
): readonly Finding[] =>
  reportOf(link.object)
    .members.filter(({ isMirrored, reason }) => !isMirrored && reason !== '' && isWanted(reason))
    .map(({ namespace, name, reason, message }) =>
      error(
        `Service ${namespace}/${name} of ${link.cluster}`,
        `does not join ${federatedName(name)}, ${reason}: ${message}`,
        remedy(namespace, name),
      ),
    );

const refused = ({ id, reasons, title, means, remedy, advice }: Refusals): Check<Survey> => ({
  id,
  category: CATEGORY,
  title,
  means,
  remedy,
  judge: (survey) =>
    eachLink(survey, (link) => {
      const findings = refusedFindings(
        link,
        (reason) => reasons.includes(reason),
        () => advice(link, survey),
      );
      return asReported(link, survey, findings);
    }),
});

/** Services that are selected, and that no status is about. Of many, not all are reported. */
const silentFindings = (link: LinkFacts, survey: Survey): readonly Finding[] | NotJudged => {
  const { target, cluster, object } = link;
  if (target?.members.ok !== true) return notJudged('the Services of the target cannot be read');
  const { members } = reportOf(object);
  const reported = new Set(members.map(({ namespace, name }) => `${namespace}/${name}`));
  if (isHeldByAnother(link)) return notJudged('the operator stands by for the Link');
  if (!listsAll(members)) return notJudged('its status has no room for all members');
  return target.members.value
    .filter((key) => !reported.has(key))
    .map((key) =>
      error(
        `Service ${key} of ${cluster}`,
        'is to join a federated Service, and the operator does not report on it',
        operatorLog(placeOf(link, survey)),
      ),
    );
};

const leaseFindings = (survey: Survey): readonly Finding[] | NotJudged => {
  const { heartbeats, namespace } = survey;
  if (!heartbeats.ok) return notJudged('Leases cannot be read');
  const leader = heartbeats.value.get(OPERATOR_LEASE)?.holder ?? '';
  const beat = heartbeats.value.get(LOCAL_WRITE_LEASE);
  if (leader === '' || beat === undefined || !beat.isAlive || beat.holder === leader) return [];
  const reason = `${beat.holder} holds it: the operator leaves the Services of this cluster to it, and begins no federated Service that leads through gateways`;
  const remedy = `hand it over with the last Link: ${byLinkspan(survey, 'migrate')}`;
  return [warning(`Lease ${namespace}/${LOCAL_WRITE_LEASE}`, reason, remedy)];
};

export const FEDERATION_CHECKS: readonly Check<Survey>[] = [
  {
    id: 'federated-members',
    category: CATEGORY,
    title: 'the Services that are to join federated ones have joined',
    means: 'A Service of the target is selected as a member of a federated Service, and has not joined it.',
    remedy: 'See the reason. `linkspan explain` shows the federated Service with all its members.',
    judge: (survey) =>
      eachLink(survey, (link) => {
        const silent = silentFindings(link, survey);
        const see = (namespace: string, name: string): string =>
          `follow it: ${byExplain(placeOf(link, survey), `${namespace}/${name}`)}`;
        const refused = refusedFindings(link, (reason) => !KNOWN.has(reason), see);
        if ('why' in silent && refused.length === 0) return silent;
        return asReported(link, survey, [...('why' in silent ? [] : silent), ...refused]);
      }),
  },
  ...REFUSALS.map(refused),
  {
    id: 'federated-lease',
    category: CATEGORY,
    title: 'the operator decides about the local members of federated Services',
    means: `Another holds Lease \`${LOCAL_WRITE_LEASE}\`, as Linkerd's local service mirror does while it runs. It writes which Services of this cluster are members, and the operator leaves that to it.`,
    remedy:
      '`linkspan migrate` hands it over [with the last Link](migrate.md#the-local-mirror), unless it is to go on.',
    judge: (survey) => {
      const found = leaseFindings(survey);
      return 'why' in found ? skipped(found.why) : judged(found);
    },
  },
];
