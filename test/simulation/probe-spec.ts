/** How the Links of a history probe their gateways. */

/** Time between two probes. */
export const PROBE_PERIOD_MS = 3_000;
/** Failed probes in a row after which a gateway is dead. */
export const PROBE_THRESHOLD = 3;

/** Field `probeSpec` of a Link. */
export const PROBE = {
  ...{ path: '/ready', port: '4191', period: `${PROBE_PERIOD_MS / 1000}s`, timeout: '30s' },
  failureThreshold: String(PROBE_THRESHOLD),
};
