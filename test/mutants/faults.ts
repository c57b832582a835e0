/**
 * Faults that the operator once had, as defects that put them back. Several defects together make one fault where more
 * than one place guards against it now. Random histories should find each, `npm run fuzz -- --defects`; what they do not
 * draw, tests hold.
 */
import type { Defect } from './defect.ts';
import { DEFECTS } from './defects/index.ts';

export interface Fault {
  /** The lesson, or the rule, in docs/behaviour.md. */
  readonly rule: string;
  /** Names of the defects that make it; all of them at once. */
  readonly defects: readonly string[];
  /** Why no history can show it. Then the tests of its defects hold it alone. */
  readonly outside?: string;
}

export const FAULTS: readonly Fault[] = [
  {
    rule: 'L44',
    defects: ['a Lease of another Link still records the cluster', 'an invalid Link names no cluster'],
  },
  { rule: 'L44', defects: ['M1 a removal starts although an invalid Link names the cluster'] },
  { rule: 'L41', defects: ['M6 M7 the mirrors of a Link that is gone are deleted although another has its cluster'] },
  { rule: 'L43', defects: ['L43 a removal does not begin while deletions are held'] },
  { rule: 'L42', defects: ['an invalid Link does not keep the cluster that it was served for'] },
  { rule: 'L42', defects: ['the served Link does not keep its cluster from an older one'] },
  { rule: 'L45', defects: ['what the list of another cluster takes away is not counted'] },
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
  { rule: 'L47', defects: ['L47 an entry of the status without conditions ends the process'] },
  {
    rule: 'L52',
    defects: [
      'a write that failed counts as undone by somebody else',
      'a change of readiness is put off as a repair that is undone',
    ],
  },
  { rule: 'A7', defects: ['what a target says of its age takes a name from another Link'] },
  {
    rule: 'L46',
    defects: ['what is held is not counted with what the next list takes'],
    outside: 'no history loses more than ten Services at once and has others left to lose',
  },
  { rule: 'L46', defects: ['a list of slices takes endpoint mirrors away uncounted'] },
  {
    rule: 'E2',
    defects: ['credentials that may read less replace those that may read more'],
    outside: 'no Link of a history reads single namespaces of its target',
  },
  { rule: 'L51', defects: ['any event is proof that the server is well'] },
  { rule: 'L51', defects: ['a server on which everything has expired is asked without a pause'] },
  {
    rule: 'G3',
    defects: ['each of a thousand failing Services is an Event of its own'],
    outside: 'there are too few Services for the rate of Events to matter',
  },
  { rule: 'L66', defects: ['a mirror is deleted before the target has confirmed it'] },
  {
    rule: 'H3',
    defects: ['a server is asked for watches that outlast the silence that is allowed', 'a single silence is reported'],
  },
  { rule: 'L53', defects: ['ca.crt is read once'], outside: 'neither TLS nor files are simulated' },
  {
    rule: 'G1',
    defects: ['Synced is true of a Link before its change has been applied'],
  },
  { rule: 'L68', defects: ['a federated Service goes with its last member before all clusters are known'] },
  { rule: 'L69', defects: ['L69 a write that was sent under a Lease is given up, and may be made later'] },
  {
    rule: 'L54',
    defects: [
      'mirrors are written although the Lease may have expired',
      'a status is written although the Lease may have expired',
    ],
  },
  {
    rule: 'A7',
    defects: ['what is gone still claims its name'],
    outside: "it shows only while Linkerd's controller holds the Lease, and that has stopped when a history is at rest",
  },
  { rule: 'H2', defects: ['an operator that stops waits for whatever hangs'] },
  { rule: 'G4', defects: ['a Link that is gone is still measured'], outside: 'no history looks at metrics' },
  {
    rule: 'D10',
    defects: ['a slice holds more endpoints than Kubernetes accepts'],
    outside: 'no Service has hundreds of pods',
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
