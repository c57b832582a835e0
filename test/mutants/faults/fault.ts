/** A fault that the operator once had. */
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
