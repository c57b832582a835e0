/**
 * The configuration that is in effect, as a command line: what a user gave, what the environment gave and what applies
 * by default. It can be pasted into a shell, and says what a log line or a metric of this process is about.
 */
import { flagOf, valueName } from '../../crds/operator-setting-names.ts';
import type { OperatorSetting } from '../../crds/operator-setting.ts';
import { operatorSettings, type SettingName } from '../../crds/operator-settings.ts';
import { settingText } from '../../crds/operator-values.ts';
import type { OperatorConfig } from './config.ts';

/** Returns the flags that make this configuration; a setting without a value has none. */
export const effectiveFlags = (config: OperatorConfig): string =>
  operatorSettings
    .flatMap(([name, setting]) => flag(name, setting, config))
    .map(quoted)
    .join(' ');

function flag(name: SettingName, setting: OperatorSetting, config: OperatorConfig): readonly string[] {
  const value = config[valueName(name, setting)];
  if (setting.type === 'switch') {
    if (value === true) return [flagOf(name)];
    return setting.negatable === true ? [flagOf(name).replace('--', '--no-')] : [];
  }
  const text = value === undefined ? '' : settingText(setting, value);
  return text === '' && !setting.default ? [] : [`${flagOf(name)}=${text}`];
}

/** Quotes what a shell would read otherwise. */
const quoted = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
