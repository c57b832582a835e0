/**
 * The health of a Link in every state that the operator writes, as Argo CD itself sees it: its own program evaluates our
 * Lua on statuses that come from the operator's own function.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { mirrored, notMirrored, type MirrorStatus } from '../../operator/mirror/status.ts';
import { verdict } from '../../operator/kube/conditions.ts';
import { type LinkFindings, linkStatus } from '../../operator/link/status/status.ts';
import { link } from '../support/builders.ts';
import { onArgoCd } from './available.ts';
import { HealthOf } from './health-of.ts';

const NOW = new Date('2026-01-02T03:04:05Z');
const yes = verdict('True', 'Fine', '');
const no = (reason: string, message: string) => verdict('False', reason, message);
const remote = { namespace: 'shop', name: 'web' };
const mirrors = (status: MirrorStatus): LinkFindings['mirrors'] => new Map([['shop/web', status]]);

const WELL: LinkFindings = {
  namespace: 'linkerd-multicluster',
  name: 'west',
  generation: 1,
  settingsGeneration: 1,
  accepted: yes,
  isServed: true,
  credentials: yes,
  reachable: yes,
  withinLimits: yes,
  resolved: yes,
  gatewayAlive: yes,
  synced: yes,
  isUnhindered: true,
  pruneHeld: 0,
  confirmation: undefined,
  someHeld: [],
  notAdmitted: undefined,
  federated: new Map(),
  heldBy: undefined,
  gateway: { port: 4143, addresses: ['203.0.113.1'], alive: true },
  mirrors: mirrors(mirrored(remote, 'west', '')),
};

/** What the operator writes when it finds this, in place of that all is well. */
const status = (findings: Partial<LinkFindings>, before: object = {}): object =>
  linkStatus({ ...WELL, ...findings }, before, NOW);

const { Healthy, Progressing, Degraded } = { Healthy: 'Healthy', Progressing: 'Progressing', Degraded: 'Degraded' };

const fromLinkerd = {
  mirrorServices: [{ controllerName: 'linkerd.io/service-mirror', remoteRef: remote, conditions: [] }],
};

interface State {
  readonly is: string;
  readonly status?: object;
  readonly generation?: number;
  readonly health: string;
  readonly message: string;
}

const STATES: readonly State[] = [
  { is: 'no operator has seen', health: Progressing, message: 'the operator has not reported yet' },
  { is: 'works', status: status({}), health: Healthy, message: 'the mirrors follow the target' },
  {
    is: 'works, and a Service of its target cannot be mirrored',
    status: status({
      mirrors: mirrors(notMirrored(remote, 'west', { reason: 'MissingNamespace', message: 'no namespace shop' })),
    }),
    health: Healthy,
    message: '1 of 1 Services are not mirrored: 1 MissingNamespace',
  },
  {
    is: 'works without a verdict on the gateway yet',
    status: status({ gatewayAlive: undefined }),
    health: Healthy,
    message: 'the mirrors follow the target',
  },
  {
    is: 'has been changed since',
    status: status({}),
    generation: 2,
    health: Progressing,
    message: 'the operator has not seen the last change yet',
  },
  {
    is: 'is new',
    status: status({
      accepted: verdict('Unknown', 'Pending', ''),
      credentials: undefined,
      reachable: undefined,
      resolved: undefined,
      gatewayAlive: undefined,
      synced: undefined,
      mirrors: undefined,
    }),
    health: Progressing,
    message: 'Accepted is not known yet',
  },
  {
    is: 'has not caught up yet',
    status: status({ synced: undefined }),
    health: Progressing,
    message: 'Synced is not known yet',
  },
  {
    is: 'is invalid',
    status: status({ accepted: no('InvalidLink', 'spec.gatewayPort: "http" must be between 1 and 65535') }),
    health: Degraded,
    message: 'spec.gatewayPort: "http" must be between 1 and 65535',
  },
  {
    is: 'names a cluster that another serves',
    status: status({ accepted: no('DuplicateCluster', 'is already served by Link older') }),
    health: Degraded,
    message: 'is already served by Link older',
  },
  ...['SecretNotFound', 'SecretInvalid', 'KubeconfigInvalid', 'Unauthorized', 'Forbidden', 'Untried'].map((reason) => ({
    is: `has credentials that are refused: ${reason}`,
    status: status({ credentials: no(reason, `the reason is ${reason}`), reachable: undefined, synced: undefined }),
    health: Degraded,
    message: `the reason is ${reason}`,
  })),
  {
    is: 'cannot reach its target',
    status: status({ reachable: no('Unreachable', 'connect ECONNREFUSED; existing mirrors stay as they are') }),
    health: Degraded,
    message: 'connect ECONNREFUSED; existing mirrors stay as they are',
  },
  {
    is: 'cannot resolve its gateway',
    status: status({ resolved: no('LookupFailed', 'gateway.west.example.com: ENOTFOUND') }),
    health: Degraded,
    message: 'gateway.west.example.com: ENOTFOUND',
  },
  {
    is: 'has a dead gateway',
    status: status({ gatewayAlive: no('ProbeFailed', '3 probes failed') }),
    health: Degraded,
    message: '3 probes failed',
  },
  {
    is: 'holds deletions back',
    status: status({ pruneHeld: 42 }),
    health: Degraded,
    message: '42 deletions are held back; see condition PruneHeld',
  },
  {
    is: 'is served by another',
    status: status({ heldBy: 'linkerd-service-mirror-west-0', mirrors: undefined }),
    health: Degraded,
    message: 'linkerd-service-mirror-west-0 writes for this Link and holds its Lease; stop it to hand the Link over',
  },
  {
    is: "is of Linkerd's CRD, which keeps no conditions",
    status: fromLinkerd,
    generation: 3,
    health: Healthy,
    message: 'conditions are not known: the installed CRD of the Link does not keep them',
  },
];

onArgoCd('The health of a Link', () => {
  let health: HealthOf;
  beforeAll(async () => {
    health = await HealthOf.start();
  });
  afterAll(() => health.stop());

  test.each(STATES)('is $health when it $is', async ({ status, generation = 1, health: wanted, message }) => {
    const object = { ...link('west', {}, { generation }), ...(status !== undefined && { status }) };
    expect(await health.print(object)).toBe(`STATUS: ${wanted}\nMESSAGE: ${message}`);
  });
});
