/** The CustomResourceDefinitions of the MCS API and the About API as a construct, for clusters that do not have them. */
import { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import { clusterPropertyCrd, serviceExportCrd, serviceImportCrd } from '../../crds/mcs/definitions.ts';

/** CustomResourceDefinitions of ServiceExport, ServiceImport and ClusterProperty. */
export class McsCrds extends Construct {
  /** CustomResourceDefinition `serviceexports.multicluster.x-k8s.io`. */
  readonly serviceExport: ApiObject;
  /** CustomResourceDefinition `serviceimports.multicluster.x-k8s.io`. */
  readonly serviceImport: ApiObject;
  /** CustomResourceDefinition `clusterproperties.about.k8s.io`. */
  readonly clusterProperty: ApiObject;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    this.serviceExport = new ApiObject(this, 'ServiceExport', serviceExportCrd);
    this.serviceImport = new ApiObject(this, 'ServiceImport', serviceImportCrd);
    this.clusterProperty = new ApiObject(this, 'ClusterProperty', clusterPropertyCrd);
  }
}
