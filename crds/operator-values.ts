/**
 * The values of the operator's settings: read from the text that a flag, a variable or a rendered argument holds, and
 * checked against each other. Constructs and the operator use the same rules, so what one renders the other accepts.
 */
import { parseDuration, parsePort } from './duration.ts';
import { isDnsLabel, isDnsSubdomain } from './names.ts';
import { parseSelectorText } from './selector.ts';
import { PROTECTED_NAMESPACES } from './wire.ts';
import type { HostPort, OperatorSetting, SettingValue } from './operator-setting.ts';
import type { OperatorSettingValues } from './operator-setting-names.ts';
import type { SettingName } from './operator-settings.ts';

/**
 * The value in a text.
 * @throws RangeError with the reason, such as `must be a whole number between 1 and 256`
 */
export const parseSetting = (setting: OperatorSetting, text: string): SettingValue => {
  if (text === '' && setting.default !== '' && setting.type !== 'selector') throw new RangeError('must not be empty');
  switch (setting.type) {
    case 'text':
      return text;
    case 'name':
      if (!isDnsLabel(text)) throw new RangeError('must be a valid DNS label');
      return text;
    case 'domain':
      if (!isDnsSubdomain(text)) throw new RangeError('must be a valid DNS subdomain');
      return text;
    case 'names':
      return names(text, setting.of === 'Secret');
    case 'switch':
      return oneOf(['true', 'false'], text) === 'true';
    case 'choice':
      return oneOf(setting.values, text);
    case 'integer':
      return integer(text, setting.least, setting.most);
    case 'duration':
      return duration(text, setting);
    case 'host-port':
      return hostPort(text, (port) => (port === '0' ? 0 : parsePort(port)));
    case 'connect-to':
      return connectTo(text);
    case 'selector':
      return selector(text);
  }
};

/** The text in which `parseSetting` finds a value. */
export const settingText = (setting: OperatorSetting, value: SettingValue): string => {
  if (typeof value === 'string' || typeof value === 'boolean') return String(value);
  if (typeof value === 'number') return setting.type === 'duration' ? goDuration(value) : String(value);
  if (isList(value)) return value.join(',');
  if ('host' in value) return hostPortText(value);
  return [...value].map(([host, at]) => `${host}=${hostPortText(at)}`).join(',');
};

/** What a setting takes, for its errors; undefined where the reason is enough. */
export const settingRemedy = (setting: OperatorSetting): string | undefined => {
  switch (setting.type) {
    case 'name':
      return `the name of a ${setting.of}`;
    case 'names':
      return `names of ${setting.of}s, separated by commas`;
    case 'duration':
      return `a Go duration, as in ${setting.default ?? '1m30s'}`;
    case 'host-port':
      return 'HOST:PORT, as in 0.0.0.0:9999 or [::]:9999';
    case 'connect-to':
      return 'HOST=ADDR:PORT, as in probe.example=192.0.2.1:80, each host once';
    case 'selector':
      return `a label selector, as in ${setting.default ?? 'a=b'}`;
    case 'text':
    case 'domain':
    case 'switch':
    case 'choice':
    case 'integer':
      return undefined;
  }
};

/** A value that does not go with another. */
export interface SettingConflict {
  readonly setting: SettingName;
  readonly reason: string;
  readonly remedy?: string;
  /** The other one, and the reason as that has it, for who gave the other one alone. */
  readonly other?: { readonly setting: SettingName; readonly reason: string };
}

/**
 * Which values, each valid, do not go with each other. A value that is absent is in no conflict.
 * @param nameOf name of a setting as the user knows it: a flag, or a prop
 */
