/** The scene of a life: the object as it is first, then as a plan has it, each time looked at once all is at rest. */
import { isDeepStrictEqual } from 'node:util';
import { Asked, seen } from '../look.ts';
import { ABSENT, type Property, withValue } from '../properties.ts';
import { inScene, type Scene } from '../scene.ts';
import { identities } from '../state.ts';
import { Users } from '../users.ts';
import { idIn, type Life, objectIn, schemaOf, write } from './life.ts';

/** What anybody can see at rest. */
export interface Look {
  readonly objects: ReadonlyMap<string, string>;
  /** Of the Services of the operator: addresses and uids. */
  readonly identities: ReadonlyMap<string, string>;
  /** What was listed anew until then. */
  readonly lists: readonly string[];
  readonly probes: readonly string[];
  readonly measure: string;
}

/** What came of a change. */
export interface Change {
  /** As in `spec.gatewayPort = "4444"`. */
  readonly text: string;
  readonly before: Look;
  readonly after: Look;
  /** Why the API server refused it. */
  readonly refused: string | undefined;
  /** Whether the object says that it is invalid. */
  readonly isInvalid: boolean;
  /** Whether users wrote what was there already. */
  readonly isSame: boolean;
  /** Writes to objects of others. */
  readonly touched: readonly string[];
}

export const textOf = (value: unknown): string => (value === ABSENT ? 'absent' : JSON.stringify(value));

/** Whether a change shows: in objects, in what is read anew, in how gateways are probed, or as time passes. */
export const shows = ({ before, after }: Change): boolean =>
  after.lists.length > 0 ||
  !isDeepStrictEqual([before.objects, before.probes, before.measure], [after.objects, after.probes, after.measure]);

export class Alive {
  readonly life: Life;
  readonly scene: Scene;
  readonly users: Users;
  readonly #asked: Asked;
  #last: Look | undefined;

  constructor(life: Life, scene: Scene) {
    this.life = life;
    this.scene = scene;
    this.users = new Users(scene);
    this.#asked = new Asked(scene);
  }

  /** Lets everything be there, the object too, by default as it is first. */
  async begin(spec: unknown = this.life.spec): Promise<void> {
    this.life.begin(this.users);
    if (spec !== undefined) this.#write(spec);
    await this.scene.rest();
  }

  /** Waits until all is at rest. @param property what is measured besides, if anything is of that property */
  async look(property: Property): Promise<Look> {
    const { measures = {} } = this.life;
    const measured = Object.keys(measures).find((prefix) => property.name.startsWith(prefix));
    this.#asked.begin();
    await this.scene.rest();
    const { lists, probes } = this.#asked;
    const all = this.scene.source.objects();
    const objects = seen(this.scene.state, idIn(this.life));
    const measure = measured === undefined ? '' : await measures[measured]!(this.scene, this.users);
    this.#last = { objects, lists, probes, measure, identities: identities(all) };
    return this.#last;
  }

  /** The spec with a property set. */
  specWith(property: Property, value: unknown): unknown {
    const { life } = this;
    const wrapped = withValue({ spec: life.spec }, property.path, value, schemaOf(life), life.samples);
    return (wrapped as { readonly spec: unknown }).spec;
  }

  /** Sets a property of the object as it is first, and looks. */
  change(property: Property, value: unknown): Promise<Change> {
    return this.#changed(property, `${property.name} = ${textOf(value)}`, this.specWith(property, value));
  }

  /** Has the object as it is first, and looks. */
  restore(property: Property): Promise<Change> {
    return this.#changed(property, `back to the first ${property.name}`, this.life.spec);
  }

  async #changed(property: Property, text: string, spec: unknown): Promise<Change> {
    const before = this.#last ?? (await this.look(property));
    const from = this.scene.writes.all.length;
    const specBefore = objectIn(this.life, this.users)?.['spec'];
    const refused = this.#write(spec);
    const isSame = refused === undefined && isDeepStrictEqual(objectIn(this.life, this.users)?.['spec'], specBefore);
    const after = await this.look(property);
    const touched = this.scene.writes.all
      .slice(from)
      .filter(({ kind, id }) => kind !== 'Lease' && this.life.isOfOthers(id))
      .map(({ type, id }) => `${type} ${id}`);
    return { text, before, after, refused, isSame, isInvalid: this.#isInvalid(), touched };
  }

  #isInvalid(): boolean {
    const { status } = (objectIn(this.life, this.users) ?? {}) as {
      readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
    };
    const deciding = ['Accepted', 'Valid'];
    return status?.conditions?.some((each) => deciding.includes(each.type) && each.status === 'False') === true;
  }

  #write(spec: unknown): string | undefined {
    try {
      write(this.life, this.users, spec);
      return undefined;
    } catch (error) {
      return String(error);
    }
  }
}

/** Plays a life in a scene of its own. @returns what is wrong */
export async function inLife(
  life: Life,
  play: (alive: Alive) => Promise<readonly string[]>,
): Promise<readonly string[]> {
  const { value = [], complaints } = await inScene(life.setting ?? {}, (scene) => play(new Alive(life, scene)));
  return [...complaints, ...value];
}
