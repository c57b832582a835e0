/** Imports in a history: the MCS API (rules K1 to K6). */
import { mcsCrds } from '../../../crds/index.ts';
import { sleep } from '../../../operator/kube/backoff.ts';
import type { KubeObject } from '../../cluster/simulated/storage/object.ts';
import type { StorageEvent } from '../../cluster/simulated/storage/storage.ts';
import { RELEASE_MS } from '../../cluster/simulated/kinds/cluster-ip.ts';
import { namespace as namespaceObject } from '../../support/builders.ts';
import type { HistoryCluster } from '../cluster.ts';
import { type Command, MANY, TARGET_OF, type TargetName, TARGETS } from '../command.ts';
import type { Exporter } from '../import-commands.ts';
import { IMPORT_KINDS } from '../import-commands.ts';
import { importOf, SERVICE_EXPORT, SERVICE_IMPORT } from '../import-objects.ts';
import {
  claimId,
  clearImports,
  defineKind,
  editImport,
  forbidExports,
  loseExports,
  mendId,
  putExport,
  putOwn,
  releaseHeld,
  removeExport,
  removeOwn,
  setTraffic,
} from '../import-users.ts';
import { importProblems } from '../imports.ts';
import { exportedBy, halvesIn, LostImports } from '../lost-imports.ts';
import type { LinkState, SourceState } from '../oracle.ts';
import { differences } from '../rest.ts';
import type { Stage } from '../stage.ts';
import type { Feature, Part } from './part.ts';

/** From when a namespace is there again until all that it had is imported as it must be. */
const IMPORTED_MS = 20_000;
const LOOK_MS = 500;
/** A namespace that is removed is gone after that, and what was read of it forgotten. */
const GONE_MS = 5_000;

/** Whether a command may have a target say that its ServiceExports cannot be read. */
const mayRefuse = (command: Command, target: TargetName): boolean =>
  (command.do === 'put secret' && TARGET_OF[command.link] === target && command.as.startsWith('without')) ||
  (command.do === 'remove crd' && command.at === target && command.kind === SERVICE_EXPORT.kind) ||
  (command.do === 'forbid exports' && command.at === target) ||
  (command.do === 'fail' && command.at === target && command.how === '403');

class Imports implements Part {
  readonly #stage: Stage;
  readonly #lost: LostImports;
  /** The namespace that was made anew when all exports were known. */
  #strictIn: string | undefined;

