/**
 * One Service from its export to the ready address, step by step, by the operator's own rules. It ends at the first step
 * that stops it. Pure.
 */
import { formatFieldErrors } from '../../../crds/field-error.ts';
import type { Obstacle } from '../../../crds/link/import-policy.ts';
import { type LinkSettings, readLink } from '../../../crds/link/settings.ts';
import { isProtectedNamespace } from '../../../crds/operator-values.ts';
import { Label, mirrorName, Value } from '../../../crds/wire.ts';
import { cut } from '../../../operator/kube/errors.ts';
import type { Service } from '../../../operator/kube/objects.ts';
import type { Observed } from '../../../operator/mirror/observed.ts';
import { AppliedPolicy } from '../../../operator/mirror/applied-policy.ts';
import { shapeOf } from '../../../operator/mirror/shape.ts';
import { differencesOf } from './differences.ts';
import type { Facts } from './facts.ts';
import { type Reached, reach } from './reach.ts';
import { byKubectl, byLinkspan, operatorLog, operatorPods, refusalRemedy } from '../common/remedies.ts';
import { ok, type Step, stop, unknown, warning } from './step.ts';
import { listsAll } from '../common/link-status.ts';

export interface Explanation {
  readonly steps: readonly Step[];
  /** Ready addresses that clients of the mirror reach; none if it stops before. */
  readonly reached: readonly string[];
}

/** Explains one Service by one Link. */
export const explain = (facts: Facts): Explanation => {
  const steps: Step[] = [];
  let reached: Reached = { steps: [], addresses: [] };
  for (const each of walk(facts, (found) => (reached = found))) {
    steps.push(each);
    if (each.state === 'stop') return { steps, reached: [] };
  }
  return { steps, reached: reached.addresses };
};

function* walk(found: Facts, onReached: (found: Reached) => void): Generator<Step> {
  const { link, report, ref, away, local, source } = found;
  const read = readLink(link);
  if (!read.ok) {
    yield stop('Link', `Link ${report.name} is invalid: ${cut(formatFieldErrors(read.errors))}`, 'correct the Link');
    return;
  }
  const settings = read.value;
  const target = admittedOf(found, settings);
  const facts: Facts = { ...found, target };
  for (const each of facts.unread) yield unknown('access', each, 'use a context that may read it');
  yield* linkSteps(facts);
  let mode: 'gateway' | 'remote-discovery' | undefined;
  if (away !== undefined) {
    yield unknown('Service', `what is in ${away.context} is not known: ${away.obstacle}`);
  }
  if (target !== undefined) {
    const { service, context } = target;
    if (service === undefined) {
      yield stop(
        'Service',
        `Service ${ref.namespace}/${ref.name} is not in ${context}`,
        'check its name and namespace',
      );
      return;
    }
    yield ok('Service', `Service ${ref.namespace}/${ref.name} is in ${context}`);
    mode = modeOf(service, settings);
    yield exportStep(facts, service, settings, mode);
    if (mode === undefined) return;
    const shape = shapeOf(observedOf(facts, settings, mode));
    if (shape.kind === 'refused') {
      yield stop(
        'mirror',
        `it is not mirrored, ${shape.refusal.reason}: ${cut(shape.refusal.message, 512)}`,
        refusalRemedy(source, shape.refusal.reason, {
          namespace: ref.namespace,
          mirror: mirrorName(ref.name, report.cluster),
        }),
      );
      return;
    }
  }
  const name = mirrorName(ref.name, report.cluster);
  if (local !== undefined && facts.foreign.has(name)) {
    yield stop(
      'name',
      `Service ${ref.namespace}/${name} of ${source.context} is not ours${makersOf(local)}`,
      refusalRemedy(source, 'NameConflict', { namespace: ref.namespace, mirror: name }),
    );
    return;
  }
  yield* reportSteps(facts);
  if (local === undefined) {
    yield stop('mirror', `Service ${ref.namespace}/${name} is not in ${source.context}`, writingRemedy(facts));
    return;
  }
  const differences =
    target?.service === undefined || mode === undefined ? [] : differencesOf(observedOf(facts, settings, mode), local);
  yield differences.length === 0
    ? ok('mirror', `Service ${ref.namespace}/${name} is in ${source.context}`)
    : warning(
        'mirror',
        `Service ${ref.namespace}/${name} differs from what it should be: ${differences.map((each) => cut(each)).join(', ')}`,
        `the operator repairs it; if it does not, ${operatorLog(source)}`,
      );
  const reached = reach(facts, settings, local);
  onReached(reached);
  yield* reached.steps;
}

