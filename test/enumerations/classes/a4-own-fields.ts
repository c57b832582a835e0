/**
 * A4: as A1, for what the operator writes itself into kinds of ours, which are statuses and the specs of ServiceImports. Somebody
 * else sets each property, changes it and takes it away: it is put right, and no other object changes.
 */
import { failoverCrd, linkCrd, serviceExportCrd, serviceImportCrd } from '../../../crds/index.ts';
import type { KubeObject } from '../../cluster/simulated/storage/object.ts';
import { LINKS_NAMESPACE } from '../../support/builders.ts';
import { LINK, SERVICE_EXPORT, SERVICE_FAILOVER, SERVICE_IMPORT } from '../kinds.ts';
import { textOf } from '../lives/alive.ts';
import { schemaOf } from '../lives/life.ts';
import { everything } from '../pairs.ts';
import type { PlanClass } from '../plan.ts';
import { propertiesOf, type Property, withValue } from '../properties.ts';
import { inScene, type Scene } from '../scene.ts';
import { differentStates, type State } from '../state.ts';
import { Users } from '../users.ts';
import { idOf, isTelling } from '../writes.ts';

/** Longer than the longest time that a repair is put off. */
const REPAIRED_MS = 330_000;

interface Subject {
  readonly kind: string;
  readonly crd: object;
  readonly object: { readonly apiVersion: string; readonly namespace: string; readonly name: string };
  /** What of it the operator writes. */
  readonly parts: readonly ('spec' | 'status')[];
}

const inShop = { namespace: 'shop', name: 'web' };

const SUBJECTS: readonly Subject[] = [
  { ...LINK, crd: linkCrd, object: { ...LINK, namespace: LINKS_NAMESPACE, name: 'west' }, parts: ['status'] },
  { ...SERVICE_FAILOVER, crd: failoverCrd, object: { ...SERVICE_FAILOVER, ...inShop }, parts: ['status'] },
  { ...SERVICE_EXPORT, crd: serviceExportCrd, object: { ...SERVICE_EXPORT, ...inShop }, parts: ['status'] },
  { ...SERVICE_IMPORT, crd: serviceImportCrd, object: { ...SERVICE_IMPORT, ...inShop }, parts: ['spec', 'status'] },
];

/** By kind, property and value: why it may stay. */
const STAYS: Readonly<Record<string, string>> = {
  'ServiceImport: spec.ports[].protocol = absent': 'TCP by default',
};

const ofKind = (kind: string): Subject => SUBJECTS.find((each) => each.kind === kind)!;

function propertiesIn(subject: Subject): readonly Property[] {
  const { properties } = schemaOf(subject);
  return subject.parts.flatMap((part) => {
    const schema = properties[part];
    if (schema === undefined) return [];
    const [whole] = propertiesOf({ properties: { [part]: schema } }, [], {});
    return [whole!, ...propertiesOf(schema, [part], {})];
  });
}

interface Data {
  readonly kind: string;
  readonly property: string;
}

interface Conditioned {
  readonly status?: { readonly conditions?: readonly { readonly type: string }[] };
}

/** The state without conditions that others have added, which stay, and whatever their order. */
function withoutOthers(state: State, first: State): State {
  return new Map(
    [...state].map(([id, text]) => {
      const typesIn = (json: string): readonly string[] =>
        ((JSON.parse(json) as Conditioned).status?.conditions ?? []).map(({ type }) => type);
      if (typesIn(text).length === 0) return [id, text];
      const types = typesIn(first.get(id) ?? '{}');
      const object = JSON.parse(text) as Conditioned;
      const conditions = (object.status?.conditions ?? [])
        .filter(({ type }) => types.includes(type))
        .sort((a, b) => types.indexOf(a.type) - types.indexOf(b.type));
      return [id, JSON.stringify({ ...object, status: { ...object.status, conditions } })];
    }),
  );
}

async function putRight(scene: Scene, { kind, property: name }: Data): Promise<readonly string[]> {
  const subject = ofKind(kind);
  const property = propertiesIn(subject).find((each) => each.name === name)!;
  const { apiVersion, namespace, name: called } = subject.object;
  const there = (): KubeObject | undefined => scene.source.get(apiVersion, kind, namespace, called);
  const problems: string[] = [];
  everything(new Users(scene));
  // The ServiceExport of this cluster.
  new Users(scene).exportService('source', 'web');
  await scene.rest();
  const first = scene.state;
  for (const value of property.values) {
    const object = there();
    if (object === undefined) return [...problems, `there is no ${kind} ${namespace}/${called}`];
    const from = scene.writes.all.length;
    try {
      scene.source.put(withValue(object, property.path, value, schemaOf(subject), {}) as KubeObject);
    } catch {
      // The API server has refused it.
      continue;
    }
    await scene.rest(REPAIRED_MS);
    const text = `${name} = ${textOf(value)}`;
    if (`${kind}: ${text}` in STAYS) continue;
    const found = withoutOthers(scene.state, first);
    problems.push(...differentStates(first, found).map((each) => `after ${text}: ${each}`));
    const others = scene.writes.all.slice(from).filter((write) => isTelling(write) && write.id !== idOf(object));
    problems.push(...others.map(({ type, id }) => `after ${text}: ${type} ${id}`));
  }
  return problems;
}

export const ownFields: PlanClass<Data> = {
  id: 'A4',
  about: 'every property that the operator writes itself, changed by somebody else: put right, nothing else changes',

  list: () =>
    Promise.resolve(
      SUBJECTS.flatMap((subject) =>
        propertiesIn(subject).map(({ name }) => ({
          name: `${subject.kind}: ${name}`,
          data: { kind: subject.kind, property: name },
        })),
      ),
    ),

  play: async (data) => {
    const { value = [], complaints } = await inScene({}, (scene) => putRight(scene, data));
    return [...complaints, ...value];
  },

  notes: () =>
    Promise.resolve(
      SUBJECTS.map((subject) => {
        const all = propertiesIn(subject);
        return `${subject.kind}: ${all.length} properties: ${all.map(({ name }) => name).join(', ')}`;
      }),
    ),
};
