/**
 * The commands of `linkspan`, their options and their help. What a command does is a file of its own in `commands/`,
 * imported when the command runs, so that help and usage errors cost next to nothing.
 */
import { createRequire } from 'node:module';
import { Command } from 'commander';

import { addApproveFlags, type ApproveFlags } from './commands/approve/flags.ts';
import { addExplainFlags, type ExplainFlags } from './commands/explain/flags.ts';
import { addStatusFlags, type StatusFlags } from './commands/status/flags.ts';
import { addGatewaysFlags, type GatewaysFlags } from './commands/gateways/flags.ts';
import {
  addMintFlags,
  addRevokeFlags,
  addRotateFlags,
  type MintFlags,
  type RevokeFlags,
  type RotateFlags,
} from './commands/credentials/flags.ts';
import { addAllowFlags, addLinkGenFlags, type AllowFlags, type LinkGenFlags } from './commands/link/gen-flags.ts';
import { addCheckFlags, type CheckFlags } from './commands/check/flags.ts';
import { addCompletionArgument, type Shell } from './commands/completion/flags.ts';
import type { CrdsFlags } from './commands/crds.ts';
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

/** Adds a command to the program, or to a command of it. A usage error names the help of the command. */
const command = (name: string, addFlags = (bare: Command): Command => bare, parent = program): Command => {
  const path = parent === program ? name : `${parent.name()} ${name}`;
  return addFlags(parent.command(name)).showHelpAfterError(`(see linkspan ${path} --help)`);
};

program.commandsGroup('A cluster:');

command('install', addInstallFlags)
  .description('make a cluster ready for Links: namespace, CRD, gateway, policy and operator')
  .action(async (flags: InstallFlags) => (await import('./commands/install/install.ts')).install(flags));

command('upgrade', addUpgradeFlags)
  .description('bring an installation to this version, or change its settings')
  .action(async (flags: UpgradeFlags) => (await import('./commands/install/upgrade.ts')).upgrade(flags));

command('uninstall', addUninstallFlags)
  .description('remove what linkspan install has made')
  .action(async (flags: UninstallFlags) => (await import('./commands/install/uninstall.ts')).uninstall(flags));

program.commandsGroup('Links:');

command('link', addLinkFlags)
  .description('let one cluster mirror Services of another: account, credentials and Link')
  .action(async (flags: LinkFlags) => (await import('./commands/link/link.ts')).link(flags));

command('unlink', addUnlinkFlags)
  .description('remove a Link: its mirrors, its credentials, and the account in the target')
  .action(async (flags: UnlinkFlags) => (await import('./commands/link/unlink.ts')).unlink(flags));

command('allow', addAllowFlags)
  .description('make an account with which other clusters read this one')
  .action(async (flags: AllowFlags) => (await import('./commands/link/allow.ts')).allow(flags));

command('link-gen', addLinkGenFlags)
  .description('print the credentials and the Link with which another cluster mirrors Services of this one')
  .action(async (flags: LinkGenFlags) => (await import('./commands/link/link-gen.ts')).linkGen(flags));

command('approve', addApproveFlags)
  .description('admit Services of a target to a Link whose import policy requires approval')
  .action(async (services: readonly string[], flags: ApproveFlags) =>
    (await import('./commands/approve/approve.ts')).approve(services, flags),
  );

const credentials = command('credentials').description(
  'make, rotate or revoke the credentials with which one cluster reads another',
);

command('mint', addMintFlags, credentials)
  .description('make an account in the target, and credentials of its token in the source')
  .action(async (flags: MintFlags) => (await import('./commands/credentials/mint.ts')).mint(flags));

command('rotate', addRotateFlags, credentials)
  .argument('<link>', 'name of the Link')
  .description('give a Link a new token, and remove the old one when the new one is in use')
  .action(async (link: string, flags: RotateFlags) =>
    (await import('./commands/credentials/rotate.ts')).rotate(link, flags),
  );

command('revoke', addRevokeFlags, credentials)
  .argument('<peer>', 'name of the source cluster')
  .description('cut a source cluster off: delete its account in this cluster, and with it all of its tokens')
  .action(async (peer: string, flags: RevokeFlags) =>
    (await import('./commands/credentials/revoke.ts')).revoke(peer, flags),
  );

command('plan', addPlanFlags)
  .description('show what a Link, as given in a file, would create, change and delete')
  // Its code 2 means changes.
  .exitOverride((error) => {
    process.exitCode = 1;
    throw error;
  })
  .action(async (flags: PlanFlags) => (await import('./commands/plan/plan.ts')).plan(flags));

command('migrate', addMigrateFlags)
  .description("hand Links from Linkerd's controllers to the operator, one by one, and back")
  .action(async (link: string | undefined, flags: MigrateFlags) =>
    (await import('./commands/migrate/migrate.ts')).migrate(link, flags),
  );

program.commandsGroup('Diagnosis:');

command('check', addCheckFlags)
  .description('diagnose the extension: what is broken, why, and what to do')
  .action(async (flags: CheckFlags) => (await import('./commands/check/check.ts')).check(flags));

command('explain', addExplainFlags)
  .argument('<service>', 'the Service or its mirror: shop/web, web-west.shop, a URL, a ClusterIP, or a name with -n')
  .description('follow one Service from its export to the ready address, and say where it stops')
  .action(async (service: string, flags: ExplainFlags) =>
    (await import('./commands/explain/explain.ts')).explain(service, flags),
  );

command('status', addStatusFlags)
  .argument('[link]', 'the only Link to show')
  .description('show how the Links are doing, which Services are not mirrored or federated, and why')
  .action(async (link: string | undefined, flags: StatusFlags) =>
    (await import('./commands/status/status.ts')).status(link, flags),
  );

command('gateways', addGatewaysFlags)
  .description('show the gateways of the target clusters: alive, Services behind them, latency')
  .action(async (flags: GatewaysFlags) => (await import('./commands/gateways/gateways.ts')).gateways(flags));

program.commandsGroup('Manifests and Git:');

command('init', addInitFlags)
  .description('write a cluster file from the contexts of a kubeconfig')
  .action(async (flags: InitFlags) => (await import('./commands/init/init.ts')).init(flags));

command('crds')
  .description('print the CustomResourceDefinitions of Link and ServiceFailover as YAML')
  .option('--mcs', 'print those of the MCS API instead: ServiceExport, ServiceImport and ClusterProperty')
  .action(async (flags: CrdsFlags) => (await import('./commands/crds.ts')).printCrds(flags));

command('synth')
  .description('write the manifests of a set of clusters, one folder for each')
  .option('-f, --file <file>', 'the cluster file', 'linkspan.yaml')
  .option('-o, --output <dir>', 'the folder to write to', 'clusters')
  .option('--check', 'write nothing; print the diff, and exit 1 if there is one')
  .option('--schema', 'print the JSON schema of the cluster file, for editors')
  .action(async (flags: SynthFlags) => (await import('./commands/synth.ts')).synth(flags));

program.commandsGroup('In a cluster:');

command('operator', addOperatorFlags)
  .description('keep the mirrors of every Link true, until stopped')
  .action(async (flags: FlagValues) => (await import('./commands/operator.ts')).operate(flags));

program.commandsGroup('This program:');

command('completion', addCompletionArgument)
  .description('print a script by which a shell completes commands and options')
  .action(async (shell: Shell) => (await import('./commands/completion/completion.ts')).completion(program, shell));
