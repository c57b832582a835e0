/**
 * The health of a ServiceFailover in every state that the operator writes, as Argo CD itself sees it, on statuses that
 * come from the operator's own functions.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { FailoverApi } from '../../crds/wire.ts';
import type { ObservedFailover } from '../../operator/failover/observed.ts';
import { type FailoverFindings, failoverStatus } from '../../operator/failover/status.ts';
import { decide, NOT_READY, NOW, observed, READY, service, settings } from '../operator/failover/given.ts';
import { onArgoCd } from './available.ts';
import { HealthOf } from './health-of.ts';

const METADATA = { name: 'web', namespace: 'shop' };
const SPEC = { service: 'web', backends: [{ service: 'web' }, { service: 'web-west' }] };

const [local, west] = [service('web'), service('web-west')];

const status = (findings: FailoverFindings): object =>
  failoverStatus(findings, { operator: 'linkerd-multicluster', generation: 1 }, undefined, new Date(NOW));

/** What the operator writes when it finds this, in place of that all is well. */
const found = (differs: Partial<ObservedFailover>): object => {
  const backends = [local, west].map((live) => ({ live, endpoints: READY }));
  const given = { settings: settings(SPEC), backends, ...differs };
  return status({ observed: observed(given), decision: decide(given) });
};

interface State {
  readonly is: string;
  readonly status?: object;
  readonly generation?: number;
  readonly health: 'Healthy' | 'Progressing' | 'Degraded';
  /** How its message begins. */
  readonly message: string;
}

const STATES: readonly State[] = [
  { is: 'no operator has seen', health: 'Progressing', message: 'the operator has not reported yet' },
  { is: 'works', status: found({}), health: 'Healthy', message: 'requests go to web' },
  {
    is: 'has failed over',
    status: found({
      backends: [
        { live: local, endpoints: NOT_READY },
        { live: west, endpoints: READY },
      ],
    }),
    health: 'Healthy',
    message: 'requests go to web-west',
  },
  {
    is: 'has been changed since',
    status: found({}),
    generation: 2,
    health: 'Progressing',
    message: 'the operator has not seen the last change yet',
  },
  {
    is: 'has routes that were not read yet',
    status: found({ kinds: { GRPCRoute: 'readable', HTTPRoute: 'unknown', TCPRoute: 'readable' } }),
    health: 'Progressing',
    message: 'httproutes have not been read yet',
  },
  {
    is: 'is invalid',
    status: status({ invalid: [{ path: 'spec.holdDown', value: '"1 d"', reason: 'must be a Go duration' }] }),
    health: 'Degraded',
    message: 'spec.holdDown: "1 d" must be a Go duration',
  },
  {
    is: 'names a Service that is not there',
    status: found({ apex: undefined }),
    health: 'Degraded',
    message: 'Service web not found in namespace shop',
  },
  {
    is: 'has a backend that is not there',
    status: found({
      backends: [
        { live: local, endpoints: READY },
        { live: undefined, endpoints: undefined },
      ],
    }),
    health: 'Degraded',
    message: 'Service web-west not found in namespace shop',
  },
  {
    is: 'has no backend that is ready',
    status: found({
      backends: [
        { live: local, endpoints: NOT_READY },
        { live: west, endpoints: NOT_READY },
      ],
    }),
    health: 'Degraded',
    message: 'no backend is ready',
  },
  {
    is: 'is in a cluster without the Gateway API',
    status: found({ kinds: { GRPCRoute: 'missing', HTTPRoute: 'missing', TCPRoute: 'missing' } }),
    health: 'Degraded',
    message: 'the CRD httproutes.gateway.networking.k8s.io is not installed',
  },
  {
    is: 'names a Service that has a ServiceProfile',
    status: found({ hasProfile: true }),
    health: 'Degraded',
    message: 'Service web has a ServiceProfile',
  },
];

onArgoCd('The health of a ServiceFailover', () => {
  let health: HealthOf;
  beforeAll(async () => {
    health = await HealthOf.start();
  });
  afterAll(() => health.stop());

  test.each(STATES)('is $health when it $is', async ({ status, generation = 1, health: wanted, message }) => {
    const { apiVersion, kind } = FailoverApi;
    const object = { apiVersion, kind, metadata: { ...METADATA, generation }, spec: SPEC, ...(status && { status }) };
    const printed = await health.print(object);
    expect(printed.slice(0, `STATUS: ${wanted}\nMESSAGE: ${message}`.length)).toBe(
      `STATUS: ${wanted}\nMESSAGE: ${message}`,
    );
  });
});
