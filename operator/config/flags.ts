/**
 * The operator's flags on the command line, made of the table of settings. Printing help loads this file, the table and
 * commander, and nothing else of the operator.
 */
import { type Command, Option } from 'commander';

import { defaultText, flagOf, variableOf } from '../../crds/operator-setting-names.ts';
import { operatorSettings } from '../../crds/operator-settings.ts';

/** What commander makes of the command line, by name of the setting: text, or a boolean for a switch. */
export type FlagValues = Readonly<Record<string, string | boolean | readonly string[] | undefined>>;

/**
 * Adds the operator's flags to a command; hand `command.opts()` to `parseOperatorConfig`. That reads the variables too:
 * commander would take an empty one for a value, and any value of a switch for true.
 */
export function addOperatorFlags(command: Command): Command {
  for (const [name, setting] of operatorSettings) {
    const flag = flagOf(name);
    const description = `${setting.text} (default: ${defaultText(setting)}; env: ${variableOf(name)})`;
    const option = new Option(setting.argument === undefined ? flag : `${flag} <${setting.argument}>`, description);
    if (setting.repeatable) {
      option.argParser((value: string, before: readonly string[] | undefined) => [...(before ?? []), value]);
    }
    command.addOption(option);
    if (setting.negatable) command.addOption(new Option(flag.replace('--', '--no-'), `not ${flag}`));
  }
  return command;
}