export const settingConflicts = (
  values: Partial<OperatorSettingValues>,
  nameOf: (setting: SettingName) => string,
): readonly SettingConflict[] => {
  const { leaseDurationMs = NaN, renewDeadlineMs = NaN, retryPeriodMs = NaN } = values;
  const conflicts: SettingConflict[] = [];
  if (renewDeadlineMs >= leaseDurationMs) {
    const reason = `must be less than ${nameOf('leaseDuration')}, which is ${leaseDurationMs / 1000}s`;
    const greater = `must be greater than ${nameOf('renewDeadline')}, which is ${renewDeadlineMs / 1000}s`;
    conflicts.push({ setting: 'renewDeadline', reason, other: { setting: 'leaseDuration', reason: greater } });
  }
  if (retryPeriodMs * RETRY_MARGIN >= renewDeadlineMs) {
    const renew = `${nameOf('renewDeadline')}, which is ${renewDeadlineMs / 1000}s`;
    const greater = `must be greater than ${nameOf('retryPeriod')} times ${RETRY_MARGIN}, which is ${retryPeriodMs / 1000}s`;
    conflicts.push({
      setting: 'retryPeriod',
      reason: `times ${RETRY_MARGIN} must be less than ${renew}`,
      other: { setting: 'renewDeadline', reason: greater },
    });
  }
  if (values.mirrorNamespaces !== undefined && values.enableNamespaceCreation === true) {
    conflicts.push({
      setting: 'enableNamespaceCreation',
      reason: `must not be set together with ${nameOf('mirrorNamespaces')}, which must exist`,
      remedy: 'create them, or leave one of the two out',
    });
  }
  return [...conflicts, ...accessConflicts(values, nameOf)];
};

/** What does not go with who may come through the gateway (rules M2, M5). */
const accessConflicts = (
  { gatewayAccess, gatewayTcp, mirrorNamespaces }: Partial<OperatorSettingValues>,
  nameOf: (setting: SettingName) => string,
): readonly SettingConflict[] => {
  const conflicts: SettingConflict[] = [];
  if (gatewayAccess === 'clients' && gatewayTcp === 'meshed') {
    conflicts.push({
      setting: 'gatewayTcp',
      reason: `must not be meshed if ${nameOf('gatewayAccess')} is clients: whoever may open connections may also send requests to every export`,
      remedy: 'write clients or none',
    });
  }
  if (mirrorNamespaces !== undefined && gatewayAccess !== undefined) {
    const isOpen = gatewayAccess === 'open';
    const why = isOpen
      ? 'the operator must read the exports of all namespaces'
      : 'exports of other namespaces would be refused';
    conflicts.push({
      setting: 'gatewayAccess',
      reason: `must not be ${gatewayAccess} together with ${nameOf('mirrorNamespaces')}: ${why}`,
      remedy: 'leave one of the two out',
    });
  }
  return conflicts;
};

/** Whose namespaces {@link isProtectedNamespace} is true of. */
export const PROTECTED_KIND = 'a namespace of Kubernetes, the control plane or the operator';

/** Reports whether no mirror is ever written to a namespace (rule A3), whatever `mirrorNamespaces` says. */
export const isProtectedNamespace = (
  name: string,
  operator: Partial<Pick<OperatorSettingValues, 'controlPlaneNamespace' | 'namespace'>>,
): boolean =>
  PROTECTED_NAMESPACES.includes(name) || name === operator.controlPlaneNamespace || name === operator.namespace;

/** Reports whether mirrors are written to a namespace, and removed from it (rule A3). */
export const isMirrorNamespace = (
  name: string,
  operator: Partial<Pick<OperatorSettingValues, 'controlPlaneNamespace' | 'namespace' | 'mirrorNamespaces'>>,
): boolean => !isProtectedNamespace(name, operator) && operator.mirrorNamespaces?.includes(name) !== false;

/** Namespaces that mirrors are to be written to although they are protected. */
export const protectedConflicts = (values: Partial<OperatorSettingValues>): readonly SettingConflict[] => {
  const named = (values.mirrorNamespaces ?? []).filter((name) => isProtectedNamespace(name, values));
  if (named.length === 0) return [];
  const reason = `must not have ${named.join(', ')}: no mirror is written to ${PROTECTED_KIND}`;
  return [{ setting: 'mirrorNamespaces', reason, remedy: 'name others' }];
};

