/** Checks of the operator: installed, running, leading, with its rights, and alone. */
import { flagOf } from '../../../../crds/operator-setting-names.ts';
import { Label, OPERATOR_CONTAINER, OPERATOR_LEASE, OPERATOR_NAME, writeLeaseName } from '../../../../crds/wire.ts';
import { type Check, error, type Finding, judged, skipped, warning } from '../check-type.ts';
import type { Heartbeat } from '../heartbeat.ts';
import { byInstall, byKubectl, byLinkspan, operatorLog, operatorPods } from '../../common/remedies.ts';
import { eachLink, notJudged, type NotJudged } from '../link-judgement.ts';
import { type Deployment, type Pod, running } from '../objects.ts';
import type { Right } from '../reader.ts';
import { hasFlatMembers, isOperator, type LinkFacts, type Survey } from '../survey.ts';
import { lackingRights } from './credentials.ts';
import { PROXY_CHECKS } from './proxies.ts';

const CATEGORY = 'operator';

const operatorOf = ({ deployments }: Survey): Deployment | undefined =>
  deployments.ok ? deployments.value.find(isOperator) : undefined;

const isWithoutNamespace = ({ extensionNamespace }: Survey): boolean =>
  extensionNamespace.ok && extensionNamespace.value === undefined;
const NO_NAMESPACE = skipped('there is no namespace of the extension');

const titleOf = ({ namespace }: Survey): string => `Deployment ${namespace}/${OPERATOR_NAME}`;

/** The pods that a Deployment selects. */
const podsOf = ({ spec }: Deployment, pods: readonly Pod[]): readonly Pod[] => {
  const labels = Object.entries(spec?.selector?.matchLabels ?? {});
  return pods.filter(({ metadata }) => labels.every(([name, value]) => metadata.labels?.[name] === value));
};

/** Why a pod is not ready, as the kubelet reports it. */
const troubleOf = ({ metadata, status }: Pod): string | undefined => {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  if (ready?.status === 'True') return undefined;
  const waiting = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])].find(
    ({ state }) => state?.waiting !== undefined,
  );
  const why = waiting?.state?.waiting;
  const reason = [why?.reason, why?.message].filter((each) => each !== undefined).join(': ');
  return `pod ${metadata.name} is not ready${reason === '' ? '' : `: ${reason}`}`;
};

const runningFindings = (survey: Survey, deployment: Deployment): readonly Finding[] => {
  const { spec, status } = deployment;
  const wanted = spec?.replicas ?? 1;
  const available = status?.availableReplicas ?? 0;
  if (wanted === 0)
    return [
      error(
        titleOf(survey),
        'is scaled to 0',
        `scale it: ${byKubectl(survey, '-n', survey.namespace, 'scale', 'deployment', OPERATOR_NAME, '--replicas=2')}`,
      ),
    ];
  if (available >= wanted) return [];
  const failure = status?.conditions?.find(({ type, status: is }) => type === 'ReplicaFailure' && is === 'True');
  const troubles = [
    ...(failure?.message === undefined ? [] : [failure.message]),
    ...(survey.pods.ok ? podsOf(deployment, running(survey.pods.value)) : []).flatMap((pod) => troubleOf(pod) ?? []),
  ];
  const reason = [`${available} of ${wanted} pods are available`, ...troubles].join('; ');
  const remedy = `see its pods: ${byKubectl(survey, '-n', survey.namespace, 'describe', 'pods')}`;
  return [available === 0 ? error(titleOf(survey), reason, remedy) : warning(titleOf(survey), reason, remedy)];
};

/** Whether the operator elects no leader, and has no Lease of its own. */
const isAlone = (survey: Survey): boolean => {
  const containers = operatorOf(survey)?.spec?.template?.spec?.containers ?? [];
  const args = containers.flatMap((container) => container.args ?? []);
  const isLeft = survey.heartbeats.ok && survey.heartbeats.value.has(OPERATOR_LEASE);
  return !isLeft && args.includes(flagOf('leaderElect').replace('--', '--no-'));
};

const leaseFindings = (beat: Heartbeat | undefined, object: string, remedy: string): readonly Finding[] => {
  if (beat === undefined) return [error(object, 'not found', remedy)];
  if (beat.holder === '') return [error(object, 'nobody holds it', remedy)];
  const { leaseDurationSeconds = 0, renewTime } = beat.lease.spec ?? {};
  return beat.isAlive
    ? []
    : [
        error(
          object,
          `${beat.holder} holds it, and has not renewed it for ${leaseDurationSeconds} s (last: ${renewTime ?? 'never'})`,
          remedy,
        ),
      ];
};

