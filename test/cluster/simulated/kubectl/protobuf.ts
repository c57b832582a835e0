/**
 * The protobuf bodies that kubectl sends for what it makes itself (`kubectl create namespace`, `create configmap`,
 * `auth can-i`, …), read into the JSON they stand for. Only requests, and only the fields those commands set; the
 * answers are JSON, which kubectl takes as well.
 */
import { ApiError } from '../storage/status.ts';

type Field =
  | { readonly name: string; readonly type: 'string' | 'bytes' | 'int' | 'intOrString' }
  | { readonly name: string; readonly type: 'map'; readonly values: 'string' | 'bytes' }
  | { readonly name: string; readonly type: 'message' | 'list'; readonly message: Message };

/** The fields of a message by their numbers in Kubernetes' generated.proto. */
type Message = Readonly<Record<number, Field>>;

const string = (name: string): Field => ({ name, type: 'string' });
const strings = (...names: readonly string[]): Message =>
  Object.fromEntries(names.map((name, index) => [index + 1, string(name)]));
const map = (name: string, values: 'string' | 'bytes' = 'string'): Field => ({ name, type: 'map', values });
const message = (name: string, fields: Message): Field => ({ name, type: 'message', message: fields });

const METADATA = message('metadata', {
  ...strings('name', 'generateName', 'namespace'),
  11: map('labels'),
  12: map('annotations'),
});

const SERVICE_PORT: Message = {
  ...strings('name', 'protocol'),
  3: { name: 'port', type: 'int' },
  4: { name: 'targetPort', type: 'intOrString' },
};

const KINDS: Readonly<Record<string, Message>> = {
  Namespace: { 1: METADATA },
  ServiceAccount: { 1: METADATA },
  ConfigMap: { 1: METADATA, 2: map('data'), 3: map('binaryData', 'bytes') },
  Secret: { 1: METADATA, 2: map('data', 'bytes'), 3: string('type'), 4: map('stringData') },
  Service: {
    1: METADATA,
    2: message('spec', {
      1: { name: 'ports', type: 'list', message: SERVICE_PORT },
      2: map('selector'),
      3: string('clusterIP'),
      4: string('type'),
      10: string('externalName'),
    }),
  },
  SelfSubjectAccessReview: {
    1: METADATA,
    2: message('spec', {
      1: message(
        'resourceAttributes',
        strings('namespace', 'verb', 'group', 'version', 'resource', 'subresource', 'name'),
      ),
      2: message('nonResourceAttributes', strings('path', 'verb')),
    }),
  },
};

/** One field on the wire: its number, and a number or bytes. */
type Wire = readonly [field: number, value: number | Buffer];

function* wireFields(bytes: Buffer): Generator<Wire> {
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++] ?? 0;
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
  };
  while (at < bytes.length) {
    const tag = varint();
    const value = varint();
    if ((tag & 7) === 0) yield [tag >> 3, value];
    else if ((tag & 7) === 2) yield [tag >> 3, bytes.subarray(at, (at += value))];
    else throw new ApiError(400, 'BadRequest', `unexpected wire type ${tag & 7}`);
  }
}

const textOf = (value: number | Buffer, type: 'string' | 'bytes' = 'string'): string =>
  typeof value === 'number' ? '' : value.toString(type === 'bytes' ? 'base64' : 'utf8');

/** A value to be set, or undefined for what JSON would leave out. */
function read(field: Field, value: number | Buffer, before: unknown): unknown {
  switch (field.type) {
    case 'string':
    case 'bytes':
      return textOf(value, field.type) || undefined;
    case 'int':
      return value;
    case 'intOrString': {
      const [, number = 0, text = Buffer.alloc(0)] = sparse(value as Buffer);
      return textOf(text) || number || undefined;
    }
    case 'map': {
      const [, key = Buffer.alloc(0), item = Buffer.alloc(0)] = sparse(value as Buffer);
      return { ...(before as object | undefined), [textOf(key)]: textOf(item, field.values) };
    }
    case 'message':
      return readMessage(field.message, value as Buffer);
    case 'list':
      return [...((before as unknown[] | undefined) ?? []), readMessage(field.message, value as Buffer)];
  }
}

/** The fields of a small message by their numbers. */
function sparse(bytes: Buffer): readonly (number | Buffer | undefined)[] {
  const fields: (number | Buffer | undefined)[] = [];
  for (const [number, value] of wireFields(bytes)) fields[number] = value;
  return fields;
}

function readMessage(fields: Message, bytes: Buffer): object {
  const object: Record<string, unknown> = {};
  for (const [number, value] of wireFields(bytes)) {
    const field = fields[number];
    if (field !== undefined) object[field.name] = read(field, value, object[field.name]);
  }
  return object;
}

const MAGIC = Buffer.from('k8s\0');

/** Whether a body is protobuf. */
export const isProtobuf = (body: Buffer): boolean => body.subarray(0, MAGIC.length).equals(MAGIC);

/**
 * The JSON text of a protobuf body.
 * @throws ApiError 415 for a kind that no kubectl command makes
 */
export function jsonOfProtobuf(body: Buffer): string {
  const [, type, raw] = sparse(body.subarray(MAGIC.length));
  const [, apiVersion, kind] = sparse(type as Buffer).map((text) => textOf(text ?? 0));
  const fields = KINDS[kind ?? ''];
  if (fields === undefined || raw === undefined) {
    throw new ApiError(415, 'UnsupportedMediaType', `the simulation reads no protobuf of kind ${kind ?? ''}`, {});
  }
  return JSON.stringify({ apiVersion, kind, ...readMessage(fields, raw as Buffer) });
}
