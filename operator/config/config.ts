/**
 * The operator's configuration: flags, then the environment, then defaults. All that is wrong is reported at once, by
 * the flag or variable that it was given by.
 */
import { hostname } from 'node:os';

import { type Checked, type FieldError, fieldError } from '../../crds/field-error.ts';
import {
  flagOf,
  valueName,
  VARIABLE_PREFIX,
  variableOf,
  type OperatorSettingValues,
} from '../../crds/operator-setting-names.ts';
import type { OperatorSetting, SettingValue } from '../../crds/operator-setting.ts';
import { OPERATOR_SETTINGS, operatorSettings, type SettingName } from '../../crds/operator-settings.ts';
import {
  byWhatIsGiven,
  parseSetting,
  protectedConflicts,
  settingConflicts,
  settingRemedy,
} from '../../crds/operator-values.ts';
import type { FlagValues } from './flags.ts';

/** The value of every setting; what each means is in the table of settings. */
export type OperatorConfig = OperatorSettingValues;

/** What some settings follow where they are not given. */
export interface Surroundings {
  /** Name of this process, for when no pod's name is given. */
  readonly processName: () => string;
  /** Whether somebody reads the log as it is written. */
  readonly isTerminal: boolean;
}

const surroundings = (): Surroundings => ({
  // Names the process, not the host: two operators on one host must not take each other's Lease for their own.
  processName: () => `${hostname()}_${Math.random().toString(36).slice(2, 10)}`,
  isTerminal: process.stdout.isTTY,
});

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The configuration that flags, environment and defaults make, in this order. An empty variable counts as not given.
 * @param flags what commander made of the command line
 * @param around what applies where nothing is given. @default as this process finds it
 */
export function parseOperatorConfig(
  flags: FlagValues,
  env: Environment,
  around: Surroundings = surroundings(),
): Checked<OperatorConfig> {
  const errors: FieldError[] = [];
  const given = new Map<SettingName, Given>();
  const values = new Map<string, SettingValue>();
  for (const [name, setting] of operatorSettings) {
    const found = find(name, setting, flags, env) ?? derivedOf(name, env, around);
    if (found === undefined) continue;
    given.set(name, found);
    try {
      values.set(valueName(name, setting), parseSetting(setting, found.text));
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      errors.push(fieldError(found.source, found.text, error.message, settingRemedy(setting)));
    }
  }
  // Sound if nothing is wrong: the type of the table says for each setting what its parsing returns.
  const config = Object.fromEntries(values) as unknown as OperatorConfig;
  const isGiven = (name: SettingName): boolean => flags[name] !== undefined || Boolean(env[variableOf(name)]);
  const conflicts = [...settingConflicts(config, flagOf), ...protectedConflicts(config)];
  for (const conflict of conflicts) {
    const { setting, reason, remedy } = byWhatIsGiven(conflict, isGiven, flagOf);
    const { source, text } = given.get(setting) ?? { source: flagOf(setting), text: undefined };
    errors.push(fieldError(source, text, reason, remedy ?? settingRemedy(OPERATOR_SETTINGS[setting])));
  }
  return errors.length === 0 ? { ok: true, value: config } : { ok: false, errors };
}

/**
 * Warnings about variables that look like ours, most likely misspelt. The kubelet sets some for a Service `linkspan`.
 */
export const variableWarnings = (env: Environment): readonly string[] => {
  const known = new Set(operatorSettings.map(([name]) => variableOf(name)));
  const ofService = /_(SERVICE_HOST|SERVICE_PORT|PORT)(_|$)/;
  return Object.keys(env)
    .filter((name) => name.startsWith(VARIABLE_PREFIX) && !known.has(name) && !ofService.test(name))
    .map((name) => `the variable ${name} is ignored: no setting has it (see "linkspan operator --help")`);
};

/** The text of a setting, and the flag or variable that it was given by. */
interface Given {
  readonly source: string;
  readonly text: string;
}

function find(name: SettingName, setting: OperatorSetting, flags: FlagValues, env: Environment): Given | undefined {
  const typed = flags[name];
  if (typed !== undefined) return { source: flagOf(name), text: String(typed) };
  const variable = variableOf(name);
  const value = env[variable];
  if (value) return { source: variable, text: value };
  return setting.default === undefined ? undefined : { source: flagOf(name), text: setting.default };
}

/** The value of a setting that the table calls derived. */
function derivedOf(name: SettingName, env: Environment, around: Surroundings): Given | undefined {
  const source = flagOf(name);
  switch (name) {
    case 'identity':
      return env['POD_NAME'] ? { source: 'POD_NAME', text: env['POD_NAME'] } : { source, text: around.processName() };
    case 'logFormat':
      return { source, text: around.isTerminal ? 'pretty' : 'json' };
    default:
      return undefined;
  }
}
