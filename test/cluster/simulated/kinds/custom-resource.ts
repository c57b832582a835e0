/**
 * Custom resources: from a CustomResourceDefinition to a resource the server serves, with what structural schemas do
 * (pruning of unknown fields, defaults, validation). CEL rules (`x-kubernetes-validations`) are not evaluated: the
 * real API server proves those.
 */
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { freeze, isFields, mutable, textOf, type Fields, type KubeObject } from '../storage/object.ts';
import type { Resource } from './resources.ts';
import { shapeOfCustomResource, type Shape } from '../apply/shape.ts';
import { invalid, notSupported, required, type FieldError } from '../storage/status.ts';
import type { Column } from '../kubectl/table.ts';
import { validateMetadata } from './validation.ts';

interface DefinitionVersion {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly schema?: { readonly openAPIV3Schema?: Fields };
  readonly subresources?: { readonly status?: object };
  readonly additionalPrinterColumns?: readonly Column[];
}

interface DefinitionSpec {
  readonly group: string;
  readonly scope: 'Namespaced' | 'Cluster';
  readonly names: {
    readonly kind: string;
    readonly plural: string;
    readonly singular: string;
    readonly shortNames?: readonly string[];
    readonly categories?: readonly string[];
  };
  readonly versions: readonly DefinitionVersion[];
}

/** One version's schema, made ready once per text of it: clusters come and go by the thousand in one process. */
interface Schema {
  readonly root: Fields;
  readonly shape: Shape;
  readonly check: ValidateFunction;
}

const schemas = new Map<string, Schema>();

const ANYTHING: Fields = freeze({ 'x-kubernetes-preserve-unknown-fields': true });

function schemaOf(version: DefinitionVersion): Schema {
  const root = version.schema?.openAPIV3Schema ?? ANYTHING;
  const text = Object.isFrozen(root) ? textOf(root) : JSON.stringify(root);
  let schema = schemas.get(text);
  if (schema === undefined) {
    const ajv = new Ajv({ strict: false, allErrors: true, verbose: true, validateFormats: false });
    schema = { root, shape: shapeOfCustomResource(root), check: ajv.compile(root) };
    schemas.set(text, schema);
  }
  return schema;
}

/** Removes, in place, what the schema does not know. */
function prune(value: unknown, schema: Fields): void {
  if (Array.isArray(value)) {
    if (isFields(schema.items)) for (const item of value) prune(item, schema.items);
    return;
  }
  if (!isFields(value)) return;
  const properties = (schema.properties ?? {}) as Record<string, Fields>;
  const others = schema.additionalProperties;
  for (const [name, field] of Object.entries(value)) {
    const inner = properties[name] ?? (isFields(others) ? others : undefined);
    if (inner !== undefined) prune(field, inner);
    else if (others !== true && schema['x-kubernetes-preserve-unknown-fields'] !== true)
      Reflect.deleteProperty(value, name);
  }
}

/** The paths of what the schema does not know. */
function undeclared(value: unknown, schema: Fields, path = ''): readonly string[] {
  if (schema['x-kubernetes-preserve-unknown-fields'] === true) return [];
  if (Array.isArray(value)) {
    const { items } = schema;
    return isFields(items) ? value.flatMap((item, index) => undeclared(item, items, `${path}[${index}]`)) : [];
  }
  if (!isFields(value)) return [];
  const properties = (schema.properties ?? {}) as Record<string, Fields>;
  const others = schema.additionalProperties;
  return Object.entries(value).flatMap(([name, field]) => {
    const inner = properties[name] ?? (isFields(others) ? others : undefined);
    if (inner !== undefined) return undeclared(field, inner, `${path}.${name}`);
    return others === true ? [] : [`${path}.${name}: field not declared in schema`];
  });
}

/** Fills in, in place, the defaults that the schema states. */
function fillDefaults(value: unknown, schema: Fields): void {
  if (Array.isArray(value)) {
    if (isFields(schema.items)) for (const item of value) fillDefaults(item, schema.items);
    return;
  }
  if (!isFields(value)) return;
  const properties = (schema.properties ?? {}) as Record<string, Fields>;
  for (const [name, property] of Object.entries(properties)) {
    if (value[name] === undefined && property.default !== undefined) value[name] = mutable(property.default);
    fillDefaults(value[name], property);
  }
  if (isFields(schema.additionalProperties)) {
    for (const field of Object.values(value)) fillDefaults(field, schema.additionalProperties);
  }
}

/** `/spec/ports/0/name` → `spec.ports[0].name`. */
const fieldOf = (pointer: string): string =>
  pointer
    .split('/')
    .slice(1)
    .map((step) => (/^\d+$/.test(step) ? `[${step}]` : `.${step.replaceAll('~1', '/').replaceAll('~0', '~')}`))
    .join('')
    .replace(/^\./, '');

