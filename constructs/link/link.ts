/**
 * A Link to a target cluster: the connection to it, and the Services to mirror from it. The operator checks Links by the
 * same rules.
 */
import { ApiObject, Chart } from 'cdk8s';
import { Construct } from 'constructs';
import { Default, LinkApi } from '../../crds/wire.ts';
import { acceptProps } from '../common/props.ts';
import { linkErrors } from './errors.ts';
import type { LinkProps } from './props.ts';
import { LINK_PROPS } from './schema.gen.ts';
import { linkSpec } from './spec.ts';

/**
 * A `multicluster.linkerd.io/v1alpha3` Link.
 * Synthesis fails for each prop for which the operator would not accept the Link.
 */
export class Link extends Construct {
  /** Name of the Link. */
  readonly name: string;
  /** Namespace of the Link. */
  readonly namespace: string;
  /** Name of the target cluster. */
  readonly targetCluster: string;
  /** The Link object. */
  readonly link: ApiObject;

  constructor(scope: Construct, id: string, given: LinkProps) {
    super(scope, id);
    const namespaceOf = (props: LinkProps): string =>
      props.namespace ?? Chart.of(this).namespace ?? Default.multiclusterNamespace;
    const props = acceptProps(this, LINK_PROPS, given, STAND_IN, (given) => ({
      construct: `Link ${namespaceOf(given)}/${given.name ?? given.targetCluster}`,
      found: linkErrors(given, namespaceOf(given)),
    }));
    this.targetCluster = props.targetCluster;
    this.name = props.name ?? props.targetCluster;
    this.namespace = namespaceOf(props);
    const { labels, annotations } = props;
    const metadata = {
      name: this.name,
      namespace: this.namespace,
      ...(labels && { labels }),
      ...(annotations && { annotations }),
    };
    const spec = linkSpec(props);
    this.link = new ApiObject(this, 'Resource', { apiVersion: LinkApi.apiVersion, kind: LinkApi.kind, metadata, spec });
  }
}

const STAND_IN: LinkProps = { targetCluster: 'invalid' };
