/** Labels and annotations of the operator's pods. */
import { Annotation, Label, Value } from '../../crds/wire.ts';

/** Labels that the Deployment, its Service and its policies select the pods by. A Deployment's selector is immutable. */
export const PODS = {
  'app.kubernetes.io/name': 'linkspan',
  'app.kubernetes.io/component': 'operator',
} as const;
/** Labels and annotations that Linkerd's tools and our policies need. */
export const OWN_POD_KEYS: readonly string[] = [
  ...Object.keys(PODS),
  Label.extension,
  Label.component,
  Label.clusterName,
  Annotation.inject,
];
export const LABELS = { ...PODS, [Label.extension]: Value.extension } as const;

/** Labels by which Linkerd's command line finds the pods and the Deployment of a cluster; none without a cluster. */
export const foundByLinkerd = ([cluster]: readonly string[]): Readonly<Record<string, string>> =>
  cluster === undefined ? {} : { [Label.component]: Value.component, [Label.clusterName]: cluster };
