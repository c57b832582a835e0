/**
 * The credentials of a target cluster for Git: the kubeconfig without its token. External-secrets adds the token from a
 * store, or the team adds it before it applies the Secret. Until then the operator refuses the kubeconfig, and the Link
 * reports that the token is empty.
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
import { CREDENTIALS_REFERENCE_PROPS } from './schema.gen.ts';

/** A store of external-secrets that holds tokens. */
export interface SecretStoreRef {
  /** Name of the store. */
  readonly name: string;
  /**
   * Kind of the store.
   * @default ClusterSecretStore
   */
  readonly kind?: 'ClusterSecretStore' | 'SecretStore' | undefined;
}

/** The place of a token in a store. */
export interface StoredToken {
  /** The store that holds the token. */
  readonly store: SecretStoreRef;
  /** Key of the token in the store. */
  readonly key: string;
  /**
   * Property of the value that holds the token.
   * @default - the whole value
   */
  readonly property?: string | undefined;
}

/** Properties of {@link CredentialsReference}: those of LinkCredentials, with the place of the token instead of the token. */
export interface CredentialsReferenceProps extends CredentialsProps {
  /**
   * Place of the token for external-secrets.
   * @default - none: a Secret without a token is rendered, which the operator refuses until the token is added
   */
  readonly token?: StoredToken | undefined;
}

/** The template that external-secrets replaces with the token. */
const TOKEN = '{{ .token | trim }}';

/**
 * ExternalSecret, or Secret without a token, `cluster-credentials-<cluster>`: one for each copy of the credentials.
 * Synthesis fails for each prop that is invalid in the kubeconfig or the reference.
 */
export class CredentialsReference extends Construct {
  /** Name of the Secrets, and of the ExternalSecrets that create them. */
  readonly name: string;
  /** For the Secret that the operator reads. */
  readonly linkSecret: ApiObject;
  /** For the Secret that Linkerd's destination controller reads; undefined if `copies` is `link`. */
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
  // Not data, which is base64: a person adds the token here.
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
