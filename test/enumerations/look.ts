/** What anybody can see of an operator: the objects that it writes, and what it asks of targets and gateways. */
import { sleep } from '../../operator/kube/backoff.ts';
import type { Scene } from './scene.ts';
import type { State } from './state.ts';

/** What it has asked since a moment: what is listed and watched anew, and how gateways are probed. */
export class Asked {
  #asks = new Set<string>();
  #probes: { readonly ask: string; readonly atMs: number }[] = [];

  constructor(scene: Scene) {
    scene.onRequest = (cluster, { method, url }) => {
      const [path = '', query = ''] = url.split('?');
      const asked = new URLSearchParams(query);
      // A watch that goes on, or a look whether a server is there: that is no news.
      const isPassing = asked.has('watch') || asked.get('limit') === '1';
      if (method !== 'GET' || cluster === 'source' || isPassing) return;
      const selectors = ['labelSelector', 'fieldSelector'].map((key) => asked.get(key) ?? '');
      this.#asks.add([cluster, path, ...selectors].join(' '));
    };
    const { probed } = scene.internet;
    scene.internet.probed = (at, request) => {
      this.#probes.push({ ask: `probe ${at} ${request.path}`, atMs: scene.world.nowMs });
      return probed(at, request);
    };
  }

  /** Forgets what was asked before. */
  begin(): void {
    this.#asks = new Set();
    this.#probes = [];
  }

  /** What was listed since it began. */
  get lists(): readonly string[] {
    return [...this.#asks].sort();
  }

  /** How gateways are probed since it began: where, and how often. */
  get probes(): readonly string[] {
    const byAsk = Map.groupBy(this.#probes, ({ ask }) => ask);
    const probes = [...byAsk].map(([ask, all]) => {
      // The last ones, since a change takes a moment to be seen.
      const [first, last] = [all.at(-5), all.at(-1)];
      const everyMs = first === undefined || last === undefined ? 0 : (last.atMs - first.atMs) / 4;
      return `${ask} every ${coarsely(everyMs)}`;
    });
    return probes.sort();
  }
}

/** A duration to within a third, as jitter allows no more. */
export const coarsely = (ms: number): string => `1.5^${Math.round(Math.log(Math.max(ms, 1)) / Math.log(1.5))} ms`;

/** The state without what users wrote of one object. */
export function seen(state: State, subject: string): ReadonlyMap<string, string> {
  const text = state.get(subject);
  if (text === undefined) return state;
  const { spec: _, ...rest } = JSON.parse(text) as { readonly spec?: unknown };
  return new Map([...state, [subject, JSON.stringify(rest)]]);
}

/** Waits until something is so. @returns how long that took, in milliseconds; the limit if it never was */
export async function timeUntil(scene: Scene, limitMs: number, isSo: () => boolean): Promise<number> {
  const beganMs = scene.world.nowMs;
  while (!isSo() && scene.world.nowMs < beganMs + limitMs) await sleep(250);
  return scene.world.nowMs - beganMs;
}
