/** What the operator would write if it wrote for what Linkerd's controllers and local mirror write for now. */
import type { LinkSettings } from '../../../crds/index.ts';
import { Annotation } from '../../../crds/wire.ts';
import type { OperatorConfig } from '../../../operator/config/config.ts';
import type { ServedLink } from '../../../operator/forecast/index.ts';
import { note } from '../../print.ts';
import type { Cluster } from '../common/cluster.ts';
import { CommandError } from '../common/command-error.ts';
import type { LinkObject } from '../common/link-object.ts';
import { liveReader } from '../common/reader.ts';
import type { PlannedChange } from '../plan/changes.ts';
import { planLinks } from '../plan/links.ts';
import { type PlanReport, planReport } from '../plan/report.ts';
import { readSource, type Source } from '../plan/source.ts';
import { readServed, withTarget } from '../plan/target.ts';
import { linkDifferences, localDifferences, withoutOperator } from './differences.ts';
import type { MigrateFlags } from './flags.ts';
import { asLinkerd, type LinkerdSettings, readRelease, settingsOfLink, settingsOfLocal } from './linkerd-settings.ts';
import type { LocalState } from './local-state.ts';
import type { LinkState } from './state.ts';

/** What the operator would write. */
export interface Plans {
  /** For each Link, by name. */
  readonly links: ReadonlyMap<string, PlanReport>;
  /**
   * For local memberships of federated Services, once it writes for all Links that can be read; `left`: it leaves them to
   * Linkerd's local mirror, since it has no selector for them. Undefined if there is no local mirror to take over from.
   */
  readonly local: PlanReport | 'left' | undefined;
}

/** Nothing is planned. */
export const NO_PLANS: Plans = { links: new Map(), local: undefined };

/**
 * Plans what is there, as if no Link were suspended, with the settings of the operator; with those of Linkerd's controllers
 * where none is installed. Notes which settings these are, or how the operator's differ.
 * @param local Linkerd's local mirror, if the operator would take over from it
 */
export const plansOf = async (
  cluster: Cluster,
  states: readonly LinkState[],
  local: LocalState | undefined,
  flags: MigrateFlags,
): Promise<Plans> => {
  const { namespace } = flags;
  const reader = liveReader(cluster);
  const targets = new Map<string, Promise<ServedLink>>();
  const links = new Map<string, PlanReport>();
  const release = await readRelease(reader, namespace);
  const around = { cluster, namespace };
  const notes = new Set<string>();
  for (const { name, link, controllers } of states) {
    const linkerd = settingsOfLink(name, controllers, release);
    const source = await readSource(reader, flags, [unsuspended(link)], asLinkerd(linkerd));
    const { config, isInstalled } = source;
    if (!isInstalled) notes.add(withoutOperator(linkerd, release?.name, around));
    else for (const each of linkDifferences(link, linkerd, config, around)) notes.add(each);
    links.set(name, planReport(await planLinks(source, [name], onceEach(source, targets), note)));
  }
  const linkerd = settingsOfLocal(local?.deployment, release);
  const planned = local && (await planLocal(cluster, local, targets, [...links.values()], flags, linkerd));
  for (const each of planned === undefined ? [] : localDifferences(linkerd, planned.config, around)) notes.add(each);
  notes.forEach(note);
  return { links, local: planned?.plan };
};

/** Any text but `true` suspends nothing. */
const unsuspended = (link: LinkObject): LinkObject => ({
  ...link,
  metadata: { ...link.metadata, annotations: { [Annotation.suspended]: '' } },
});

/** Reads each target once: a forecast leaves what was read of it as it is. */
const onceEach =
  (source: Source, targets: Map<string, Promise<ServedLink>>) =>
  (settings: LinkSettings): Promise<ServedLink> => {
    const known = targets.get(settings.name);
    if (known !== undefined) return known;
    const reading = withTarget(source, settings, [], (target) => readServed(source, settings, target, note));
    targets.set(settings.name, reading);
    return reading;
  };

/** @param others changes that come with the Links, and count there */
const planLocal = async (
  cluster: Cluster,
  { links }: LocalState,
  targets: Map<string, Promise<ServedLink>>,
  others: readonly PlanReport[],
  flags: MigrateFlags,
  linkerd: LinkerdSettings,
): Promise<{ readonly plan: PlanReport | 'left'; readonly config: OperatorConfig }> => {
  const source = await readSource(
    liveReader(cluster),
    flags,
    links.map(({ link }) => unsuspended(link)),
    asLinkerd(linkerd),
  );
  const { config } = source;
  if (config.federatedSelector === '') return { plan: 'left', config };
  const read = onceEach(source, targets);
  const names: string[] = [];
  for (const { name } of links) {
    const settings = source.reads.get(name)?.settings;
    if (settings !== undefined && (await isRead(read(settings), name))) names.push(name);
  }
  const federation = { ...source.federation, isLocalHeld: true };
  const { changes } = await planLinks({ ...source, federation }, names, read, note);
  const report = planReport({
    changes: changes.filter(({ sort }) => sort === 'federated'),
    links: [],
    refused: [],
    findings: [],
  });
  const counted = new Set(others.flatMap((each) => each.changes.map(idOf)));
  const plan = { ...report, changes: report.changes.filter((change) => !counted.has(idOf(change))) };
  return { plan, config };
};

/** Whether a target can be read. Members in one that cannot stay as they are. */
const isRead = async (reading: Promise<ServedLink>, name: string): Promise<boolean> => {
  try {
    await reading;
    return true;
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    note(
      `members of federated Services in the target of Link ${name} are left out, since it cannot be read: ${error.message}`,
    );
    return false;
  }
};

const idOf = ({ kind, namespace, name }: PlannedChange): string => `${kind} ${namespace ?? ''}/${name}`;
