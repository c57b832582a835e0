import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { limitedLog } from '../../../operator/runtime/limited-log.ts';
import type { Logger } from '../../../operator/runtime/logger.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function setUp() {
  const lines: { readonly level: string; readonly fields: object; readonly message: string }[] = [];
  const at = (level: string) => (fields: object, message: string) => void lines.push({ level, fields, message });
  const log: Logger = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
  return { lines, log: limitedLog(log) };
}

describe('log lines of one message about one Link (G3)', () => {
  it('are 25 at once, then one a minute with the number of the others', () => {
    const { lines, log } = setUp();
    for (let n = 0; n < 1_000; n += 1) log.warn({ link: 'west', n }, 'failed');
    expect(lines).toHaveLength(25);
    expect(lines[0]).toEqual({ level: 'warn', fields: { link: 'west', n: 0 }, message: 'failed' });
    vi.advanceTimersByTime(60_000);
    expect(lines.slice(25)).toEqual([
      { level: 'warn', fields: { link: 'west', n: 999, more: 974 }, message: 'failed' },
    ]);
  });

  it('hold up no line of another Link, message or level', () => {
    const { lines, log } = setUp();
    for (let n = 0; n < 1_000; n += 1) log.warn({ link: 'west' }, 'failed');
    log.warn({ link: 'east' }, 'failed');
    log.warn({ link: 'west' }, 'failed otherwise');
    log.info({ link: 'west' }, 'failed');
    log.error({ controller: 'link/west' }, 'failed');
    expect(lines).toHaveLength(29);
  });

  it('are not limited at debug', () => {
    const { lines, log } = setUp();
    for (let n = 0; n < 100; n += 1) log.debug({ link: 'west' }, 'written');
    expect(lines).toHaveLength(100);
  });

  it('that are held are written at the end', () => {
    const { lines, log } = setUp();
    for (let n = 0; n < 30; n += 1) log.info({ link: 'west' }, 'x');
    log.flush();
    expect(lines.at(-1)?.fields).toEqual({ link: 'west', more: 4 });
  });

  it('are remembered of a limited number of Links, and none is lost when one is forgotten', () => {
    const { lines, log } = setUp();
    for (let n = 0; n < 26; n += 1) log.info({ link: 'west' }, 'x');
    for (let n = 0; n < 2_000; n += 1) log.info({ link: `link-${n}` }, 'x');
    expect(lines).toHaveLength(2_026);
    log.info({ link: 'west' }, 'x');
    expect(lines).toHaveLength(2_027);
  });
});