  constructor(stage: Stage) {
    this.#stage = stage;
    const { east, judge, world, targets } = stage;
    this.#lost = new LostImports({
      east,
      nowMs: () => world.nowMs,
      complain: (what) => judge.complain(what),
      isAstray: (name) => stage.isAstray(name),
      linkOf: (name) => stage.linkOf(name),
      isAnothers: (name) => judge.isHeldByAnother(name),
      mayRefuse: (target) => stage.history.commands.some((command) => mayRefuse(command, target)),
    });
    east.onWrite((sender, { plural }, event) => {
      if (['links', 'secrets', 'leases', 'clusterproperties'].includes(plural)) this.#lost.linksChanged();
      if (plural !== 'services' && plural !== 'endpointslices' && plural !== 'serviceimports') return;
      const isByUs = sender !== undefined && !judge.isTerminating(event.object);
      this.#lost.changed(event, { isByUs, sentMs: sender?.sentMs ?? Infinity });
    });
    // Any cluster may become a target.
    for (const cluster of stage.clusters.slice(1)) {
      cluster.onWrite((sender, { plural }, { type, object }) => {
        if (sender !== undefined) judge.complain(`${type} ${plural} ${object.metadata.name} in a target`);
        if (plural !== 'services' && plural !== 'serviceexports') return;
        const name = TARGETS.find((each) => targets[each] === cluster);
        if (name !== undefined) this.#lost.targetChanged(name, cluster, object);
      });
    }
  }

  play(command: Command): boolean {
    const { east, world } = this.#stage;
    switch (command.do) {
      case 'put export':
        putExport(this.#at(command.at), command);
        return true;
      case 'remove export':
        removeExport(this.#at(command.at), command);
        return true;
      case 'export many':
        for (const name of MANY) {
          const of = { namespace: 'shop', name };
          if (command.exported) putExport(this.#at(command.link), { ...of, metadata: 0 });
          else removeExport(this.#at(command.link), of);
        }
        return true;
      case 'lose exports':
        this.#stage.lose(command.link, command.do, (target) => loseExports(target, command.part));
        return true;
      case 'set traffic':
        setTraffic(this.#at(command.at), command);
        return true;
      case 'claim id':
        claimId(this.#at(command.at), command.id);
        return true;
      case 'put own':
        putOwn(east, command);
        return true;
      case 'remove own':
        removeOwn(east, command);
        return true;
      case 'edit import':
        editImport(east, command);
        return true;
      case 'clear imports':
        clearImports(east);
        return true;
      case 'remove crd':
      case 'put crd':
        defineKind(this.#at(command.at), command.kind, command.do === 'put crd');
        return true;
      case 'forbid exports':
        world.after(world.users, command.ms, forbidExports(this.#at(command.at)));
        return true;
      case 'release late':
        east.releaseAddressesAfter(command.ms);
        return true;
      default:
        return false;
    }
  }

  problems(links: readonly LinkState[], source: SourceState): readonly string[] {
    return importProblems(this.#stage, links, source, this.#strictIn);
  }

  calm(): void {
    const { east, targets } = this.#stage;
    for (const cluster of [east, ...Object.values(targets)])
      for (const kind of IMPORT_KINDS) defineKind(cluster, kind, true);
    east.releaseAddressesAfter(RELEASE_MS);
    releaseHeld(east);
    mendId(east);
  }

  isWritten(object: KubeObject): boolean {
    return importOf(object) !== undefined;
  }

  written(event: StorageEvent, what: string): boolean {
    const { object, previous } = event;
    const { judge } = this.#stage;
    switch (object.kind) {
      case SERVICE_EXPORT.kind:
        if (event.type !== 'MODIFIED' || previous?.metadata.generation !== object.metadata.generation)
          judge.complain(`${what}: more than its status`);
        return true;
      case SERVICE_IMPORT.kind:
      case 'Service':
      case 'EndpointSlice': {
        const isOurs = importOf(object) !== undefined;
        if (
          object.kind !== SERVICE_IMPORT.kind &&
          !isOurs &&
          (previous === undefined || importOf(previous) === undefined)
        )
          return false;
        if (previous !== undefined && importOf(previous) === undefined) judge.complain(`${what}: was somebody else's`);
        if (!isOurs) judge.complain(`${what}: does not have the label that makes it ours`);
        return true;
      }
      default:
        return false;
    }
  }

  forgive(cluster?: string): void {
    this.#lost.guard.forgive(cluster);
  }

  sourceBack(sinceMs: number): void {
    this.#lost.sourceBack(sinceMs);
  }

  restored(): void {
    this.#lost.restored();
  }

  lose(name: TargetName, what: string, clusters: readonly string[]): (knownMs: () => number) => void {
    const { targets } = this.#stage;
    const before = exportedBy(targets[name]);
    const halves = halvesIn(targets[name]);
    return (knownMs) => {
      const target = targets[name];
      const left = halvesIn(target);
      const again = new Set([...halves].flatMap(([half, key]) => (left.has(half) ? [] : [key])));
      this.#lost.lost(what, clusters, { before, after: exportedBy(target), again, knownMs });
      this.#lost.targetReplaced(name, target);
    };
  }

  /** A namespace goes and comes back, when all exports are known: then the oldest decides (K2). */
  async epilogue(): Promise<readonly string[]> {
    const { east, world } = this.#stage;
    const home = 'shop';
    east.removeNamespace(home);
    await sleep(GONE_MS);
    const there = east.get('v1', 'Namespace', undefined, home);
    if (there?.metadata.deletionTimestamp !== undefined) return [`namespace ${home} does not go`];
    this.#strictIn = home;
    // The operator has made it, if a Link says so (A3).
    if (there === undefined) east.put(namespaceObject(home));
    const deadline = world.nowMs + IMPORTED_MS;
    for (;;) {
      const problems = differences(this.#stage);
      if (problems.length === 0 || world.nowMs > deadline)
        return problems.map((problem) => `after namespace ${home} was made anew: ${problem}`);
      await sleep(LOOK_MS);
    }
  }

  #at(at: Exporter): HistoryCluster {
    return at === 'east' ? this.#stage.east : this.#stage.targets[at];
  }
}

export const importsFeature: Feature = {
  name: 'imports',
  isIn: ({ imports }) => imports === true,
  sourceObjects: mcsCrds,
  sourceControllers: ['endpointslice-controller'],
  targetObjects: mcsCrds,
  flags: {},
  quiet: ['put export', 'remove export', 'export many', 'lose exports', 'set traffic', 'claim id'],
  join: (stage) => new Imports(stage),
};
