/**
 * The commands of `linkspan`, their options and their help. What a command does is a file of its own in `commands/`,
 * imported when the command runs, so that help and usage errors cost next to nothing.
 */
import { createRequire } from 'node:module';
import { Command } from 'commander';

import { addExplainFlags, type ExplainFlags } from './commands/explain/flags.ts';
import { addStatusFlags, type StatusFlags } from './commands/status/flags.ts';
import { addGatewaysFlags, type GatewaysFlags } from './commands/gateways/flags.ts';
import { addMintFlags, addRotateFlags, type MintFlags, type RotateFlags } from './commands/credentials/flags.ts';
import { addAllowFlags, addLinkGenFlags, type AllowFlags, type LinkGenFlags } from './commands/link/gen-flags.ts';
import { addCheckFlags, type CheckFlags } from './commands/check/flags.ts';
import { addCompletionArgument, type Shell } from './commands/completion/flags.ts';
import { addInitFlags, type InitFlags } from './commands/init/flags.ts';
import {
  addInstallFlags,
  addUninstallFlags,
  addUpgradeFlags,
  type InstallFlags,
  type UninstallFlags,
  type UpgradeFlags,
} from './commands/install/flags.ts';
import { addLinkFlags, addUnlinkFlags, type LinkFlags, type UnlinkFlags } from './commands/link/flags.ts';
import { addMigrateFlags, type MigrateFlags } from './commands/migrate/flags.ts';
import { addPlanFlags, type PlanFlags } from './commands/plan/flags.ts';
import type { SynthFlags } from './commands/synth.ts';
import { addOperatorFlags, type FlagValues } from '../operator/config/flags.ts';

const { version } = createRequire(import.meta.url)('linkspan/package.json') as { readonly version: string };

/** The program. */
export const program = new Command('linkspan')
  .description('Multi-cluster service mirroring for Linkerd')
  .version(version)
  .showHelpAfterError('(see linkspan --help)')
  .exitOverride();

program.commandsGroup('A cluster:');

addInstallFlags(program.command('install'))
  .showHelpAfterError('(see linkspan install --help)')
  .description('make a cluster ready for Links: namespace, CRD, gateway, policy and operator')
  .action(async (flags: InstallFlags) => (await import('./commands/install/install.ts')).install(flags));

addUpgradeFlags(program.command('upgrade'))
  .showHelpAfterError('(see linkspan upgrade --help)')
  .description('bring an installation to this version, or change its settings')
  .action(async (flags: UpgradeFlags) => (await import('./commands/install/upgrade.ts')).upgrade(flags));

addUninstallFlags(program.command('uninstall'))
  .showHelpAfterError('(see linkspan uninstall --help)')
  .description('remove what linkspan install has made')
  .action(async (flags: UninstallFlags) => (await import('./commands/install/uninstall.ts')).uninstall(flags));

program.commandsGroup('Links:');

addLinkFlags(program.command('link'))
  .showHelpAfterError('(see linkspan link --help)')
  .description('let one cluster mirror Services of another: account, credentials and Link')
  .action(async (flags: LinkFlags) => (await import('./commands/link/link.ts')).link(flags));

addUnlinkFlags(program.command('unlink'))
  .showHelpAfterError('(see linkspan unlink --help)')
  .description('remove a Link: its mirrors, its credentials, and the account in the target')
  .action(async (flags: UnlinkFlags) => (await import('./commands/link/unlink.ts')).unlink(flags));

addAllowFlags(program.command('allow'))
  .showHelpAfterError('(see linkspan allow --help)')
  .description('make an account with which other clusters read this one')
  .action(async (flags: AllowFlags) => (await import('./commands/link/allow.ts')).allow(flags));

addLinkGenFlags(program.command('link-gen'))
  .showHelpAfterError('(see linkspan link-gen --help)')
  .description('print the credentials and the Link with which another cluster mirrors Services of this one')
  .action(async (flags: LinkGenFlags) => (await import('./commands/link/link-gen.ts')).linkGen(flags));

const credentials = program
  .command('credentials')
  .description('make or rotate the credentials with which one cluster reads another');

