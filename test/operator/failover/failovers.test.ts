/** The controller of ServiceFailovers over a simulated cluster. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { failoverCrd } from '../../../crds/index.ts';
import type { FailoverStatus } from '../../../crds/failover/types.gen.ts';
import { Failovers, type FailoversOptions } from '../../../operator/failover/failovers.ts';
import type { EndpointSlice } from '../../../operator/kube/objects.ts';
import type { RouteBackendRef } from '../../../operator/failover/observed.ts';
import type { Manifest } from '../../cluster/simulated/store.ts';
import { eventually, installCrd, type ObjectRef } from '../../cluster/workload/index.ts';
import { namespace, service, slice } from '../../support/builders.ts';
import { httpRouteCrds } from '../../support/route-crds.ts';
import { Stage } from '../link/stage.ts';

const FAILOVERS = 'linkspan.dev/v1alpha1';
const ROUTES = 'gateway.networking.k8s.io/v1';

interface Route {
  readonly spec: { readonly rules: readonly { readonly backendRefs: readonly RouteBackendRef[] }[] };
}

/** Linkerd's own HTTPRoutes, with any fields. */
const policyRouteCrd = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'httproutes.policy.linkerd.io' },
  spec: {
    group: 'policy.linkerd.io',
    scope: 'Namespaced',
    names: { kind: 'HTTPRoute', plural: 'httproutes' },
    versions: [
      {
        ...{ name: 'v1beta3', served: true, storage: true },
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
} as ObjectRef;

describe('the controller of ServiceFailovers', () => {
  let stage: Stage;
  let failovers: Failovers;
  let stop: AbortController;
  let running: Promise<void>;
  /** `reason message` of each Event. */
  let events: string[];

  beforeEach(async () => {
    stage = await Stage.start();
    for (const crd of [failoverCrd as unknown as ObjectRef, ...httpRouteCrds()]) await installCrd(stage.east, crd);
    events = [];
    running = Promise.resolve();
    stop = new AbortController();
  });
  afterEach(async () => {
    stop.abort();
    await running;
    await stage.stop();
  });

  const start = async (options: Partial<FailoversOptions> = {}): Promise<void> => {
    const { config, tuning, client, metrics, log, mayWrite, source } = await stage.environment();
    failovers = new Failovers({
      ...{ client, metrics, log, mayWrite, source },
      namespace: config.namespace,
      namespaces: undefined,
      concurrency: 2,
      events: { record: (_, __, reason, message) => void events.push(`${reason} ${message}`) },
      turn: (_, execute) => execute(),
      knowledge: () => undefined,
      isMemberReady: () => undefined,
      timings: tuning.sourceTimings,
      backoff: { baseMs: 5, capMs: 50 },
      statusPeriodMs: 10,
      ...options,
    });
    running = failovers.run(stop.signal);
  };
  /** ServiceFailover `web` for a Service, with the backends `first` and `spare`, and ready Services `web` and `spare`. */
  const put = (of = 'web', first = 'web'): void => {
    const spec = { service: of, backends: [{ service: first }, { service: 'spare' }], holdDown: '0' };
    const failover = {
      apiVersion: FAILOVERS,
      kind: 'ServiceFailover',
      metadata: { name: 'web', namespace: 'shop' },
      spec,
    };
    for (const name of ['web', 'spare']) {
      stage.put(service(name));
      stage.put(slice(name, { labels: {}, endpoints: [{ ready: true }] }));
    }
    stage.east.store.upsert(failover);
  };
  const weights = (of = 'web'): string | undefined => {
    const found = stage.east.store.get(ROUTES, 'HTTPRoute', 'shop', `${of}-80`) as unknown as Route | undefined;
    const refs = found?.spec.rules.flatMap(({ backendRefs }) => backendRefs);
    return refs?.map(({ name, weight }) => `${name} ${weight}`).join(', ');
  };
  const reason = (of = 'web'): string | undefined => {
    const found = stage.east.store.get(FAILOVERS, 'ServiceFailover', 'shop', of) as
      { readonly status?: FailoverStatus } | undefined;
    return found?.status?.conditions?.find(({ type }) => type === 'Ready')?.reason;
  };

  /** Resolves when the operator has asked whether there can be ServiceFailovers, and has done what follows from that. */
  const asked = async (): Promise<void> => {
    await eventually('it asks', async () =>
      (await stage.east.audit()).some(({ uri }) => uri.split('?')[0] === `/apis/${FAILOVERS}`),
    );
    await failovers.idle();
  };

  describe('that another operator serves', () => {
    const status = (of = 'web') =>
      (stage.east.store.get(FAILOVERS, 'ServiceFailover', 'shop', of) as { readonly status?: FailoverStatus }).status;
    const serve = (operator: string | undefined): void => {
      const object = stage.east.store.get(FAILOVERS, 'ServiceFailover', 'shop', 'web')!;
      stage.east.store.upsert({ ...object, status: { ...status(), operator } } as unknown as Manifest);
    };

    it('is left alone, which is said once, until that is taken back or its namespace is gone (J6)', async () => {
      stage.east.store.upsert(namespace('other') as Manifest);
      put();
      serve('other');
      await start();
      await eventually('it is said', async () => events.length > 0);
      failovers.addAll();
      await failovers.idle();
      expect(events).toEqual([expect.stringMatching(/^ServedByAnother the operator in namespace other serves it/)]);
      expect([weights(), status()]).toEqual([undefined, { operator: 'other' }]);
      serve(undefined);
      await eventually('it is served', async () => weights() === 'web 1, spare 0');
      await eventually('it says by whom', async () => status()?.operator === 'linkerd-multicluster');
      serve('nobody');
      await eventually('it is taken over', async () => status()?.operator === 'linkerd-multicluster');
    });

    it('has no route before it is said whose it is (J6)', async () => {
      const failure = { kind: 'status', code: 500 } as const;
      let isTried = false;
      const heal = stage.east.faults.refuse({
        failure,
        match: ({ subresource }) => {
          isTried ||= subresource === 'status';
          return subresource === 'status';
        },
      });
      put();
      await start();
      await eventually('that is tried', async () => isTried);
      await failovers.idle();
      expect(weights()).toBeUndefined();
      heal();
      await eventually('it is served', async () => weights() === 'web 1, spare 0');
    });

    it('is served all the same by an older CRD, which does not say by whom (J6)', async () => {
      const crd = JSON.parse(JSON.stringify(failoverCrd).replaceAll('"operator":', '"other":')) as ObjectRef;
      await installCrd(stage.east, crd);
      put();
      await start();
      await eventually('that is reported', async () => reason() === 'Ready');
      expect([weights(), status()?.operator]).toEqual(['web 1, spare 0', undefined]);
    });

    it('is served, and said to be, once that CRD is upgraded (J6)', async () => {
      const crd = JSON.parse(JSON.stringify(failoverCrd).replaceAll('"operator":', '"other":')) as ObjectRef;
      await installCrd(stage.east, crd);
      put();
      for (const name of ['third', 'fourth']) {
        stage.put(service(name));
        stage.put(slice(name, { labels: {}, endpoints: [{ ready: true }] }));
      }
      const spec = { service: 'third', backends: [{ service: 'third' }, { service: 'fourth' }], holdDown: '0' };
      const metadata = { name: 'third', namespace: 'shop' };
      stage.east.store.upsert({ apiVersion: FAILOVERS, kind: 'ServiceFailover', metadata, spec });
      await start();
      await eventually('both are reported', async () => reason() === 'Ready' && reason('third') === 'Ready');
      await installCrd(stage.east, failoverCrd);
      stage.put(slice('web', { labels: {}, endpoints: [{ ready: false }] }));
      await eventually('that is said of one', async () => status()?.operator === 'linkerd-multicluster');
      stage.put(slice('third', { labels: {}, endpoints: [{ ready: false }] }));
      await eventually('the other follows', async () => weights('third') === 'third 0, fourth 1');
      await eventually('and is said to be', async () => status('third')?.operator === 'linkerd-multicluster');
    });

    it('is given up when that was the first to write its status (J6)', async () => {
      stage.east.store.upsert(namespace('other') as Manifest);
      put();
      await start();
      await eventually('it is served', async () => reason() === 'Ready');
      serve('other');
      stage.east.store.delete(ROUTES, 'HTTPRoute', 'shop', 'web-80');
      await eventually('it is said', async () => events.some((each) => each.startsWith('ServedByAnother')));
      await failovers.idle();
      expect([weights(), status()?.operator]).toEqual([undefined, 'other']);
    });
  });

  it('serves a namespace while another is refused (J4)', async () => {
    stage.east.store.upsert(namespace('closed') as Manifest);
    const failure = { kind: 'status', code: 403 } as const;
    stage.east.faults.refuse({ failure, match: (request) => request.namespace === 'closed' });
    put();
    await start({ namespaces: ['shop', 'closed'] });
    await eventually('the route is there', async () => weights() === 'web 1, spare 0');
    await eventually('that is reported', async () => reason() === 'Ready');
  });

  it("says that an older HTTPRoute of Linkerd's own decides where requests go (J4)", async () => {
    await installCrd(stage.east, policyRouteCrd);
    stage.east.store.upsert({
      apiVersion: 'policy.linkerd.io/v1beta3',
      kind: 'HTTPRoute',
      metadata: { name: 'theirs', namespace: 'shop' },
      spec: { parentRefs: [{ group: 'core', kind: 'Service', name: 'web' }] },
    });
    put();
    await start();
    await eventually('that is reported', async () => reason() === 'RouteConflict');
    expect(weights()).toBeUndefined();
  });

  it.each(['serviceprofiles', 'grpcroutes'])('does without %s that cannot be read (J4)', async (resource) => {
    const failure = { kind: 'status', code: 500 } as const;
    stage.east.faults.refuse({ failure, match: (request) => request.resource === resource });
    put();
    await start();
    await eventually('the route is there', async () => weights() === 'web 1, spare 0');
    await eventually('that is reported', async () => reason() === 'Ready');
    expect(events).toEqual([]);
  });

  it('keeps routes for a while if a list shows no ServiceFailover at all, and not that of one deleted since (J4)', async () => {
    put();
    await start();
    await eventually('the route is there', async () => weights() !== undefined);
    stop.abort();
    await running;
    const isFailover = ({ kind }: { readonly kind?: string }): boolean => kind === 'ServiceFailover';
    await stage.east.clearAudit();
    stage.east.faults.wipe(isFailover);
    stop = new AbortController();
    await start();
    await asked();
    expect(weights()).toBe('web 1, spare 0');

    put();
    await eventually('it is seen', async () => reason() === 'Ready');
    await stage.east.clearAudit();
    stage.east.faults.wipe(isFailover);
    await asked();
    expect(weights()).toBe('web 1, spare 0');

    put();
    await eventually('it is seen', async () => reason() === 'Ready');
    stage.east.store.delete(FAILOVERS, 'ServiceFailover', 'shop', 'web');
    await eventually('its route goes with it', async () => weights() === undefined);
  });

  it('notices that the local member of a flat federated Service is not ready any more (J3)', async () => {
    stage.put(
      service('web-federated', {
        selector: null,
        labels: { 'mirror.linkerd.io/mirrored-service': 'true' },
        annotations: { 'multicluster.linkerd.io/local-discovery': 'web' },
      }),
    );
    put('spare', 'web-federated');
    await start();
    await eventually('requests go to it', async () => weights() === 'web-federated 1, spare 0');
    // Nothing else is due.
    await eventually('that is reported', async () => reason() === 'Ready');
    await failovers.idle();
    stage.put(slice('web', { labels: {}, endpoints: [{ ready: false }] }));
    await eventually('they do not', async () => weights() === 'web-federated 0, spare 1');
  });

  it('looks at an endpoint mirror when what is known of its headless Service changes (J3, L232)', async () => {
    const labels = {
      'mirror.linkerd.io/mirrored-service': 'true',
      'mirror.linkerd.io/cluster-name': 'west',
      'mirror.linkerd.io/headless-mirror-svc-name': 'db-west',
    };
    const annotations = { 'mirror.linkerd.io/remote-svc-fq-name': 'db-0.db.shop.svc.cluster.local' };
    let isReady = true;
    const slices = (): readonly EndpointSlice[] => [
      {
        metadata: { name: 'db-abc', namespace: 'shop' },
        addressType: 'IPv4',
        endpoints: [{ addresses: ['10.1.2.3'], hostname: 'db-0', conditions: { ready: isReady } }],
      },
    ];
    stage.put(service('db-0-west', { selector: null, labels, annotations }));
    put('spare', 'db-0-west');
    await start({
      knowledge: (cluster, key) =>
        cluster === 'west' && key === 'shop/db'
          ? { exported: 'gateway', slices: slices(), isGatewayAlive: true }
          : undefined,
    });
    await eventually('requests go to it', async () => weights() === 'db-0-west 1, spare 0');
    await eventually('that is reported', async () => reason() === 'Ready');
    await failovers.idle();
    isReady = false;
    failovers.mirrorChanged('shop/db-west');
    await eventually('they do not', async () => weights() === 'db-0-west 0, spare 1');
  });

  it('keeps the routes of a ServiceFailover that is made anew before the API server has answered (J4, L73)', async () => {
    put();
    await start();
    await eventually('that is reported', async () => reason() === 'Ready');
    const before = stage.east.store.get(ROUTES, 'HTTPRoute', 'shop', 'web-80')?.metadata.uid;
    let isAsked = false;
    stage.east.faults.latency(500, ({ path }) => {
      const isAsking = path === `/apis/${FAILOVERS}`;
      isAsked ||= isAsking;
      return isAsking;
    });
    stage.east.store.delete(FAILOVERS, 'ServiceFailover', 'shop', 'web');
    await eventually('it is asked', async () => isAsked);
    put();
    await eventually('that is reported', async () => reason() === 'Ready');
    expect([weights(), stage.east.store.get(ROUTES, 'HTTPRoute', 'shop', 'web-80')?.metadata.uid]).toEqual([
      'web 1, spare 0',
      before,
    ]);
  });

  it('deletes what nobody has claimed when that while is over (J4)', async () => {
    put();
    await start();
    await eventually('the route is there', async () => weights() !== undefined);
    stop.abort();
    await running;
    stage.east.store.delete(FAILOVERS, 'ServiceFailover', 'shop', 'web');
    stop = new AbortController();
    await start({ returnGraceMs: 50 });
    await eventually('the route is gone', async () => weights() === undefined);
  });
});
