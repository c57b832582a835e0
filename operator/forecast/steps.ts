/** The operator's own steps, made against a model of the source cluster: without a controller, one key after another. */
import { ENDPOINTS, type KubeObject, type Resource, SERVICES } from '../kube/objects.ts';
import { Applier } from '../runtime/applier.ts';
import { type Derivation, stepOf } from '../runtime/derivation.ts';
import type { Logger } from '../runtime/logger.ts';
import type { Reason } from '../runtime/pass.ts';
import { idOf } from '../runtime/plan.ts';
import type { ModelCluster } from './model.ts';

/** Passes of one key: each makes one step. */
const MAX_PASSES = 20;

/** Makes the steps of one key until there is none. Returns the ids of what was written. */
export async function settle<O, D, R extends Reason>(
  derivation: Derivation<O, D, R>,
  key: string,
  applier: Applier,
): Promise<readonly string[]> {
  const { signal } = new AbortController();
  const written: string[] = [];
  for (let passes = 0; passes < MAX_PASSES; passes += 1) {
    const observed = derivation.observe(key);
    const decision = derivation.decide(observed);
    if ((await derivation.prepare?.(key, observed, decision, signal)) !== undefined) break;
    const pass = await stepOf(derivation, { observed, decision }, { applier, conflictRetryMs: 0 }, signal);
    written.push(...pass.done.flatMap(({ of, object }) => idsOf(of, object)));
    if (pass.again) continue;
    await derivation.settled(key, observed, decision, pass, signal);
    break;
  }
  return written;
}

/** @param isOurs whether an object that prevents a creation is ours after all */
export const applierOn = (model: ModelCluster, isOurs: (object: KubeObject) => boolean): Applier =>
  // The model shows its writes by itself.
  new Applier({ client: model, stores: {}, isOurs, mayWrite: () => true });

/** With a Service, the API server deletes its Endpoints. */
const idsOf = (of: Resource, object: KubeObject): readonly string[] =>
  of === SERVICES ? [idOf(of, object), idOf(ENDPOINTS, object)] : [idOf(of, object)];

export const SILENT: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};
