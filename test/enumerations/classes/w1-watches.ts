/**
 * W1: what a reflector hands on of a server: each event once, in the order of the server, none left out between two lists,
 * whatever befalls the connection at whichever write; and in the end it is what the server has.
 */
import { sleep } from '../../../operator/kube/backoff.ts';
import { KubeClient } from '../../../operator/kube/client.ts';
import { type KubeObject, SERVICES } from '../../../operator/kube/objects.ts';
import { Reflector } from '../../../operator/runtime/reflector.ts';
import type { Sink } from '../../../operator/runtime/store.ts';
import { namespace, service } from '../../support/builders.ts';
import { HistoryCluster } from '../../simulation/cluster.ts';
import { MANNERS } from '../../simulation/manners.ts';
import { Internet } from '../../simulation/world/internet.ts';
import { World } from '../../simulation/world/world.ts';
import { Lag } from '../lag.ts';
import type { PlanClass } from '../plan.ts';
import { exclusively } from '../scene.ts';

/** Writes of users, one after another, and the time between two. */
const WRITES = 24;
const PERIOD_MS = 700;
/** Longer than a watch may be silent, and the longest wait before a retry. */
const END_MS = 420_000;

const NAMES = ['a', 'b', 'c', 'd'];

/** The n-th write: Services come, change, lose the label and get it again, and go. */
function write(cluster: HistoryCluster, index: number): void {
  const name = NAMES[index % NAMES.length]!;
  const round = Math.floor(index / NAMES.length) % 5;
  if (round === 4) cluster.remove('v1', 'Service', 'shop', name);
  else cluster.put(service(name, { labels: { picked: String(round !== 2), round: String(round) } }));
}

/** What befalls the connection, for a while. */
const FAULTS: Readonly<Record<string, (cluster: HistoryCluster, lag: Lag, internet: Internet) => () => void>> = {
  'watches break': ({ faults }) => (faults.dropWatches(), nothing),
  'watches expire': ({ faults }) => (faults.expireWatches(), nothing),
  'all is compacted': ({ faults }) => (faults.compact(), nothing),
  'watches are deaf': ({ faults }) => faults.silenceWatches(),
  'the server is away': (cluster) => (cluster.goDown(), () => cluster.start()),
  'answers break off': (cluster, _, internet) => {
    internet.cut(cluster.at, 700, 3);
    cluster.faults.dropWatches();
    return () => internet.cut(cluster.at, 0, 0);
  },
  'lists and watches are answered by 500': ({ faults }) => {
    faults.dropWatches();
    return faults.refuse({ failure: { kind: 'status', code: 500 } });
  },
  'nothing arrives': (cluster, _, internet) => {
    internet.weather(cluster.at, 'stalled');
    return () => internet.weather(cluster.at, 'fair');
  },
  'connections are lost': (cluster, _, internet) => {
    internet.weather(cluster.at, 'lost');
    return () => internet.weather(cluster.at, 'fair');
  },
  'the server lags': (_, lag) => (lag.begin({ moved: false }), () => lag.catchUp()),
  'connections move to a server that lags': (_, lag) => (lag.begin({ moved: true }), () => lag.catchUp()),
  ...Object.fromEntries(
    MANNERS.map((manner) => [
      `the server's manner is: ${manner}`,
      (cluster: HistoryCluster) => {
        cluster.wrap = undefined;
        cluster.manner = manner;
        cluster.faults.dropWatches();
        return () => void (cluster.manner = undefined);
      },
    ]),
  ),
};

const nothing = (): void => undefined;

interface Data {
  readonly fault: string;
  /** Before which write it begins. */
  readonly at: number;
  readonly ms: number;
  readonly isSelecting: boolean;
}

/** Notes what is handed on, and what is wrong about it. */
class Recorder implements Sink<KubeObject> {
  readonly problems: string[] = [];
  readonly objects = new Map<string, string>();
  readonly #sent: readonly number[];
  #listed = new Map<string, string>();
  /** The version that has been handed on; undefined before the first list. */
  #version: number | undefined;
  readonly bytes = 0;

  /** @param sent versions of all events that the server has for it, as they come */
  constructor(sent: readonly number[]) {
    this.#sent = sent;
  }

  get size(): number {
    return this.objects.size;
  }