/** Linkerd's own service mirror controllers. Our Deployment has some of their labels, so that Linkerd's tools find it. */
const linkerdControllers = ({ deployments }: Survey): readonly Deployment[] =>
  deployments.ok
    ? deployments.value.filter(
        (each) =>
          !isOperator(each) &&
          ['controller', 'service-mirror', 'linkerd-service-mirror'].includes(
            each.metadata.labels?.[Label.component] ?? '',
          ) &&
          each.metadata.labels?.[Label.clusterName] !== undefined,
      )
    : [];

const isPodOf = (holder: string, { metadata }: Deployment): boolean => holder.startsWith(`${metadata.name}-`);

const linkLeaseFindings = (link: LinkFacts, survey: Survey): readonly Finding[] | NotJudged => {
  if (!survey.heartbeats.ok) return notJudged('Leases cannot be read');
  if (link.namespace !== survey.namespace) return notJudged('the Link is in another namespace');
  if (link.conditions?.get('Accepted')?.status === 'False') return notJudged('the Link is not accepted');
  const beats = survey.heartbeats.value;
  const beat = beats.get(writeLeaseName(link.name));
  const object = `Lease ${survey.namespace}/${writeLeaseName(link.name)}`;
  const found = leaseFindings(beat, object, `nobody writes mirrors for the Link: ${operatorPods(survey)}`);
  const leader = beats.get(OPERATOR_LEASE)?.holder ?? '';
  if (found.length > 0 || beat === undefined || leader === '' || beat.holder === leader) return found;
  if (linkerdControllers(survey).some((each) => isPodOf(beat.holder, each))) return [];
  const reason = `${beat.holder} holds it, which is neither the leading operator ${leader} nor a controller of Linkerd here`;
  return [error(object, reason, 'find out what that is, and stop it')];
};

const besideFindings = (deployment: Deployment, survey: Survey): readonly Finding[] => {
  const { name, namespace = '', labels = {} } = deployment.metadata;
  const cluster = labels[Label.clusterName] ?? '';
  const links = survey.links.ok
    ? survey.links.value.filter((link) => link.cluster === cluster && link.namespace === survey.namespace)
    : [];
  if (survey.link !== undefined && links.length === 0) return [];
  const isWriting = links.some((link) => {
    const beat = survey.heartbeats.ok ? survey.heartbeats.value.get(writeLeaseName(link.name)) : undefined;
    return beat?.isAlive === true && isPodOf(beat.holder, deployment);
  });
  const object = `Deployment ${namespace}/${name}`;
  if (!isWriting && (deployment.spec?.replicas ?? 1) === 0) {
    const reason = `is scaled to 0: it does not take over ${cluster} when the operator stops`;
    return [warning(object, reason, 'remove it when you no longer want to go back')];
  }
  if (!isWriting && (deployment.status?.readyReplicas ?? 0) === 0) {
    const reason = `has no ready pod: it cannot take over ${cluster} when the operator stops`;
    return [warning(object, reason, 'see its pods, or remove it when you no longer want to go back')];
  }
  return [
    isWriting
      ? warning(
          object,
          `writes the mirrors of ${cluster}, and the operator stands by`,
          `hand the Link over: ${byLinkspan(survey, 'migrate', links[0]?.name ?? '', '--apply')}`,
        )
      : warning(
          object,
          `stands by for ${cluster}, and takes over when the operator stops`,
          'remove it when you no longer want to go back',
        ),
  ];
};

/** The version in the tag of an image; undefined if it has none. */
export const imageVersion = (image: string): string | undefined =>
  /:v?(\d+\.\d+\.\d+(?:-[\w.]+)?)(?:@|$)/.exec(image)?.[1];

/** Reports whether a right is one of those to create namespaces; the operator lists and watches them anyhow. */
const isCreating = ({ resource, verb }: Right): boolean =>
  resource === 'namespaces' && verb !== 'list' && verb !== 'watch';

