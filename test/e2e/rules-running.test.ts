/** The operator as one of several processes that come and go: rules E5, H1 and H2, on every backing. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { onEachBacking } from '../cluster/on-each-backing.ts';
import { eventually, type KubeObject } from '../cluster/workload/index.ts';
import { EXPORTED, link, service, slice } from '../support/builders.ts';
import { inventory } from '../support/inventory.ts';
import { LINKS_NAMESPACE, World } from '../support/world.ts';

const DEADLINE_MS = 60_000;
const GATEWAY = '203.0.113.10';
const CLI = fileURLToPath(new URL('../../synth/cli.ts', import.meta.url));

const LEASES = ['linkspan-operator', 'service-mirror-write-west'].map((name) => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { namespace: LINKS_NAMESPACE, name },
}));

interface LeaseObject extends KubeObject {
  readonly spec: { readonly holderIdentity?: string | null };
}

onEachBacking('the operator', (backing) => {
  let world: World;
  const children: ChildProcess[] = [];
  beforeAll(async () => {
    world = await World.start({ backing });
    for (const name of ['web', 'api']) await exported(name);
  });
  beforeEach(() => world.link());
  // Mirrors stay for the next one to take over.
  afterEach(async () => {
    await Promise.all([world.stopOperators(), ...children.splice(0).map((child) => end(child, 'SIGKILL'))]);
    for (const lease of LEASES) await world.east.delete(lease);
  });
  afterAll(() => world.stop());

  const exported = async (name: string): Promise<void> => {
    await world.west.apply(service(name, { labels: EXPORTED }));
    await world.west.apply(slice(name));
  };
  const isReady = (name: string) =>
    eventually(`${name} is ready`, async () => (await world.addresses(`${name}-west`))?.[0] === GATEWAY, DEADLINE_MS);
  const holder = async (lease: string) =>
    (await world.get<LeaseObject>('Lease', lease, LINKS_NAMESPACE))?.spec.holderIdentity ?? '';
  const isHeldBy = (identity: string) =>
    eventually(
      `${identity} leads, and writes for the Link`,
      async () =>
        (await holder('linkspan-operator')) === identity && (await holder('service-mirror-write-west')) === identity,
      DEADLINE_MS,
    );

  /** The operator as a user runs it. */
  const start = (identity: string): ChildProcess => {
    const { host, port } = world.gateway.address;
    const flags = {
      kubeconfig: world.eastCluster.kubeconfigFile,
      identity,
      'admin-address': '127.0.0.1:0',
      'lease-duration': '2s',
      'renew-deadline': '1500ms',
      'retry-period': '100ms',
      'probe-connect-to': `probe-west.${LINKS_NAMESPACE}.svc=${host}:${port}`,
      'log-level': 'warn',
    };
    const options = Object.entries(flags).flatMap(([flag, value]) => [`--${flag}`, value]);
    const child = spawn(process.execPath, [CLI, 'operator', ...options], { stdio: ['ignore', 'inherit', 'inherit'] });
    children.push(child);
    return child;
  };
  /** Exit code, or the signal that ended it. */
  const end = async (child: ChildProcess, signal: NodeJS.Signals): Promise<unknown> => {
    if (child.exitCode !== null || child.signalCode !== null) return child.exitCode ?? child.signalCode;
    const exited = once(child, 'exit');
    child.kill(signal);
    const [code] = (await exited) as [number | null];
    return code ?? signal;
  };

  test('told to end, ends within 5 seconds, lets its Leases go, and leaves the mirrors as they are (H2)', async () => {
    const child = start('one');
    await isHeldBy('one');
    await isReady('web');
    await isReady('api');
    await world.ready();
    const before = await inventory(world);
    const began = performance.now();
    expect(await end(child, 'SIGTERM')).toBe(0);
    expect(performance.now() - began).toBeLessThan(5_000);
    expect([await holder('linkspan-operator'), await holder('service-mirror-write-west')]).toEqual(['', '']);
    expect(await inventory(world)).toEqual(before);
  });

  test('killed, is replaced by the one that stands by, which writes nothing where nothing differs (H1, C5)', async () => {
    const child = start('one');
    await isHeldBy('one');
    await isReady('web');
    await isReady('api');
    await world.ready();
    const standby = world.operator({ flags: { identity: 'two' } });
    await eventually('it stands by', async () => standby.lines.some(({ message }) => message === 'standing by'));
    const before = await inventory(world);
    await end(child, 'SIGKILL');
    await isHeldBy('two');
    await exported('later');
    await isReady('later');
    const now = await inventory(world);
    for (const [object, entry] of Object.entries(before)) expect(now[object]).toEqual(entry);
  });

  test('that ends in order hands over without a wait, and of two only the one that leads writes (H1)', async () => {
    const first = world.operator({ flags: { identity: 'one', leaseDuration: '60s', renewDeadline: '10s' } });
    await isHeldBy('one');
    const second = world.operator({ flags: { identity: 'two', leaseDuration: '60s', renewDeadline: '10s' } });
    await isReady('web');
    await exported('during');
    await isReady('during');
    expect(second.manager).toBeUndefined();
    await first.stop();
    expect(await first.ended()).toBeUndefined();
    // Far sooner than the Lease would run out.
    await isHeldBy('two');
    await exported('after');
    await isReady('after');
  });

  test('finds what a Link left that was deleted while no operator ran (E5)', async () => {
    const first = world.operator();
    await isHeldBy('linkspan-0');
    await isReady('web');
    await first.stop();
    await world.east.delete(link('west'));
    world.operator();
    await eventually('nothing is left', async () => Object.keys(await inventory(world)).length === 0, DEADLINE_MS);
    await eventually(
      'nor the probe Service',
      async () => (await world.get('Service', 'probe-west', LINKS_NAMESPACE)) === undefined,
    );
  });

  test('removes what a Link left that was invalid when it started, and is then deleted (E5, E7)', async () => {
    const first = world.operator();
    await isHeldBy('linkspan-0');
    await isReady('web');
    await first.stop();
    await world.east.patch(link('west'), { spec: { gatewayPort: 'none' } });
    world.operator();
    await eventually('it is not accepted', async () => (await world.condition('Accepted'))?.status === 'False');
    expect(await world.addresses('web-west')).toEqual([GATEWAY]);
    await world.east.delete(link('west'));
    await eventually('nothing is left', async () => Object.keys(await inventory(world)).length === 0, DEADLINE_MS);
  });
});
