import { describe, expect, it } from 'vitest';
import { MAX_CONDITION_MESSAGE } from '../../../operator/kube/conditions.ts';
import { ApiError } from '../../../operator/kube/errors.ts';
import { targetProblem } from '../../../operator/target/advice.ts';

describe('namespaces of a target that may not be read', () => {
  const refused = (namespaces: readonly string[]) =>
    targetProblem({
      error: new ApiError(403, { reason: 'Forbidden', message: 'm'.repeat(300) }, 'list services'),
      namespaces,
    });

  it('are named, with what the API server says', () => {
    expect(refused(['bank', 'shop']).problem).toMatch(
      /^namespace bank, shop of the target may not be read: list services: m+/,
    );
  });

  it('leave room for what the API server says and for the remedy, however many and long they are', () => {
    const { problem, fate, remedy } = refused(Array.from({ length: 100 }, (_, n) => String(n).padStart(63, 'n')));
    expect(problem).toMatch(/^namespace n+0, n+1, n+2, n+3, n+4 and 95 more of the target may not be read: list serv/);
    const message = `${problem}; ${fate} (since 2026-01-01T00:00:00.000Z)${remedy}`;
    expect(message.length).toBeLessThanOrEqual(MAX_CONDITION_MESSAGE);
  });
});
