/** Which construct for what: every construct once, in the order of docs/constructs.md. */

/** What a reader wants, and the constructs that give it. */
export interface Purpose {
  /** Completes "I want …". */
  readonly want: string;
  readonly constructs: readonly string[];
  /** What else to know before choosing. */
  readonly note?: string;
}

/** Constructs of one kind. */
export interface ConstructGroup {
  readonly heading: string;
  readonly purposes: readonly Purpose[];
}

export const CONSTRUCT_GROUPS: readonly ConstructGroup[] = [
  {
    heading: 'Whole clusters',
    purposes: [
      {
        want: 'to describe all clusters and who uses whose Services, in one place',
        constructs: ['ClusterSet'],
        note: 'Without a program of your own, write [linkspan.yaml](cluster-file.md) and run `linkspan synth`.',
      },
      {
        want: 'Argo CD to apply what a ClusterSet renders',
        constructs: ['ArgoCd'],
        note: 'The function `writeClusterSet` writes the folders that it applies: see [examples/gitops-typescript](../examples/gitops-typescript).',
      },
      { want: 'to describe one cluster: its gateway, its operator and its Links', constructs: ['Multicluster'] },
    ],
  },
  {
    heading: 'The target: letting other clusters in',
    purposes: [
      { want: 'a gateway that requests of other clusters come in by', constructs: ['Gateway'] },
      { want: 'to say who may use the gateway', constructs: ['GatewayPolicy'] },
      { want: 'to let a source cluster read what is exported here', constructs: ['RemoteAccess'] },
      {
        want: 'to export a Service',
        constructs: ['Exported', 'Federated'],
        note: '[federation.md](federation.md) shows federated Services.',
      },
      {
        want: 'to export a Service by the MCS API (KEP-1645)',
        constructs: ['ServiceExport', 'ClusterProperty', 'McsCrds'],
        note: '[mcs.md](mcs.md) shows what becomes of it.',
      },
    ],
  },
  {
    heading: 'The source: using other clusters',
    purposes: [
      {
        want: 'the operator, which mirrors what is exported',
        constructs: ['MirrorOperator', 'LinkCrd', 'ServiceFailoverCrd'],
      },
      { want: 'to mirror from a target cluster', constructs: ['Link'] },
      {
        want: 'to give the operator the credentials of that target',
        constructs: ['LinkCredentials', 'CredentialsReference'],
        note: '`LinkCredentials` renders the token. What `CredentialsReference` renders holds none, and is fit for Git.',
      },
      {
        want: 'to divide requests between a Service and its mirrors',
        constructs: ['ServiceRoute', 'TrafficSplit'],
        note: '`ServiceRoute` needs the Gateway API, `TrafficSplit` the SMI extension of Linkerd.',
      },
      {
        want: 'requests to go elsewhere while a Service is not ready',
        constructs: ['ServiceFailover'],
        note: 'The operator makes the routes. They need the Gateway API.',
      },
    ],
  },
  {
    heading: 'Prometheus and Grafana',
    purposes: [
      {
        want: 'metrics, alerts and a dashboard of the operator',
        constructs: ['Monitoring', 'Monitor', 'Alerts', 'Dashboard'],
        note: '`Monitoring` is the other three in one.',
      },
    ],
  },
  {
    heading: 'What the operator renders',
    purposes: [
      {
        want: 'mirrors without an operator, or to see what a mirror is made of',
        constructs: ['MirrorService', 'HeadlessMirror', 'EndpointMirror', 'GatewayProbe', 'FederatedService'],
      },
      {
        want: 'to import a Service by the MCS API (KEP-1645)',
        constructs: ['ServiceImport'],
        note: 'For clusters without the operator, which writes ServiceImports itself.',
      },
      { want: 'rights for a ServiceAccount', constructs: ['Grant'] },
    ],
  },
];
