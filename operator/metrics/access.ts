/** What is measured of who may come through the gateway. */
import type { Instruments } from './instruments.ts';

const STATES = ['open', 'closed', 'pending', 'no-gateway', 'no-networks', 'not-opened'] as const;

export function accessMetrics({ gauge }: Instruments) {
  const exports = gauge(
    'linkspan_gateway_access_exports',
    'Exports of this cluster, by whether those whom they name can reach them through the gateway: true or false',
    'admitted',
  );
  const state = gauge(
    'linkspan_gateway_access_state',
    'Always 1, for what the policy of the gateway is: open, closed, pending, no-gateway, no-networks or not-opened',
    'state',
  );
  return {
    /**
     * Sets the state of the policy, and how many exports are admitted and how many are not.
     * @param counts undefined if they are not known: they stay as they were
     */
    setGatewayAccess: (now: (typeof STATES)[number], counts?: { admitted: number; refused: number }): void => {
      for (const each of STATES) if (each !== now) state.remove({ state: each });
      state.set({ state: now }, 1);
      if (counts === undefined) return;
      const { admitted, refused } = counts;
      exports.set({ admitted: 'true' }, admitted);
      exports.set({ admitted: 'false' }, refused);
    },
  };
}