  init(): void {
    this.#listed = new Map();
  }

  listed({ metadata: { name, resourceVersion = '' } }: KubeObject): void {
    this.#listed.set(name, resourceVersion);
  }

  initDone(): void {
    this.objects.clear();
    for (const [name, version] of this.#listed) this.objects.set(name, version);
    // What a list shows is as new as the server is by then, or as the newest of its objects.
    this.#version = undefined;
  }

  applied({ metadata: { name, resourceVersion = '' } }: KubeObject): void {
    this.#next(Number(resourceVersion));
    this.objects.set(name, resourceVersion);
  }

  removed({ metadata: { name, resourceVersion = '' } }: KubeObject): void {
    this.#next(Number(resourceVersion));
    this.objects.delete(name);
  }

  #next(version: number): void {
    const before = this.#version;
    this.#version = version;
    const at = this.#sent.indexOf(version);
    if (at < 0) this.problems.push(`version ${version} is of no event`);
    if (before === undefined) return;
    if (version <= before) this.problems.push(`version ${version} comes after ${before}`);
    const between = this.#sent.filter((each) => each > before && each < version);
    if (between.length > 0) this.problems.push(`between ${before} and ${version}, ${between.join(', ')} are left out`);
  }
}

async function play({ fault, at, ms, isSelecting }: Data): Promise<readonly string[]> {
  const world = new World(1);
  const problems: string[] = [];
  await world.run(async () => {
    const internet = new Internet(world);
    const cluster = new HistoryCluster({ name: 'watched', internet, objects: [namespace('shop')] });
    const lag = new Lag(cluster);
    const sent: number[] = [];
    const isPicked = (object: KubeObject | undefined): boolean => object?.metadata.labels?.['picked'] === 'true';
    cluster.onWrite((_, { plural }, { object, previous, revision, type }) => {
      if (plural !== 'services') return;
      const is = type !== 'DELETED' && isPicked(object as KubeObject);
      if (!isSelecting || is || isPicked(previous as KubeObject | undefined)) sent.push(revision);
    });
    const recorder = new Recorder(sent);
    const process = world.process('reader');
    const stop = new AbortController();
    const client = new KubeClient(cluster.accessFor(cluster.admit()), {
      ...{ userAgent: 'plan', fieldManager: 'plan', network: internet.networkOf(process) },
    });
    const reflector = new Reflector<KubeObject>({
      ...{ client: () => client, resource: SERVICES, sink: recorder },
      select: isSelecting ? { labelSelector: 'picked=true' } : {},
    });
    const ended = world.in(process, () => reflector.run(stop.signal));
    await sleep(PERIOD_MS);
    for (let index = 0; index < WRITES; index += 1) {
      if (index === at) {
        const end = FAULTS[fault]!(cluster, lag, internet);
        world.after(world.users, ms, end);
      }
      write(cluster, index);
      await sleep(PERIOD_MS);
    }
    await sleep(END_MS);
    const there = cluster.list('v1', 'Service').filter((each) => !isSelecting || isPicked(each as KubeObject));
    const wanted = there.map(({ metadata: { name, resourceVersion } }) => `${name}@${resourceVersion}`).sort();
    const found = [...recorder.objects].map(([name, version]) => `${name}@${version}`).sort();
    if (wanted.join() !== found.join()) problems.push(`it has ${found.join()}, and the server ${wanted.join()}`);
    problems.push(...recorder.problems);
    world.after(process, 0, () => stop.abort(new Error('the plan is over')));
    await ended;
    cluster.stop();
  });
  return problems;
}

export const watches: PlanClass<Data> = {
  id: 'W1',
  about:
    'what reflectors hand on is in order, complete and goes on where it was, whatever befalls the connection at each write',

  list: () =>
    Promise.resolve(
      Object.keys(FAULTS).flatMap((fault) =>
        [100, 5_000].flatMap((ms) =>
          [false, true].flatMap((isSelecting) =>
            Array.from({ length: WRITES / 2 }, (_, half) => ({
              name: `${fault} at write ${half * 2}, for ${ms} ms${isSelecting ? ', by a selector' : ''}`,
              data: { fault, at: half * 2, ms, isSelecting },
            })),
          ),
        ),
      ),
    ),

  play: (data) => exclusively(() => play(data)),
};
