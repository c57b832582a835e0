import type { Defect } from '../defect.ts';

const DECIDE = { file: 'operator/failover/decide.ts', tests: ['test/operator/failover/decide.test.ts'] };
const PLAN = { file: 'operator/failover/plan.ts', tests: ['test/operator/failover/plan.test.ts'] };

const STATUS = { ...PLAN, file: 'operator/failover/status.ts' };

const WATCHED = { file: 'operator/failover/watched.ts', tests: ['test/operator/failover/failovers.test.ts'] };
const FAILOVERS = { ...WATCHED, file: 'operator/failover/derivation.ts' };

export const FAILOVER: readonly Defect[] = [
  {
    ...DECIDE,
    name: 'requests go back before the hold-down is over',
    rule: 'J2',
    find: 'nowMs < each.sinceMs + holdDownMs',
    replace: 'false',
  },
  {
    ...WATCHED,
    name: 'a status that somebody else writes stays as it is',
    rule: 'J3',
    find: 'isDeepStrictEqual(before?.status, after?.status)',
    replace: 'true',
  },
  {
    ...WATCHED,
    file: 'operator/failover/kinds.ts',
    name: "Linkerd's own HTTPRoutes are not looked at",
    rule: 'J4',
    find: "return [...others, ...policyRoutes.store.by('parent', service)];",
    replace: 'return others;',
  },
  {
    ...STATUS,
    tests: ['test/operator/failover/failovers.test.ts'],
    name: 'two operators serve one ServiceFailover',
    rule: 'J6',
    find: 'return operator === own ? undefined : operator;',
    replace: 'return operator === own ? undefined : undefined;',
  },
  {
    ...FAILOVERS,
    name: 'routes are written before another operator can see whose the ServiceFailover is',
    rule: 'J6',
    find: 'await report.claim(key, of.object, signal)',
    replace: 'await Promise.resolve(undefined)',
  },
  {
    file: 'operator/link/clusters.ts',
    tests: ['test/operator/link/clusters.test.ts'],
    name: 'nothing is known of the mirrors of a suspended Link',
    rule: 'J3',
    find: '(isServed ? NOTHING_KNOWN : undefined)',
    replace: 'NOTHING_KNOWN',
  },
  {
    ...FAILOVERS,
    file: 'operator/failover/report.ts',
    name: 'a ServiceFailover is handled no more after its CRD has been upgraded',
    rule: 'L125',
    find: 'for (const key of this.#unmarked) this.#statuses.forget(key);',
    replace: '',
  },
  {
    file: 'operator/failover/kinds.ts',
    tests: ['test/operator/failover/endpoints.test.ts'],
    name: 'a derived Service on a flat network counts as having no endpoints',
    rule: 'L132',
    find: 'labels[Label.serviceName] ?? (imported && derivedName(imported))',
    replace: 'labels[Label.serviceName] ?? (imported && undefined)',
  },
  {
    name: 'L170 failover takes a Service for gone that a list does not show',
    file: 'operator/failover/readiness.ts',
    rule: 'L170',
    find: "(decidable && isCertainlyGone ? 'not' : undefined)",
    replace: "(decidable ? 'not' : undefined)",
    tests: ['test/operator/failover/readiness.test.ts'],
  },
  {
    name: 'L170 a member that a list does not show has no ready endpoint',
    file: 'operator/served/served-target.ts',
    rule: 'L170',
    find: 'this.members.isCertainlyGone(key) ? false',
    replace: 'this.members.isGone(key) ? false',
    tests: ['test/operator/served/exports.test.ts'],
  },
  {
    name: 'L170 failover forgets that a Service is gone when its mirror is to be deleted',
    file: 'operator/target/certain/certain.ts',
    rule: 'L170',
    find: '(this.#gone.has(key) || this.confirms(key))',
    replace: 'this.confirms(key)',
    tests: ['test/operator/served/exports.test.ts'],
  },
  {
    name: 'L232 an endpoint mirror counts by all pods of its headless Service',
    file: 'operator/failover/endpoints.ts',
    rule: 'L232',
    find: 'reachable(behind(live, known), modeOf(live))',
    replace: 'reachable(known, modeOf(live))',
    tests: ['test/operator/failover/endpoints.test.ts'],
  },
  {
    name: 'L232 failovers hear nothing of the mirrors of pods',
    file: 'operator/failover/failovers.ts',
    rule: 'L232',
    find: 'if (headlessMirrorOf(services.get(backend)) === key) this.#serviceChanged(backend);',
    replace: '',
    tests: ['test/operator/failover/failovers.test.ts'],
  },
  {
    ...DECIDE,
    name: 'L233 the hold-down is forgotten when what requests go to is gone',
    rule: 'L233',
    find: 'services.some(isIn) ? services : [...(current?.keys() ?? [])]',
    replace: 'services',
  },
  {
    name: 'L237 a forecast does not count the slices of a ServiceImport on a flat network',
    file: 'operator/forecast/failovers.ts',
    rule: 'L237',
    find: '[...model.stores.slices.values(), ...slices]',
    replace: 'slices',
    tests: ['test/operator/forecast/forecast.test.ts'],
  },
];
