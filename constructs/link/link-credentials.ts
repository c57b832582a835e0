/**
 * The credentials of a target cluster with the token. Keep such manifests as secret as the token, and out of Git.
 * Errors never quote the token.
 */
import { ApiObject, Chart } from 'cdk8s';
import { Construct } from 'constructs';
import { type FieldError, fieldError } from '../../crds/field-error.ts';
import { CredentialsSecret } from '../../crds/wire.ts';
import { acceptProps } from '../common/props.ts';
import {
  credentialsCopies,
  credentialsErrors,
  type CredentialsProps,
  kubeconfig,
  type SecretMetadata,
  STAND_IN,
} from './kubeconfig.ts';
import { LINK_CREDENTIALS_PROPS } from './schema.gen.ts';

/** Properties of {@link LinkCredentials}. */
export interface LinkCredentialsProps extends CredentialsProps {
  /**
   * Bearer token of a ServiceAccount of the target. The rendered manifest contains it: keep it secret.
   * @writeOnly
   */
  readonly token: string;
}

/**
 * Secret `cluster-credentials-<cluster>`, in the Link's namespace and in the control plane's.
 * Synthesis fails for each prop that the operator would refuse in a kubeconfig.
 */
export class LinkCredentials extends Construct {
  /** Name of both Secrets. */
  readonly name: string;
  /** The Secret that the operator reads. */
  readonly linkSecret: ApiObject;
  /** The Secret that Linkerd's destination controller reads; undefined if `copies` is `link`. */
  readonly controlPlaneSecret: ApiObject | undefined;

  constructor(scope: Construct, id: string, given: LinkCredentialsProps) {
    super(scope, id);
    const { namespace } = Chart.of(this);
    const props = acceptProps(this, LINK_CREDENTIALS_PROPS, given, { ...STAND_IN, token: 'invalid' }, (given) => {
      const { link } = credentialsCopies(given, namespace);
      return {
        construct: `LinkCredentials ${link.namespace}/${link.name}`,
        found: [...credentialsErrors(given, namespace), bearerToken('token', given.token)],
      };
    });
    const { link, controlPlane } = credentialsCopies(props, namespace);
    this.name = link.name;

    const data = { [CredentialsSecret.key]: Buffer.from(kubeconfig(props)).toString('base64') };
    const make = (id: string, metadata: SecretMetadata): ApiObject =>
      new ApiObject(this, id, { apiVersion: 'v1', kind: 'Secret', type: CredentialsSecret.type, metadata, data });
    this.linkSecret = make('Resource', link);
    this.controlPlaneSecret = controlPlane && make('ControlPlane', controlPlane);
  }
}

const bearerToken = (path: string, value: string): FieldError | undefined => {
  if (value === '') return fieldError(path, undefined, 'must not be empty');
  return /^[\x21-\x7e]+$/.test(value)
    ? undefined
    : fieldError(path, undefined, 'must be a token without spaces or line breaks');
};
