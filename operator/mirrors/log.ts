/**
 * What happens to the mirrors of a Link, as log lines (rule G6): one at `info` for each mirror that is created,
 * replaced, deleted or given up, with its cause, and one at `debug` for each write.
 */
import { Label } from '../../crds/wire.ts';
import { keyOf, type Service, SERVICES } from '../kube/objects.ts';
import type { Refusal } from '../mirror/reasons.ts';
import type { Logger } from '../runtime/logger.ts';
import type { Action } from '../runtime/plan.ts';
import { giveWay, type Turns } from '../runtime/turns.ts';

/** What was known about the target Service in the pass. */
export interface PassContext {
  /** Whether there is a line for each mirror. */
  readonly logsEach: boolean;
  /** Whether the Service was mirrored before. */
  readonly wasMirrored: boolean;
  /** Why it is not mirrored now, or not all of it. */
  readonly refusal: Refusal | undefined;
}

/**
 * @param of the Link, and `namespace/name` of the target Service
 * @param done the actions that wrote or deleted something
 */
export async function logPass(
  log: Pick<Logger, 'debug' | 'info'>,
  turns: Turns,
  of: { readonly link: string; readonly service: string },
  done: readonly Action[],
  context: PassContext,
): Promise<void> {
  for (const action of done) {
    // A pass may have written thousands of endpoint mirrors.
    await giveWay(turns);
    const { op, of: resource, object } = action;
    log.debug({ ...of, op, object: `${resource.kind} ${keyOf(object)}` }, 'written');
    if (action.op === 'clear') {
      const slices = action.slices.map(({ metadata }) => metadata.name);
      log.info(
        { ...of, mirror: keyOf(object), slices },
        'slices of others deleted: they led from the mirror to elsewhere',
      );
    }
    if (!context.logsEach || resource !== SERVICES) continue;
    const line = lineOf(action, context);
    if (line !== undefined) log.info({ ...of, mirror: keyOf(object), cause: line.cause }, line.message);
  }
}

interface Line {
  readonly message: string;
  readonly cause: string;
}

/** @param action on a Service */
function lineOf({ op, object }: Action, { wasMirrored, refusal }: PassContext): Line | undefined {
  const isOfEndpoint = object.metadata.labels?.[Label.headlessMirrorSvcName] !== undefined;
  const exported = isOfEndpoint ? 'lists its endpoint' : 'exports the Service';
  switch (op) {
    case 'create':
      return {
        message: 'mirror created',
        cause: wasMirrored && !isOfEndpoint ? 'it was missing' : `the target ${exported}`,
      };
    case 'replace': {
      const isHeadless = (object as Service).spec?.clusterIP === 'None';
      return { message: 'mirror replaced', cause: isHeadless ? 'it becomes headless' : 'it is no longer headless' };
    }
    case 'delete':
      return refusal === undefined
        ? { message: 'mirror deleted', cause: `the target no longer ${exported}` }
        : { message: 'mirror given up', cause: `${refusal.reason}: ${refusal.message}` };
    case 'update':
    case 'clear':
      return undefined;
  }
}
