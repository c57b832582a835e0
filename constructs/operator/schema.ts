/** Schema of the props of MirrorOperator: its settings come from the table of settings. */
import { defaultText, type OperatorSetting, type PropName, propSettings } from '../../crds/operator-settings.ts';
import { PODS, PULL_POLICY } from '../common/pod-schema.ts';
import {
  choice,
  falseOr,
  flag,
  integer,
  labelSelector,
  list,
  map,
  object,
  type Schema,
  text,
  texts,
  time,
  wordOr,
  serviceAccounts,
} from '../common/schema.ts';

/** The schema of a setting as a prop. The construct checks its value. */
const settingSchema = (setting: OperatorSetting): Schema => {
  const description = `${setting.text.charAt(0).toUpperCase()}${setting.text.slice(1)}; default ${setting.propDefault ?? defaultText(setting)}`;
  switch (setting.type) {
    case 'switch':
      return flag(`Whether to ${description.charAt(0).toLowerCase()}${description.slice(1)}`);
    case 'integer':
      return integer(description);
    case 'choice':
      return choice(description, ...setting.values);
    case 'duration':
      return time(`${description}; seconds, or a Go duration`);
    case 'names':
      return texts(description.replace(', separated by commas', ''));
    default:
      return text(description);
  }
};

const SETTINGS = Object.fromEntries(propSettings.map(([name, setting]) => [name, settingSchema(setting)])) as {
  readonly [Name in PropName]: Schema;
};

const peer = object('A peer of a NetworkPolicy: pods, or a network', {
  podSelector: labelSelector('Labels of the pods that may connect; default all pods, if there is a namespaceSelector'),
  namespaceSelector: labelSelector('Labels of the namespaces of these pods; default the namespace of the operator'),
  ipBlock: object(
    'Network that may connect; default none',
    {
      cidr: text('Network in CIDR notation'),
      except: texts('Parts of the network that may not connect; default none'),
    },
    'cidr',
  ),
});

export const MIRROR_OPERATOR_PROPS = object(
  'The operator; default none',
  {
    ...PODS,
    replicas: integer('Number of pods; default 2'),
    image: text('Image of Linkspan, with tag or digest; its entry point is the linkspan command'),
    imagePullPolicy: PULL_POLICY,
    namespace: text('Namespace of the operator, the Links and their credentials; default linkerd-multicluster'),
    linkerdNamespace: text("Namespace of Linkerd's control plane; default linkerd"),
    flat: flag(
      "Whether federated Services may lead to pods of other clusters, for which the operator may read Secrets of the control plane's namespace; default whether a Link has federation flat",
    ),
    targetClusters: texts(
      'Target clusters of the Links, first the one that linkerd multicluster gateways and check must find; default none, and these commands do not find the operator',
    ),
    meshed: flag(
      "Whether the pods are in the mesh; without Linkerd's proxy, gateways are probed directly and without mTLS; default true",
    ),
    adminPort: integer('Port of /healthz, /readyz and /metrics; default 9999'),
    networkPolicy: falseOr(
      'Clients that may connect to the pods; false for no NetworkPolicy; default all, to the admin port and the ports of the proxy',
      object(
        'Clients that may connect to the pods',
        { from: list('Peers that may connect; at least one', peer) },
        'from',
      ),
    ),
    scrapers: wordOr(
      serviceAccounts('ServiceAccounts that may use the admin port'),
      'Clients that may use the admin port of pods in the mesh: anybody, or meshed clients of these ServiceAccounts; default anybody',
      'anybody',
    ),
    env: map('Additional environment variables of the container, such as those for a proxy server; default none'),
    adminHost: choice(
      'Address that the admin port listens on, :: for a cluster with IPv6 only; default 0.0.0.0',
      '0.0.0.0',
      '::',
    ),
    ...SETTINGS,
    credentialsSecrets: wordOr(
      texts('Names of Secrets'),
      'The only Secrets that the operator may read, or any; default the Secrets that the Links name',
      'any',
    ),
  },
  'image',
);
