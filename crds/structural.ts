/** JSON schemas as CustomResourceDefinitions hold them. What is made here holds no object twice, so that its YAML needs no anchors. */

/** A structural schema, as `openAPIV3Schema` takes it. */
export type StructuralSchema = Readonly<Record<string, unknown>>;

/**
 * A copy of a schema as the API server takes it: without the `title`s that only name types, without the two types of what
 * is `x-kubernetes-int-or-string`, and with a map of strings as an object whose fields are kept, which is what Linkerd's
 * CRD makes of `matchLabels`.
 */
export const structural = (schema: object): StructuralSchema =>
  Object.fromEntries(
    Object.entries(schema)
      .filter(([key, value]) => key !== 'title' && !(key === 'type' && Array.isArray(value)))
      .map(([key, value]: [string, unknown]) => {
        switch (key) {
          case 'additionalProperties':
            return ['x-kubernetes-preserve-unknown-fields', true];
          case 'properties':
            return [key, mapValues(value as Readonly<Record<string, object>>, structural)];
          case 'items':
            return [key, structural(value as object)];
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
