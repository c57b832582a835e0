/** JSON schemas as CustomResourceDefinitions hold them. What is made here holds no object twice, so that its YAML needs no anchors. */

/** A structural schema, as `openAPIV3Schema` takes it. */
export type StructuralSchema = Readonly<Record<string, unknown>>;

/** How the values of maps are described. */
export interface StructuralOptions {
  /**
   * `any`: an object whose fields are kept, which is what Linkerd's CRD makes of `matchLabels`. `typed`: as the schema
   * has it.
   * @default any
   */
  readonly maps?: 'any' | 'typed';
}

/**
 * A copy of a schema as the API server takes it: without the `title`s that only name types, and without the two types of
 * what is `x-kubernetes-int-or-string`.
 */
export const structural = (schema: object, { maps = 'any' }: StructuralOptions = {}): StructuralSchema =>
  Object.fromEntries(
    Object.entries(schema)
      .filter(([key, value]) => key !== 'title' && !(key === 'type' && Array.isArray(value)))
      .map(([key, value]: [string, unknown]) => {
        switch (key) {
          case 'additionalProperties':
            return maps === 'any'
              ? ['x-kubernetes-preserve-unknown-fields', true]
              : [key, structural(value as object, { maps })];
          case 'properties':
            return [key, mapValues(value as Readonly<Record<string, object>>, (field) => structural(field, { maps }))];
          case 'items':
            return [key, structural(value as object, { maps })];
          default:
            return [key, structuredClone(value)];
        }
      }),
  );

const mapValues = <T, U>(fields: Readonly<Record<string, T>>, map: (value: T) => U): Readonly<Record<string, U>> =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, map(value)]));

/** JSONPath of a field of a condition, for a printer column. */
export const conditionOf = (type: string, field: 'status' | 'reason'): string =>
  `.status.conditions[?(@.type=="${type}")].${field}`;
