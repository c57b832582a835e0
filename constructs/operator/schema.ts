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

/** A setting as a prop; what it may be is checked by the construct. */
const settingSchema = (setting: OperatorSetting): Schema => {
  const description = `${setting.text.charAt(0).toUpperCase()}${setting.text.slice(1)}; default ${setting.propDefault ?? defaultText(setting)}`;
  switch (setting.type) {
    case 'switch':
      return flag(description);
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

const peer = object('A peer', {
  podSelector: labelSelector('Pods; an empty selector is all of them'),
  namespaceSelector: labelSelector('Namespaces; an empty selector is all of them'),
  ipBlock: object('A network', { cidr: text('In CIDR notation'), except: texts('Parts that may not') }, 'cidr'),
});

export const MIRROR_OPERATOR_PROPS = object(
  'The operator, in every cluster that has a target',
  {
    ...PODS,
    image: text('Image of Linkspan, with tag or digest'),
    imagePullPolicy: PULL_POLICY,
    namespace: text('Namespace of the operator; default linkerd-multicluster'),
    linkerdNamespace: text("Namespace of Linkerd's control plane; default linkerd"),
    targetClusters: texts('Target clusters of the Links'),
    meshed: flag("Whether Linkerd's proxy is put into the pods; default true"),
    adminPort: integer('Port of /healthz, /readyz and /metrics; default 9999'),
    networkPolicy: falseOr(
      'Who may connect to the pods; false for no NetworkPolicy, default anybody, to the ports in use',
      object('A NetworkPolicy', { from: list('Peers that may connect', peer) }, 'from'),
    ),
    scrapers: wordOr(
      serviceAccounts('ServiceAccounts'),
      'The only ServiceAccounts that may use the admin port, in the mesh; default anybody',
      'anybody',
    ),
    env: map('Further environment variables of the container'),
    adminHost: choice('Address that the admin port listens on', '0.0.0.0', '::'),
    ...SETTINGS,
    credentialsSecrets: wordOr(
      texts('Names'),
      'The only Secrets that credentials are read from, or any; default those that the Links name',
      'any',
    ),
  },
  'image',
);
