/**
 * What must exist in the source cluster for one target Service: observed state in, manifests out, by rendering the same
 * constructs that users compose. Pure. Each pass renders what may be written now: ClusterIPs are known after a Service.
 */
import { MirrorService, renderOf } from '../../constructs/rendered/index.ts';
import { Label, mirrorName, Value } from '../../crds/wire.ts';
import { NAMESPACES } from '../kube/objects.ts';
import type { Desired } from '../runtime/plan.ts';
import { common } from './common-props.ts';
import { gatewayEndpoints } from './gateway-endpoints.ts';
import { headless } from './headless.ts';
import { keptAs } from './kept.ts';
import { desiredOf, type Manifests, NOTHING, UNFINISHED, writable } from './manifests.ts';
import type { Names } from './names.ts';
import type { Observed } from './observed.ts';
import { lostName } from './reasons.ts';
import { Rendered, type StayingRender } from './rendered.ts';
import type { MirroredShape, Shape } from './shape.ts';

/** @param pods what was rendered before, which is not rendered again. @default - everything is rendered */
export function desired(observed: Observed, shape: Shape, names: Names, pods = new Rendered()): Manifests {
  const staying = pods.staying(`${observed.namespace}/${observed.name}`);
  const manifests = desiredOrBegun(observed, shape, names, { pods, staying });
  staying.end();
  return staying.isUnfinished ? UNFINISHED : manifests;
}

/** What renders, and remembers what it has rendered. */
interface Renderers {
  readonly pods: Rendered;
  readonly staying: StayingRender;
}

function desiredOrBegun(observed: Observed, shape: Shape, names: Names, { pods, staying }: Renderers): Manifests {
  switch (shape.kind) {
    case 'undecided':
      return keptAs(observed, staying);
    case 'absent':
      return NOTHING;
    case 'refused':
      return {
        ...(shape.existing === 'keep' ? keptAs(observed, staying) : NOTHING),
        refusals: [shape.refusal],
      };
    case 'flat':
    case 'clusterIP':
    case 'headless': {
      const own = names.nameOf();
      const retained = (): Manifests => retainedAs(observed, shape, staying);
      if (own === undefined || 'lostTo' in own) return { ...retained(), refusals: [lostName(observed, own)] };
      const { link, namespace, namespaceState } = observed;
      const rendered =
        shape.kind === 'headless' ? headless(observed, shape, names, { pods, staying }) : single(observed, shape);
      if (rendered.isUnfinished) return rendered;
      const { services, endpoints } = retained();
      return {
        ...rendered,
        services: [...rendered.services, ...services],
        endpoints: [...rendered.endpoints, ...endpoints],
        namespaces: namespaceState === 'missing' ? [namespaceManifest(namespace, link.cluster)] : [],
      };
    }
  }
}

function single(observed: Observed, shape: MirroredShape): Manifests {
  const local = mirrorName(observed.name, observed.link.cluster);
  const isFlat = shape.kind === 'flat';
  const endpoints = isFlat ? undefined : shape.endpoints;
  const objects = renderOf(MirrorService, {
    ...common(observed, shape.service),
    mode: isFlat ? 'remote-discovery' : 'gateway',
    endpoints: endpoints && gatewayEndpoints(observed, local, endpoints.anyReady),
  });
  return writable(observed, local, desiredOf(objects));
}

/**
 * Some of our Services that stay as they are, and their endpoints, which follow the gateway.
 * @param pods what was rendered before
 */
export function stayingAs(observed: Observed, pods: Rendered, names: ReadonlySet<string>): Manifests {
  const staying = pods.staying(`${observed.namespace}/${observed.name}`);
  const kept = keptAs(observed, staying, names);
  staying.end();
  return staying.isUnfinished ? UNFINISHED : kept;
}

/** While the endpoints of the target are not known, ours stay, and still follow the gateway (rules F3, G1). */
function retainedAs(observed: Observed, shape: MirroredShape, staying: StayingRender): Manifests {
  if (shape.kind === 'flat' || shape.endpoints !== undefined) return NOTHING;
  const local = mirrorName(observed.name, observed.link.cluster);
  const manifests = keptAs(observed, staying, shape.kind === 'headless' ? undefined : [local]);
  // What the mirror itself must be is known.
  return { ...manifests, services: manifests.services.filter(({ object }) => object.metadata.name !== local) };
}

const namespaceManifest = (name: string, cluster: string): Desired => ({
  of: NAMESPACES,
  object: {
    metadata: { name, labels: { [Label.mirroredService]: Value.true, [Label.clusterName]: cluster } },
  },
});
