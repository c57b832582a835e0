/** Checks of mirrors: each export has one, with endpoints, and each mirror has a Link. */
import { Label, mirrorName } from '../../../../crds/wire.ts';
import type { Service } from '../../../../operator/kube/objects.ts';
import { MAX_ENTRIES } from '../../../../operator/mirror/status.ts';
import { reportOf } from '../../common/link-status.ts';
import { type Check, error, type Finding, judged, skipped } from '../check-type.ts';
import { servesLinks } from '../crd-fields.ts';
import { byExplain, byKubectl, operatorLog, operatorPods, refusalRemedy } from '../../common/remedies.ts';
import { asReported, eachLink, notJudged, type NotJudged, placeOf } from '../link-judgement.ts';
import type { LinkFacts, Survey } from '../survey.ts';
import type { Export } from '../target.ts';

const CATEGORY = 'mirrors';
const NO_EXPORTS = notJudged('the exports of the target cannot be read');

/** Why one Service is not mirrored, as the status of its Link has it. */
interface Refused {
  /** `namespace/name` in the target. */
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  readonly reason: string;
  readonly message: string;
}

/** What is not mirrored. An entry of no known form has no reason, and is left out. */
const refusals = ({ object }: LinkFacts): readonly Refused[] =>
  reportOf(object).services.flatMap(({ namespace, name, isMirrored, reason, message }) =>
    isMirrored || reason === '' ? [] : [{ key: `${namespace}/${name}`, namespace, name, reason, message }],
  );

/** Reasons of refusals that a check of its own reports. */
const REASONS: Readonly<Record<string, readonly string[]>> = {
  'mirror-names': ['InvalidName'],
  'mirror-conflicts': ['NameConflict'],
  'mirror-namespaces': ['MissingNamespace', 'NamespaceNotAllowed'],
  'mirror-services': ['InvalidService'],
};
/** Reasons that other checks explain, or that are not faults: a headless Service that is scaled to zero, or what a policy wants. */
const EXPLAINED: readonly string[] = [
  'WaitingForEndpoints',
  'WaitingForGateway',
  'LimitExceeded',
  'NotAdmitted',
  'WaitingForApproval',
];

const refusedFindings = (
  link: LinkFacts,
  survey: Survey,
  isWanted: (reason: string) => boolean,
): readonly Finding[] | NotJudged => {
  const found = refusals(link).filter(({ reason }) => isWanted(reason));
  const findings = found.map(({ key, namespace, name, reason, message }) => {
    const mirror = mirrorName(name, link.cluster);
    const remedy = refusalRemedy(placeOf(link, survey), reason, { namespace, mirror });
    return error(`Service ${key} of ${link.cluster}`, `${reason}: ${message}`, remedy);
  });
  return asReported(link, survey, findings);
};

const refused = (
  id: string,
  { title, means, remedy }: { readonly title: string; means: string; remedy: string },
): Check<Survey> => ({
  id,
  category: CATEGORY,
  title,
  means,
  remedy,
  judge: (survey) =>
    eachLink(survey, (link) => refusedFindings(link, survey, (reason) => REASONS[id]?.includes(reason) === true)),
});

/** The Services that stand for Services of a Link's cluster: neither probe Services nor those of single pods. */
const mirrorsOf = ({ cluster }: LinkFacts, mirrors: readonly Service[]): readonly Service[] =>
  mirrors.filter(({ metadata: { labels = {} } }) => {
    const isPart = Label.headlessMirrorSvcName in labels || Label.mirroredGateway in labels;
    return labels[Label.clusterName] === cluster && !isPart;
  });

const keyOf = ({ metadata }: Service): string => `${metadata.namespace ?? ''}/${metadata.name}`;

