/** The page of the Link: an example, and what each reason of each condition means. */
import { LINK_SCHEMA } from '../../../crds/link/schema.ts';
import { type KindPage, PENDING } from './spec-page.ts';

const FORBIDDEN = 'the API server of the target refuses the account something that it needs';
const UNAUTHORIZED = 'the API server of the target does not know the token';

export const LINK: KindPage = {
  kind: 'Link',
  intro:
    "Names a target cluster, how it is reached, and what is mirrored from it. The kind is Linkerd's; fields and reasons that are marked `Linkspan` are additions, and all of them are optional.",
  example: `apiVersion: multicluster.linkerd.io/v1alpha3
kind: Link
metadata:
  name: west
  namespace: linkerd-multicluster
spec:
  targetClusterName: west
  clusterCredentialsSecret: cluster-credentials-west
  gatewayAddress: 203.0.113.10
  gatewayPort: "4143"
  gatewayIdentity: linkerd-gateway.linkerd-multicluster.serviceaccount.identity.linkerd.cluster.local
  probeSpec: { path: /ready, port: "4191", period: 3s }
  selector:
    matchLabels:
      mirror.linkerd.io/exported: "true"`,
  schema: LINK_SCHEMA,
  conditions: [
    {
      type: 'Ready',
      about: 'Whether the mirrors follow the target: the first of the other conditions that is false, or this',
      reasons: {
        Ready: 'the mirrors follow the target',
        SomeNotMirrored: 'true; some Services are not mirrored, counted by reason in the message',
        SomeNotJoined: 'true; some members do not join their federated Services',
        HeldByAnother: 'another writer holds the Lease of the Link',
        PruneHeld: 'deletions are held, see condition `PruneHeld`',
        Pending: PENDING,
      },
    },
    {
      type: 'Accepted',
      about: 'Whether the Link is served as it is written',
      reasons: {
        Accepted: 'it is valid',
        InvalidLink: 'a field is invalid; the Link is served by its last valid spec, if it had one',
        DuplicateCluster: 'an older Link has the same `targetClusterName`, or Links have exchanged theirs',
        FormerClusterSuspended:
          'a suspended Link has the cluster that it named before, and its Lease records the mirrors',
        Suspended: 'an annotation leaves it to another controller',
        Pending: PENDING,
      },
    },
    {
      type: 'CredentialsValid',
      about: 'Whether the Secret leads to the target',
      reasons: {
        Valid: 'they are in use',
        SecretNotFound: 'there is no such Secret',
        SecretNotListed: 'the operator may not read it, by `--credentials-secrets`',
        SecretInvalid: 'it has no `kubeconfig`',
        CredentialsExpired:
          'the token ended, and nobody renewed it in time; the message names the command that mints another',
        KubeconfigInvalid: 'the kubeconfig holds what is not accepted; the message names each field',
        CredentialsUnusable: 'no connection can be made of it',
        Unauthorized: UNAUTHORIZED,
        Forbidden: FORBIDDEN,
        Untried: 'the new ones could not be tried; the old ones stay in use',
        Pending: PENDING,
      },
    },
    {
      type: 'TargetReachable',
      about: 'Whether the target can be read',
      reasons: {
        Connected: 'it is read',
        NothingSelected: 'no selector selects anything, so nothing is read',
        Unreachable: 'it cannot be read; mirrors stay as they are',
        NamespaceForbidden: 'some of `targetNamespaces` may not be read; what is mirrored from there stays',
        Pending: PENDING,
      },
    },
    {
      type: 'TargetWithinLimits',
      about: 'Whether the target exports no more than the limits allow',
      reasons: {
        WithinLimits: 'it does not',
        LimitExceeded: 'it does; what is mirrored stays, and the message names the limit',
        Pending: PENDING,
      },
    },
    {
      type: 'GatewayResolved',
      about: 'Whether the addresses of the gateway are known',
      reasons: {
        Resolved: 'they are',
        NoGateway: 'the Link has no gateway',
        LookupFailed: 'a host name does not resolve; the last answer stays in use',
        LimitExceeded: 'there are more addresses than are used',
        Pending: PENDING,
      },
    },
    {
      type: 'GatewayAlive',
      about: 'The verdict of the probes',
      reasons: {
        ProbeSucceeded: 'the gateway answers',
        ProbeFailed: 'it does not; endpoints behind it are not ready',
        NotProbed: 'the Link has no `probeSpec.path`',
        NoGateway: 'the Link has no gateway',
        Pending: 'no verdict yet; endpoints keep their readiness',
      },
    },
    {
      type: 'Synced',
      about: 'Whether this generation of the Link has been applied',
      reasons: {
        Synced: 'it has',
        LeaseUnavailable: 'the Lease of the Link may not be written',
        SourceForbidden: 'the source cluster refuses the operator something that it needs',
        RemovingMirrors: 'what another Link of the name left is removed first',
        Pending: PENDING,
      },
    },
    {
      type: 'PruneHeld',
      about: 'Whether deletions wait for a person',
      reasons: {
        NothingHeld: 'none do',
        MassDeletion: 'many exports are gone at once; the message has the command that confirms their deletion',
        Pending: PENDING,
      },
    },
    {
      type: 'Mirrored',
      about: 'Of an entry of `status.mirrorServices` or `status.federatedServices`',
      reasons: {
        Mirrored: 'it is',
        InvalidService: 'a Service of this form cannot be mirrored',
        InvalidName: 'the name of its mirror would not be valid',
        MissingNamespace: 'the namespace does not exist in the source cluster',
        NamespaceNotAllowed: 'the operator may not write to that namespace',
        NameConflict: 'somebody else has the name',
        WaitingForEndpoints: 'a headless Service has no endpoints yet',
        WaitingForGateway: 'no address of the gateway is known yet',
        WaitingForCredentials: 'the control plane has no credentials of the target',
        WaitingForLease: 'another writer holds a Lease that this needs',
        PortMismatch: 'the ports differ from those of the other members',
        ModeMismatch: 'other members are reached in another way',
        LimitExceeded: 'it is beyond a limit of the Link',
        NotAdmitted: 'the import policy of the Link does not admit it',
        WaitingForApproval: 'the import policy requires that it is approved: `linkspan approve`',
        ServedByAnother: 'another operator of this cluster serves it',
        Error: 'a write failed; it is tried again',
      },
    },
  ],
  when: {
    "the target's API server is down": 'Mirrors stay as they are (E4), and follow the gateway.',
    'the gateway is down': 'Endpoints behind it are not ready, within seconds (F3).',
    'the Link is deleted': 'Its mirrors are removed, also those of an operator that was away (E5).',
    'all Links vanish at once': 'Mirrors stay for ten minutes, as their CRD or namespace may be gone by mistake.',
    'the target comes back empty': 'A loss of many is held until it is confirmed (E6).',
  },
  sources: [
    'link/links',
    'link/link',
    'link/status/status',
    'link/session-findings',
    'link/leftovers',
    'link/session',
    'gateway/gateway',
    'target/credentials',
    'target/advice',
    'served/reachability',
    'served/exports',
    'mirror/reasons',
    'mirror/status',
    'mcs/session-party',
  ],
};
