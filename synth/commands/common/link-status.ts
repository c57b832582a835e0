/**
 * What a Link and its status report, read from whatever the API server has stored: others may have written anything there.
 * Text is cut, and has no control characters. Pure.
 */
import { MAX_CONDITION_MESSAGE } from '../../../operator/kube/conditions.ts';
import { cut } from '../../../operator/kube/errors.ts';
import type { KubeObject } from '../../../operator/kube/objects.ts';
import { MAX_ENTRIES, MAX_MIRRORED } from '../../../operator/mirror/status.ts';

/** A condition of a Link, or of an object of the MCS API. */
export interface LinkCondition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
  /** RFC 3339, or empty. */
  readonly since: string;
  /** The generation of the Link that it is about; 0 if it does not say. */
  readonly observedGeneration: number;
}

/** What a Link reports of one Service of its target. */
export interface ServiceReport {
  readonly namespace: string;
  readonly name: string;
  /** Name of the mirror, or of the federated Service. */
  readonly mirror: string;
  readonly isMirrored: boolean;
  readonly reason: string;
  readonly message: string;
}

/** Reasons of what is not mirrored, and is as it should be: a headless Service that is scaled to zero, or what a policy wants. */
const NO_FAULT: readonly string[] = ['WaitingForEndpoints', 'NotAdmitted', 'WaitingForApproval'];

/** Reports whether a Service is not mirrored, or does not join, for a reason that somebody must see to. */
export const isAtFault = ({ isMirrored, reason }: ServiceReport): boolean => !isMirrored && !NO_FAULT.includes(reason);

export interface LinkReport {
  readonly namespace: string;
  readonly name: string;
  readonly cluster: string;
  /** RFC 3339, or empty. */
  readonly createdAt: string;
  /** Addresses, port and identity of the gateway, as the Link has them; undefined without a gateway. */
  readonly gateway: { readonly address: string; readonly port: string; readonly identity: string } | undefined;
  readonly ready: LinkCondition;
  readonly conditions: readonly LinkCondition[];
  /** Undefined until it is known, for the Link as it is now. */
  readonly gatewayAlive: boolean | undefined;
  readonly gatewayAddresses: readonly string[];
  /** How many Services are mirrored; undefined until it is known. */
  readonly mirrors: { readonly total: number; readonly ready: number; readonly failed: number } | undefined;
  readonly services: readonly ServiceReport[];
  /** Members of federated Services. */
  readonly members: readonly ServiceReport[];
}

type Fields = Readonly<Record<string, unknown>>;

const fieldsOf = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {});
const listOf = (value: unknown): readonly Fields[] => (Array.isArray(value) ? value.map(fieldsOf) : []);
const textOf = (value: unknown): string => (typeof value === 'string' ? cut(value, MAX_CONDITION_MESSAGE) : '');
const countOf = (value: unknown): number => (typeof value === 'number' ? value : 0);

/** An object as it was read: only its metadata is certain. */
type Stored = KubeObject & { readonly spec?: unknown; readonly status?: unknown };

/** The conditions of an object, as they are stored. What has no type is none. */
export const conditionsOf = ({ status }: Stored): readonly LinkCondition[] =>
  listOf(fieldsOf(status)['conditions'])
    .map(readCondition)
    .filter(({ type }) => type !== '');

/** The object's condition of a type, if it has one. */
export const conditionOf = (object: Stored | undefined, type: string): LinkCondition | undefined =>
  object && conditionsOf(object).find((condition) => condition.type === type);

/** What stands for a condition that nobody has reported. */
export const NOT_REPORTED: LinkCondition = {
  type: '',
  status: 'Unknown',
  reason: 'NotReported',
  message: 'no operator of this cluster has reported on it, as it is now',
  since: '',
  observedGeneration: 0,
};

const UNREPORTED: LinkCondition = {
  ...NOT_REPORTED,
  type: 'Ready',
  message: 'no operator has reported on the Link, as it is now',
};

/** Whether the gateway is alive, as far as somebody probes it: a Link without a probe is taken to be alive by the operator. */
export const probedAlive = ({ gatewayAlive, conditions }: LinkReport): boolean | undefined =>
  conditions.some(({ type, reason }) => type === 'GatewayAlive' && reason === NOT_PROBED) ? undefined : gatewayAlive;

/** Reason of a condition GatewayAlive that is True although nobody looks. */
export const NOT_PROBED = 'NotProbed';

/** Reports whether a condition is certainly about an older generation of its object. Others need not say which. */
export const isStale = ({ observedGeneration }: LinkCondition, { metadata }: KubeObject): boolean =>
  observedGeneration > 0 && observedGeneration < (metadata.generation ?? 0);

/**
 * Whether a list of a status has all there is, so that what is not in it was not reported on: of what works, few are listed,
 * and of the rest, as many as a Link has room for (rule G2).
 */
export const listsAll = (services: readonly ServiceReport[]): boolean =>
  services.length < MAX_ENTRIES && services.filter(({ isMirrored }) => isMirrored).length < MAX_MIRRORED;

/** Reads a Link. */
export const reportOf = (link: Stored): LinkReport => {
  const spec = fieldsOf(link.spec);
  const status = fieldsOf(link.status);
  const conditions = conditionsOf(link);
  const gateway = fieldsOf(status['gateway']);
  const mirrors = status['mirrors'] === undefined ? undefined : fieldsOf(status['mirrors']);
  const ready = conditions.find(({ type }) => type === 'Ready');
  const isCurrent = (ready?.observedGeneration ?? 0) >= (link.metadata.generation ?? 0);
  const address = textOf(spec['gatewayAddress']);
  return {
    namespace: link.metadata.namespace ?? '',
    name: link.metadata.name,
    cluster: textOf(spec['targetClusterName']),
    createdAt: link.metadata.creationTimestamp ?? '',
    gateway:
      address === ''
        ? undefined
        : { address, port: textOf(spec['gatewayPort']), identity: textOf(spec['gatewayIdentity']) },
    ready: ready === undefined || !isCurrent ? UNREPORTED : ready,
    conditions,
    gatewayAlive: isCurrent && typeof gateway['alive'] === 'boolean' ? gateway['alive'] : undefined,
    gatewayAddresses: Array.isArray(gateway['addresses']) ? gateway['addresses'].map(textOf) : [],
    mirrors: mirrors && {
      total: countOf(mirrors['total']),
      ready: countOf(mirrors['ready']),
      failed: countOf(mirrors['failed']),
    },
    services: listOf(status['mirrorServices']).map(serviceOf),
    members: listOf(status['federatedServices']).map(serviceOf),
  };
};

const readCondition = (condition: Fields): LinkCondition => {
  const { status } = condition;
  return {
    type: textOf(condition['type']),
    status: status === 'True' || status === 'False' ? status : 'Unknown',
    reason: textOf(condition['reason']),
    message: textOf(condition['message']),
    since: textOf(condition['lastTransitionTime']),
    observedGeneration: countOf(condition['observedGeneration']),
  };
};

const serviceOf = (entry: Fields): ServiceReport => {
  const remote = fieldsOf(entry['remoteRef']);
  const [mirrored = {}] = listOf(entry['conditions']);
  return {
    namespace: textOf(remote['namespace']),
    name: textOf(remote['name']),
    mirror: textOf(fieldsOf(mirrored['localRef'])['name']),
    isMirrored: mirrored['status'] === 'True',
    reason: textOf(mirrored['reason']),
    message: textOf(mirrored['message']),
  };
};
