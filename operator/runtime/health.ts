/**
 * Whether something that several reflectors read together can be read. Each reflector reports its every state here;
 * what they come to is reported on change only, not on each try, and only when the kind of obstacle changes.
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
  /** By namespace, undefined standing for all, then by reflector. */
  readonly #states = new Map<string | undefined, Map<string, ReflectorState>>();
  /** Kind of what was last reported. */
  #reported: string | undefined;

  /** @param onChange called with undefined once everything that failed can be read, and at the first success */
  constructor(onChange: (obstacle: ReadObstacle | undefined) => void) {
    this.#onChange = onChange;
  }

  /**
   * Records the state of one reflector.
   * @param reflector its name, unique within the namespace
   * @param namespace the only namespace that the reflector reads; undefined if it reads all
   */
  report(reflector: string, state: ReflectorState, namespace?: string): void {
    const states = this.#states.get(namespace) ?? new Map<string, ReflectorState>();
    this.#states.set(namespace, states.set(reflector, state));
    const obstacle = this.#obstacle();
    const kind = obstacle === undefined ? 'none' : `${obstacleOf(obstacle.error)} ${obstacle.namespaces.join(' ')}`;
    if (kind === this.#reported) return;
    this.#reported = kind;
    this.#onChange(obstacle);
  }

  /** Forgets a reflector that was stopped. */
  forget(reflector: string, namespace?: string): void {
    this.#states.get(namespace)?.delete(reflector);
  }

  /** Whether reading a namespace is forbidden while others may be read. */
  isRefused(namespace: string): boolean {
    return isForbidden(this.#errorOf(namespace));
  }

  #obstacle(): ReadObstacle | undefined {
    const failing = [...this.#states.keys()]
      .map((namespace) => ({ namespace, error: this.#errorOf(namespace) }))
      .filter(({ error }) => error !== undefined);
    const refused = failing.filter(({ namespace, error }) => namespace !== undefined && isForbidden(error));
    // What affects all reads is reported before what affects one namespace.
    const [first] = [...failing.filter((each) => !refused.includes(each)), ...refused];
    if (first === undefined) return undefined;
    const isPartial = refused.length === failing.length;
    return { error: first.error, namespaces: isPartial ? refused.map(({ namespace = '' }) => namespace) : [] };
  }

  #errorOf(namespace: string | undefined): unknown {
    for (const state of this.#states.get(namespace)?.values() ?? []) if (!state.connected) return state.error;
    return undefined;
  }
}