/** What stands in the way of the Link as a whole. What is mirrored stays so, hence it need not stop anything. */
function* linkSteps({ report, unserved, local, source }: Facts): Generator<Step> {
  const { ready, name, conditions } = report;
  const see = `see ${byLinkspan(source, 'status', name)}`;
  const inTheWay = local === undefined ? stop : warning;
  if (unserved !== undefined) {
    yield inTheWay('Link', `Link ${name}: ${unserved}`, operatorPods(source));
    return;
  }
  const failed = conditions.find(({ type, status }) => BLOCKING.has(type) && status === 'False');
  if (failed !== undefined) {
    yield inTheWay('Link', `Link ${name}: ${failed.type} is False, ${failed.reason}: ${failed.message}`, see);
  } else if (ready.status === 'True') {
    yield ok('Link', `Link ${name} to cluster ${report.cluster} is Ready`);
  } else {
    yield warning('Link', `Link ${name} is not Ready, ${ready.reason}: ${ready.message}`, see);
  }
}

/** Conditions without which nothing new is mirrored. */
const BLOCKING: ReadonlySet<string> = new Set([
  'Accepted',
  'CredentialsValid',
  'TargetReachable',
  'TargetWithinLimits',
  'Synced',
]);

/** Flat mode wins, as in the operator. */
const modeOf = (
  { metadata: { labels, namespace = '' } }: Service,
  { targetNamespaces, selector, remoteDiscoverySelector }: LinkSettings,
): 'gateway' | 'remote-discovery' | undefined => {
  if (targetNamespaces?.includes(namespace) === false) return undefined;
  if (remoteDiscoverySelector?.matches(labels)) return 'remote-discovery';
  return selector?.matches(labels) ? 'gateway' : undefined;
};

/** What there is in the target, without pods that the policy of the Link does not admit. */
const admittedOf = ({ target }: Facts, { importPolicy }: LinkSettings): Facts['target'] =>
  target?.service && importPolicy
    ? { ...target, slices: new AppliedPolicy(importPolicy).slicesOf(target.service, target.slices) }
    : target;

/** Why the policy of the Link does not admit a Service; undefined if it does, or there is none. */
const obstacleOf = (service: Service, { importPolicy }: LinkSettings): Obstacle | undefined =>
  importPolicy && new AppliedPolicy(importPolicy).obstacleOf(service);

const notAdmittedStep = ({ report, ref, source }: Facts, { reason, what }: Obstacle): Step =>
  reason === 'WaitingForApproval'
    ? stop(
        'export',
        `Link ${report.name} takes no Service that is not approved, by its spec.importPolicy`,
        `approve it: ${byLinkspan(source, 'approve', what, '--from', report.name)}`,
      )
    : stop(
        'export',
        `Link ${report.name} takes no Service with ${what}, by its spec.importPolicy`,
        refusalRemedy(source, reason, { namespace: ref.namespace, mirror: mirrorName(ref.name, report.cluster) }),
      );

const exportStep = (
  facts: Facts,
  service: Service,
  settings: LinkSettings,
  mode: 'gateway' | 'remote-discovery' | undefined,
): Step => {
  const { ref, target, report } = facts;
  const { labels = {} } = service.metadata;
  const { targetNamespaces, federatedServiceSelector, selector } = settings;
  const obstacle = obstacleOf(service, settings);
  if (mode !== undefined && obstacle !== undefined) return notAdmittedStep(facts, obstacle);
  if (mode !== undefined) {
    return ok('export', `Link ${report.name} selects it in ${mode === 'gateway' ? 'gateway' : 'flat'} mode`);
  }
  if (targetNamespaces?.includes(ref.namespace) === false) {
    const remedy = `add ${ref.namespace} to spec.targetNamespaces, and to the account's rights`;
    return stop('export', `Link ${report.name} reads only namespaces ${targetNamespaces.join(', ')}`, remedy);
  }
  const label = labels[Label.exported];
  const has =
    label === undefined ? `it has no label ${Label.exported}` : `its label ${Label.exported} is "${cut(label)}"`;
  if (federatedServiceSelector?.matches(labels)) {
    return stop(
      'export',
      `${has}: as a member of a federated Service alone it is not mirrored`,
      exportRemedy(target, ref),
    );
  }
  return stop(
    'export',
    `no selector of Link ${report.name} selects it: ${has}`,
    selector?.matches({ [Label.exported]: Value.true })
      ? exportRemedy(target, ref)
      : 'give it labels that the Link selects',
  );
};

