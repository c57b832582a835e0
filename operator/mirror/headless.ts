/**
 * What must exist for a headless Service: its mirror, and an endpoint mirror for each pod. Pods are decided about group
 * by group, and what was decided of a group stands while nothing of it changes (rule E10). Pure, but for that.
 */
import { mirrorName } from '../../crds/wire.ts';
import { describe } from '../kube/errors.ts';
import type { Service } from '../kube/objects.ts';
import type { Group } from './by-hostname.ts';
import { common } from './common-props.ts';
import { endpointMirrorsByPod } from './endpoint-mirrors.ts';
import { gatewayEndpoints, gatewayOfAll } from './gateway-endpoints.ts';
import { kept } from './kept.ts';
import { type Manifests, merged, NOTHING, UNFINISHED, writable } from './manifests.ts';
import type { Names } from './names.ts';
import type { Observed } from './observed.ts';
import { indexOf } from './owned-index.ts';
import type { OfPods, RenderedPod } from './pod-groups.ts';
import { lostName, type Refusal } from './reasons.ts';
import type { Rendered, ServiceRender, StayingRender } from './rendered.ts';
import { hostsOf, type MirroredShape } from './shape.ts';
import { mirrorSubsets, subsetsOf, type TargetHost } from './target-endpoints.ts';

export function headless(
  observed: Observed,
  shape: MirroredShape & { readonly kind: 'clusterIP' | 'headless' },
  names: Names,
  { pods, staying }: { readonly pods: Rendered; readonly staying: StayingRender },
): Manifests {
  const { link, name, owned } = observed;
  const { endpoints } = shape;
  const isAnyReady = endpoints?.anyReady === true;
  const render = pods.begin(common(observed, shape.service));
  const gateway = gatewayOfAll(observed, isAnyReady);
  const circumstances = { revision: names.revision, gateway, services: owned.services, cluster: link.cluster };
  const groups = render.groups(hostsOf(shape), circumstances, (group, before) =>
    ofGroup(group, before, {
      observed,
      names,
      render,
      staying,
      gatewayOf: (own) => gateway ?? gatewayEndpoints(observed, own, isAnyReady),
    }),
  );
  if (groups === undefined) return UNFINISHED;
  const listed = new Map([...groups].map(([at, group]) => [at, group.listed]));
  const mirror = render.mirror(endpoints && { identity: observed.gateway?.identity, kind: link.endpointsKind }, listed);
  if (mirror === undefined) return UNFINISHED;
  render.finish();
  return merged([
    ...[...groups.values()].map(({ manifests }) => manifests),
    writable(observed, mirrorName(name, link.cluster), mirror),
  ]);
}

interface Rendering {
  readonly observed: Observed;
  readonly names: Names;
  readonly render: ServiceRender;
  readonly staying: StayingRender;
  readonly gatewayOf: (name: string) => RenderedPod['props']['endpoints'];
}

/** What is desired for one pod. */
interface OfPod {
  readonly manifests: Manifests;
  readonly rendered?: RenderedPod;
  /** ClusterIP of its endpoint mirror, under whatever name, if it has one yet. */
  readonly ip?: string;
  /** Whether it stays so while the pod, what is there of it, and all that pods have in common stay as they are. */
  readonly isFinal: boolean;
}

/** Decides about the pods of one group. @param before what was rendered of them */
function ofGroup(group: Group<TargetHost>, before: ReadonlyMap<string, RenderedPod>, rendering: Rendering): OfPods {
  const parts: Manifests[] = [];
  const rendered = new Map<string, RenderedPod>();
  const clusterIPs = new Map<string, string>();
  let isFinal = true;
  let isUnfinished = false;
  for (const [hostname, host] of group) {
    const known = before.get(hostname);
    const pod: OfPod | undefined = isUnfinished ? undefined : ofPod(host, known, rendering);
    isUnfinished ||= pod === undefined;
    const now = pod === undefined ? known : pod.rendered;
    if (now !== undefined) rendered.set(hostname, now);
    if (pod === undefined) continue;
    parts.push(pod.manifests);
    if (pod.ip !== undefined) clusterIPs.set(hostname, pod.ip);
    isFinal &&= pod.isFinal;
  }
  const listed = mirrorSubsets(subsetsOf(group.values()), clusterIPs);
  return { manifests: merged(parts), listed, rendered, isFinal, isUnfinished };
}

const clusterIPOf = (service: Service | undefined): string | undefined => {
  const { clusterIP = '' } = service?.spec ?? {};
  return clusterIP === '' || clusterIP === 'None' ? undefined : clusterIP;
};

/**
 * Returns the ClusterIP of the endpoint mirror that a pod has under a former name. It is listed until there is another
 * (L120).
 */
const formerIP = ({ owned }: Observed, hostname: string): string | undefined =>
  (endpointMirrorsByPod(owned).get(hostname) ?? []).map(clusterIPOf).find((ip) => ip !== undefined);

/** Decides about one pod; undefined if it is left for the next turn. */
function ofPod(
  { hostname, ports }: TargetHost,
  before: RenderedPod | undefined,
  { observed, names, render, staying, gatewayOf }: Rendering,
): OfPod | undefined {
  const given = names.nameOf(hostname);
  if (given === undefined || 'lostTo' in given) {
    return { manifests: { ...NOTHING, refusals: [lostName(observed, given, hostname)] }, isFinal: true };
  }
  const { name } = given;
  const clusterIP = clusterIPOf(indexOf(observed.owned).services.get(name));
  const isThere = clusterIP !== undefined;
  const ip = clusterIP ?? formerIP(observed, hostname);
  const rendered = render.pod({ hostname, name, ports, endpoints: gatewayOf(name) }, before);
  if (rendered === undefined) return undefined;
  const { result } = rendered;
  if (result instanceof Error) {
    const refusals: Refusal[] = [{ reason: 'InvalidService', message: describe(result) }];
    return { manifests: { ...kept(observed, name, staying), refusals }, rendered, isFinal: false };
  }
  return {
    manifests: writable(observed, name, result),
    rendered,
    ...(ip !== undefined && { ip }),
    // Another name is not found by what has changed.
    isFinal: isThere && name === mirrorName(hostname, observed.link.cluster),
  };
}
