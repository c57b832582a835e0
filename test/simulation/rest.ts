/**
 * When a history is over: everything has recovered, writes end, and then the state must be what the oracle expects, and
 * stay so without a write.
 */
import { isDeepStrictEqual } from 'node:util';
import { sleep } from '../../operator/kube/backoff.ts';
import type { KubeObject } from '../cluster/simulated/storage/object.ts';
import type { HistoryCluster } from './cluster.ts';
import { type LinkName, LINKS, TARGET_OF } from './command.ts';
import { one, SERVICE_EXPORT } from './import-objects.ts';
import { admittedSlice, verdictOn } from './import-policy.ts';
import { takesExports } from './imports.ts';
import { expected, found, type LinkState, modeOf, selects, type SourceState } from './oracle.ts';
import { fateOf } from './hostile.ts';
import { conditionsOf } from './link-users.ts';
import { isLeftToKubernetes, strays } from './strays.ts';
import type { Stage } from './stage.ts';

/** Time without a write after which the source cluster is at rest. */
const REST_MS = 60_000;
/** Time after the last command in which it must come to rest: longer than the longest wait before a retry. */
const DEADLINE_MS = 1_200_000;
const POLL_MS = 1_000;
/** How long a user looks at a held deletion before it is confirmed. */
const CONFIRM_MS = 10_000;

/** Waits until what is there is right and stays so. @returns what is wrong at the deadline */
export async function rest(stage: Stage): Promise<readonly string[]> {
  const { world, judge } = stage;
  const deadline = world.nowMs + DEADLINE_MS;
  let confirmAt = world.nowMs + CONFIRM_MS;
  let last = 'it never was right';
  let seen: string | undefined;
  let problems: readonly string[] = [];
  for (;;) {
    // What has not changed is as right as it was.
    if (stage.revisions !== seen) {
      seen = stage.revisions;
      problems = differences(stage);
    }
    if (judge.complaints.length > 0) return [];
    if (problems.length === 0) {
      const before = judge.writes.length;
      await sleep(REST_MS);
      const after = judge.writes.slice(before);
      if (after.length === 0 && differences(stage).length === 0) return [];
      last = `right, but writing went on: ${after.join('; ')}`;
      // Time alone may make it wrong.
      seen = undefined;
    }
    if (world.nowMs > confirmAt) {
      stage.links.confirmPrunes();
      confirmAt = world.nowMs + CONFIRM_MS;
    }
    if (world.nowMs > deadline) return problems.length > 0 ? problems : [last];
    await sleep(POLL_MS);
  }
}

/** Returns what differs from the oracle's expectation. */
export function differences(stage: Stage): readonly string[] {
  const { east, targets, judge, history } = stage;
  const all = LINKS.flatMap((name): LinkState[] => {
    const link = stage.linkOf(name);
    if (link === undefined) return [];
    const target = targets[TARGET_OF[name]];
    const spec = stage.resolved(link.spec as LinkState['spec']);
    const serviceOf = ({ metadata: { namespace, labels = {} } }: KubeObject): KubeObject | undefined =>
      target.get('v1', 'Service', namespace, labels['kubernetes.io/service-name'] ?? '');
    return [
      {
        name,
        createdAt: link.metadata.creationTimestamp ?? '',
        spec,
        gatewayAlive: stage.isAlive(name),
        services: servicesOf(target).filter((service) => verdictOn(spec, service).isAdmitted),
        slices: target
          .list('discovery.k8s.io/v1', 'EndpointSlice')
          .filter((slice) => fateOf(slice) !== 'ignored')
          .map((slice) => admittedSlice(spec, slice, serviceOf(slice))),
      },
    ];
  });
  // Which of two Links has a cluster depends on the past (E9); the status says which, and it must be one.
  const links = all.filter(({ name }) => stage.isAccepted(name as LinkName));
  const clusters = new Set(all.map(({ spec }) => spec.targetClusterName));
  const endpoints = east.list('v1', 'Endpoints');
  const slices = east.list('discovery.k8s.io/v1', 'EndpointSlice').filter((slice) => !isCopied(slice));
  const source: SourceState = {
    endpointsKind: history.endpoints,
    maxEndpointMirrors: history.maxEndpointMirrors ?? Infinity,
    namespaces: new Set(
      east
        .list('v1', 'Namespace')
        .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
        .map(({ metadata }) => metadata.name),
    ),
    services: east.list('v1', 'Service'),
    endpoints,
    slices,
  };
  const want = expected(links, source);
  const seen = slices.filter((slice) => !isLeftToKubernetes(east, slice, (object) => judge.isWritten(object)));
  const have = found(history.endpoints, source.services, endpoints, seen, (object) => judge.isOurs(object));
  const problems = stage.down.map((name) => `${name} is down`);
  const shared = [...clusters].flatMap((cluster) => {
    const owners = links.filter(({ spec }) => spec.targetClusterName === cluster);
    return owners.length === 1 ? [] : [`cluster ${cluster} has ${owners.length} Links that are accepted (E9)`];
  });
  problems.push(...shared);
  for (const [id, body] of want.objects) {
    if (!have.has(id)) problems.push(`${id} is missing`);
    else if (!isDeepStrictEqual(have.get(id), body)) {
      problems.push(`${id} is\n    ${JSON.stringify(have.get(id))}\n  and should be\n    ${JSON.stringify(body)}`);
    }
  }
  for (const id of have.keys()) if (!want.objects.has(id)) problems.push(`${id} should not be there`);
  for (const name of want.namespaces) {
    if (!source.namespaces.has(name)) problems.push(`Namespace ${name} is missing`);
  }
  for (const name of LINKS.filter((each) => want.counts.has(each))) {
    const { total, ready } = want.counts.get(name)!;
    const status = stage.linkOf(name)?.['status'] as { mirrors?: object } | undefined;
    const link = links.find((each) => each.name === name)!;
    const counts = { total, ready, failed: total - ready, ...notAdmitted(stage, link) };
    if (!isDeepStrictEqual({ ...status?.mirrors }, counts)) {
      problems.push(`Link ${name} counts ${JSON.stringify(status?.mirrors)}, not ${JSON.stringify(counts)}`);
    }
    problems.push(...statusProblems(stage, name));
  }
  problems.push(...strays(east, history.endpoints, (object) => judge.isWritten(object)));
  problems.push(...stage.parts.flatMap((part) => part.problems(links, source)));
  return problems;
}