/** Exports without a mirror, and mirrors without an export. */
const completeFindings = (link: LinkFacts, survey: Survey): readonly Finding[] | NotJudged => {
  const { target, cluster } = link;
  if (target?.exports.ok !== true) return NO_EXPORTS;
  if (!survey.mirrors.ok) return notJudged('mirrors cannot be read');
  const explained = new Set(refusals(link).map(({ key }) => key));
  const mirrors = new Map(mirrorsOf(link, survey.mirrors.value).map((mirror) => [keyOf(mirror), mirror]));
  const remedy = (key: string): string => `see why: ${byExplain(placeOf(link, survey), key)}`;
  const wanted = new Set<string>();
  const missing = target.exports.value.flatMap(({ key, namespace, name }) => {
    const mirror = `${namespace}/${mirrorName(name, cluster)}`;
    wanted.add(mirror);
    return mirrors.has(mirror) || explained.has(key)
      ? []
      : [error(`Service ${key} of ${cluster}`, 'is exported, and has no mirror', remedy(key))];
  });
  const isHeld = link.conditions?.get('PruneHeld')?.status === 'True';
  const stale = [...mirrors.keys()].filter((mirror) => !isHeld && !wanted.has(mirror));
  // What is not listed may be refused, too.
  const isListed = explained.size < MAX_ENTRIES;
  if (!isListed && missing.length > 0 && stale.length === 0) {
    return notJudged(`its status has room for ${MAX_ENTRIES} Services that are not mirrored, and there are more`);
  }
  return [
    ...(isListed ? missing : []),
    ...stale.map((mirror) =>
      error(
        `Service ${mirror}`,
        `mirrors what ${cluster} does not export, or its Link does not admit`,
        operatorPods(placeOf(link, survey)),
      ),
    ),
  ];
};

/** Number of ready addresses of each mirror: `namespace/name`. */
const readyAddresses = ({ endpoints, slices }: Survey): ReadonlyMap<string, number> | undefined => {
  if (!endpoints.ok || !slices.ok) return undefined;
  const ready = new Map<string, number>();
  const add = (key: string, count: number): void => void ready.set(key, (ready.get(key) ?? 0) + count);
  for (const { metadata, subsets } of endpoints.value) {
    add(
      `${metadata.namespace ?? ''}/${metadata.name}`,
      (subsets ?? []).flatMap(({ addresses = [] }) => addresses).length,
    );
  }
  for (const { metadata, endpoints: all } of slices.value) {
    const isReady = (all ?? []).filter(({ conditions }) => conditions?.ready !== false);
    add(`${metadata.namespace ?? ''}/${metadata.labels?.[Label.serviceName] ?? ''}`, isReady.length);
  }
  return ready;
};

const endpointFindings = (
  link: LinkFacts,
  survey: Survey,
  ready: ReadonlyMap<string, number>,
): readonly Finding[] | NotJudged => {
  const { target, cluster } = link;
  if (target?.exports.ok !== true) return NO_EXPORTS;
  if (!survey.mirrors.ok) return notJudged('mirrors cannot be read');
  const isDead = link.conditions?.get('GatewayAlive')?.status === 'False';
  const mirrors = new Set(mirrorsOf(link, survey.mirrors.value).map(keyOf));
  const remedy = (key: string): string =>
    `see why: ${byExplain(placeOf(link, survey), key)}; and ${operatorLog(placeOf(link, survey))}`;
  return target.exports.value.flatMap(({ key, namespace, name, mode, isReady }: Export) => {
    const mirror = `${namespace}/${mirrorName(name, cluster)}`;
    if (mode !== 'gateway' || isDead || !mirrors.has(mirror)) return [];
    const count = ready.get(mirror) ?? 0;
    if (isReady && count === 0) {
      return [error(`Service ${mirror}`, `has no ready endpoint, and ${key} of ${cluster} has one`, remedy(mirror))];
    }
    return !isReady && count > 0
      ? [error(`Service ${mirror}`, `has ready endpoints, and ${key} of ${cluster} has none`, remedy(mirror))]
      : [];
  });
};

