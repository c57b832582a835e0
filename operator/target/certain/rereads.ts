/**
 * Reads an object once more before the objects that are derived from it are deleted. A Service may have left one watch
 * before it enters another, and a list may be older than the events of another watch. The operator therefore asks the
 * target for this one object, and compares the answer with what the watches show.
 */
import type { KubeClient } from '../../kube/client.ts';
import { keyOf, type KubeObject, type Resource, splitKey } from '../../kube/objects.ts';
import type { Read } from '../read/objects.ts';
import { Questions, type QuestionsOptions } from './questions.ts';

export interface RereadsOptions<T extends KubeObject> extends Omit<QuestionsOptions<Answer<T>, Asking>, 'askNow'> {
  readonly of: Resource;
  /** Validates an object. Returns it with only the fields that are used, or refuses it. */
  readonly read: (object: T) => Read<T>;
  /**
   * Called when the object does not exist, or is invalid, before that counts as an answer. If the call rejects, the
   * question has failed and is asked again.
   */
  readonly checkNone?: ((signal: AbortSignal) => Promise<void>) | undefined;
}

/** Answer of the target about an object. */
export interface Answer<T extends KubeObject> {
  /** Undefined if the object does not exist, or is invalid. */
  readonly object: T | undefined;
}

/** Reports whether two objects of the same name have the same resourceVersion, or neither object exists. */
export const isSameVersion = (a: KubeObject | undefined, b: KubeObject | undefined): boolean =>
  a?.metadata.resourceVersion === b?.metadata.resourceVersion;

/** The methods of a client that are used to ask the target. */
type Asking = Pick<KubeClient, 'list'>;

export class Rereads<T extends KubeObject> extends Questions<Answer<T>, Asking> {
  constructor(options: RereadsOptions<T>) {
    super({ ...options, askNow: (key, client, signal) => readNow(options, key, client, signal) });
  }
}

/** Reads an object by a list that selects its name, so that the right to list is enough. */
async function readNow<T extends KubeObject>(
  { of, read, checkNone }: RereadsOptions<T>,
  key: string,
  client: Asking,
  signal: AbortSignal,
): Promise<Answer<T>> {
  const { namespace, name } = splitKey(key);
  const query = { namespace, fieldSelector: `metadata.name=${name}`, limit: 1 };
  const { items } = await client.list<T>(of, query, signal);
  const [object] = items.flatMap((item) => {
    const result = read(item);
    return 'object' in result ? [result.object] : [];
  });
  if (object !== undefined && keyOf(object) !== key) {
    throw new Error(`list ${of.plural}: asked for ${key}, answered with ${keyOf(object)}`);
  }
  if (object === undefined) await checkNone?.(signal);
  return { object };
}
