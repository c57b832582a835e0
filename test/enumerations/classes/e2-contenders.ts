/**
 * E2: somebody who writes one object of ours for ever, undoing what the operator wrote or only touching it: that costs a bounded
 * number of writes, and whatever else users do comes about as ever. When that ends, all is as it was.
 */
import { sleep } from '../../../operator/kube/backoff.ts';
import type { KubeObject } from '../../cluster/simulated/storage/object.ts';
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

type Writing = (object: KubeObject, round: number) => KubeObject;

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

const HOWS: Readonly<Record<string, Writing>> = {
  'is undone': (object) => CONTENTS[object.kind]!(object),
  'is touched': (object, round) => {
    const annotations = { ...object.metadata.annotations, 'example.com/round': String(round) };
    return { ...object, metadata: { ...object.metadata, annotations } };
  },
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
  const problems: string[] = [];
  const { complaints } = await inPlace(async (scene, users) => {
    const { source, world, writes } = scene;
    const [state, from, untilMs] = [scene.state, writes.all.length, world.nowMs + FOR_MS];
    world.after(world.users, 5_000, () => users.service('west', 'meanwhile'));
    world.after(world.users, 5_000 + MIRRORED_MS, () => {
      const isThere = source.get('v1', 'Service', 'shop', 'meanwhile-west') !== undefined;
      if (!isThere) problems.push(`a Service that is exported meanwhile has no mirror after ${MIRRORED_MS} ms`);
      users.remove('west', 'Service', 'meanwhile');
    });
    for (let round = 0; world.nowMs < untilMs; round += 1) {
      const object = source.objects().find((each) => idOf(each) === id);
      if (object !== undefined) source.put(HOWS[how]!(object, round));
      await sleep(EACH_MS);
    }
    const count = writes.all.slice(from).filter((write) => write.id === id).length;
    if (count > MOST_WRITES) problems.push(`${count} writes of it in ${FOR_MS} ms`);
    await scene.rest(REPAIRED_MS);
    problems.push(...differentStates(state, scene.state).filter((each) => !each.includes('example.com/round')));
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
      Object.keys(HOWS).map((how) => ({ name: `${id} ${how} for ever`, data: { id, how } })),
    );
  },

  play: contend,
};
