/**
 * The credentials of a target cluster as they may stand in Git: everything of the kubeconfig but its token. Either
 * external-secrets puts the token in, from a store that the team fills, or the team does so itself before it applies.
 * Until then the operator refuses the kubeconfig, and the Link reports that its token is empty.
 */
import { ApiObject, Chart } from 'cdk8s';
import { Construct } from 'constructs';
import { type FieldError, fieldError } from '../../crds/field-error.ts';
import { CredentialsSecret } from '../../crds/wire.ts';
import { dnsSubdomain } from '../common/prop-rules.ts';
import { acceptProps } from '../common/props.ts';
import {
  credentialsCopies,
  credentialsErrors,
  type CredentialsProps,
  kubeconfig,
  type SecretMetadata,
  STAND_IN,
} from './kubeconfig.ts';
import { CREDENTIALS_REFERENCE_PROPS } from './schema.ts';

/** The store of external-secrets that holds tokens. */
export interface SecretStoreRef {
  /** Name of the store. */
  readonly name: string;
  /**
   * Kind of the store.
   * @default ClusterSecretStore
   */
  readonly kind?: 'ClusterSecretStore' | 'SecretStore' | undefined;
}

/** Where the store has the token. */
export interface StoredToken {
  /** The store that holds the token. */
  readonly store: SecretStoreRef;
  /** Key of the token in the store. */
  readonly key: string;
  /**
   * Property of that key's value.
   * @default - the whole value is the token
   */
  readonly property?: string | undefined;
}

/** Properties of {@link CredentialsReference}: those of LinkCredentials, with the token's place for the token. */
export interface CredentialsReferenceProps extends CredentialsProps {
  /**
   * Where external-secrets finds the token.
   * @default - nowhere: a Secret without a token is rendered, which the operator refuses until it is filled
   */
  readonly token?: StoredToken | undefined;
}

/** What external-secrets replaces by the token. */
const TOKEN = '{{ .token | trim }}';

/**
 * ExternalSecret, or Secret without a token, `cluster-credentials-<cluster>`: one for each copy of the credentials.
 * Synthesis fails, naming every prop that the kubeconfig or the reference cannot have
 */
export class CredentialsReference extends Construct {
  /** Name of the Secrets, and of the ExternalSecrets that they are made by. */
  readonly name: string;
  /** For the Secret that the operator reads. */
  readonly linkSecret: ApiObject;
  /** For the Secret that Linkerd's destination controller reads; undefined if only the Link's was asked for. */
  readonly controlPlaneSecret: ApiObject | undefined;

  constructor(scope: Construct, id: string, given: CredentialsReferenceProps) {
    super(scope, id);
    const { namespace } = Chart.of(this);
    const props = acceptProps<CredentialsReferenceProps>(
      this,
      CREDENTIALS_REFERENCE_PROPS,
      given,
      STAND_IN,
      (given) => {
        const { link } = credentialsCopies(given, namespace);
        return {
          construct: `CredentialsReference ${link.namespace}/${link.name}`,
          found: [
            ...credentialsErrors(given, namespace),
            ...(given.token === undefined ? [] : storedTokenErrors('token', given.token)),
          ],
        };
      },
    );
    const { token } = props;
    const { link, controlPlane } = credentialsCopies(props, namespace);
    this.name = link.name;

    const text = kubeconfig({ ...props, token: token === undefined ? '' : TOKEN });
    const make = (id: string, metadata: SecretMetadata): ApiObject =>
      new ApiObject(this, id, token === undefined ? placeholder(text, metadata) : external(text, metadata, token));
    this.linkSecret = make('Resource', link);
    this.controlPlaneSecret = controlPlane && make('ControlPlane', controlPlane);
  }
}

const storedTokenErrors = (path: string, { store, key }: StoredToken): readonly (FieldError | undefined)[] => [
  dnsSubdomain(`${path}.store.name`, store.name),
  key === '' ? fieldError(`${path}.key`, key, 'must not be empty') : undefined,
];

const placeholder = (text: string, metadata: SecretMetadata) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  type: CredentialsSecret.type,
  metadata,
  // Not as data, which is base64: this is what a person fills in.
  stringData: { [CredentialsSecret.key]: text },
});

const external = (
  text: string,
  { name, namespace, ...metadata }: SecretMetadata,
  { store, key, property }: StoredToken,
) => ({
  apiVersion: 'external-secrets.io/v1',
  kind: 'ExternalSecret',
  metadata: { name, namespace },
  spec: {
    secretStoreRef: { name: store.name, kind: store.kind ?? 'ClusterSecretStore' },
    target: {
      name,
      template: {
        engineVersion: 'v2',
        type: CredentialsSecret.type,
        metadata,
        data: { [CredentialsSecret.key]: text },
      },
    },
    data: [{ secretKey: 'token', remoteRef: { key, property } }],
  },
});
