/**
 * The Link's CustomResourceDefinition as a construct, for charts that install it beside what uses it.
 */
import { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import { linkCrd } from '../../crds/link/definition.ts';

/** CustomResourceDefinition `links.multicluster.linkerd.io`, a superset of Linkerd's: install one or the other. */
export class LinkCrd extends Construct {
  /** The CustomResourceDefinition. */
  readonly crd: ApiObject;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    this.crd = new ApiObject(this, 'Resource', linkCrd);
  }
}
