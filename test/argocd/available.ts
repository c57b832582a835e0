/** A suite on the real Argo CD; skipped, visibly, where global-setup.ts found none. */
import { describe } from 'vitest';
import { backings } from '../cluster/backings.ts';

/** Environment variable by which the tests learn whether there is an Argo CD. */
export const AVAILABLE_VARIABLE = 'LINKSPAN_TEST_ARGOCD';

/** `describe` for what Argo CD alone can show. */
export const onArgoCd = (title: string, suite: () => void): void => {
  const available = process.env[AVAILABLE_VARIABLE] === 'true' && backings().includes('real');
  describe.runIf(available)(`${title} [argocd]`, suite);
};
