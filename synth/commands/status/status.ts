/**
 * `linkspan status`: how the Links of a source cluster are doing, which Services are not mirrored, and why, what is imported
 * by the MCS API, and where ServiceFailovers send requests. The exit code is 0 if all of it was read and nothing of it is
 * broken, 1 otherwise. `--watch` prints it again on every change.
 */
import { OPERATOR_LEASE, writeLeaseName } from '../../../crds/wire.ts';
import { type Lease, LEASES } from '../../../operator/kube/objects.ts';
import { type Cluster, withCluster } from '../common/cluster.ts';
import { CommandError, ExitCode, reportingProblems } from '../common/command-error.ts';
import { failoverReport, readFailovers } from '../common/failovers.ts';
import { readFederated } from '../common/federated.ts';
import { readMcs } from '../common/imports.ts';
import { LINKS } from '../common/kinds.ts';
import { unservedJoint, unservedLink } from '../common/link-served.ts';
import { reportOf } from '../common/link-status.ts';
import { linksOf } from '../common/links.ts';
import { ifAllowed, type Readable } from '../common/readable.ts';
import { note, print, printLine } from '../../print.ts';
import type { StatusFlags } from './flags.ts';
import { isAllWell, type Joint, type LinkState, statusText } from './report.ts';

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
        const { links, unread, ...joint } = await statesOf(source, link, flags);
        for (const each of unread) if (!noted.includes(each)) note(each);
        noted = unread;
        process.exitCode = isAllWell(links, joint) && unread.length === 0 ? 0 : ExitCode.failed;
        const text = statusText(links, output, joint);
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

interface States extends Joint {
  readonly links: readonly LinkState[];
  /** What could not be read, or is not known. */
  readonly unread: readonly string[];
}

const foundIn = <T>(read: Readable<T> | undefined): T | undefined => (read && 'found' in read ? read.found : undefined);

const statesOf = async (
  source: Cluster,
  link: string | undefined,
  { namespace, output }: StatusFlags,
): Promise<States> => {
  const [links, leases, federated, mcs, failovers] = await Promise.all([
    linksOf(source, namespace, link),
    ifAllowed(() => source.list<Lease>(LEASES, { namespace })),
    output === 'table' ? undefined : ifAllowed(() => readFederated(source)),
    readMcs(source),
    readFailovers(source),
  ]);
  const nowMs = Date.now();
  const leaseOf = (name: string): Readable<Lease | undefined> =>
    'found' in leases ? { found: leases.found.find(({ metadata }) => metadata.name === name) } : leases;
  const operators = leaseOf(OPERATOR_LEASE);
  const held = links.map((each) => ({ link: each, lease: leaseOf(writeLeaseName(each.metadata.name)) }));
  const leader = unservedJoint(operators, held, nowMs);
  const reports = foundIn(failovers)?.map((each) => failoverReport(each, leader));
  const isJoint = [mcs?.imports, mcs?.exports, reports].some((all) => all !== undefined && all.length > 0);
  const unread = {
    'whether an operator serves the Links is not known': 'obstacle' in leases ? leases.obstacle : undefined,
    'whether ServiceImports, ServiceExports and ServiceFailovers are as they report is not known':
      isJoint && leader?.reason === 'NotServed' ? leader.message : undefined,
    'the members of federated Services are not known':
      federated && 'obstacle' in federated ? federated.obstacle : undefined,
    'what is exported and imported by the MCS API is not all known': mcs?.obstacle,
    'where ServiceFailovers send requests is not known':
      failovers && 'obstacle' in failovers ? failovers.obstacle : undefined,
  };
  return {
    links: held.map(({ link: each, lease }) => ({
      report: reportOf(each),
      unserved: unservedLink(each, { link: lease, operators }, nowMs),
    })),
    federated: foundIn(federated),
    mcs,
    failovers: reports,
    unread: Object.entries(unread).flatMap(([what, why]) => (why === undefined ? [] : [`${what}: ${why}`])),
  };
};
