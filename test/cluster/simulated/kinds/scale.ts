/** The scale subresource of workloads: one number, readable and writable without knowing the kind. */
import { isFields, mutable, type Fields, type KubeObject } from '../storage/object.ts';
import { mergePatch } from '../apply/patch.ts';

/** An `autoscaling/v1` Scale. */
export interface Scale {
  readonly kind: 'Scale';
  readonly apiVersion: 'autoscaling/v1';
  readonly metadata: { readonly name: string; readonly resourceVersion?: string };
  readonly spec: { readonly replicas?: number };
  readonly status: object;
}

const selectorText = (selector: unknown): string =>
  isFields(selector)
    ? Object.entries((selector.matchLabels ?? {}) as Record<string, string>)
        .map((pair) => pair.join('='))
        .join(',')
    : '';

/** The Scale of a workload. */
export function scaleOf({ metadata, spec, status }: KubeObject): Scale {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = metadata;
  const { replicas = 0, selector } = spec as Fields;
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: {
      name,
      ...{ namespace, uid, creationTimestamp },
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
    },
    spec: { replicas: replicas as number },
    status: { replicas: (status as Fields | undefined)?.replicas ?? 0, selector: selectorText(selector) },
  };
}

/** What a PUT or PATCH of the Scale of a workload asks for. */
export function readScale(
  object: KubeObject,
  _contentType: string,
  whole: boolean,
  body: Scale,
): { readonly replicas: number; readonly resourceVersion?: string } {
  const scale = whole ? body : mergePatch(mutable(scaleOf(object)), body as unknown as Fields);
  const { resourceVersion } = scale.metadata;
  return { replicas: scale.spec.replicas ?? 0, ...(resourceVersion ? { resourceVersion } : {}) };
}
