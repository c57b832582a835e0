/** Reports who may come through the gateway (rule M7): by Events on exported Services, metrics and log lines. */
import { formatFieldErrors } from '../../crds/field-error.ts';
import { Default, PolicyApi } from '../../crds/wire.ts';
import { describe } from '../kube/errors.ts';
import { keyOf, splitKey } from '../kube/objects.ts';
import type { Metrics } from '../metrics/index.ts';
import type { EventRecorder } from '../runtime/events.ts';
import type { Logger } from '../runtime/logger.ts';
import type { Pass, Reason } from '../runtime/tally.ts';
import type { SourceStores } from '../source/stores.ts';
import type { AccessDecision, AccessState, ObservedAccess } from './decide.ts';
import type { Export } from './exports.ts';

export interface AccessReportOptions {
  readonly source: Pick<SourceStores, 'services'>;
  readonly metrics: Pick<Metrics, 'setGatewayAccess'>;
  readonly events: Pick<EventRecorder, 'record'>;
  readonly log: Logger;
}

/** A Warning about an export. */
interface Finding {
  readonly reason: 'InvalidClients' | 'NoClients' | 'OpaqueNotAdmitted' | 'GatewayPolicyNotWritten';
  readonly message: string;
}

const NO_NETWORKS = `NetworkAuthentication ${PolicyApi.sourceCluster} is missing or names no networks: apply the GatewayPolicy, or Linkerd's chart, again`;

/** Maximum number of exports on which an Event is recorded for one failure. The log has the failure as well. */
const MAX_FAILURES = 50;

export class AccessReport {
  readonly #options: AccessReportOptions;
  /** The findings that were last reported about each export. Events are recorded only when the findings change. */
  readonly #reported = new Map<string, string>();
  #state: AccessState | undefined;
  #logged: string | undefined;

  constructor(options: AccessReportOptions) {
    this.#options = options;
  }

  /** Reports the state of the policy. Called when nothing more can be written now. */
  report(observed: ObservedAccess, decision: AccessDecision, { refusals, errors }: Pass<Reason>): void {
    const { state, admitted, foreign } = decision;
    const lacksNetworks = state === 'no-networks';
    const failure =
      refusals[0]?.message ?? (errors.length > 0 ? describe(errors[0]) : lacksNetworks ? NO_NETWORKS : undefined);
    const isOpen = observed.mode === 'open';
    const findings = new Map<string, readonly Finding[]>();
    let failed = 0;
    for (const each of isOpen && !lacksNetworks ? [] : observed.exports) {
      const isLeftOut = failure !== undefined && !admitted.has(each.key);
      if (isLeftOut) failed += 1;
      findings.set(each.key, [
        ...(isOpen ? [] : findingsOf(each, observed)),
        ...(isLeftOut && failed <= MAX_FAILURES ? [notWritten(failure)] : []),
      ]);
    }
    this.#record(findings);
    this.#options.metrics.setGatewayAccess(state, {
      admitted: admitted.size,
      refused: observed.exports.length - admitted.size,
    });
    if (lacksNetworks && this.#state !== state) this.#networksGone(observed);
    this.#log(state, failure, foreign.map(keyOf));
  }

  /**
   * Reports that the policy cannot be read, so that nothing is opened and nothing is closed. Does nothing if no kind is
   * known to be unreadable.
   */
  unread(kinds: string | undefined, exports: () => Iterable<Export>): void {
    if (kinds === undefined) return;
    const message = `${kinds} cannot be read in the operator's namespace: install Linkerd's CRDs, and grant the rights of the operator`;
    const findings = [...exports()].slice(0, MAX_FAILURES).map(({ key }) => [key, [notWritten(message)]] as const);
    this.#record(new Map(findings));
    this.#options.metrics.setGatewayAccess('pending');
    this.#log('pending', message, []);
  }

  /** Records an Event on the gateway's Server, because no NetworkAuthentication names the networks of clients. */
  #networksGone({ namespace }: ObservedAccess): void {
    const regarding = { apiVersion: PolicyApi.server, kind: 'Server', namespace, name: Default.gatewayName };
    this.#options.events.record(regarding, 'Warning', 'NoSourceNetworks', NO_NETWORKS);
  }

  #record(findings: ReadonlyMap<string, readonly Finding[]>): void {
    const { source, events } = this.#options;
    for (const key of this.#reported.keys()) if (!findings.has(key)) this.#reported.delete(key);
    for (const [key, found] of findings) {
      const text = JSON.stringify(found);
      if ((this.#reported.get(key) ?? '[]') === text) continue;
      this.#reported.set(key, text);
      const { uid } = source.services.get(key)?.metadata ?? {};
      const regarding = { apiVersion: 'v1', kind: 'Service', ...splitKey(key), uid };
      for (const { reason, message } of found) events.record(regarding, 'Warning', reason, message);
    }
  }

  #log(state: AccessState, failure: string | undefined, foreign: readonly string[]): void {
    const text = JSON.stringify([state, failure, foreign]);
    this.#state = state;
    if (text === this.#logged) return;
    this.#logged = text;
    const { log } = this.#options;
    const fields = { controller: 'gateway-access', state, ...(failure !== undefined && { error: failure }) };
    if (state === 'no-networks')
      log.warn(
        fields,
        'clients have no networks to come from: only what was admitted before is, from the networks that were named last',
      );
    else if (failure !== undefined) log.warn(fields, 'the policy of the gateway cannot be written');
    else if (state === 'not-opened')
      log.warn(
        fields,
        'the gateway stays closed: gatewayAccess is open, but no AuthorizationPolicy for its Server lets in every meshed client; apply the GatewayPolicy',
      );
    else log.info(fields, 'the policy of the gateway');
    if (foreign.length > 0 && state !== 'open')
      log.warn(
        { ...fields, policies: foreign },
        'policies that are not ours authorize clients for the whole gateway: they count beside what exports name',
      );
  }
}

const notWritten = (failure: string): Finding => ({
  reason: 'GatewayPolicyNotWritten',
  message: `cannot be reached through the gateway as exported: ${failure}`,
});

/** Returns the problems of an export that do not depend on the state of the policy. */
function findingsOf({ errors, identities, opaquePorts }: Export, { tcp }: ObservedAccess): readonly Finding[] {
  if (errors.length > 0)
    return [
      { reason: 'InvalidClients', message: `nobody may reach it through the gateway: ${formatFieldErrors(errors)}` },
    ];
  if (identities.length === 0)
    return [
      {
        reason: 'NoClients',
        message:
          'nobody may reach it through the gateway, since it names no clients: set annotation linkspan.dev/clients',
      },
    ];
  if (tcp !== 'none' || opaquePorts.length === 0) return [];
  return [
    {
      reason: 'OpaqueNotAdmitted',
      message: `the gateway refuses connections to the opaque ports ${opaquePorts.join(', ')}: gatewayTcp of the operator is none`,
    },
  ];
}
