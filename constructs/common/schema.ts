/**
 * JSON schemas of props, which are generated from the interfaces of the props. One schema holds for a construct in
 * TypeScript, in plain JavaScript and in the cluster file: it lists the props with their types, and refuses all others,
 * since a misspelt one would silently have no effect. The construct checks the values.
 */

/** A JSON schema. */
export type Schema = Readonly<Record<string, unknown>>;

/** The schema of an object: its properties can be taken over into another. */
export interface ObjectSchema<P extends object = object> extends Schema {
  readonly properties: P;
  readonly required: readonly string[];
}

/** The schema of props: it has each of them, which the compiler checks. */
export type PropsSchema<P> = ObjectSchema<{ readonly [Name in keyof P]-?: Schema }>;

/** The schema of an object without some of its properties. */
export const without = <P extends object, O extends keyof P & string>(
  { properties, required, ...schema }: ObjectSchema<P>,
  ...left: readonly O[]
): ObjectSchema<Omit<P, O>> => {
  const isKept = (name: string): boolean => !(left as readonly string[]).includes(name);
  const kept = Object.entries(properties).filter(([name]) => isKept(name));
  return {
    ...schema,
    required: required.filter(isKept),
    properties: Object.fromEntries(kept) as unknown as Omit<P, O>,
  };
};

/** A schema with another description. */
export const described = <S extends Schema>(schema: S, description: string): S => ({ ...schema, description });