export const OPERATOR_CHECKS: readonly Check<Survey>[] = [
  {
    id: 'operator-installed',
    category: CATEGORY,
    title: 'the operator is installed',
    means: 'There is no Deployment of the operator. Mirrors stay as they are, and follow the targets no more.',
    remedy: 'Install it with `linkspan install --apply`, or name its namespace with `--namespace`.',
    judge: (survey) => {
      if (!survey.deployments.ok) return skipped('Deployments cannot be read');
      if (isWithoutNamespace(survey)) return NO_NAMESPACE;
      const remedy = `install it: ${byInstall(survey)}; or name its namespace with --namespace`;
      return judged(operatorOf(survey) === undefined ? [error(titleOf(survey), 'not found', remedy)] : []);
    },
  },
  {
    id: 'operator-running',
    category: CATEGORY,
    title: 'the operator runs',
    means:
      'Too few pods of the operator are available. With none, mirrors follow the targets no more; with one of two, nobody takes over.',
    remedy: 'See the reason, `kubectl describe` of the pods, and their logs.',
    judge: (survey) => {
      const deployment = operatorOf(survey);
      return deployment === undefined
        ? skipped('there is no Deployment of the operator')
        : judged(runningFindings(survey, deployment));
    },
  },
  {
    id: 'operator-leads',
    category: CATEGORY,
    title: 'the operator leads',
    means: 'No replica holds the Lease of the operator and renews it. Nobody writes mirrors.',
    remedy: 'See the log of the operator: `/readyz` and the log name the right or the namespace that is missing.',
    judge: (survey) => {
      const { heartbeats, namespace } = survey;
      if (!heartbeats.ok) return skipped('Leases cannot be read');
      if (isWithoutNamespace(survey)) return NO_NAMESPACE;
      if (isAlone(survey)) return skipped('the operator elects no leader (--no-leader-elect)');
      const remedy = `no operator leads: ${operatorPods(survey)}; and ${operatorLog(survey)}`;
      return judged(
        leaseFindings(heartbeats.value.get(OPERATOR_LEASE), `Lease ${namespace}/${OPERATOR_LEASE}`, remedy),
      );
    },
  },
  {
    id: 'link-leases',
    category: CATEGORY,
    title: 'the Lease of each Link is renewed',
    means: 'The heartbeat of the Link is missing: nobody writes its mirrors, or something unknown does.',
    remedy: 'See the log of the operator. The Lease is named `service-mirror-write-<link>`.',
    judge: (survey) => eachLink(survey, (link) => linkLeaseFindings(link, survey)),
  },
  {
    id: 'operator-rights',
    category: CATEGORY,
    title: 'the operator has its rights',
    means:
      'The ServiceAccount of the operator lacks a right that it needs with its arguments. [rights.md](rights.md) says what each is for.',
    remedy:
      'Write its roles again: `linkspan upgrade --apply`, or apply those that `MirrorOperator` renders. A right in the namespace of the control plane comes with `--flat`, or with the prop `flat`; the right to create namespaces with `--grant-namespace-creation`, or with `grantNamespaceCreation`.',
    judge: (survey) => {
      const { operatorRights, links, namespace, linkerdNamespace } = survey;
      if (operatorRights === undefined) return skipped('there is no operator whose rights could be asked for');
      const object = `ServiceAccount ${namespace}/${OPERATOR_NAME}`;
      if (!operatorRights.ok) {
        return judged([
          warning(object, `its rights are not checked: ${operatorRights.why}`, 'use a context of an administrator'),
        ]);
      }
      const { discovery, namespaces, others } = Object.groupBy(operatorRights.value, ({ right }) =>
        right.namespace === linkerdNamespace ? 'discovery' : isCreating(right) ? 'namespaces' : 'others',
      );
      const again = (...flags: readonly string[]): string =>
        `write its roles again: ${byLinkspan(survey, 'upgrade', ...flags, '--apply')}`;
      return judged([
        ...lackingRights(object, others ?? [], again()),
        ...lackingRights(
          object,
          namespaces ?? [],
          `${again('--grant-namespace-creation')}, or set the prop grantNamespaceCreation; or create the namespaces yourself, and set enableNamespaceCreation neither for Links nor for the operator`,
        ),
        ...lackingRights(
          object,
          discovery ?? [],
          `${again('--flat')}, or set the prop flat; or have federated Services and ServiceImports lead through gateways: spec.federation of the Links`,
          // Without it, a ServiceImport does not say of which clusters Linkerd has no credentials.
          links.ok && links.value.some((link) => link.namespace === namespace && hasFlatMembers(link))
            ? error
            : warning,
        ),
      ]);
    },
  },
  {
    id: 'operator-version',
    category: CATEGORY,
    title: 'the operator has the version of this command',
    means:
      'The operator is older or newer than this command, which may then judge by rules that the operator does not have.',
    remedy: 'Upgrade the older one.',
    judge: (survey) => {
      const containers = operatorOf(survey)?.spec?.template?.spec?.containers ?? [];
      const { image = '' } = containers.find(({ name }) => name === OPERATOR_CONTAINER) ?? {};
      const version = imageVersion(image);
      if (version === undefined) return skipped('the image of the operator has no version');
      const reason = `runs version ${version}, and this command is ${survey.version}`;
      return judged(version === survey.version ? [] : [warning(titleOf(survey), reason, 'upgrade the older one')]);
    },
  },
  ...PROXY_CHECKS,
  {
    id: 'linkerd-controllers',
    category: CATEGORY,
    title: "none of Linkerd's service mirror controllers runs beside the operator",
    means:
      "Linkerd's own controller of a Link is installed too. The two never write at once: one holds the Lease of the Link, and the other stands by. While you migrate, this is as it should be.",
    remedy: "Remove Linkerd's controller when you no longer want to go back.",
    judge: (survey) =>
      survey.deployments.ok
        ? judged(linkerdControllers(survey).flatMap((each) => besideFindings(each, survey)))
        : skipped('Deployments cannot be read'),
  },
];