addMintFlags(credentials.command('mint'))
  .showHelpAfterError('(see linkspan credentials mint --help)')
  .description('make an account in the target, and credentials of its token in the source')
  .action(async (flags: MintFlags) => (await import('./commands/credentials/mint.ts')).mint(flags));

addRotateFlags(credentials.command('rotate').argument('<link>', 'name of the Link'))
  .showHelpAfterError('(see linkspan credentials rotate --help)')
  .description('give a Link a new token, and remove the old one when the new one is in use')
  .action(async (link: string, flags: RotateFlags) =>
    (await import('./commands/credentials/rotate.ts')).rotate(link, flags),
  );

addPlanFlags(program.command('plan'))
  .showHelpAfterError('(see linkspan plan --help)')
  .description('show what a Link, as given in a file, would create, change and delete')
  // Its code 2 means changes.
  .exitOverride((error) => {
    process.exitCode = 1;
    throw error;
  })
  .action(async (flags: PlanFlags) => (await import('./commands/plan/plan.ts')).plan(flags));

addMigrateFlags(program.command('migrate'))
  .showHelpAfterError('(see linkspan migrate --help)')
  .description("hand Links from Linkerd's controllers to the operator, one by one, and back")
  .action(async (link: string | undefined, flags: MigrateFlags) =>
    (await import('./commands/migrate/migrate.ts')).migrate(link, flags),
  );

program.commandsGroup('Diagnosis:');

addCheckFlags(program.command('check'))
  .showHelpAfterError('(see linkspan check --help)')
  .description('diagnose the extension: what is broken, why, and what to do')
  .action(async (flags: CheckFlags) => (await import('./commands/check/check.ts')).check(flags));

addExplainFlags(program.command('explain').argument('<service>', 'namespace and name of the Service, or of its mirror'))
  .showHelpAfterError('(see linkspan explain --help)')
  .description('follow one Service from its export to the ready address, and say where it stops')
  .action(async (service: string, flags: ExplainFlags) =>
    (await import('./commands/explain/explain.ts')).explain(service, flags),
  );

addStatusFlags(program.command('status').argument('[link]', 'the only Link to show'))
  .showHelpAfterError('(see linkspan status --help)')
  .description('show how the Links are doing, and which Services are not mirrored, and why')
  .action(async (link: string | undefined, flags: StatusFlags) =>
    (await import('./commands/status/status.ts')).status(link, flags),
  );

addGatewaysFlags(program.command('gateways'))
  .showHelpAfterError('(see linkspan gateways --help)')
  .description('show the gateways of the target clusters: alive, Services behind them, latency')
  .action(async (flags: GatewaysFlags) => (await import('./commands/gateways/gateways.ts')).gateways(flags));

program.commandsGroup('Manifests and Git:');

addInitFlags(program.command('init'))
  .showHelpAfterError('(see linkspan init --help)')
  .description('write a cluster file from the contexts of a kubeconfig')
  .action(async (flags: InitFlags) => (await import('./commands/init/init.ts')).init(flags));

program
  .command('crds')
  .description('print the CustomResourceDefinition of the Link as YAML')
  .action(async () => (await import('./commands/crds.ts')).printCrds());

program
  .command('synth')
  .showHelpAfterError('(see linkspan synth --help)')
  .description('write the manifests of a set of clusters, one folder for each')
  .option('-f, --file <file>', 'the cluster file', 'linkspan.yaml')
  .option('-o, --output <dir>', 'the folder to write to', 'clusters')
  .option('--check', 'write nothing; print the diff, and exit 1 if there is one')
  .option('--schema', 'print the JSON schema of the cluster file, for editors')
  .action(async (flags: SynthFlags) => (await import('./commands/synth.ts')).synth(flags));

program.commandsGroup('In a cluster:');

addOperatorFlags(program.command('operator'))
  .showHelpAfterError('(see linkspan operator --help)')
  .description('keep the mirrors of every Link true, until stopped')
  .action(async (flags: FlagValues) => (await import('./commands/operator.ts')).operate(flags));

program.commandsGroup('This program:');

addCompletionArgument(program.command('completion'))
  .showHelpAfterError('(see linkspan completion --help)')
  .description('print a script by which a shell completes commands and options')
  .action(async (shell: Shell) => (await import('./commands/completion/completion.ts')).completion(program, shell));
