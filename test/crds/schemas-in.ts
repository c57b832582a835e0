/** The schemas that a JSON schema is made of. */

/** A schema. */
export type SchemaNode = Readonly<Record<string, unknown>>;

/** Each schema in a schema, with its path. */
export const schemasIn = (schema: SchemaNode, path = ''): readonly (readonly [string, SchemaNode])[] => [
  [path, schema],
  ...Object.entries((schema.properties ?? {}) as Readonly<Record<string, SchemaNode>>).flatMap(([name, field]) =>
    schemasIn(field, `${path}.${name}`),
  ),
  ...(schema.items === undefined ? [] : schemasIn(schema.items as SchemaNode, `${path}[]`)),
];
