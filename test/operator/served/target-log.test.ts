import { expect, it } from 'vitest';
import { TargetLog } from '../../../operator/served/target-log.ts';
import { type LogRecord, RecordedReport, recordingLog } from '../link/recorded.ts';

it('reports the first object that the API does not allow, then the others with their number (G3, L50)', () => {
  const records: LogRecord[] = [];
  const report = new RecordedReport();
  const log = new TargetLog('west', recordingLog([], records), report);
  for (let count = 0; count < 200; count += 1) log.malformed(`EndpointSlice shop/web-${count}`);
  const first = 'Warning MalformedObject ignored an object that the target sent: EndpointSlice shop/web-0';
  expect(report.events).toEqual([first]);
  log.flush();
  expect(report.events).toEqual([
    first,
    'Warning MalformedObject ignored an object that the target sent: EndpointSlice shop/web-199, and 198 more',
  ]);
  expect(records.map(({ fields }) => fields)).toEqual([
    { link: 'west', object: 'EndpointSlice shop/web-0' },
    { link: 'west', object: 'EndpointSlice shop/web-199', more: 198 },
  ]);
});

it('names the Service about which the target does not answer, and why', () => {
  const records: LogRecord[] = [];
  new TargetLog('west', recordingLog([], records), new RecordedReport()).unanswered('shop/web', new Error('timed out'));
  expect(records).toMatchObject([{ level: 'warn', fields: { link: 'west', service: 'shop/web', error: 'timed out' } }]);
});
