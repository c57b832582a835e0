/**
 * Makes one target Service's mirrors true: observe, desired, plan, execute, and the status as a value. It is given a
 * key, not an event; a Service that is gone is the same path with nothing desired.
 */
import type { Applier } from '../runtime/applier.ts';
import { plan, type Action, type Owned } from '../runtime/plan.ts';
import { ApiError, describe, isConflict, isForbidden, isInvalid, isNamespaceGone } from '../kube/errors.ts';
import { ENDPOINT_SLICES, ENDPOINTS, keyOf, NAMESPACES, SERVICES, splitKey } from '../kube/objects.ts';
import { desired, endpointsId, gatewayRefreshed, serviceId, sliceId, type Manifests } from './desired.ts';
import type { Claim, NameClaims } from './names.ts';
import type { Observed, OwnedObjects } from './observed.ts';
import { claimsOf, shapeOf, type Refusal, type Shape } from './shape.ts';
import { mirrored, notMirrored, type MirrorStatus } from './status.ts';

export interface MirrorContext {
  /** `decidable`: the target is known well enough to say what must be there and what must go. */
  readonly observe: (key: string) => { readonly observed: Observed; readonly decidable: boolean };
  readonly claims: NameClaims;
  /** Distinguishes this Link's claims from others': its target cluster. */
  readonly claimant: (key: string) => string;
  /** Other claimants may have won or lost a name. */
  readonly onClaimsChanged: (claimants: ReadonlySet<string>) => void;
  readonly applier: Applier;
  /** A write into a namespace was refused: it may be gone, or out of reach. */
  readonly onRefused: (namespace: string) => void;
  /** How long until a name that somebody else's object has, or a namespace that is gone, is tried again. */
  readonly conflictRetryMs: number;
  /** How long until what only a change can mend, missing rights for one, is tried without a change. */
  readonly refusalRetryMs: number;
}

/** What a reconcile found and did. */
export interface Reconciled {
  /** Undefined: not decidable now, the last status stands. Null: the Service is not exported. */
  readonly status: MirrorStatus | null | undefined;
  /** Writes and deletions that were made. */
  readonly writes: number;
  /** Something failed: try again after the key's backoff, or this long if that is more. */
  readonly retryAfterMs?: number;
  /** Nothing failed, but look again after so long. */
  readonly requeueAfterMs?: number;
}

/** What the execution of actions came to. */
interface Tally {
  writes: number;
  readonly refusals: Refusal[];
  readonly errors: unknown[];
  requeueAfterMs: number | undefined;
}

export async function reconcileMirror(key: string, context: MirrorContext, signal: AbortSignal): Promise<Reconciled> {
  const tally: Tally = { writes: 0, refusals: [], errors: [], requeueAfterMs: undefined };
  const first = context.observe(key);
  if (!first.decidable) {
    const wanted = gatewayRefreshed(first.observed);
    const names = new Set(wanted.map(({ object }) => object.metadata.name));
    const owned = endpointsOf(first.observed.owned).filter(({ object }) => names.has(object.metadata.name));
    await execute(plan(wanted, owned), context, tally, signal);
    return settle(undefined, tally, context);
  }

  let { shape, manifests } = render(key, first.observed, context);
  await execute(
    manifests.namespaces.map((each): Action => ({ op: 'create', ...each })),
    context,
    tally,
    signal,
  );
  const services = plan(manifests.services, servicesOf(first.observed.owned));
  await execute(services.filter(isWrite), context, tally, signal);

  // ClusterIPs, and what the target said meanwhile, are in the listers by now.
  let { observed } = first;
  if (services.some(isWrite)) {
    ({ observed } = context.observe(key));
    ({ shape, manifests } = render(key, observed, context));
  }
  const endpoints = plan(manifests.endpoints, endpointsOf(observed.owned));
  await execute(endpoints.filter(isWrite), context, tally, signal);
  // A write that met another version of the world says that ours is old: nothing is deleted on its strength.
  if (tally.errors.some(isConflict)) return settle(undefined, tally, context);
  const gone = [...plan(manifests.services, servicesOf(observed.owned)), ...endpoints].filter((action) => {
    return action.op === 'delete' && !manifests.kept.has(idOf(action));
  });
  await execute(gone, context, tally, signal);
  return settle(statusOf(key, observed, shape, manifests, tally), tally, context);
}

function render(
  key: string,
  observed: Observed,
  { claims, claimant, onClaimsChanged }: MirrorContext,
): { readonly shape: Shape; readonly manifests: Manifests } {
  const owner = claimant(key);
  try {
    const shape = shapeOf(observed);
    const wishes = claimsOf(observed, shape, owner);
    const affected = claims.replace(owner, observed.namespace, wishes);
    if (affected.size > 0) onClaimsChanged(affected);
    const names = new Map(wishes.map((claim: Claim) => [claim.id, claims.resolve(observed.namespace, claim)]));
    return { shape, manifests: desired(observed, shape, names, owner) };
  } catch (error) {
    // A construct refuses what the target says: nothing of it is written, and what there is stays.
    const refusal: Refusal = { reason: 'InvalidService', message: describe(error) };
    const shape: Shape = { kind: 'refused', refusal, touch: 'leave' };
    return { shape, manifests: desired(observed, shape, new Map(), owner) };
  }
}

