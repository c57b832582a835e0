/** Specs of ServiceFailovers, for whatever judges them: the API server by the CRD, and the operator. */

/** Specs that are valid. */
export const VALID: Readonly<Record<string, unknown>> = {
  'one backend': { service: 'web', backends: [{ service: 'web' }] },
  'an order, with thresholds': {
    service: 'web',
    backends: [
      { service: 'web', minReady: '50%' },
      { service: 'web-east', minReady: 2 },
    ],
    holdDown: '1m30s',
    routeKind: 'GRPCRoute',
  },
  weights: {
    service: 'web',
    backends: [
      { service: 'web', weight: 90 },
      { service: 'web-east', weight: 10 },
    ],
    holdDown: '0',
  },
};

/** A spec that is invalid, and what it is reported as. */
export interface Invalid {
  /** @default web */
  readonly name?: string;
  readonly spec: unknown;
  readonly errors: readonly string[];
}

const TWO = [{ service: 'web' }, { service: 'web-east' }] as const;

/** Specs that are invalid. */
export const INVALID: Readonly<Record<string, Invalid>> = {
  'no backends': { spec: { service: 'web', backends: [] }, errors: ['spec.backends: [] must not be empty'] },
  'no Service': { spec: { backends: TWO }, errors: ['spec.service: is required'] },
  'a backend twice': {
    spec: { service: 'web', backends: [...TWO, TWO[0]] },
    errors: ['spec.backends[2].service: "web" must be unique'],
  },
  'a name that is no Service name': {
    spec: { service: 'Web', backends: TWO },
    errors: ['spec.service: "Web" must match pattern "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"'],
  },
  'a share above 100%': {
    spec: { service: 'web', backends: [{ service: 'web', minReady: '101%' }] },
    errors: ['spec.backends[0].minReady: "101%" must match pattern "^([1-9][0-9]?|100)%$"'],
  },
  'no endpoint as a threshold': {
    spec: { service: 'web', backends: [{ service: 'web', minReady: 0 }] },
    errors: ['spec.backends[0].minReady: 0 must be greater than or equal to 1'],
  },
  'a weight of 0': {
    spec: { service: 'web', backends: [{ service: 'web', weight: 0 }] },
    errors: ['spec.backends[0].weight: 0 must be greater than or equal to 1'],
  },
  'a weight on some backends': {
    spec: { service: 'web', backends: [{ service: 'web', weight: 1 }, { service: 'web-east' }] },
    errors: ['spec.backends: must all have a weight, or none'],
  },
  'a hold-down that is no time': {
    spec: { service: 'web', backends: TWO, holdDown: 'soon' },
    errors: ['spec.holdDown: "soon" must match pattern "^(0|([0-9]+(\\.[0-9]+)?(ms|s|m|h))+)$"'],
  },
  'a name that no label can hold': {
    name: 'a'.repeat(64),
    spec: { service: 'web', backends: TWO },
    errors: [`metadata.name: "${'a'.repeat(62)}… must have at most 63 characters (its routes are labelled with it)`],
  },
};
