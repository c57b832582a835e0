/** Random sets of members, each reconciled to the end, against the rules as test/operator/federation/statement.ts says them. */
import { expect, test } from 'vitest';
import { decideFederation } from '../../../operator/federation/decide.ts';
import type { Knowledge, LocalParty, ObservedFederation, TargetParty } from '../../../operator/federation/observed.ts';
import type { Service, ServicePort } from '../../../operator/kube/objects.ts';
import { type Random, randomOf } from '../../simulation/world/random.ts';
import {
  federation,
  linkerds,
  local,
  localSlice,
  member,
  NOTHING,
  settled,
  type Standing,
  step,
  target,
} from './observed.ts';
import { brokenRules } from './statement.ts';

const CLUSTERS = ['a', 'b', 'c', 'd', 'e'];
const PORTS: readonly ServicePort[] = [
  { name: 'http', port: 80, targetPort: 8080, protocol: 'TCP' },
  { name: 'admin', port: 81, targetPort: 81, protocol: 'TCP' },
  { name: 'admin', port: 82, targetPort: 82, protocol: 'TCP' },
  { name: 'dns', port: 53, targetPort: 53, protocol: 'UDP' },
];

class Draw {
  readonly #random: Random;
  /** Draws what came later, so that each seed keeps its history. */
  readonly #later: Random;
  constructor(seed: number) {
    this.#random = randomOf(seed);
    this.#later = randomOf(-seed);
  }
  chance(of: number): boolean {
    return this.#random() < of;
  }
  one<T>(...all: readonly [T, ...T[]]): T {
    return all[Math.floor(this.#random() * all.length)] as T;
  }

  ports(): readonly ServicePort[] {
    const names = new Set<string>();
    const drawn = PORTS.filter(
      ({ name = '' }) => this.chance(name === 'http' ? 0.9 : 0.25) && !names.has(name) && names.add(name),
    );
    return drawn;
  }

  service(owner: string): Service | undefined {
    if (this.chance(0.15)) return undefined;
    const ports = this.ports();
    const more = this.chance(0.85) ? {} : this.one<object>({ type: 'ExternalName' }, { clusterIP: 'None' });
    const metadata = this.chance(0.05) ? { labels: { 'mirror.linkerd.io/mirrored-service': 'true', owner } } : {};
    return member(owner, { ports, ...more }, metadata);
  }

  knowledge(): Knowledge {
    return this.chance(0.7) ? 'known' : this.one<Knowledge>('unknown', 'anothers');
  }

  target(cluster: string, gateways: boolean): TargetParty {
    const knowledge = this.knowledge();
    const { gateway } = target(cluster);
    return target(cluster, {
      knowledge,
      mode: gateways && this.chance(0.5) ? 'gateway' : 'remote-discovery',
      isDiscoverable: this.one<boolean | undefined>(true, true, true, true, true, true, false, undefined),
      isAdmitted: this.chance(0.95),
      mayHaveMember: this.#later() < 0.4,
      anyReady: knowledge === 'known' ? this.one<boolean | undefined>(true, true, false, undefined) : undefined,
      service: knowledge === 'known' ? this.service(cluster) : undefined,
      seniority: { createdAt: this.one('2025-01-01T00:00:00Z', '2026-01-01T00:00:00Z'), name: `link-${cluster}` },
      gateway:
        this.chance(0.1) || gateway === undefined
          ? undefined
          : {
              ...gateway,
              alive: this.one<boolean | undefined>(true, true, false, undefined),
              ...(this.chance(0.1) && { addresses: [] }),
            },
    });
  }

  local(): LocalParty {
    const knowledge = this.chance(0.8) ? 'known' : 'unknown';
    const service = knowledge === 'known' && this.chance(0.5) ? this.service('here') : undefined;
    const slices = this.one([localSlice()], [localSlice(false)], [], undefined);
    return local({ knowledge, service, slices, isHeld: this.chance(0.8) });
  }

  /** What there was when the operator started. */
  standing(): Standing {
    if (this.chance(0.4)) return NOTHING;
    if (this.chance(0.1)) return { live: linkerds(undefined), slices: [] };
    const entries = CLUSTERS.filter(() => this.chance(0.4)).map((cluster) => `web@${cluster}`);
    const isLocal = this.chance(0.3);
    if (entries.length === 0 && !isLocal) return NOTHING;
    return {
      live: linkerds(entries.length > 0 ? entries.reverse().join(',') : undefined, isLocal ? { local: true } : {}),
      slices: [],
    };
  }

  observed(before: Standing): ObservedFederation {
    const gateways = this.chance(0.6);
    const targets = CLUSTERS.filter(() => this.chance(0.6)).map((cluster) => this.target(cluster, gateways));
    return federation(this.chance(0.5) ? targets : [...targets].reverse(), { local: this.local(), ...before });
  }
}

const HISTORIES = 500;

/** Others that once broke a rule: the local member was listed without the Lease when its slices gave way (I7). */
const REGRESSIONS = [1712];

/** Members change so often in one history, each time with what the last left behind. */
const CHANGES = 4;

test(`I1 to I8 hold for ${HISTORIES} random histories of members, and what is right is not written again`, () => {
  const seeds = Array.from({ length: HISTORIES }, (_, at) => at + 1);
  for (const seed of [...seeds, ...REGRESSIONS]) {
    const draw = new Draw(seed);
    let before = draw.standing();
    for (let change = 0; change < CHANGES; change += 1) {
      const observed = draw.observed(before);
      const at = `seed ${seed}, change ${change}`;
      const history = settled(observed);
      const [after] = history;
      const atRest = decideFederation({ ...observed, ...after });
      const statuses = new Map([...atRest.statuses, ...(atRest.local ? [['(local)', atRest.local] as const] : [])]);
      expect(brokenRules(observed, after, statuses), at).toEqual([]);
      const reordered = { ...observed, targets: [...observed.targets].reverse() };
      expect(step({ ...reordered, ...after }).actions, at).toEqual([]);
      expect(neverWithout(history), `${at}: clients are never without the members that stay`).toBe(true);
      before = after;
    }
  }
});

/** Whether the Service, once there, is replaced by nothing on the way from the first to the last step. */
function neverWithout(history: readonly Standing[]): boolean {
  if (history.at(-1)?.live === undefined || history[0]?.live === undefined) return true;
  return history.every(({ live }) => live !== undefined);
}
