import { describe, expect, it } from 'vitest';
import { type Entry, EventSeries, MAX_EVENT_MESSAGE, textOf } from '../../../operator/runtime/event-series.ts';

const LINK = { apiVersion: 'v1', kind: 'Link', namespace: 'ns', name: 'east', uid: 'u1' };

function setUp() {
  const forgotten: Entry[] = [];
  const series = new EventSeries({
    namespace: 'default',
    component: 'linkspan',
    onForgotten: (entry) => forgotten.push(entry),
  });
  const record = (message: string, regarding: Parameters<EventSeries['record']>[0] = LINK) =>
    series.record(regarding, 'Warning', 'Failed', message);
  return { series, forgotten, record };
}

describe('Events that are recorded (G3)', () => {
  it('are one if they repeat, by a name that every replica gives', () => {
    const { record, series } = setUp();
    const first = record('no route');
    expect(record('no route')).toBe(first);
    expect([first.pending, [...series.all()]]).toEqual([2, [first]]);
    expect(setUp().record('no route').name).toBe(first.name);
    expect(record('no route', { ...LINK, uid: 'u2' }).name).not.toBe(first.name);
  });

  it('are in the namespace of their object, or in one for all that have none', () => {
    const { record } = setUp();
    const { namespace: _, ...unplaced } = LINK;
    expect([record('a').namespace, record('a', unplaced).namespace]).toEqual(['ns', 'default']);
  });

  it('stand for all others once ten differ, with their number and the latest', () => {
    const { record, series } = setUp();
    for (let index = 0; index < 15; index += 1) record(`Service ${index}`);
    const entries = [...series.all()];
    expect(entries.map(({ isAggregate }) => isAggregate)).toEqual([...Array<boolean>(10).fill(false), true]);
    const last = entries.at(-1)!;
    expect(last.pending).toBe(5);
    expect(textOf(last, 5)).toBe('and 5 more with this reason, the latest: Service 14');
  });

  it('are forgotten, those recorded longest ago first, beyond a thousand', () => {
    const { record, forgotten, series } = setUp();
    const of = (index: number) => ({ ...LINK, uid: `u${index}` });
    for (let index = 0; index < 1000; index += 1) record('a', of(index));
    record('a', of(0));
    record('a', of(1000));
    expect(forgotten.map(({ regarding }) => regarding.uid)).toEqual(['u1']);
    expect([...series.all()]).toHaveLength(1000);
  });

  it('are cut to what the API takes, between two characters', () => {
    const { message } = setUp().record('ä'.repeat(MAX_EVENT_MESSAGE));
    expect(Buffer.byteLength(message)).toBeLessThanOrEqual(MAX_EVENT_MESSAGE);
    expect(message).toMatch(/^ä+…$/);
  });
});