const orphanFindings = (
  survey: Survey,
  mirrors: readonly Service[],
  clusters: ReadonlySet<string>,
): readonly Finding[] =>
  mirrors.flatMap((mirror) => {
    const cluster = mirror.metadata.labels?.[Label.clusterName];
    // A federated Service is of several clusters, and has no such label.
    if (cluster === undefined || clusters.has(cluster)) return [];
    if (survey.link !== undefined) return [];
    const { namespace = '', name } = mirror.metadata;
    const remedy = `link ${cluster} again, or delete it: ${byKubectl(survey, '-n', namespace, 'delete', 'service', name)}`;
    return [error(`Service ${keyOf(mirror)}`, `mirrors cluster ${cluster}, to which there is no Link`, remedy)];
  });

export const MIRROR_CHECKS: readonly Check<Survey>[] = [
  {
    id: 'mirrors-complete',
    category: CATEGORY,
    title: 'each export has a mirror, and each mirror an export',
    means: 'The mirrors are behind the target, and the status of the Link does not say why.',
    remedy: 'See the checks of the operator, and its log.',
    judge: (survey) => eachLink(survey, (link) => completeFindings(link, survey)),
  },
  {
    id: 'mirror-endpoints',
    category: CATEGORY,
    title: 'mirrors have endpoints where their Services have pods',
    means:
      'Clients of the mirror find nobody, though pods behind the Service are ready; or they are sent to a gateway behind which nobody is. A Service without pods is no fault, and mirrors in flat mode have no endpoints.',
    remedy: 'See the log of the operator, and who else writes the endpoints.',
    judge: (survey) => {
      const ready = readyAddresses(survey);
      if (ready === undefined) return skipped('endpoints cannot be read');
      return eachLink(survey, (link) => endpointFindings(link, survey, ready));
    },
  },
  {
    id: 'mirror-orphans',
    category: CATEGORY,
    title: 'each mirror is part of a Link',
    means: 'A mirror was left of a Link that is gone. Its endpoints follow nothing any more.',
    remedy: 'Delete it, or link the cluster again.',
    judge: (survey) => {
      const { mirrors, allLinks, areLinksOfAllNamespaces, crd } = survey;
      if (!mirrors.ok || !allLinks.ok) return skipped('mirrors or Links cannot be read');
      if (!areLinksOfAllNamespaces) return skipped('Links of other namespaces cannot be read');
      // The operator keeps the mirrors until there can be Links again.
      if (crd.ok && !servesLinks(crd.value)) return skipped('Links are not served');
      const clusters = new Set(allLinks.value.map(({ spec }) => spec?.targetClusterName ?? ''));
      return judged(orphanFindings(survey, mirrors.value, clusters));
    },
  },
  refused('mirror-names', {
    title: 'the names of mirrors are valid',
    means:
      'The mirror of a Service would have a name of more than 63 characters, or one that is not a DNS label otherwise.',
    remedy: 'Export a Service with a shorter name, or give the cluster a shorter one.',
  }),
  refused('mirror-conflicts', {
    title: 'nobody else has the names of mirrors',
    means: 'An object that is not a mirror of this cluster has the name of a mirror. It is left alone.',
    remedy: 'Rename or delete the object that is named, or export the Service under another name.',
  }),
  refused('mirror-namespaces', {
    title: 'the namespaces of mirrors exist',
    means: 'The namespace of an exported Service does not exist in the source, or the operator may not write there.',
    remedy:
      'Create the namespace, have the operator create them (`enableNamespaceCreation` of the Link, and `upgrade --grant-namespace-creation`), or no longer export the Service.',
  }),
  refused('mirror-services', {
    title: 'exported Services can be mirrored',
    means:
      'The exported Service is of a kind that cannot be mirrored: without ports, with UDP alone, of type ExternalName, or a mirror itself.',
    remedy: 'No longer export it.',
  }),
  {
    id: 'mirror-failures',
    category: CATEGORY,
    title: 'no mirror fails otherwise',
    means: 'The mirror of a Service cannot be written, for the reason that is named.',
    remedy: 'See the reason, and the log of the operator.',
    judge: (survey) => {
      const known = [...Object.values(REASONS).flat(), ...EXPLAINED];
      return eachLink(survey, (link) => refusedFindings(link, survey, (reason) => !known.includes(reason)));
    },
  },
];
