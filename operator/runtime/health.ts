/**
 * Whether something that several reflectors read together can be read. Each reflector reports its every state here; what
 * they come to is reported on change only, not on each try, and only when the kind of obstacle changes.
 */
import { isForbidden, obstacleOf } from '../kube/errors.ts';
import type { ReflectorState } from './reflector.ts';

/** Why something cannot be read, or not all of it. */
export interface ReadObstacle {
  readonly error: unknown;
  /** The namespaces that refuse to be read, if nothing else is in the way; empty if the error concerns all reads. */
  readonly namespaces: readonly string[];
}

export class ReadHealth {
  readonly #onChange: (obstacle: ReadObstacle | undefined) => void;
  readonly #states = new Map<string, { readonly namespace: string | undefined; readonly state: ReflectorState }>();
  /** Kind of what was last reported. */
  #reported: string | undefined;

  /** @param onChange called with undefined once everything that failed can be read, and at the first success */
  constructor(onChange: (obstacle: ReadObstacle | undefined) => void) {
    this.#onChange = onChange;
  }

  /**
   * Records the state of one reflector.
   * @param id of the reflector, unique within this health
   * @param namespace the only namespace that the reflector reads; undefined: it reads all
   */
  report(id: string, state: ReflectorState, namespace?: string): void {
    this.#states.set(id, { namespace, state });
    const obstacle = this.#obstacle();
    const kind = obstacle === undefined ? 'none' : `${obstacleOf(obstacle.error)} ${obstacle.namespaces.join(' ')}`;
    if (kind === this.#reported) return;
    this.#reported = kind;
    this.#onChange(obstacle);
  }

  /** Forgets a reflector that was stopped. */
  forget(id: string): void {
    this.#states.delete(id);
  }

  /** Whether reading a namespace is forbidden while others may be read. */
  isRefused(namespace: string): boolean {
    return isForbidden(this.#errors().get(namespace));
  }

  #obstacle(): ReadObstacle | undefined {
    const failing = [...this.#errors()].filter(([, error]) => error !== undefined);
    const refused = failing.filter(([namespace, error]) => namespace !== undefined && isForbidden(error));
    // What affects all reads is reported before what affects one namespace.
    const [first] = [...failing.filter((each) => !refused.includes(each)), ...refused];
    if (first === undefined) return undefined;
    const isPartial = refused.length === failing.length;
    return { error: first[1], namespaces: isPartial ? refused.map(([namespace]) => namespace ?? '') : [] };
  }

  /** The first error of each namespace, undefined standing for all of them; in the order of their first reports. */
  #errors(): ReadonlyMap<string | undefined, unknown> {
    const errors = new Map<string | undefined, unknown>();
    for (const { namespace, state } of this.#states.values()) {
      const error = state.connected ? undefined : state.error;
      if (errors.get(namespace) === undefined) errors.set(namespace, error);
    }
    return errors;
  }
}
