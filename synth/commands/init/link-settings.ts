/** The Link of a pair as a cluster file has it: what of its spec the set would not give it by itself. Pure. */
import type { LinkSpec } from '../../../crds/link/types.gen.ts';
import { Default, gatewayIdentity, Label, Value } from '../../../crds/wire.ts';

/** What the set gives to each Link to a target. */
export interface Given {
  readonly flat: boolean;
  readonly serviceExports: boolean;
  readonly namespace: string;
  readonly linkerdNamespace: string;
  /** Trust domain of the target. */
  readonly trustDomain: string;
  readonly gatewayAddresses: readonly string[];
  readonly gatewayPort: number;
  readonly probe: Probe;
}

/** A probe; what is absent has its default. */
export interface Probe {
  readonly path?: string | undefined;
  readonly port?: number | undefined;
  readonly period?: string | undefined;
}

type Fields = Readonly<Record<string, unknown>>;

const EXPORTED = { matchLabels: { [Label.exported]: Value.true } };
const FLAT = { matchLabels: { [Label.exported]: Value.remoteDiscovery } };
const MEMBER = { matchLabels: { [Label.federated]: Value.federatedMember } };
const PROBE = { path: Default.probePath, port: Default.probePort, period: '3s', timeout: '30s', failureThreshold: 3 };

/** Addresses of the gateway, as a Link has them. */
export const addressesOf = ({ gatewayAddress = '' }: Partial<LinkSpec>): readonly string[] =>
  gatewayAddress === '' ? [] : gatewayAddress.split(',').map((address) => address.trim());

/** What is given for the pair. */
export const linkSettings = (spec: Partial<LinkSpec>, set: Given): Fields => {
  const own: Record<string, unknown> = {};
  const compare = (field: string, value: unknown, by: unknown): void => {
    if (value !== undefined && !isSame(value, by)) own[field] = value;
  };
  const { gatewayPort, gatewayIdentity: identity, probeSpec } = spec;
  const addresses = addressesOf(spec);
  if (addresses.length > 0) {
    compare('gatewayAddresses', addresses, set.gatewayAddresses);
    compare('gatewayPort', Number(gatewayPort ?? Default.gatewayPort), set.gatewayPort);
    compare('gatewayIdentity', identity, gatewayIdentity(set.linkerdNamespace, set.trustDomain, set.namespace));
    compare('selector', spec.selector ?? {}, EXPORTED);
    const { path, port, period, timeout, failureThreshold } = probeSpec ?? {};
    const probe = {
      path,
      port: port === undefined ? undefined : Number(port),
      period,
      timeout,
      failureThreshold: failureThreshold === undefined ? undefined : Number(failureThreshold),
    };
    const usual: Fields = { ...PROBE, ...known(set.probe) };
    const differing = Object.entries(probe).filter(([name, value]) => value !== undefined && value !== usual[name]);
    if (differing.length > 0) own['probe'] = Object.fromEntries([...Object.entries(known(set.probe)), ...differing]);
  } else compare('selector', spec.selector, undefined);
  compare('remoteDiscoverySelector', spec.remoteDiscoverySelector ?? {}, set.flat ? FLAT : {});
  compare('federatedServiceSelector', spec.federatedServiceSelector, MEMBER);
  compare('federation', spec.federation, set.flat ? undefined : 'gateway');
  compare('serviceExports', spec.serviceExports ?? true, set.serviceExports);
  for (const field of ['excludedLabels', 'excludedAnnotations'] as const) {
    if ((spec[field] ?? []).length > 0) own[field] = spec[field];
  }
  for (const field of ['importPolicy', 'enableHeadlessServices', 'enableNamespaceCreation'] as const)
    compare(field, spec[field], undefined);
  return own;
};

const known = (fields: object): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

/** Reports whether two values are the same, in whatever order their keys are. */
export const isSame = (one: unknown, other: unknown): boolean => sorted(one) === sorted(other);

const sorted = (value: unknown): string =>
  JSON.stringify(value, (_key, each: unknown) =>
    typeof each === 'object' && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  ) ?? '';
