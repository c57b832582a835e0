/** docs/checks.md: every check of `linkspan check`, made of the table that the command runs. */
import { ACCESS_CHECKS } from '../../../synth/commands/check/access/checks.ts';
import type { Check } from '../../../synth/commands/check/check-type.ts';
import { CHECKS } from '../../../synth/commands/check/checks/index.ts';
import { PRE_CHECKS } from '../../../synth/commands/check/pre/checks.ts';

const INTRODUCTION = `# Checks

What \`linkspan check\` looks at, what it means when a check fails, and what to do. This page is produced from the checks
themselves: \`npm run docs\` writes it, and a test fails when it has drifted.

Each check has an id. It is in the output of \`-o json\`, and the hint of a check that fails leads to it on this page. Ids do
not change.

The source is read with your kubeconfig, and each target with the credentials of its Link, as the operator reads it. A
check passes only if everything that it needs was read. One that could not be judged is printed as skipped, with the reason,
and the cause is an error or a warning of another check.

| sign | result in JSON | meaning                                                          |
| ---- | -------------- | ---------------------------------------------------------------- |
| √    | \`success\`      | all is well                                                      |
| ‼    | \`warning\`      | nothing is broken yet, or something could not be looked at       |
| ×    | \`error\`        | something is broken, or must be looked at and could not be read  |
| -    | \`skipped\`      | another check says why this one could not be judged, or there is nothing to judge |

The exit code is 1 if a check is an error, and otherwise 0.
`;

const ACCESS = `\`linkspan check --gateway-access\` runs these in place of those above, in a cluster that exports: what is used through its
gateway, and what would be refused if [\`gatewayAccess\`](gateway-access.md) closed it. What is used and would be refused is an error; what
would be refused if somebody used it is a warning.`;

type Shown = Omit<Check<never>, 'judge'>;

const section = (heading: string, text: string, checks: readonly Shown[]): string =>
  [
    `## ${heading}\n`,
    ...(text === '' ? [] : [`${text}\n`]),
    ...checks.map(({ id, title, means, remedy }) => `### ${id}\n\n√ ${title}\n\n${means}\n\n**Remedy.** ${remedy}\n`),
  ].join('\n');

/** The page. */
export const checksPage = (): string =>
  [
    INTRODUCTION,
    ...[...Map.groupBy(CHECKS, ({ category }) => category)].map(([category, checks]) => section(category, '', checks)),
    section('Before the installation', '`linkspan check --pre` runs these in place of those above.', PRE_CHECKS),
    section('Who may come through the gateway', ACCESS, ACCESS_CHECKS),
  ].join('\n');
