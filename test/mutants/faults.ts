/**
 * The track record: faults that the operator once had, as defects that put them back, who found each, and what finds it now.
 * Several defects together make one fault where more than one place guards against it. `npm run fuzz -- --defects` checks it;
 * docs/reliability.md shows it.
 */
import type { Defect } from './defect.ts';
import { DEFECTS } from './defects/index.ts';

export interface Fault {
  /** The lesson in docs/lessons.md, or the rule in docs/behaviour.md. */
  readonly rule: string;
  /** Names of the defects that make it; all of them at once. */
  readonly defects: readonly string[];
  /** Who found it. @default - reports and reading, before this record */
  readonly by?: string;
  /** How many histories, or plans, it took when that was counted last. */
  readonly needed?: number;
  /** The plans that find it: their class, and what their names contain. @default - histories find it */
  readonly plans?: { readonly class: string; readonly named: string };
  /** Why neither histories nor plans can show it. Then the tests of its defects hold it alone. */
  readonly outside?: string;
}

export const FAULTS: readonly Fault[] = [
  {
    rule: 'L44',
    defects: ['a Lease of another Link still records the cluster', 'an invalid Link names no cluster'],
    needed: 281,
  },
  { rule: 'L44', defects: ['M1 a removal starts although an invalid Link names the cluster'], needed: 281 },
  {
    rule: 'L41',
    defects: ['M6 M7 the mirrors of a Link that is gone are deleted although another has its cluster'],
    needed: 1,
  },
  { rule: 'L43', defects: ['L43 a removal does not begin while deletions are held'], needed: 2 },
  { rule: 'E7', defects: ['a Link that is invalid when the operator starts is not served as it was'], needed: 181 },
  { rule: 'L42', defects: ['an invalid Link does not keep the cluster that it was served for'], needed: 124 },
  { rule: 'L42', defects: ['the served Link does not keep its cluster from an older one'], needed: 52 },
  { rule: 'L45', defects: ['what the list of another cluster takes away is not counted'], needed: 9 },
  {
    rule: 'L48',
    defects: ['a Lease waits behind the writes of mirrors', 'all writes of a key are under way at once'],
    outside: 'no Service has thousands of pods',
  },
  {
    rule: 'L49',
    defects: ['connections look names up by threads of the process', 'probes look names up by threads of the process'],
    outside: 'threads of the process are not simulated',
  },
  { rule: 'L50', defects: ['a line or an item of any length is read'], outside: 'memory is not simulated' },
  { rule: 'L47', defects: ['L47 an entry of the status without conditions ends the process'], needed: 121 },
  {
    rule: 'L52',
    defects: [
      'a write that failed counts as undone by somebody else',
      'a change of readiness is put off as a repair that is undone',
    ],
    needed: 83,
  },
  { rule: 'A7', defects: ['what a target says of its age takes a name from another Link'], needed: 155 },
  {
    rule: 'L46',
    defects: ['what is held is not counted with what the next list takes'],
    needed: 192,
    plans: { class: 'S1', named: 'a loss that is held' },
  },
  { rule: 'L46', defects: ['a list of slices takes endpoint mirrors away uncounted'], needed: 39 },
  {
    rule: 'E2',
    defects: ['credentials that may read less replace those that may read more'],
    outside: 'no Link of a history reads single namespaces of its target',
  },
  { rule: 'L51', defects: ['any event is proof that the server is well'], needed: 80 },
  { rule: 'L51', defects: ['a server on which everything has expired is asked without a pause'], needed: 80 },
  {
    rule: 'G3',
    defects: ['each of a thousand failing Services is an Event of its own'],
    outside: 'there are too few Services for the rate of Events to matter',
  },
  { rule: 'L66', defects: ['a mirror is deleted before the target has confirmed it'], needed: 26 },
  {
    rule: 'H3',
    defects: ['a server is asked for watches that outlast the silence that is allowed', 'a single silence is reported'],
    needed: 4,
  },
  { rule: 'L53', defects: ['ca.crt is read once'], outside: 'neither TLS nor files are simulated' },
  {
    rule: 'G1',
    defects: ['Synced is true of a Link before its change has been applied'],
    plans: { class: 'S5', named: 'edit of a Link: the operator goes on' },
    needed: 19,
  },
  { rule: 'L68', defects: ['a federated Service goes with its last member before all clusters are known'], needed: 49 },
  {
    rule: 'L69',
    defects: ['L69 a write that was sent under a Lease is given up, and may be made later'],
    plans: { class: 'S5', named: 'is stopped amidst' },
    needed: 4,
  },
  { rule: 'J2', defects: ['requests go back before the hold-down is over'], needed: 166 },
  { rule: 'J3', defects: ['nothing is known of the mirrors of a suspended Link'], needed: 56 },
  { rule: 'J3', defects: ['a status that somebody else writes stays as it is'], needed: 36 },
  {
    rule: 'J3',
    by: 'histories',
    defects: ['a route is left as it is while the one of another kind that replaces it cannot be there'],
    needed: 420,
  },
  {
    rule: 'J4',
    defects: ["Linkerd's own HTTPRoutes are not looked at"],
    plans: { class: 'E1', named: 'beside routes' },
    needed: 14,
  },
  {
    rule: 'C3',
    by: 'histories',
    defects: ['a mirror that is kept keeps the selector that somebody has given it'],
  },
  { rule: 'J6', defects: ['two operators serve one ServiceFailover'], needed: 37 },
  {
    rule: 'J6',
    defects: ['routes are written before another operator can see whose the ServiceFailover is'],
    needed: 37,
  },
  {
    rule: 'L54',
    defects: [
      'mirrors are written although the Lease may have expired',
      'a status is written although the Lease may have expired',
    ],
    plans: { class: 'S5', named: 'sleeps past its Leases' },
    needed: 3,
  },
  {
    rule: 'A7',
    defects: ['what is gone still claims its name'],
    outside: "it shows only while Linkerd's controller holds the Lease, and that has stopped when a history is at rest",
  },
  { rule: 'C3', defects: ['slices that others give our Services stay'], needed: 3 },
  {
    rule: 'I8',
    defects: ['a slice of a federated Service that has lost the label of its Service is nobody’s'],
    needed: 168,
  },
  { rule: 'H2', defects: ['an operator that stops waits for whatever hangs'], needed: 2 },
  { rule: 'G4', defects: ['a Link that is gone is still measured'], outside: 'no history looks at metrics' },
  { rule: 'K2', defects: ['an export is as old as its target says'], needed: 62 },
  { rule: 'K2', defects: ['of two exports of one age that decides whose cluster has the first id'], needed: 405 },
  { rule: 'K6', defects: ['a ServiceImport does not name its derived Service'], needed: 2 },
  { rule: 'K7', by: 'histories', defects: ['a ServiceImport that another operator serves is deleted'], needed: 395 },
  {
    rule: 'I9',
    defects: ['what leads to clusters of another operator is deleted'],
    plans: { class: 'E1', named: 'beside another operator' },
    needed: 16,
  },
  { rule: 'K3', defects: ['an address that is yet to be given back counts as taken'], needed: 215 },
  { rule: 'L81', defects: ['L81 a ServiceImport goes with its last cluster before all others are known'], needed: 91 },
  {
    rule: 'L82',
    defects: ['L82 a target that is called as the cluster itself keeps what the latter exported'],
    outside: 'when a history comes to rest, no cluster has the name of another',
  },
  {
    rule: 'L84',
    by: 'histories',
    defects: ['L84 a watch that was refused goes on though the server was away meanwhile'],
    outside:
      'one history of some 6,500 had it: a kind must come back just before its cluster is restored, as in test/simulation/feature-regressions.test.ts',
  },
  {
    rule: 'L85',
    by: 'histories',
    defects: ['L85 a derived Service that names another operator is put right before that can take it over'],
    outside: 'one history of some 4,000 had it: two operators must make a ServiceImport within milliseconds',
  },
  { rule: 'L83', defects: ['L83 a status that a restored backup has taken back is never written again'] },
  {
    rule: 'L68',
    defects: ['a federated Service goes although a member waits for the address of its gateway'],
    outside:
      'the only Link with members must get another cluster name at that very time: test/simulation/feature-regressions.test.ts has such a history',
  },
  {
    rule: 'E10',
    by: 'review',
    defects: ['an endpoint mirror copies all annotations of its Service'],
    outside: 'no history has large annotations',
  },
  {
    rule: 'E10',
    by: 'review',
    defects: ['what federated Services and ServiceImports take is not counted'],
    outside: 'no history has large annotations',
  },
  {
    rule: 'C2',
    by: 'review',
    defects: ['every address that a name leads to is used'],
    outside: 'no name of a history leads to many addresses',
  },
  {
    rule: 'D5',
    by: 'review',
    defects: ['at the limit endpoint mirrors go while their slices are not known'],
    needed: 9,
  },
  {
    rule: 'D6',
    by: 'review',
    defects: ['a pod in two slices with one port name and two numbers loses its endpoint mirror'],
    needed: 14,
  },
  {
    rule: 'C1',
    by: 'review',
    defects: ['mirrors of a Service that is refused do not follow the gateway'],
    needed: 270,
  },
  { rule: 'E4', by: 'review', defects: ['one connection that breaks makes a target unreachable'], needed: 1 },
  { rule: 'H5', by: 'review', defects: ['an operator whose rights are taken away while it runs is ready'], needed: 1 },
  { rule: 'C1', by: 'review', defects: ['an empty mirror is ready behind a dead gateway after a restart'], needed: 83 },
  {
    rule: 'A7',
    by: 'P1',
    defects: ['a name that is given up is noticed by a retry'],
    needed: 3,
    plans: { class: 'P1', named: 'one name' },
  },
  {
    rule: 'D3',
    by: 'review',
    defects: ['a mirror that must be replaced is deleted before its successor is known to be accepted'],
    needed: 26,
  },
  {
    rule: 'E10',
    by: 'review',
    defects: ['every pod of a headless Service is rendered with each event of one'],
    needed: 367,
  },
  {
    rule: 'E10',
    by: 'review',
    defects: ['all pods of a headless Service are rendered in one turn of the event loop'],
    needed: 154,
  },
  { rule: 'E10', by: 'histories', defects: ['all mirrors that are kept are rendered in one turn of the event loop'] },
  {
    rule: 'C3',
    by: 'histories',
    defects: ['what somebody keeps creating is deleted without a pause'],
    needed: 4,
    plans: { class: 'E2', named: 'is made anew' },
  },
  {
    rule: 'C3',
    by: 'E2',
    defects: ['what somebody keeps deleting is created without a pause'],
    needed: 2,
    plans: { class: 'E2', named: 'is deleted' },
  },
  {
    rule: 'E6',
    by: 'S1',
    defects: ['who is stopped amidst a confirmed loss holds the rest anew'],
    needed: 203,
    plans: { class: 'S1', named: 'a loss that is held' },
  },
  {
    rule: 'E6',
    by: 'S1',
    defects: ['what was confirmed while an answer was awaited is reported as held'],
    needed: 160,
    plans: { class: 'S1', named: 'nobody looks' },
  },
  {
    rule: 'E11',
    by: 'histories',
    defects: ['of two answers of the target each is forgotten while the other is asked for'],
  },
  {
    rule: 'C1',
    by: 'histories',
    defects: ['what a headless mirror has of the one in whose place it came does not follow the gateway'],
  },
  {
    rule: 'L86',
    by: 'histories',
    defects: ['L86 endpoints without a Service do not follow the gateway'],
    needed: 1280,
  },
  {
    rule: 'L86',
    by: 'reading',
    defects: ['L86 endpoints of a mirror that has lost its name do not follow the gateway'],
    outside: 'a name must be lost while the slices of the target cannot be read',
  },
  {
    rule: 'A6',
    by: 'histories',
    needed: 1290,
    defects: [
      'a slice that has lost its label is written with an empty one',
      'an empty label of a slice is the name of a Service',
    ],
  },
  {
    rule: 'D10',
    defects: ['a slice holds more endpoints than Kubernetes accepts'],
    outside: 'no Service has more than a thousand pods',
  },
];

/**
 * Returns the defect of a name.
 * @throws RangeError if there is none
 */
export function defectOf(name: string): Defect {
  const defect = DEFECTS.find((each) => each.name === name);
  if (defect === undefined) throw new RangeError(`no defect is called "${name}": see test/mutants/defects`);
  return defect;
}
