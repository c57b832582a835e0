/**
 * A ClusterProperty of the About API: a fact about the cluster. Two of them say which cluster of which set it is, which
 * the MCS API wants to know (rule K2). It needs the CRD, which `McsCrds` renders.
 */
import { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import { type FieldError, fieldError } from '../../crds/field-error.ts';
import { PROPERTY_MAX_LENGTH } from '../../crds/mcs/cluster-property/schema.ts';
import { AboutApi } from '../../crds/wire.ts';
import { dnsLabel, dnsSubdomain } from '../common/prop-rules.ts';
import { acceptProps } from '../common/props.ts';
import { CLUSTER_PROPERTY_PROPS } from './schema.gen.ts';

/** Properties of {@link ClusterProperty}. */
export interface ClusterPropertyProps {
  /** Name of the property: `cluster.clusterset.k8s.io` is the id of the cluster, and `clusterset.k8s.io` that of its set. */
  readonly name: string;
  /**
   * The value, from 1 to 128,000 characters. The id of a cluster is a DNS label, unique in its set; it must not change
   * while the cluster is in the set.
   */
  readonly value: string;
}

/**
 * An `about.k8s.io/v1beta1` ClusterProperty. Operators read the id of their own cluster and those of their targets from
 * it, and call a cluster by the name that its Link gives it while there is none.
 *
 * Synthesis fails for an invalid name or value.
 */
export class ClusterProperty extends Construct {
  /** The ClusterProperty. */
  readonly property: ApiObject;

  constructor(scope: Construct, id: string, given: ClusterPropertyProps) {
    super(scope, id);
    const { name, value } = acceptProps(this, CLUSTER_PROPERTY_PROPS, given, STAND_IN, (given) => ({
      construct: `ClusterProperty ${given.name}`,
      found: [dnsSubdomain('name', given.name), valueError(given)],
    }));
    this.property = new ApiObject(this, 'Resource', {
      apiVersion: AboutApi.apiVersion,
      kind: AboutApi.clusterProperty.kind,
      metadata: { name },
      spec: { value },
    });
  }
}

const valueError = ({ name, value }: ClusterPropertyProps): FieldError | undefined => {
  // DNS names of pods have the id of their cluster as one label.
  if (name === AboutApi.clusterId) return dnsLabel('value', value);
  return value.length >= 1 && value.length <= PROPERTY_MAX_LENGTH
    ? undefined
    : fieldError('value', value, `must have from 1 to ${PROPERTY_MAX_LENGTH} characters`);
};

const STAND_IN: ClusterPropertyProps = { name: 'invalid', value: 'invalid' };
