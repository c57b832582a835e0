/** Plans that fail for a fault that is known and not mended yet. The one that mends it takes them out. */
export interface Known {
  readonly class: string;
  /** Names of the plans. */
  readonly plans: RegExp;
  readonly fault: string;
}

export const KNOWN: readonly Known[] = [
  {
    class: 'S2',
    plans: /^a pod made anew, "gone and back": west lags by 45000 ms after connections moved$/,
    fault: 'an endpoint mirror goes after its grace though the target, asked, has the pod again (D11)',
  },
];

/** Whether a plan is known to fail. */
export const isKnown = (plan: { readonly class: string; readonly name: string }): boolean =>
  KNOWN.some(({ class: id, plans }) => id === plan.class && plans.test(plan.name));