/** The Services of a target that mean something. */
const servicesOf = (target: HistoryCluster): readonly KubeObject[] =>
  target
    .list('v1', 'Service')
    .filter((service) => service.metadata.namespace !== 'default' && fateOf(service) !== 'ignored');

/** N1, N2: what a Link would take if its policy admitted it. */
function notAdmitted({ targets, history }: Stage, link: LinkState): object {
  const { importPolicy, federatedServiceSelector } = link.spec;
  if (importPolicy === undefined) return {};
  const target = targets[TARGET_OF[link.name as LinkName]];
  const isExported = ({ metadata: { namespace, name } }: KubeObject): boolean =>
    history.imports === true && takesExports(link) && one(target, SERVICE_EXPORT, namespace, name) !== undefined;
  const verdicts = servicesOf(target)
    .filter(
      (service) =>
        modeOf(link, service) !== undefined ||
        selects(federatedServiceSelector, service.metadata.labels ?? {}) ||
        isExported(service),
    )
    .map((service) => verdictOn(link.spec, service));
  return {
    notAdmitted: verdicts.filter(({ isAdmitted, isWaiting }) => !isAdmitted && !isWaiting).length,
    ...(importPolicy.approval === 'required' && {
      waitingForApproval: verdicts.filter(({ isWaiting }) => isWaiting).length,
    }),
  };
}

/** Whether Kubernetes has made a slice of Endpoints: it does so in clusters where slices count. */
const isCopied = ({ metadata: { labels = {} } }: KubeObject): boolean =>
  labels['endpointslice.kubernetes.io/managed-by'] === 'endpointslicemirroring-controller.k8s.io';

/** What the conditions of a Link that is served say, where nothing is broken (G1). */
function statusProblems(stage: Stage, name: LinkName): readonly string[] {
  const { spec, metadata } = stage.linkOf(name)!;
  const conditions = conditionsOf(stage.linkOf(name));
  const isAlive = stage.isAlive(name) || (spec as LinkState['spec']).probeSpec === undefined;
  const wanted = {
    ...{ CredentialsValid: 'True', TargetReachable: 'True', TargetWithinLimits: 'True' },
    ...{ GatewayResolved: 'True', PruneHeld: 'False', Synced: 'True', Ready: isAlive ? 'True' : 'False' },
    GatewayAlive: isAlive ? 'True' : 'False',
  };
  const problems = conditions
    .filter(({ observedGeneration }) => observedGeneration !== metadata.generation)
    .map(({ type }) => `condition ${type} of Link ${name} is that of a former generation`);
  for (const [type, want] of Object.entries(wanted)) {
    const have = conditions.find((each) => each.type === type)?.status;
    if (have !== want) problems.push(`condition ${type} of Link ${name} is ${have}, not ${want}`);
  }
  return problems;
}
