import { describe, expect, it } from 'vitest';
import { ApiError, ConnectionError, LimitError } from '../../../operator/kube/errors.ts';
import { ReadHealth } from '../../../operator/runtime/health.ts';

const connected = { connected: true } as const;
const failing = (error: Error) => ({ connected: false, error }) as const;
const refused = failing(new ConnectionError('refused'));
const reset = failing(new ConnectionError('reset'));
const unauthorized = failing(new ApiError(401, {}, 'list'));
const forbidden = failing(new ApiError(403, {}, 'list'));

function setUp() {
  const reports: string[] = [];
  const health = new ReadHealth((obstacle) => {
    const error = obstacle?.error instanceof Error ? obstacle.error.message : 'none';
    reports.push([error, ...(obstacle?.namespaces ?? [])].join(' '));
  });
  return { health, reports };
}

describe('whether something can be read', () => {
  it('is reported at the first success, and then on change only', () => {
    const { health, reports } = setUp();
    health.report('services', connected);
    health.report('services', connected);
    health.report('slices', refused);
    health.report('slices', reset);
    health.report('services', refused);
    health.report('slices', connected);
    expect(reports).toEqual(['none', 'refused']);
    health.report('services', connected);
    expect(reports).toEqual(['none', 'refused', 'none']);
  });

  it('is reported anew when the obstacle is of another kind', () => {
    const { health, reports } = setUp();
    health.report('services', refused);
    health.report('services', unauthorized);
    health.report('services', unauthorized);
    expect(reports).toEqual(['refused', 'list: HTTP 401 (401)']);
  });

  it.each<[string, Error, Error]>([
    [
      'another resource is forbidden',
      new ApiError(403, { details: { kind: 'services' } }, 'list services'),
      new ApiError(403, { details: { kind: 'endpointslices' } }, 'list endpointslices'),
    ],
    ['another limit is exceeded', new LimitError('more than 50000 objects'), new LimitError('more than 1 MB')],
    [
      'the server is reached, and its certificate is not trusted',
      new ConnectionError('refused', { cause: Object.assign(new Error(), { code: 'ECONNREFUSED' }) }),
      new ConnectionError('self-signed', {
        cause: Object.assign(new Error(), { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' }),
      }),
    ],
  ])('is reported anew when %s (L150)', (_, first, second) => {
    const { health, reports } = setUp();
    health.report('services', failing(first));
    health.report('slices', failing(second));
    expect(reports).toHaveLength(1);
    health.report('services', connected);
    health.report('slices', failing(second));
    expect(reports).toHaveLength(2);
  });

  it('does not depend on a reflector that was stopped', () => {
    const { health, reports } = setUp();
    health.report('slices', refused);
    health.forget('slices');
    health.report('services', connected);
    expect(reports).toEqual(['refused', 'none']);
  });
});

describe('whether several namespaces can be read', () => {
  it('names those that refuse, if nothing else is in the way', () => {
    const { health, reports } = setUp();
    health.report('services', connected, 'shop');
    health.report('services', forbidden, 'bank');
    health.report('services', forbidden, 'shop');
    expect(reports).toEqual(['none', 'list: HTTP 403 (403) bank', 'list: HTTP 403 (403) shop bank']);
    expect([health.isRefused('bank'), health.isRefused('other')]).toEqual([true, false]);
  });

  it('reports what affects all before what affects one', () => {
    const { health, reports } = setUp();
    health.report('services', forbidden, 'bank');
    health.report('services', refused, 'shop');
    expect(reports).toEqual(['list: HTTP 403 (403) bank', 'refused']);
    health.report('services', connected, 'shop');
    expect(reports.at(-1)).toBe('list: HTTP 403 (403) bank');
  });

  it('names no namespace where all are read at once', () => {
    const { health, reports } = setUp();
    health.report('services', forbidden);
    expect(reports).toEqual(['list: HTTP 403 (403)']);
  });
});
