import type { Defect } from '../defect.ts';

const DECIDE = { file: 'operator/failover/decide.ts', tests: ['test/operator/failover/decide.test.ts'] };
const PLAN = { file: 'operator/failover/plan.ts', tests: ['test/operator/failover/plan.test.ts'] };
const ROUTES = { ...PLAN, file: 'operator/failover/routes.ts' };
const STATUS = { ...PLAN, file: 'operator/failover/status.ts' };
const SPLITS = { file: 'operator/failover/splits.ts', tests: ['test/operator/failover/splits.test.ts'] };
const WATCHED = { file: 'operator/failover/watched.ts', tests: ['test/operator/failover/failovers.test.ts'] };
const FAILOVERS = { ...WATCHED, file: 'operator/failover/failovers.ts' };
const E2E = ['test/e2e/failover.test.ts'];
const AT_SCALE = ['test/e2e/failover-at-scale.test.ts'];

export const FAILOVER: readonly Defect[] = [
  {
    ...DECIDE,
    name: 'requests go back before the hold-down is over',
    rule: 'J2',
    find: 'nowMs < each.sinceMs + holdDownMs',
    replace: 'false',
  },
  {
    ...DECIDE,
    name: 'requests go nowhere while all that is ready must prove itself',
    rule: 'J2',
    find: 'const chosen = free.length > 0 ? free : ready;',
    replace: 'const chosen = free;',
  },
  {
    ...DECIDE,
    name: 'all weights are 0 while no backend is ready',
    rule: 'J2',
    find: 'if (weights.some((weight) => weight > 0)) return weights;',
    replace: 'return weights;',
  },
  {
    ...DECIDE,
    name: 'a backend of which nothing is known counts as not ready',
    rule: 'J3',
    find: '(before?.ready ?? isActive)',
    replace: 'false',
  },
  {
    file: 'operator/link/session.ts',
    tests: E2E,
    name: 'no mirror in flat mode is ever ready',
    rule: 'J3',
    find: "if (exported.target?.mode === 'remote-discovery') this.#exports.readFlatSlices();",
    replace: '',
  },
  {
    file: 'operator/target/objects.ts',
    tests: ['test/operator/target/objects.test.ts'],
    name: 'what terminates in a target counts against what is ready there',
    rule: 'J3',
    find: "only(conditions, 'ready', 'terminating')",
    replace: "only(conditions, 'ready')",
  },
  {
    ...DECIDE,
    name: 'a hold-down begins anew with each reconcile',
    rule: 'J2',
    find: 'before?.ready === ready ? Math.min(before.sinceMs, changedMs) : changedMs',
    replace: 'changedMs',
  },
  {
    ...PLAN,
    name: 'a backend that does not exist is listed',
    rule: 'J4',
    find: 'return live === undefined || state === undefined ? [] : [{ candidate: { service, weight, ...state }, live }];',
    replace: 'return state === undefined ? [] : [{ candidate: { service, weight, ...state }, live: live ?? apex! }];',
  },
  {
    ...PLAN,
    name: 'a route is deleted since the CRD of its kind cannot be read',
    rule: 'J4',
    find: 'return plan.desired === undefined || (',
    replace: 'return (',
  },
  {
    ...ROUTES,
    name: "somebody else's older route is not noticed",
    rule: 'J4',
    find: 'own === undefined || isOlder(other, own)',
    replace: 'false',
  },
  {
    file: 'operator/failover/watched.ts',
    tests: E2E,
    name: 'the route of another ServiceFailover is not noticed',
    rule: 'J4',
    find: '!ownersOf(each).includes(failover)',
    replace: 'failoverOf(each) === undefined',
  },
  {
    file: 'operator/failover/failovers.ts',
    tests: E2E,
    name: 'a ServiceFailover does not hear that the route of another one has gone',
    rule: 'J4',
    find: 'for (const service of parentsLeft(action)) this.#serviceChanged(service);',
    replace: '',
  },
  {
    ...ROUTES,
    name: 'a route that somebody has copied is ours',
    rule: 'J1',
    find: 'if (failover === undefined || !name.startsWith(`${failover}-`)) return undefined;',
    replace: 'if (failover === undefined) return undefined; if (true) return failover;',
  },
  {
    ...STATUS,
    name: 'a restart writes the status, since counts are not known yet',
    rule: 'C5',
    find: '?? counted.get(service)',
    replace: '',
  },
  {
    ...SPLITS,
    name: 'all weights of a TrafficSplit are 0 while no backend is ready',
    rule: 'J5',
    find: 'ready.includes(true) ? ready.map((each) => (each ? 1 : 0)) : undefined',
    replace: 'ready.map((each) => (each ? 1 : 0))',
  },
  {
    ...WATCHED,
    file: 'operator/runtime/optional-kind.ts',
    name: 'a namespace that is refused ends failover in all others',
    rule: 'J4',
    find: "this.store.syncedPart(namespace) ? 'readable' : 'unknown'",
    replace: "this.store.synced ? 'readable' : 'unknown'",
  },
  {
    ...FAILOVERS,
    name: 'L73 the routes of a ServiceFailover that is there again are deleted',
    rule: 'J4',
    find: 'if (this.#watched.failovers.store.get(key) !== undefined) return {}; const action',
    replace: 'const action',
    tests: ['test/operator/failover/failovers.test.ts'],
  },
  {
    ...FAILOVERS,
    name: 'a kind that a ServiceFailover does without is waited for',
    rule: 'J4',
    find: 'each.isAwaitedIn(namespace)',
    replace: "each.stateIn(namespace) === 'unknown'",
  },
  {
    ...FAILOVERS,
    name: 'an operator that finds no ServiceFailover deletes all routes',
    rule: 'J4',
    find: 'Math.max(this.#absentMs, this.#noneLeftMs)',
    replace: 'this.#absentMs',
  },
  {
    ...WATCHED,
    name: 'a list that takes all ServiceFailovers away takes their routes away',
    rule: 'J4',
    find: '(first || lost > 0)',
    replace: 'first',
  },
  {
    ...FAILOVERS,
    name: 'routes stay although their ServiceFailover was deleted by itself',
    rule: 'J4',
    find: 'this.#seen.has(key) ?',
    replace: 'key === "" ?',
  },
  {
    ...FAILOVERS,
    name: 'the pods of the local member of a flat federated Service turn no routes',
    rule: 'J3',
    find: '[key, federatedName(key)]',
    replace: '[key]',
  },
  {
    file: 'operator/link/federations.ts',
    tests: ['test/operator/link/federations.test.ts'],
    name: 'failover does not learn that a federated Service was written',
    rule: 'J3',
    find: 'env.mirrorChanged?.(`${observed.namespace}/${federatedName(observed.name)}`);',
    replace: '',
  },
  {
    ...SPLITS,
    name: 'the operator and linkerd-failover undo the writes of each other at full speed',
    rule: 'J5',
    find: 'this.#repairs.wrote(key, weights.join());',
    replace: '',
  },
  {
    file: 'operator/link/mirrors.ts',
    tests: E2E,
    name: 'the verdict on a gateway waits for somebody else to turn the routes',
    rule: 'J3',
    find: `    this.#controller.add(key);
    this.#changed(key);`,
    replace: '    this.#controller.add(key);',
  },
  {
    file: 'operator/failover/failovers.ts',
    tests: AT_SCALE,
    name: 'routes wait for the statuses of other ServiceFailovers',
    rule: 'J3',
    find: 'if (done.length > 0 && errors.length === 0)',
    replace: 'if (wrote && errors.length > 0)',
  },
  {
    ...PLAN,
    tests: AT_SCALE,
    name: 'a backend without requests is not listed as a standby',
    rule: 'J1',
    find: 'const object = renderRoute(observed, port, kind, listed);',
    replace: 'const object = renderRoute(observed, port, kind, listed.filter(({ weight }) => weight > 0));',
  },
];
