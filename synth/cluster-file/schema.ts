/**
 * The JSON schema of a cluster file, `linkspan.yaml`, for editors and for `linkspan synth`: the props of a ClusterSet, and
 * of an ArgoCd, as YAML has them. It consists of the schemas that the constructs check their props with.
 */
import { ARGO_CD_PROPS } from '../../constructs/argo-cd/schema.gen.ts';
import { CLUSTER_SET_PROPS } from '../../constructs/cluster-set/schema.gen.ts';
import { described, without } from '../../constructs/common/schema.ts';

const ARGO_CD = described(
  without(ARGO_CD_PROPS, 'clusterSet'),
  'Applications for Argo CD, one for the folder of each cluster; default none',
);

/** Schema of a cluster file. */
export const CLUSTER_SET_SCHEMA = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'ClusterSet',
  ...CLUSTER_SET_PROPS,
  properties: { ...CLUSTER_SET_PROPS.properties, argoCd: ARGO_CD },
} as const;
