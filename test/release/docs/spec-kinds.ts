/**
 * What docs/spec/ has of each kind beside its schema: an example, and what each reason of each condition means. A test holds
 * the reasons against the code that reports them, both ways.
 */
import { FAILOVER_SCHEMA } from '../../../crds/failover/schema.ts';
import { SERVICE_EXPORT_SCHEMA } from '../../../crds/mcs/service-export/schema.ts';
import { SERVICE_IMPORT_SCHEMA } from '../../../crds/mcs/service-import/schema.ts';
import { LINK } from './spec-link.ts';
import { type KindPage, PENDING } from './spec-page.ts';

const CONFLICT = 'exports of one name differ in this; the first one counts';

const FAILOVER: KindPage = {
  kind: 'ServiceFailover',
  intro:
    'Sends the requests to a Service to the first of several Services that is ready, or by weight to all that are. [Failover](../failover.md) is the guide.',
  example: `apiVersion: linkspan.dev/v1alpha1
kind: ServiceFailover
metadata:
  name: web
  namespace: shop
spec:
  service: web
  backends:
    - service: web
      minReady: 50%
    - service: web-west
  holdDown: 1m`,
  schema: FAILOVER_SCHEMA,
  conditions: [
    {
      type: 'Ready',
      about: 'The first of the others that is not true, or',
      reasons: { Ready: 'requests go to the backends that the message names' },
    },
    {
      type: 'Accepted',
      about: 'Whether it is valid',
      reasons: { Accepted: 'it is', Invalid: 'the message names each field; routes stay as they are' },
    },
    {
      type: 'RoutesApplied',
      about: 'Whether the routes are as they should be',
      reasons: {
        Applied: 'they are',
        Pending: PENDING,
        ServiceNotFound: 'there is no Service of the name',
        ServiceHasNoClusterIP: 'a route needs one',
        NoPorts: 'the Service has no TCP port',
        RouteKindMissing: 'the CRD of the route is not installed',
        RouteConflict: 'Linkerd prefers a route of somebody else',
        ServiceProfileExists: 'Linkerd ignores routes beside it',
        NameConflict: 'somebody else has the name of the route',
        RouteContested: 'somebody keeps changing the route',
        Forbidden: 'the operator may not read or write routes',
        Error: 'a write failed; it is tried again',
      },
    },
    {
      type: 'BackendsFound',
      about: 'Whether the backends can take requests',
      reasons: {
        Found: 'they can',
        BackendNotFound: 'a Service does not exist',
        PortMismatch: 'a Service lacks a port; no request goes there',
      },
    },
    {
      type: 'BackendReady',
      about: 'Whether one is ready',
      reasons: { BackendReady: 'one is', NoBackendReady: 'none is; requests go where they went' },
    },
  ],
  when: {
    'no backend is ready': 'Nothing changes: weights are never all 0 (J2).',
    'a gateway dies': 'All routes that lead through it turn at once (J3).',
    'the operator is away': 'Routes stay as they are, and it changes none when it comes back.',
    'it is deleted': 'Its routes are deleted.',
    'somebody edits a route': 'It is put right (J1).',
  },
  sources: ['failover/status', 'failover/plan', 'failover/derivation'],
};

const conflicts = (names: readonly string[]): Readonly<Record<string, string>> =>
  Object.fromEntries(names.map((name) => [name, CONFLICT]));

const EXPORT: KindPage = {
  kind: 'ServiceExport',
  intro:
    'Makes the Service of its name known to all clusters with a Link to this one. [The MCS API](../mcs.md) is the guide.',
  example: `apiVersion: multicluster.x-k8s.io/v1beta1
kind: ServiceExport
metadata:
  name: web
  namespace: shop
spec:
  exportedLabels:
    tier: front`,
  schema: SERVICE_EXPORT_SCHEMA,
  conditions: [
    {
      type: 'Valid',
      about: 'Whether the Service can be exported',
      reasons: {
        Valid: 'it can',
        NoService: 'there is no Service of the name',
        InvalidServiceType: 'it is an ExternalName, or stands for Services of other clusters',
        InvalidService: 'the Service is not valid; the message says why',
      },
    },
    {
      type: 'Ready',
      about: 'Whether it is exported',
      reasons: { Ready: 'clusters with a Link to this one import it', Pending: 'it is not valid' },
    },
    {
      type: 'Conflict',
      about: 'Whether clusters export different things under the name; several reasons are joined by commas',
      reasons: {
        NoConflicts: 'they do not',
        ...conflicts(['PortConflict', 'TypeConflict', 'SessionAffinityConflict', 'SessionAffinityConfigConflict']),
        ...conflicts(['LabelsConflict', 'AnnotationsConflict', 'InternalTrafficPolicyConflict']),
        ...conflicts(['TrafficDistributionConflict', 'IPFamilyConflict']),
      },
    },
  ],
  when: {
    'it is deleted': 'Its part of each ServiceImport goes (K2).',
    'its cluster cannot be read': 'Its part stays as it is (K5).',
    'exports conflict': 'The oldest counts; one that appears later joins behind those that are there (K1).',
  },
  sources: ['mcs/status', 'mcs/exports', 'mcs/conflicts'],
};

const IMPORT: KindPage = {
  kind: 'ServiceImport',
  intro:
    'What a cluster imports under a name. The operator writes it; to have one, make a [ServiceExport](serviceexport.md).',
  example: `apiVersion: multicluster.x-k8s.io/v1beta1
kind: ServiceImport
metadata:
  name: web
  namespace: shop
spec:
  type: ClusterSetIP
  ips: [10.96.0.40]
  ports:
    - { name: http, protocol: TCP, port: 80 }`,
  schema: SERVICE_IMPORT_SCHEMA,
  conditions: [
    {
      type: 'Ready',
      about: 'Whether clients can use it',
      reasons: {
        Ready: 'it is imported from the clusters that the message names',
        Pending: 'it has no address, or no cluster, yet',
        IPFamilyNotSupported: 'this cluster has no address family of the exported Service',
      },
    },
  ],
  when: {
    'the last export goes': 'It goes, with its address, once every target has said what it exports (K2).',
    'its namespace is missing': 'It appears as soon as the namespace does (K2).',
    'a gateway dies': 'The addresses of that cluster are out of use, until it is back (K3).',
    'somebody else has the name': 'It is left alone, with an Event (K2).',
  },
  sources: ['mcs/status', 'mcs/import-plan', 'mcs/decide'],
  elsewhere: ['Valid', 'NoConflicts'],
};

export const KIND_PAGES: readonly KindPage[] = [LINK, FAILOVER, EXPORT, IMPORT];
