import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sourceAccess } from '../../../operator/kube/access/in-cluster.ts';
import { KubeClient } from '../../../operator/kube/client.ts';
import { Discovery } from '../../../operator/source/discovery.ts';
import { eventually } from '../../cluster/workload/eventually.ts';
import { type SimulatedCluster, startSimulated } from '../../cluster/simulated/start.ts';
import type { Manifest } from '../../cluster/simulated/store.ts';
import { namespace } from '../../support/builders.ts';
import { discoveryCredentials } from '../../support/full-mesh.ts';
import { recordingLog } from '../link/recorded.ts';

describe("the credentials that Linkerd's control plane has (I4)", () => {
  let cluster: SimulatedCluster;
  let client: KubeClient;
  let stop: AbortController;
  let running: Promise<void>;
  let lines: string[];
  let changes: string[];
  beforeEach(async () => {
    cluster = await startSimulated({ name: 'east' });
    put(namespace('linkerd'));
    client = new KubeClient(await sourceAccess({ kubeconfig: cluster.kubeconfigFile }), {
      userAgent: 'test',
      fieldManager: 'test',
    });
    [stop, running, lines, changes] = [new AbortController(), Promise.resolve(), [], []];
  });
  afterEach(async () => {
    stop.abort();
    await running;
    await client.close();
    await cluster.stop();
  });

  const put = (object: object) => cluster.store.upsert(object as Manifest);
  const reading = (names?: readonly string[]): Discovery => {
    const discovery = new Discovery({
      client,
      namespace: 'linkerd',
      names,
      timings: { settledMs: 500, backoff: { baseMs: 20, capMs: 50 } },
      log: recordingLog(lines),
      listener: { addOf: (cluster) => void changes.push(cluster), addAll: () => void changes.push('all') },
    });
    running = discovery.run(stop.signal);
    return discovery;
  };
  const untilKnown = (discovery: Discovery, cluster: string, isThere: boolean) =>
    eventually(`${cluster} is ${isThere ? '' : 'not '}there`, async () => discovery.has(cluster) === isThere);

  it('are followed, by the label, as they come and go', async () => {
    put(discoveryCredentials('west'));
    const discovery = reading();
    expect(discovery.has('west')).toBeUndefined();
    await untilKnown(discovery, 'west', true);
    expect(discovery.has('north')).toBe(false);
    put(discoveryCredentials('north'));
    await untilKnown(discovery, 'north', true);
    cluster.store.delete('v1', 'Secret', 'linkerd', 'cluster-credentials-west');
    await untilKnown(discovery, 'west', false);
    expect(changes).toEqual(['all', 'west', 'north', 'west']);
  });

  it('that change in nothing that counts change no answer', async () => {
    put(discoveryCredentials('west'));
    const discovery = reading();
    await untilKnown(discovery, 'west', true);
    const { metadata, ...rest } = discoveryCredentials('west') as unknown as { metadata: object };
    put({ ...rest, metadata: { ...metadata, finalizers: ['example.com/late'] } });
    put(discoveryCredentials('north'));
    await untilKnown(discovery, 'north', true);
    expect(changes).toEqual(['all', 'west', 'north']);
  });

  it.each([
    ['its trust domain', 'multicluster.linkerd.io/trust-domain'],
    ['its cluster domain', 'multicluster.linkerd.io/cluster-domain'],
  ])("do not count without %s: Linkerd's controller ignores them", async (_, annotation) => {
    const { metadata, ...rest } = discoveryCredentials('west') as unknown as { metadata: { annotations: object } };
    put({ ...rest, metadata: { ...metadata, annotations: { ...metadata.annotations, [annotation]: undefined } } });
    const discovery = reading();
    await untilKnown(discovery, 'west', false);
  });

  it('are not read before they are asked for', async () => {
    reading();
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect((await cluster.audit()).filter(({ resource }) => resource === 'secrets')).toEqual([]);
  });

  it('are not known without the right to read them, which is logged once', async () => {
    let asked = 0;
    const grant = cluster.faults.refuse({
      failure: { kind: 'status', code: 403 },
      match: ({ resource }) => resource === 'secrets' && (asked += 1) > 0,
    });
    const discovery = reading();
    discovery.has('west');
    await eventually('it has been tried again', async () => asked > 2);
    expect(discovery.has('west')).toBeUndefined();
    expect(lines.filter((line) => line.startsWith('warn'))).toHaveLength(1);
    grant();
    await untilKnown(discovery, 'west', false);
  });

  it('are read one by one where only some may be', async () => {
    put(discoveryCredentials('west'));
    put(discoveryCredentials('north'));
    const discovery = reading(['cluster-credentials-west']);
    await untilKnown(discovery, 'west', true);
    expect(discovery.has('north')).toBe(false);
    const selectors = (await cluster.audit()).filter(({ resource }) => resource === 'secrets').map(({ uri }) => uri);
    expect(selectors.every((uri) => uri.includes('metadata.name%3Dcluster-credentials-west'))).toBe(true);
  });
});
