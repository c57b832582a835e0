/**
 * Keeps a Link's probe Service and its endpoints true: there while the Link has a gateway that is probed (rule F4).
 * Others may put labels and annotations of theirs on the Service, as Linkerd's chart does; these stay.
 */
import { GatewayProbe, render, type EndpointsKind } from '../../constructs/mirror/index.ts';
import type { LinkSettings } from '../../crds/index.ts';
import type { Applier } from '../runtime/applier.ts';
import { type Action, type Desired, plan } from '../runtime/plan.ts';
import { ENDPOINT_SLICES, ENDPOINTS, SERVICES } from '../kube/objects.ts';
import type { Result } from '../runtime/workqueue.ts';
import type { OwnedObjects } from '../mirror/observed.ts';

export interface ProbeObserved {
  /** Undefined: the Link is gone. */
  readonly settings: LinkSettings | undefined;
  readonly namespace: string;
  /** Of the gateway; empty: not known yet. */
  readonly addresses: readonly string[];
  readonly endpointsKind: EndpointsKind;
  readonly owned: OwnedObjects;
}

const KINDS = { Service: SERVICES, Endpoints: ENDPOINTS, EndpointSlice: ENDPOINT_SLICES } as const;

/** Pure. */
export function desiredProbe({ settings, namespace, addresses, endpointsKind }: ProbeObserved): readonly Desired[] {
  if (settings?.gateway === undefined || settings.probe === undefined) return [];
  const { name, cluster, gateway, probe } = settings;
  const objects = render((chart) => {
    new GatewayProbe(chart, 'probe', {
      link: name,
      cluster,
      namespace,
      port: probe.port,
      addresses,
      identity: gateway.identity,
      kind: endpointsKind,
    });
  });
  return objects.map((object) => ({
    of: KINDS[object.kind as keyof typeof KINDS],
    object,
    ...(object.kind === 'Service' ? { comparison: { extraMetadata: 'ignored' as const } } : {}),
  }));
}

/** @param conflictRetryMs how long until a name that somebody else's object has is tried again */
export async function reconcileProbe(
  observed: ProbeObserved,
  applier: Applier,
  conflictRetryMs: number,
  signal: AbortSignal,
): Promise<Result & { readonly writes: number; readonly foreign?: boolean }> {
  const { owned, settings, addresses } = observed;
  // Before the first lookup nothing is known to be wrong with the addresses that are there.
  if (settings?.gateway !== undefined && addresses.length === 0) return { writes: 0 };
  const wanted = desiredProbe(observed);
  const tally = { writes: 0, requeueAfterMs: undefined as number | undefined };
  let foreign = false;
  const execute = async (actions: readonly Action[]): Promise<void> => {
    for (const action of actions) {
      const outcome = await applier.execute(action, signal);
      tally.writes += 1;
      if (outcome.result === 'deferred') tally.requeueAfterMs = outcome.afterMs;
      if (outcome.result === 'foreign') {
        tally.requeueAfterMs = conflictRetryMs;
        foreign ||= action.of === SERVICES;
      }
    }
  };
  await execute(
    plan(
      wanted.filter(({ of }) => of === SERVICES),
      owned.services.map((object) => ({ of: SERVICES, object })),
    ),
  );
  // Somebody else's Service of that name never gets endpoints of ours.
  await execute(
    plan(foreign ? [] : wanted.filter(({ of }) => of !== SERVICES), [
      ...owned.endpoints.map((object) => ({ of: ENDPOINTS, object })),
      ...owned.slices.map((object) => ({ of: ENDPOINT_SLICES, object })),
    ]),
  );
  const { writes, requeueAfterMs } = tally;
  return { writes, foreign, ...(requeueAfterMs === undefined ? {} : { requeueAfterMs }) };
}
