/**
 * Keeps a Link's probe Service and its endpoints true: there while the Link has a gateway that is probed (rule F4).
 * Others may put labels and annotations of theirs on it, as Linkerd's chart does; these stay.
 */
import { GatewayProbe, render, type EndpointsKind } from '../../constructs/index.ts';
import type { LinkSettings } from '../../crds/index.ts';
import { type Applier, type Desired, plan } from '../kube/apply.ts';
import { ENDPOINT_SLICES, ENDPOINTS, SERVICES } from '../kube/objects.ts';
import type { Result } from '../kube/workqueue.ts';
import type { OwnedObjects } from '../mirror/observe.ts';

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
    comparison: { extraMetadata: 'ignored' },
  }));
}

export async function reconcileProbe(
  observed: ProbeObserved,
  applier: Applier,
  signal: AbortSignal,
): Promise<Result & { readonly writes: number }> {
  const { owned, settings, addresses } = observed;
  // Before the first lookup nothing is known to be wrong with the addresses that are there.
  if (settings?.gateway !== undefined && addresses.length === 0) return { writes: 0 };
  const actions = plan(desiredProbe(observed), [
    ...owned.services.map((object) => ({ of: SERVICES, object })),
    ...owned.endpoints.map((object) => ({ of: ENDPOINTS, object })),
    ...owned.slices.map((object) => ({ of: ENDPOINT_SLICES, object })),
  ]);
  let requeueAfterMs: number | undefined;
  for (const action of actions) {
    const outcome = await applier.execute(action, signal);
    if (outcome.result === 'deferred') requeueAfterMs = outcome.afterMs;
    if (outcome.result === 'foreign') requeueAfterMs = 30_000;
  }
  return { writes: actions.length, ...(requeueAfterMs === undefined ? {} : { requeueAfterMs }) };
}
