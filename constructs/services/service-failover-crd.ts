/** The ServiceFailover's CustomResourceDefinition as a construct, for charts that install it beside the operator. */
import { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import { failoverCrd } from '../../crds/failover/definition.ts';

/** CustomResourceDefinition `servicefailovers.linkspan.dev`. */
export class ServiceFailoverCrd extends Construct {
  /** The CustomResourceDefinition. */
  readonly crd: ApiObject;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    this.crd = new ApiObject(this, 'Resource', failoverCrd);
  }
}
