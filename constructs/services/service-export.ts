/**
 * A ServiceExport of the MCS API: exports the Service of its name to the other clusters of the set, where a ServiceImport
 * stands for it (rule K1). It needs the CRD, which `McsCrds` renders.
 */
import { ApiObject, Chart } from 'cdk8s';
import { Construct } from 'constructs';
import type { FieldError } from '../../crds/field-error.ts';
import { McsApi } from '../../crds/wire.ts';
import { annotationsErrors, dnsLabel, labelsErrors, serviceName } from '../common/prop-rules.ts';
import { acceptProps } from '../common/props.ts';
import { type Metadata, serviceNameOf, type ServiceRef } from '../rendered/index.ts';
import { SERVICE_EXPORT_PROPS } from './schema.gen.ts';

/** Metadata that is exported beside a Service; nothing of the Service's own is. */
export interface ExportedMetadata {
  /**
   * Labels of the ServiceImports. If clusters disagree, those of the oldest export count.
   * @default - none
   */
  readonly exportedLabels?: Metadata | undefined;
  /**
   * Annotations of the ServiceImports. If clusters disagree, those of the oldest export count.
   * @default - none
   */
  readonly exportedAnnotations?: Metadata | undefined;
}

/** Properties of {@link ServiceExport}. */
export interface ServiceExportProps extends ExportedMetadata {
  /** The Service that is exported. */
  readonly service: ServiceRef;
  /**
   * Namespace of the Service.
   * @default - that of the Service, else of the chart, else the one of `kubectl`
   */
  readonly namespace?: string | undefined;
}

/**
 * A `multicluster.x-k8s.io/v1beta1` ServiceExport: the operators of the clusters in the set import the Service.
 * Synthesis fails for each invalid name, label and annotation.
 */
export class ServiceExport extends Construct {
  /** Name of the ServiceExport, which is that of the Service. */
  readonly name: string;
  /** The ServiceExport. */
  readonly serviceExport: ApiObject;

  constructor(scope: Construct, id: string, given: ServiceExportProps) {
    super(scope, id);
    const props = acceptProps(this, SERVICE_EXPORT_PROPS, given, STAND_IN, (given) => ({
      construct: `ServiceExport ${serviceNameOf(given.service)}`,
      found: [
        serviceName('service', serviceNameOf(given.service)),
        given.namespace === undefined ? undefined : dnsLabel('namespace', given.namespace),
        ...exportedMetadataErrors(given),
      ],
    }));
    const { service } = props;
    const namespace =
      props.namespace ??
      (typeof service === 'string' ? undefined : service.metadata.namespace) ??
      Chart.of(this).namespace;
    this.name = serviceNameOf(service);
    this.serviceExport = new ApiObject(this, 'Resource', exportManifest(this.name, namespace, props));
  }
}

/** The manifest of the export of a Service. */
export const exportManifest = (
  name: string,
  namespace: string | undefined,
  { exportedLabels = {}, exportedAnnotations = {} }: ExportedMetadata,
) => {
  const spec = {
    ...(Object.keys(exportedLabels).length > 0 && { exportedLabels }),
    ...(Object.keys(exportedAnnotations).length > 0 && { exportedAnnotations }),
  };
  return {
    apiVersion: McsApi.apiVersion,
    kind: McsApi.serviceExport.kind,
    metadata: { name, ...(namespace !== undefined && { namespace }) },
    ...(Object.keys(spec).length > 0 && { spec }),
  };
};

/** Errors of exported labels and annotations. */
export const exportedMetadataErrors = ({
  exportedLabels,
  exportedAnnotations,
}: ExportedMetadata): readonly (FieldError | undefined)[] => [
  ...labelsErrors('exportedLabels', exportedLabels),
  ...annotationsErrors('exportedAnnotations', exportedAnnotations),
];

const STAND_IN: ServiceExportProps = { service: 'invalid' };
