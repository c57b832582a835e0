/** Labels and annotations of the operator's pods. */
import { Annotation, Label, Value } from '../../crds/wire.ts';

/** What the Deployment, its Service and its policies know the pods by; a Deployment's selector is for life. */
export const PODS = {
  'app.kubernetes.io/name': 'linkspan',
  'app.kubernetes.io/component': 'operator',
} as const;
/** What nobody finds the pods without. */
export const OWN_POD_KEYS: readonly string[] = [
  ...Object.keys(PODS),
  Label.extension,
  Label.component,
  Label.clusterName,
  Annotation.inject,
];
export const LABELS = { ...PODS, [Label.extension]: Value.extension } as const;

/** Linkerd's command takes no pod or Deployment of its component that does not name a cluster. */
export const foundByLinkerd = ([cluster]: readonly string[]): Readonly<Record<string, string>> =>
  cluster === undefined ? {} : { [Label.component]: Value.component, [Label.clusterName]: cluster };
