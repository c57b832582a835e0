/** The life of one object of a kind of ours: every property of it is set, changed and taken away, beside others of its kind. */
import type { KubeObject } from '../../cluster/simulated/storage/object.ts';
import type { Scene, Setting, TargetName } from '../scene.ts';
import { propertiesOf, type Property, type Samples, type Schema } from '../properties.ts';
import type { Users } from '../users.ts';

export interface Life {
  readonly name: string;
  readonly crd: object;
  /** The cluster that the object is in. */
  readonly at: TargetName | 'source';
  readonly object: {
    readonly apiVersion: string;
    readonly kind: string;
    readonly namespace?: string;
    readonly name: string;
  };
  /** Of the object, as users write it; undefined: the operator makes it. */
  readonly spec?: object;
  /** What is there besides the object. */
  readonly begin: (users: Users) => void;
  readonly samples: Samples;
  /** By property and value, as `spec.federation="flat"`: why it changes nothing. `=*`: whatever the value. */
  readonly silent: Readonly<Record<string, string>>;
  /** By property: why what it did stays when it is as before. */
  readonly leaves?: Readonly<Record<string, string>>;
  /** By property and value: why what comes of it depends on what was before. */
  readonly pasts?: Readonly<Record<string, string>>;
  readonly setting?: Setting;
  /** Objects that nothing of this may touch, by `<Kind> <namespace>/<name>`. */
  readonly isOfOthers: (id: string) => boolean;
  /** What shows only as time passes or something happens, by property: a measure of it. */
  readonly measures?: Readonly<Record<string, (scene: Scene, users: Users) => Promise<string>>>;
}

interface Definition {
  readonly spec: {
    readonly versions: readonly {
      readonly storage: boolean;
      readonly schema: { readonly openAPIV3Schema: { readonly properties: Readonly<Record<string, Schema>> } };
    }[];
  };
}

/** The schema of the version that is stored. */
export function schemaOf({
  crd,
}: Pick<Life, 'crd'>): Schema & { readonly properties: Readonly<Record<string, Schema>> } {
  const { versions } = (crd as Definition).spec;
  return versions.find(({ storage }) => storage)!.schema.openAPIV3Schema;
}

/** Every property of a part of it. */
export const propertiesIn = (life: Life, part: 'spec' | 'status' = 'spec'): readonly Property[] => {
  const schema = schemaOf(life).properties[part];
  return schema === undefined ? [] : propertiesOf(schema, [part], life.samples);
};

/** @throws RangeError if it has no such property */
export function propertyIn(life: Life, name: string): Property {
  const parts = [...propertiesIn(life, 'spec'), ...propertiesIn(life, 'status')];
  const found = parts.find((property) => property.name === name);
  if (found === undefined) throw new RangeError(`a ${life.name} has no property ${name}`);
  return found;
}

export const idIn = ({ object: { kind, namespace = '', name } }: Life): string => `${kind} ${namespace}/${name}`;

export const objectIn = ({ at, object }: Life, users: Users): KubeObject | undefined =>
  users.in(at).get(object.apiVersion, object.kind, object.namespace, object.name);

/** Writes the spec of the object, made if it is not there; its status stays. */
export function write({ at, object }: Life, users: Users, spec: unknown): void {
  const { apiVersion, kind, namespace, name } = object;
  users.in(at).put({ apiVersion, kind, metadata: { ...(namespace !== undefined && { namespace }), name }, spec });
}
