/**
 * What users have made of the targets, and what must follow from it in the source cluster. It is kept on the safe side:
 * a Service counts as exported, or ready, from the answer to the write that made it so to the write that ends it.
 */

/** A Service of a target, exported to one Link. */
export interface ExportedService {
  readonly link: string;
  /** Name of the target. */
  readonly target: string;
  readonly name: string;
  readonly exported: boolean;
  readonly ready: boolean;
  readonly port: number;
}

export type Readiness = 'ready' | 'notReady' | 'empty';

/** A mirror as clients of the source cluster find it. */
export interface MirrorState {
  readonly port: number;
  readonly readiness: Readiness;
}

/** The target cluster that a Link names. */
export const clusterOf = (link: string): string => link;
export const mirrorOf = ({ name, link }: Pick<ExportedService, 'name' | 'link'>): string =>
  `${name}-${clusterOf(link)}`;

/** More than an API server is ever away, and than a Lease lasts after that. */
const LASTING_MS = 45_000;

export class Model {
  readonly #services = new Map<string, ExportedService>();
  readonly #deadGateways = new Set<string>();
  /** Since when each mirror has been called for, in milliseconds of the monotonic clock. */
  readonly #since = new Map<string, number>();

  /** By the name of the mirror. */
  get services(): ReadonlyMap<string, ExportedService> {
    return this.#services;
  }

  put(service: ExportedService): void {
    const mirror = mirrorOf(service);
    this.#services.set(mirror, service);
    if (!service.exported) this.#since.delete(mirror);
    else if (!this.#since.has(mirror)) this.#since.set(mirror, performance.now());
  }

  /**
   * Reports whether there must have been a mirror for longer than it takes the operator, and whoever watches it, to learn
   * of what was before.
   */
  isLasting(mirror: string): boolean {
    const since = this.#since.get(mirror);
    return since !== undefined && performance.now() - since > LASTING_MS;
  }

  setGateway(links: readonly string[], isAlive: boolean): void {
    for (const link of links) {
      if (isAlive) this.#deadGateways.delete(link);
      else this.#deadGateways.add(link);
    }
  }

  /** Whether the gateway of a Link is. */
  isAlive(link: string): boolean {
    return !this.#deadGateways.has(link);
  }

  /** The Services of one target as they are now, to be put back when it is restored. */
  backup(target: string): readonly ExportedService[] {
    return [...this.#services.values()].filter((service) => service.target === target);
  }

  /** The mirror that there must be of a name; undefined if there is none. */
  expected(mirror: string): MirrorState | undefined {
    const service = this.#services.get(mirror);
    if (service?.exported !== true) return undefined;
    const whenUsed = this.isAlive(service.link) ? 'ready' : 'notReady';
    return { port: service.port, readiness: service.ready ? whenUsed : 'empty' };
  }

  /** Names of mirrors that are not as they must be, each with how it is and must be; empty if all are right. */
  differences(seen: ReadonlyMap<string, MirrorState>): readonly string[] {
    const names = new Set([...this.#services.keys(), ...seen.keys()]);
    return [...names].flatMap((name) => {
      const [is, must] = [describe(seen.get(name)), describe(this.expected(name))];
      return is === must ? [] : [`${name} is ${is}, must be ${must}`];
    });
  }
}

/** What is certain of a Service whose target may be in either of two states. */
export const inBoth = (a: ExportedService, b: ExportedService): ExportedService => ({
  ...b,
  exported: a.exported && b.exported,
  ready: a.ready && b.ready,
});

const describe = (mirror: MirrorState | undefined): string =>
  mirror === undefined ? 'absent' : `${mirror.readiness} on port ${mirror.port}`;
