/**
 * How often objects had to be created again, since others delete them, and deleted again, since others create them:
 * that is done less and less often, like any other repair. What we undo ourselves is not a repair.
 */
import { digestOf } from './compare.ts';
import { type Desired, idOf, type Owned } from './plan.ts';
import type { Repairs } from './repairs.ts';

export class Lives {
  readonly #repairs: Repairs;
  readonly #namespaceUid: (name: string) => string | undefined;

  /**
   * @param namespaceUid returns the uid of a namespace, if it is known: what went with a namespace that was made anew
   * has
   *   been deleted by nobody
   */
  constructor(repairs: Repairs, namespaceUid: (name: string) => string | undefined = () => undefined) {
    this.#repairs = repairs;
    this.#namespaceUid = namespaceUid;
  }

  /** How long to wait before an object is created again, in milliseconds. */
  creationWaitMs(wanted: Desired): number {
    const id = created(wanted);
    // A digest takes time, and mostly nothing is remembered.
    return this.#repairs.has(id) ? this.#repairs.waitMs(id, this.#contentOf(wanted)) : 0;
  }

  wasCreated(wanted: Desired): void {
    this.#repairs.wrote(created(wanted), this.#contentOf(wanted));
    this.#repairs.forget(deleted(wanted));
  }

  /** How long to wait before an object is deleted again, in milliseconds. */
  deletionWaitMs(owned: Owned): number {
    return this.#repairs.waitMs(deleted(owned), '');
  }

  wasDeleted(owned: Owned): void {
    this.#repairs.forget(idOf(owned.of, owned.object));
    this.#repairs.forget(created(owned));
    this.#repairs.wrote(deleted(owned), '');
  }

  /** What is created, and where: a namespace that is made anew is another. */
  #contentOf({ of, object, comparison }: Desired): string {
    const { namespace } = object.metadata;
    const uid = namespace === undefined ? undefined : this.#namespaceUid(namespace);
    return `${uid ?? ''} ${digestOf(of, object, comparison)}`;
  }
}

const created = ({ of, object }: Owned): string => `new ${idOf(of, object)}`;
const deleted = ({ of, object }: Owned): string => `no ${idOf(of, object)}`;
