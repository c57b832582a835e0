/** One request to a simulated API server and its answer, whatever carries them. */
export interface Exchange {
  readonly method: string;
  /** Path with query. */
  readonly url: string;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Whether the connection is gone, so that no answer arrives. */
  readonly closed: boolean;
  /** Whether an answer was begun. */
  readonly begun: boolean;
  /** Reads the body, as JSON whichever form it came in. */
  text(): Promise<string>;
  /** Sends the whole answer. */
  answer(code: number, headers: Readonly<Record<string, string>>, body: Buffer): void;
  /** Begins an answer of unknown length. */
  begin(code: number, headers: Readonly<Record<string, string>>): void;
  write(text: string): void;
  end(): void;
  /** Breaks the connection. */
  destroy(): void;
  /** Calls back once it is over: answered in full, or broken by either side. */
  onClose(listener: () => void): void;
}