const isWrite = (action: Action): boolean => action.op !== 'delete';

const servicesOf = (owned: OwnedObjects): readonly Owned[] =>
  owned.services.map((object) => ({ of: SERVICES, object }));

const endpointsOf = (owned: OwnedObjects): readonly Owned[] => [
  ...owned.endpoints.map((object) => ({ of: ENDPOINTS, object })),
  ...owned.slices.map((object) => ({ of: ENDPOINT_SLICES, object })),
];

function idOf({ of, object }: Action): string {
  const { name } = object.metadata;
  if (of === SERVICES) return serviceId(name);
  return of === ENDPOINTS ? endpointsId(name) : sliceId(name);
}

/** Executes independent actions at once; one that fails stops no other. */
async function execute(
  actions: readonly Action[],
  { applier, conflictRetryMs, onRefused }: MirrorContext,
  tally: Tally,
  signal: AbortSignal,
): Promise<void> {
  await Promise.all(
    actions.map(async (action) => {
      try {
        const outcome = await applier.execute(action, signal);
        switch (outcome.result) {
          case 'written':
          case 'deleted':
            tally.writes += 1;
            break;
          case 'foreign':
            // A Namespace that is there is all that is asked for.
            if (action.of === NAMESPACES) break;
            tally.refusals.push(foreign(outcome));
            tally.requeueAfterMs = Math.min(tally.requeueAfterMs ?? Infinity, conflictRetryMs);
            break;
          case 'deferred':
            tally.refusals.push({
              reason: 'Error',
              message: `${action.of.kind} ${keyOf(action.object)} is changed by somebody else again and again; it is put right less and less often. Find out who writes it`,
            });
            tally.requeueAfterMs = Math.min(tally.requeueAfterMs ?? Infinity, outcome.afterMs);
            break;
        }
      } catch (error) {
        const { namespace = '' } = action.object.metadata;
        if (isForbidden(error) || isNamespaceGone(error)) onRefused(namespace);
        if (isNamespaceGone(error)) {
          tally.refusals.push(missing(namespace));
          tally.requeueAfterMs = Math.min(tally.requeueAfterMs ?? Infinity, conflictRetryMs);
        } else tally.errors.push(error);
      }
    }),
  );
}

const foreign = ({ of, object }: Owned): Refusal => ({
  reason: 'NameConflict',
  message: `${of.kind} ${keyOf(object)} exists and is not a mirror of this cluster; it is left alone. Rename or remove it to have this Service mirrored`,
});

const missing = (namespace: string): Refusal => ({
  reason: 'MissingNamespace',
  message: `namespace ${namespace} does not exist in the source cluster, or is being deleted; create it anew, or export the Service from another`,
});

function statusOf(
  key: string,
  { link }: Observed,
  shape: Shape,
  manifests: Manifests,
  tally: Tally,
): MirrorStatus | null {
  const remote = splitKey(key);
  const failure = tally.errors.find((error) => !isConflict(error));
  if (shape.kind === 'absent') {
    return failure === undefined
      ? null
      : notMirrored(remote, link.cluster, {
          reason: 'Error',
          message: `it is no longer exported, and its mirror cannot be removed: ${describe(failure)}`,
        });
  }
  const refusal = [...manifests.refusals, ...tally.refusals][0];
  if (refusal !== undefined) return notMirrored(remote, link.cluster, refusal);
  if (failure !== undefined) return notMirrored(remote, link.cluster, { reason: 'Error', message: describe(failure) });
  const note = 'note' in shape ? shape.note : undefined;
  return mirrored(remote, link.cluster, note ?? '');
}

function settle(
  status: MirrorStatus | null | undefined,
  { writes, errors, requeueAfterMs }: Tally,
  { refusalRetryMs }: MirrorContext,
): Reconciled {
  const requeue = requeueAfterMs === undefined ? {} : { requeueAfterMs: jittered(requeueAfterMs) };
  if (errors.length === 0) return { status, writes, ...requeue };
  const waits = errors.map((error) => {
    if (error instanceof ApiError && error.retryAfterMs !== undefined) return error.retryAfterMs;
    return isForbidden(error) || isInvalid(error) ? jittered(refusalRetryMs) : 0;
  });
  return { status, writes, ...requeue, retryAfterMs: Math.min(...waits) };
}

const jittered = (ms: number): number => ms * (1 + Math.random() * 0.2);
