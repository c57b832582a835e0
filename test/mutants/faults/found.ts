/** Faults that somebody, or a search, has found since this record is kept. */
import type { Fault } from './fault.ts';

export const FOUND: readonly Fault[] = [
  {
    rule: 'J3',
    by: 'histories',
    defects: ['a route is left as it is while the one of another kind that replaces it cannot be there'],
    needed: 420,
  },
  {
    rule: 'C3',
    by: 'histories',
    defects: ['a mirror that is kept keeps the selector that somebody has given it'],
  },
  { rule: 'K7', by: 'histories', defects: ['a ServiceImport that another operator serves is deleted'], needed: 395 },
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
];