/**
 * A conflict by the setting that was given: the other one, if only that was.
 * @param isGiven whether the user has given a setting; of two that were both, or neither, the first is meant
 */
export const byWhatIsGiven = (
  conflict: SettingConflict,
  isGiven: (setting: SettingName) => boolean,
  nameOf: (setting: SettingName) => string,
): Omit<SettingConflict, 'other'> => {
  const { other, ...first } = conflict;
  if (other === undefined || isGiven(first.setting) || !isGiven(other.setting)) return first;
  return { ...other, remedy: `a longer time, or set ${nameOf(first.setting)} too` };
};

/** How much longer a retry may take than its period, jitter included. */
const RETRY_MARGIN = 1.2;

const items = (text: string): readonly string[] => {
  const list = text.split(',').map((item) => item.trim());
  if (list.includes('')) throw new RangeError('must not have an empty item');
  return list;
};

const names = (text: string, areSecrets: boolean): readonly string[] => {
  const list = items(text);
  if (!list.every(areSecrets ? isDnsSubdomain : isDnsLabel)) {
    throw new RangeError(`must be valid DNS ${areSecrets ? 'subdomains' : 'labels'}`);
  }
  return list;
};

const oneOf = (values: readonly string[], text: string): string => {
  if (!values.includes(text)) throw new RangeError(`must be one of ${values.join(', ')}`);
  return text;
};

const integer = (text: string, least: number, most: number): number => {
  const number = /^[0-9]+$/.test(text) ? Number(text) : NaN;
  if (!(number >= least && number <= most)) {
    throw new RangeError(`must be a whole number between ${least} and ${most}`);
  }
  return number;
};

const duration = (
  text: string,
  { leastMs, mostMs, wholeSeconds }: Extract<OperatorSetting, { readonly type: 'duration' }>,
): number => {
  const ms = parseDuration(text);
  if (ms < leastMs || ms > mostMs)
    throw new RangeError(`must be between ${goDuration(leastMs)} and ${goDuration(mostMs)}`);
  if (wholeSeconds && ms % 1000 !== 0) throw new RangeError('must be a whole number of seconds');
  return ms;
};

const selector = (text: string): string => {
  const parsed = parseSelectorText(text);
  if (!parsed.ok) throw new RangeError(parsed.errors[0]?.reason);
  return text;
};

const goDuration = (ms: number): string => {
  if (ms % 3_600_000 === 0) return `${ms / 3_600_000}h`;
  return ms % 1000 === 0 ? `${ms / 1000}s` : `${ms}ms`;
};

const isList = (value: SettingValue): value is readonly string[] => Array.isArray(value);

const hostPortText = ({ host, port }: HostPort): string => `${host.includes(':') ? `[${host}]` : host}:${port}`;

/** `HOST:PORT`; a host with colons stands in brackets. */
const hostPort = (text: string, port: (text: string) => number): HostPort => {
  const parts = /^(?:\[(?<v6>[0-9A-Fa-f:.%]+)\]|(?<host>[^:[\]\s]+)):(?<port>[^:]*)$/.exec(text)?.groups;
  const host = parts?.['v6'] ?? parts?.['host'];
  if (host === undefined) throw new RangeError('must be a valid HOST:PORT');
  try {
    return { host, port: port(parts?.['port'] ?? '') };
  } catch (error) {
    throw new RangeError('must have a valid port', { cause: error });
  }
};

const connectTo = (text: string): ReadonlyMap<string, HostPort> => {
  const targets = new Map<string, HostPort>();
  for (const item of text === '' ? [] : items(text)) {
    const equals = item.indexOf('=');
    if (equals < 1) throw new RangeError('must be a valid HOST=ADDR:PORT');
    const host = item.slice(0, equals).toLowerCase();
    if (targets.has(host)) throw new RangeError('must name each host once');
    targets.set(host, hostPort(item.slice(equals + 1), parsePort));
  }
  return targets;
};