const typeOf = (value: unknown): string =>
  Array.isArray(value) ? 'array' : Number.isInteger(value) ? 'integer' : value === null ? 'null' : typeof value;

function fieldError({ keyword, instancePath, params, data }: ErrorObject): FieldError {
  const field = fieldOf(instancePath);
  const detail = params as Record<string, unknown>;
  switch (keyword) {
    case 'required': {
      const missing = String(detail.missingProperty);
      return required(field === '' ? missing : `${field}.${missing}`);
    }
    case 'enum':
      return notSupported(field, data, detail.allowedValues as readonly string[], 'as given');
    case 'type':
      return {
        reason: 'FieldValueTypeInvalid',
        field,
        message: `Invalid value: ${JSON.stringify(typeOf(data))}: ${field} in body must be of type ${String(detail.type)}: ${JSON.stringify(typeOf(data))}`,
      };
    case 'pattern':
      return invalid(field, data, `${field} in body should match '${String(detail.pattern)}'`);
    case 'minimum':
      return invalid(field, data, `${field} in body should be greater than or equal to ${String(detail.limit)}`);
    case 'maximum':
      return invalid(field, data, `${field} in body should be less than or equal to ${String(detail.limit)}`);
    case 'minLength':
      return invalid(field, data, `${field} in body should be at least ${String(detail.limit)} chars long`);
    case 'maxLength':
      return {
        ...invalid(field, data, ''),
        reason: 'FieldValueTooLong',
        message: `Too long: may not be more than ${String(detail.limit)} bytes`,
      };
    case 'minItems':
      return invalid(
        field,
        Array.isArray(data) ? data.length : 0,
        `${field} in body should have at least ${String(detail.limit)} items`,
      );
    default:
      return invalid(field, data, `${field} in body is not valid (${keyword})`);
  }
}

/** The resource that a definition defines. */
export function customResource(definition: KubeObject): Resource {
  const { group, scope, names, versions } = definition.spec as DefinitionSpec;
  const served = versions.filter((version) => version.served);
  const stored = versions.find((version) => version.storage) ?? versions[0]!;
  const byName = new Map(versions.map((version) => [version.name, version]));
  const ready = new Map<string, Schema>();
  const schemaFor = (version: string): Schema => {
    const schema = ready.get(version) ?? schemaOf(byName.get(version) ?? stored);
    ready.set(version, schema);
    return schema;
  };
  const hasStatus = stored.subresources?.status !== undefined;
  return {
    group,
    versions: served.map(({ name }) => name).sort(newestFirst),
    storageVersion: stored.name,
    plural: names.plural,
    singular: names.singular,
    kind: names.kind,
    shortNames: names.shortNames ?? [],
    categories: names.categories ?? [],
    namespaced: scope === 'Namespaced',
    subresources: hasStatus ? ['status'] : [],
    createOnUpdate: false,
    unconditionalUpdate: false,
    returnsDeleted: false,
    generation: 'content',
    custom: true,
    shapeOf: (version) => schemaFor(version).shape,
    normalize(object, version) {
      const { root } = schemaFor(version);
      const { apiVersion, kind, metadata } = object;
      const fields: Fields = object;
      // A schema may declare metadata as an object, but not its fields.
      fields.metadata = {};
      prune(fields, root);
      fillDefaults(fields, root);
      Object.assign(object, { apiVersion, kind, metadata });
    },
    validate(object) {
      const { check } = schemaFor(object.apiVersion.split('/')[1]!);
      const errors = check(object) ? [] : (check.errors ?? []);
      const shown = errors.filter(({ keyword }) => !['anyOf', 'oneOf', 'allOf', 'if'].includes(keyword));
      return [...shown.map(fieldError), ...validateMetadata(object)];
    },
    undeclared(object, version) {
      const { apiVersion: _a, kind: _k, metadata: _m, ...fields } = object;
      return undeclared(fields, schemaFor(version).root);
    },
    columnsOf: (version) =>
      byName.get(version)?.additionalPrinterColumns ?? [
        { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
      ],
  };
}

/** Kubernetes' order of versions: v2, v1, v1beta1, v1alpha3, v1alpha2. */
function newestFirst(a: string, b: string): number {
  const rank = (version: string): readonly number[] => {
    const [, major = '0', stage, minor = '0'] = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version) ?? [];
    return [stage === undefined ? 2 : stage === 'beta' ? 1 : 0, Number(major), Number(minor)];
  };
  const [left, right] = [rank(a), rank(b)];
  return left.reduce((order, value, index) => (order === 0 ? right[index]! - value : order), 0);
}
