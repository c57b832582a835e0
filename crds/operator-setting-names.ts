/** What a setting of the operator is called: its value, its flag, its environment variable. */
import type { OperatorSetting, SettingValue } from './operator-setting.ts';
import type { SettingName, Settings } from './operator-settings.ts';

/** Name of a value among all values: that of a duration ends in `Ms`. */
type ValueName<N extends SettingName> = Settings[N]['type'] extends 'duration' ? `${N}Ms` : N;

/** The values of all settings; one that is not given has its default. */
export type OperatorSettingValues = {
  readonly [N in SettingName as ValueName<N>]:
    SettingValue<Settings[N]> | (Settings[N] extends { readonly unset: string } ? undefined : never);
};

/** Name of the value of a setting. */
export const valueName = (name: SettingName, { type }: OperatorSetting): keyof OperatorSettingValues =>
  (type === 'duration' ? `${name}Ms` : name) as keyof OperatorSettingValues;

/** The flag of a setting: `--retry-period`. */
export const flagOf = (name: SettingName): `--${string}` =>
  `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/** What the variables of all settings start with. */
export const VARIABLE_PREFIX = 'LINKSPAN_';

/** The environment variable of a setting: `LINKSPAN_RETRY_PERIOD`. */
export const variableOf = (name: SettingName): string =>
  VARIABLE_PREFIX + flagOf(name).slice(2).replaceAll('-', '_').toUpperCase();

/** What applies when a setting is not given, for the documentation. */
export const defaultText = ({ default: text, derived, unset }: OperatorSetting): string =>
  text || derived || unset || 'none';
