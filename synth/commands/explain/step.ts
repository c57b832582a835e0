/** A step of an explanation. Pure. */

/** `warning`: it goes on, but something is not as it should be. `unknown`: it goes on, but nobody has looked at this. */
export type State = 'ok' | 'warning' | 'unknown' | 'stop';

export interface Step {
  readonly step: string;
  readonly state: State;
  readonly message: string;
  /** What the user can do, unless the message says so; each command stands between backticks. */
  readonly remedy?: string;
}

export const ok = (step: string, message: string): Step => ({ step, state: 'ok', message });

export const stop = (step: string, message: string, remedy?: string): Step => ({
  step,
  state: 'stop',
  message,
  ...(remedy !== undefined && { remedy }),
});

export const warning = (step: string, message: string, remedy?: string): Step => ({
  ...stop(step, message, remedy),
  state: 'warning',
});

export const unknown = (step: string, message: string, remedy?: string): Step => ({
  ...stop(step, message, remedy),
  state: 'unknown',
});
