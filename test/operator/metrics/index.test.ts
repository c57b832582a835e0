import { describe, expect, it } from 'vitest';
import { createMetrics } from '../../../operator/metrics/index.ts';

describe('metrics', () => {
  it('has the series that "linkerd multicluster gateways" reads, under their exact names', async () => {
    const { registry, target } = createMetrics({ process: false });
    target.gatewayAlive.set({ target_cluster_name: 'east' }, 1);
    target.gatewayEnabled.set({ target_cluster_name: 'east' }, 1);
    target.gatewayLatency.set({ target_cluster_name: 'east' }, 12);
    target.gatewayProbeLatency.observe({ target_cluster_name: 'east' }, 12);
    target.gatewayProbes.inc({ target_cluster_name: 'east', probe_successful: 'true' });
    target.endpointRepairs.inc({ target_cluster_name: 'east' });
    const lines = (await registry.metrics()).split('\n');
    expect(lines).toEqual(
      expect.arrayContaining([
        'gateway_alive{target_cluster_name="east"} 1',
        'gateway_enabled{target_cluster_name="east"} 1',
        'gateway_latency{target_cluster_name="east"} 12',
        'gateway_probe_latency_ms_bucket{le="10",target_cluster_name="east"} 0',
        'gateway_probe_latency_ms_bucket{le="20",target_cluster_name="east"} 1',
        'gateway_probes{target_cluster_name="east",probe_successful="true"} 1',
        'service_mirror_endpoint_repairs{target_cluster_name="east"} 1',
      ]),
    );
  });

  it('has the names that dashboards for controller-runtime and client-go use', async () => {
    const names = (await createMetrics({ process: false }).registry.getMetricsAsJSON()).map(({ name }) => name);
    expect(names).toEqual(
      expect.arrayContaining([
        'controller_runtime_reconcile_total',
        'controller_runtime_reconcile_errors_total',
        'controller_runtime_reconcile_time_seconds',
        'workqueue_depth',
        'workqueue_adds_total',
        'workqueue_retries_total',
        'workqueue_queue_duration_seconds',
        'leader_election_master_status',
        'rest_client_requests_total',
      ]),
    );
  });

  it('forgets every series of a target, and no other', async () => {
    const { registry, target, setFailed, forgetTarget } = createMetrics({ process: false });
    for (const cluster of ['east', 'west']) {
      const labels = { target_cluster_name: cluster };
      target.gatewayAlive.set(labels, 1);
      target.gatewayProbes.inc({ ...labels, probe_successful: 'true' });
      target.gatewayProbes.inc({ ...labels, probe_successful: 'false' });
      target.gatewayProbeLatency.observe(labels, 3);
      target.convergence.observe(labels, 0.1);
      target.mirrors.set({ ...labels, state: 'ready' }, 3);
      target.federatedMembers.set({ ...labels, state: 'joined' }, 1);
      target.mirrorsCreated.inc(labels);
      target.mirrorFailures.inc({ ...labels, reason: 'Error' });
      target.lastHeard.set(labels, 1);
      setFailed(cluster, new Map([['Error', 1]]));
    }
    const before = await registry.metrics();
    await forgetTarget('east');
    const after = await registry.metrics();
    expect(after).not.toContain('"east"');
    expect(after.match(/"west"/g)).toEqual(before.match(/"west"/g));
  });

  it('forgets every series of a reconcile loop and its queue, and of no other', async () => {
    const { registry, reconcile, workqueue, forgetController } = createMetrics({ process: false });
    for (const name of ['link/east', 'link/west']) {
      const controller = { controller: name };
      reconcile.total.inc({ ...controller, result: 'success' });
      reconcile.total.inc({ ...controller, result: 'error' });
      reconcile.errors.inc(controller);
      reconcile.time.observe(controller, 0.1);
      reconcile.activeWorkers.set(controller, 1);
      workqueue.depth.set({ name }, 1);
      workqueue.adds.inc({ name });
      workqueue.retries.inc({ name });
      workqueue.queueDuration.observe({ name }, 0.1);
      workqueue.workDuration.observe({ name }, 0.1);
    }
    const before = await registry.metrics();
    await forgetController('link/east');
    const after = await registry.metrics();
    expect(after).not.toContain('link/east');
    expect(after.match(/link\/west/g)).toEqual(before.match(/link\/west/g));
  });

  it('forgets the requests to an API server once its last client is closed, and none to others (L155)', async () => {
    const { registry, clientHooks } = createMetrics({ process: false });
    const { onOpen, onResponse, onRead, onClose } = clientHooks;
    const request = (host: string): void => {
      onResponse(host, 'GET', '200');
      onResponse(host, 'PATCH', '<error>');
      onRead(host, 100);
    };
    const seriesOf = async (host: string): Promise<number> =>
      (await registry.metrics()).split('\n').filter((line) => line.includes(`host="${host}"`)).length;
    for (const host of ['east:6443', 'west:6443', 'west:6443']) onOpen(host);
    for (const host of ['east:6443', 'west:6443']) request(host);
    // New credentials for a server are tried beside those in use.
    await onClose('west:6443');
    expect(await seriesOf('west:6443')).toBe(3);
    await onClose('west:6443');
    // A request that was under way fails late.
    request('west:6443');
    expect(await seriesOf('west:6443')).toBe(0);
    expect(await seriesOf('east:6443')).toBe(3);
    onOpen('west:6443');
    request('west:6443');
    expect(await seriesOf('west:6443')).toBe(3);
  });

  it('has the latest conditions of a Link, and none once it is forgotten', async () => {
    const { registry, setConditions, forgetLink } = createMetrics({ process: false });
    const series = async (): Promise<readonly string[]> =>
      (await registry.metrics()).split('\n').filter((line) => line.startsWith('linkspan_link_condition{'));
    setConditions('west', '', [{ type: 'Accepted', status: 'False' }]);
    setConditions('north', 'north', [{ type: 'Ready', status: 'True' }]);
    setConditions('west', 'far-west', [{ type: 'Ready', status: 'Unknown' }]);
    expect((await series()).filter((line) => line.includes('"west"'))).toEqual([
      'linkspan_link_condition{link="west",target_cluster_name="far-west",type="Ready",status="True"} 0',
      'linkspan_link_condition{link="west",target_cluster_name="far-west",type="Ready",status="False"} 0',
      'linkspan_link_condition{link="west",target_cluster_name="far-west",type="Ready",status="Unknown"} 1',
    ]);
    forgetLink('west');
    expect(await series()).toHaveLength(3);
  });

  it('has how many Services are not mirrored now, by reason, and no reason that none has any more', async () => {
    const { registry, setFailed } = createMetrics({ process: false });
    const series = async (): Promise<readonly string[]> =>
      (await registry.metrics()).split('\n').filter((line) => line.startsWith('linkspan_mirrors_failed{'));
    const both = new Map([
      ['NameConflict', 2],
      ['MissingNamespace', 1],
    ]);
    setFailed('west', both);
    setFailed('east', new Map([['NameConflict', 7]]));
    setFailed('west', new Map([['NameConflict', 3]]));
    expect(await series()).toEqual([
      'linkspan_mirrors_failed{target_cluster_name="west",reason="NameConflict"} 3',
      'linkspan_mirrors_failed{target_cluster_name="east",reason="NameConflict"} 7',
    ]);
    setFailed('west', new Map());
    expect(await series()).toHaveLength(1);
  });

  it('shares nothing between two operators in one process', async () => {
    const [one, two] = [createMetrics(), createMetrics()];
    one.leader.set({ name: 'linkspan-operator' }, 1);
    expect(await two.registry.metrics()).not.toContain('linkspan-operator');
    expect(await two.registry.metrics()).toContain('process_resident_memory_bytes');
  });
});
