/**
 * `linkspan status`: how the Links of a source cluster are doing, which Services are not mirrored, and why, and what is
 * imported by the MCS API. The exit code is 0 if all Links are Ready, 1 otherwise. `--watch` prints it again on every change.
 */
import { writeLeaseName } from '../../../crds/wire.ts';
import { type Lease, LEASES } from '../../../operator/kube/objects.ts';
import { type Cluster, withCluster } from '../common/cluster.ts';
import { CommandError, ExitCode, reportingProblems } from '../common/command-error.ts';
import { type FederatedService, readFederated } from '../common/federated.ts';
import { type McsObjects, readMcs } from '../common/imports.ts';
import { LINKS } from '../common/kinds.ts';
import { unserved } from '../common/lease.ts';
import { reportOf } from '../common/link-status.ts';
import { linksOf } from '../common/links.ts';
import { ifAllowed } from '../common/readable.ts';
import { note, print, printLine } from '../../print.ts';
import type { StatusFlags } from './flags.ts';
import { isAllReady, type LinkState, statusText } from './report.ts';

/** Leases run out without a change of a Link, so they are looked at as often, in milliseconds. */
const LEASES_MS = 30_000;

/** Runs the command. Sets the exit code. */
export const status = (link: string | undefined, flags: StatusFlags): Promise<void> =>
  reportingProblems(() =>
    withCluster(flags, async (source) => {
      const { output } = flags;
      let shown: string | undefined;
      let noted: readonly string[] = [];
      const show = async (): Promise<void> => {
        const { links, federated, mcs, unread } = await statesOf(source, link, flags);
        for (const each of unread) if (!noted.includes(each)) note(each);
        noted = unread;
        process.exitCode = isAllReady(links) ? 0 : ExitCode.failed;
        const text = statusText(links, output, { federated, mcs });
        if (text === shown) return;
        const between = shown === undefined || output === 'json' ? '' : output === 'yaml' ? '---\n' : '\n';
        if (shown === undefined) noteEmpty(links, source, flags);
        shown = text;
        await print(between + text);
      };
      await show();
      if (flags.watch) await watch(source, flags, show);
    }),
  );

const noteEmpty = (links: readonly LinkState[], { context }: Cluster, { namespace }: StatusFlags): void => {
  if (links.length === 0) printLine(`there is no Link in namespace ${namespace} of ${context}`);
};

/** Shows the status on every change, until the user or the system ends the process. */
const watch = async (source: Cluster, { namespace }: StatusFlags, show: () => Promise<void>): Promise<void> => {
  const stop = new AbortController();
  const end = (): void => stop.abort(new Error('the command was interrupted'));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, end);
  for await (const _ of source.changes(LINKS, namespace, { everyMs: LEASES_MS, signal: stop.signal })) {
    try {
      await show();
    } catch (error) {
      // What cannot be read now may be readable later; the watch reports it.
      if (!(error instanceof CommandError)) throw error;
      process.exitCode = ExitCode.failed;
    }
  }
};

interface States {
  readonly links: readonly LinkState[];
  /** Undefined: they are not read, since they are not shown. */
  readonly federated: readonly FederatedService[] | undefined;
  /** Undefined: the API server does not serve the MCS API. */
  readonly mcs: McsObjects | undefined;
  /** What could not be read. */
  readonly unread: readonly string[];
}

const statesOf = async (
  source: Cluster,
  link: string | undefined,
  { namespace, output }: StatusFlags,
): Promise<States> => {
  const [links, leases, federated, mcs] = await Promise.all([
    linksOf(source, namespace, link),
    ifAllowed(() => source.list<Lease>(LEASES, { namespace })),
    output === 'table' ? undefined : ifAllowed(() => readFederated(source)),
    readMcs(source),
  ]);
  const byName = 'found' in leases ? new Map(leases.found.map((lease) => [lease.metadata.name, lease])) : undefined;
  const nowMs = Date.now();
  return {
    links: links.map((each) => ({
      report: reportOf(each),
      unserved: byName && unserved(byName.get(writeLeaseName(each.metadata.name)), nowMs),
    })),
    federated: federated && 'found' in federated ? federated.found : undefined,
    mcs,
    unread: [
      ...('obstacle' in leases ? [`whether an operator serves the Links is not known: ${leases.obstacle}`] : []),
      ...(federated && 'obstacle' in federated
        ? [`the members of federated Services are not known: ${federated.obstacle}`]
        : []),
      ...(mcs?.obstacle === undefined
        ? []
        : [`what is exported and imported by the MCS API is not all known: ${mcs.obstacle}`]),
    ],
  };
};