const exportRemedy = (target: Facts['target'], { namespace, name }: Facts['ref']): string => {
  const label = `${Label.exported}=${Value.true}`;
  // Only a Service that was read in the target is judged by its labels.
  return target === undefined
    ? `give it the label ${label}`
    : `export it: ${byKubectl(target, '-n', namespace, 'label', 'service', name, label, '--overwrite')}`;
};

/** What the operator reports of the Service. */
function* reportSteps({ report, ref, source, target, away, local }: Facts): Generator<Step> {
  const found = report.services.find(({ namespace, name }) => namespace === ref.namespace && name === ref.name);
  const seeing = operatorLog(source);
  if (found === undefined) {
    const isNew = target === undefined && local === undefined;
    const message = `Link ${report.name} does not report on ${ref.namespace}/${ref.name}`;
    if (isNew && away !== undefined) yield stop('report', `${message}, and ${away.context} cannot be read`);
    else if (isNew)
      yield stop('report', message, 'name the target with --to-context, to see whether it exports the Service');
    // Of many Services, not all are reported.
    else if (listsAll(report.services)) yield warning('report', message, seeing);
  } else if (!found.isMirrored) {
    const mirror = mirrorName(ref.name, report.cluster);
    const remedy = refusalRemedy(source, found.reason, { namespace: ref.namespace, mirror });
    yield stop('report', `the operator does not mirror it, ${found.reason}: ${found.message}`, remedy);
  } else {
    yield ok('report', `the operator reports that it is mirrored${found.message === '' ? '' : `: ${found.message}`}`);
  }
}

/** Who made a Service that is not ours, as far as it says. */
const makersOf = ({ metadata: { managedFields = [], labels = {} } }: Service): string => {
  const cluster = labels[Label.clusterName];
  if (cluster !== undefined) return `: it is a mirror of cluster ${cut(cluster)}`;
  const managers = [
    ...new Set(managedFields.flatMap(({ manager }) => (manager === undefined ? [] : [cut(manager, 64)]))),
  ];
  return managers.length === 0 ? '' : `: ${managers.join(', ')} wrote it`;
};

const writingRemedy = ({ report, source }: Facts): string =>
  report.ready.status === 'True'
    ? `wait a moment, then ${operatorLog(source)}`
    : `see ${byLinkspan(source, 'status', report.name)}`;

/** The state of both clusters, as the operator would observe it. */
const observedOf = (
  { link, report, ref, target, linkerdNamespace, hasNamespace, owned, local, foreign }: Facts,
  settings: LinkSettings,
  mode: 'gateway' | 'remote-discovery',
): Observed => {
  const { cluster, clusterDomain, excludedLabels, excludedAnnotations, gateway } = settings;
  const service = target?.service;
  const protecting = { namespace: link.metadata.namespace ?? '', controlPlaneNamespace: linkerdNamespace };
  // The operator's own settings are not known here: what it has written or reported tells.
  const waits = report.services.some(({ name, reason }) => name === ref.name && reason === 'WaitingForEndpoints');
  const mirror = mirrorName(ref.name, cluster);
  return {
    link: {
      cluster,
      clusterDomain,
      excludedLabels,
      excludedAnnotations,
      headless: settings.enableHeadlessServices ?? (waits || local?.spec?.clusterIP === 'None'),
      createNamespaces: settings.enableNamespaceCreation ?? false,
      endpointsKind: owned.slices.length > 0 && owned.endpoints.length === 0 ? 'slices' : 'endpoints',
    },
    gateway: gateway && {
      port: gateway.port,
      identity: gateway.identity,
      addresses: report.gatewayAddresses,
      alive: report.gatewayAlive,
    },
    namespace: ref.namespace,
    name: ref.name,
    target: service && { service, mode },
    slices: target?.slices,
    isAdmitted: true,
    admitsPod: () => true,
    departed: new Map(),
    decidable: true,
    isConfirmed: true,
    namespaceState: isProtectedNamespace(ref.namespace, protecting) ? 'forbidden' : hasNamespace ? 'exists' : 'missing',
    owned: {
      services: owned.services.filter(
        ({ metadata }) => metadata.name === mirror || metadata.labels?.[Label.headlessMirrorSvcName] === mirror,
      ),
      endpoints: owned.endpoints,
      slices: owned.slices,
    },
    isForeign: (name) => foreign.has(name),
  };
};
