/** A ServiceFailover as it is observed, where a test says only what differs. */
import type { RouteKind } from '../../../constructs/rendered/index.ts';
import { type FailoverSettings, readFailover } from '../../../crds/failover/settings.ts';
import type { ObservedFailover, Route } from '../../../operator/failover/observed.ts';
import { type Decision, decideFailover } from '../../../operator/failover/plan.ts';
import type { Service, ServicePort } from '../../../operator/kube/objects.ts';

export const NOW = Date.parse('2026-01-02T03:04:05Z');
export const READY = { ready: 1, total: 1 };
export const NOT_READY = { ready: 0, total: 1 };

const HTTP: ServicePort = { name: 'http', port: 80 };

export const service = (
  name: string,
  { ports = [HTTP], ...spec }: Service['spec'] = {},
  annotations?: Readonly<Record<string, string>>,
): Service => ({
  metadata: { name, namespace: 'shop', ...(annotations && { annotations }) },
  spec: { ...spec, ports },
});

export const settings = (spec: object = {}): FailoverSettings => {
  const read = readFailover({
    metadata: { name: 'web', namespace: 'shop' },
    spec: { service: 'web', backends: [{ service: 'web' }, { service: 'web-east' }], ...spec },
  });
  if (!read.ok) throw new Error(JSON.stringify(read.errors));
  return read.value;
};

export const observed = (given: Partial<ObservedFailover> = {}): ObservedFailover => ({
  settings: settings(),
  apex: service('web'),
  backends: [
    { live: service('web'), endpoints: READY },
    { live: service('web-east'), endpoints: READY },
  ],
  owned: [],
  others: [],
  kinds: { GRPCRoute: 'readable', HTTPRoute: 'readable', TCPRoute: 'readable' },
  hasProfile: false,
  before: new Map(),
  ...given,
});

export const decide = (given: Partial<ObservedFailover> = {}): Decision => decideFailover(observed(given), NOW);

/** A route of somebody else, whose parent is the Service. */
export const foreign = (
  kind: RouteKind,
  name: string,
  parent: object = {},
  createdAt = '2026-01-01T00:00:00Z',
): Route => ({
  kind,
  metadata: { name, namespace: 'shop', creationTimestamp: createdAt },
  spec: { parentRefs: [{ group: 'core', kind: 'Service', name: 'web', ...parent }] },
});

/** The routes that were decided, as the API server has them. */
export const applied = (decision: Decision, createdAt = '2026-01-01T12:00:00Z'): readonly Route[] =>
  decision.routes.map(({ object }) => ({
    ...(object as Route),
    metadata: { ...object.metadata, creationTimestamp: createdAt },
  }));
