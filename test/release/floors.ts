/**
 * The floors on which the folders of a room stand, lowest first: a folder imports from those below it. ESLint, the test of
 * imports and docs/architecture.md hold to these.
 */
type Floors = readonly (readonly string[])[];

export const CONSTRUCT_FLOORS: Floors = [
  ['common'],
  ['rendered'],
  ['link', 'services', 'gateway', 'operator'],
  ['monitoring'],
  ['cluster-set'],
  ['argo-cd'],
  ['tree'],
];

export const OPERATOR_FLOORS: Floors = [
  ['kube'],
  ['metrics'],
  ['runtime'],
  ['config'],
  ['mirror'],
  ['source', 'target', 'gateway'],
  ['served'],
  ['mirrors', 'federation', 'failover', 'access'],
  ['mcs'],
  ['link'],
  ['forecast'],
];

/** As docs/architecture.md writes them. */
export const written = (floors: Floors): string =>
  floors.map((folders) => (folders.length === 1 ? folders.join() : `{${folders.join(', ')}}`)).join(' ← ');
