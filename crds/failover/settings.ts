/**
 * The settings of a ServiceFailover: its fields parsed, defaulted and checked, with all errors reported at once. No other
 * code reads the spec of a ServiceFailover. It is data from outside: the API server may have stored it by another CRD.
 */
import { parseDuration } from '../duration.ts';
import { type Checked, type FieldError, fieldError } from '../field-error.ts';
import { isDnsSubdomain, isServiceName, LABEL_MAX_LENGTH } from '../names.ts';
import { compile } from '../validate.ts';
import { FAILOVER_SPEC_SCHEMA } from './schema.ts';
import type { FailoverSpec, ServiceFailover } from './types.gen.ts';

/** What makes a backend ready: a number of ready endpoints, or a share of all endpoints in percent. */
export type MinReady = { readonly count: number } | { readonly percent: number };

/** A backend, read. */
export interface FailoverBackend {
  readonly service: string;
  readonly minReady: MinReady;
  /** On every backend, or on none. */
  readonly weight?: number;
}

/** A ServiceFailover, read. Fields that the API server sets are `''` or 0 in a manifest that was never applied. */
export interface FailoverSettings {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly generation: number;
  /** Name of the Service that clients call. */
  readonly service: string;
  /** At least one, each Service once, by preference. */
  readonly backends: readonly FailoverBackend[];
  /** Milliseconds. */
  readonly holdDownMs: number;
  /** Absent to go by the protocol of each port. */
  readonly routeKind?: NonNullable<FailoverSpec['routeKind']>;
}

/** Time that a backend must have been ready before requests go back to it, in milliseconds. */
export const DEFAULT_HOLD_DOWN_MS = 30_000;

/** Longest hold-down: a day, in milliseconds. */
export const MAX_HOLD_DOWN_MS = 86_400_000;

const checkTypes = compile<FailoverSpec>(FAILOVER_SPEC_SCHEMA, { root: 'spec', limit: 16 });

/** Reads a ServiceFailover, or a manifest of one. */
export const readFailover = (object: unknown): Checked<FailoverSettings> => {
  const { metadata, spec } = (object ?? {}) as {
    readonly [Field in keyof ServiceFailover]: ServiceFailover[Field] | null;
  };
  const { name = '', namespace = '', uid = '', generation = 0 } = metadata ?? {};
  const types = checkTypes(spec ?? {});
  if (!types.ok) return types;
  const { service, backends, holdDown, routeKind } = types.value;
  const holdDownMs = readHoldDown(holdDown);
  const errors = [
    nameError(name),
    isServiceName(service) ? undefined : fieldError('spec.service', service, SERVICE_REASON),
    ...backendErrors(backends),
    typeof holdDownMs === 'number' ? undefined : holdDownMs,
  ].filter((error) => error !== undefined);
  if (errors.length > 0 || typeof holdDownMs !== 'number') return { ok: false, errors };
  return {
    ok: true,
    value: {
      name,
      namespace,
      uid,
      generation,
      service,
      backends: backends.map(({ service, minReady, weight }) => ({
        service,
        minReady: readMinReady(minReady),
        ...(weight !== undefined && { weight }),
      })),
      holdDownMs,
      ...(routeKind !== undefined && { routeKind }),
    },
  };
};

const SERVICE_REASON = 'must be a valid Service name';

/** The name is the value of a label on its routes. */
const nameError = (name: string): FieldError | undefined =>
  name === '' || (isDnsSubdomain(name) && name.length <= LABEL_MAX_LENGTH)
    ? undefined
    : fieldError(
        'metadata.name',
        name,
        `must have at most ${LABEL_MAX_LENGTH} characters`,
        'its routes are labelled with it',
      );

/** Errors of backends: names, and whether all have a weight or none. */
export const backendErrors = (
  backends: FailoverSpec['backends'],
  root = 'spec.',
): readonly (FieldError | undefined)[] => {
  const names = backends.map(({ service }) => service);
  const weighed = backends.filter(({ weight }) => weight !== undefined).length;
  return [
    ...names.map((service, index) => {
      const path = `${root}backends[${index}].service`;
      if (!isServiceName(service)) return fieldError(path, service, SERVICE_REASON);
      return names.indexOf(service) < index ? fieldError(path, service, 'must be unique') : undefined;
    }),
    weighed === 0 || weighed === backends.length
      ? undefined
      : fieldError(`${root}backends`, undefined, 'must all have a weight, or none'),
  ];
};

const readMinReady = (minReady: number | string | undefined): MinReady => {
  if (typeof minReady === 'string') return { percent: Number(minReady.slice(0, -1)) };
  return { count: minReady ?? 1 };
};

const readHoldDown = (text: string | undefined): number | FieldError => {
  if (text === undefined) return DEFAULT_HOLD_DOWN_MS;
  const path = 'spec.holdDown';
  try {
    const ms = parseDuration(text);
    return ms >= 0 && ms <= MAX_HOLD_DOWN_MS ? ms : fieldError(path, text, 'must be between 0 and 24h');
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return fieldError(path, text, error.message, 'write a Go duration, as in 30s');
  }
};
