/**
 * E2: somebody who writes one object of ours for ever, undoes what the operator wrote, touches or deletes it, or makes anew
 * what the operator deletes: that costs a bounded number of writes, and whatever else users do comes about as ever. When that
 * ends, all is as it was.
 */
import { sleep } from '../../../operator/kube/backoff.ts';
import type { KubeObject } from '../../cluster/simulated/storage/object.ts';
import type { HistoryCluster } from '../../simulation/cluster.ts';
import { everything } from '../pairs.ts';
import type { PlanClass } from '../plan.ts';
import { inScene, type Played, type Scene } from '../scene.ts';
import { differentStates } from '../state.ts';
import { Users } from '../users.ts';
import { idOf } from '../writes.ts';

/** Time between two of their writes, and how long they go on. */
const EACH_MS = 20;
const FOR_MS = 12_000;
/** Most writes of the operator to it meanwhile: a few at once, then ever later; a repair takes up to four of a Service. */
const MOST_WRITES = 30;
/** Time in which a Service that is exported meanwhile has its mirror. */
const MIRRORED_MS = 4_000;
/** Longer than the longest time that a repair is put off. */
const REPAIRED_MS = 330_000;

const spec = (object: KubeObject, changed: object): KubeObject => ({
  ...object,
  spec: { ...(object['spec'] as object), ...changed },
});

/** Another content of an object, by its kind. */
const CONTENTS: Readonly<Record<string, (object: KubeObject) => KubeObject>> = {
  Service: (object) => spec(object, { ports: [{ name: 'contended', port: 9, protocol: 'TCP', targetPort: 9 }] }),
  Endpoints: (object) => ({ ...object, subsets: [{ addresses: [{ ip: '192.0.2.1' }], ports: [{ port: 9 }] }] }),
  EndpointSlice: (object) => ({ ...object, endpoints: [{ addresses: ['192.0.2.1'], conditions: { ready: true } }] }),
  HTTPRoute: (object) => spec(object, { rules: [] }),
  ServiceImport: (object) => spec(object, { ports: [{ name: 'contended', port: 9 }] }),
  Link: (object) => ({ ...object, status: {} }),
  ServiceFailover: (object) => ({ ...object, status: {} }),
};

/** One way to contend for an object of ours. */
interface How {
  /** What they do about it, again and again. */
  readonly act: (source: HistoryCluster, object: KubeObject, round: number) => void;
  /** Whether the operator is to delete the object, since the Link selects nothing any more. @default false */
  readonly isUnselected?: boolean;
  /** Kinds of what users made, which are left out. @default - none */
  readonly except?: readonly string[];
}

const USERS: readonly string[] = ['Link', 'ServiceFailover'];

const NOTHING = { matchLabels: { 'example.com/selected': 'never' } };
const SELECTING_NOTHING = { selector: NOTHING, remoteDiscoverySelector: NOTHING, federatedServiceSelector: NOTHING };

/** As it would be made by somebody who does not ask for an address. */
const withoutAddress = (object: KubeObject): KubeObject => {
  const { clusterIP, clusterIPs, ...rest } = (object['spec'] ?? {}) as Readonly<Record<string, unknown>>;
  return clusterIP === undefined || clusterIP === 'None' ? object : { ...object, spec: rest };
};

const removed = (source: HistoryCluster, { apiVersion, kind, metadata }: KubeObject): void =>
  source.remove(apiVersion, kind, metadata.namespace, metadata.name);

const HOWS: Readonly<Record<string, How>> = {
  'is undone': { act: (source, object) => source.put(CONTENTS[object.kind]!(object)) },
  'is touched': {
    act: (source, object, round) => {
      const annotations = { ...object.metadata.annotations, 'example.com/round': String(round) };
      source.put({ ...object, metadata: { ...object.metadata, annotations } });
    },
  },
  'is deleted': { act: removed, except: USERS },
  'is made anew': { act: (source, object) => source.put(withoutAddress(object)), isUnselected: true, except: USERS },
};

interface Data {
  readonly id: string;
  readonly how: string;
}

const inPlace = <T>(play: (scene: Scene, users: Users) => Promise<T>): Promise<Played<T>> =>
  inScene({}, async (scene) => {
    const users = new Users(scene);
    everything(users);
    await scene.rest();
    return play(scene, users);
  });

async function contend({ id, how }: Data): Promise<readonly string[]> {
  const { act, isUnselected = false } = HOWS[how]!;
  const problems: string[] = [];
  const { complaints } = await inPlace(async (scene, users) => {
    const { source, world, writes } = scene;
    const find = (): KubeObject | undefined => source.objects().find((each) => idOf(each) === id);
    const [state, before, from, untilMs] = [scene.state, find()!, writes.all.length, world.nowMs + FOR_MS];
    world.after(world.users, 5_000, () => users.service('bar', 'meanwhile'));
    world.after(world.users, 5_000 + MIRRORED_MS, () => {
      const isThere = source.get('v1', 'Service', 'shop', 'meanwhile-bar') !== undefined;
      if (!isThere) problems.push(`a Service that is exported meanwhile has no mirror after ${MIRRORED_MS} ms`);
      users.remove('bar', 'Service', 'meanwhile');
    });
    if (isUnselected) users.editLink('west', SELECTING_NOTHING);
    for (let round = 0; world.nowMs < untilMs; round += 1) {
      const object = find();
      if (isUnselected ? object === undefined : object !== undefined) act(source, object ?? before, round);
      await sleep(EACH_MS);
    }
    const theirs = writes.all.slice(from).filter((write) => write.id === id);
    if (theirs.length > MOST_WRITES) problems.push(`${theirs.length} writes of it in ${FOR_MS} ms`);
    await scene.rest(REPAIRED_MS);
    if (!isUnselected) {
      problems.push(...differentStates(state, scene.state).filter((each) => !each.includes('example.com/round')));
    } else if (theirs.some(({ type }) => type === 'DELETED') && find() !== undefined) {
      problems.push(`${id} stays, though nothing is selected`);
    }
  });
  return [...complaints, ...problems];
}

export const contenders: PlanClass<Data> = {
  id: 'E2',
  about: 'somebody who writes one object for ever costs a bounded number of writes of it, and delays nothing else',

  list: async () => {
    const { value = [] } = await inPlace(({ source, writes }) => {
      const ours = new Set(writes.telling.map(({ id }) => id));
      const ids = source
        .objects()
        .filter(({ kind }) => kind in CONTENTS)
        .map(idOf);
      return Promise.resolve(ids.filter((id) => ours.has(id)));
    });
    return value.flatMap((id) =>
      Object.entries(HOWS)
        .filter(([, { except = [] }]) => !except.includes(id.split(' ')[0]!))
        .map(([how]) => ({ name: `${id} ${how} for ever`, data: { id, how } })),
    );
  },

  play: contend,
};
