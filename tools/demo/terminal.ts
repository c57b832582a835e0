/** What the demo prints: steps, what a user would type, what comes back. Coloured only where stdout is a terminal. */
import { styleText } from 'node:util';

/** Prints to stdout, in the order of its calls. */
export class Terminal {
  #steps = 0;

  title(text: string): void {
    this.print(styleText('bold', text));
  }

  /** The next step of the guide, numbered. */
  step(text: string): void {
    this.#steps += 1;
    this.print('', styleText(['bold', 'magenta'], `${this.#steps}. ${text}`));
  }

  /** A command line; further lines continue it. */
  command(first: string, ...more: readonly string[]): void {
    const lines = [first, ...more.map((line) => `    ${line}`)];
    const typed = lines.map((line) => styleText(['bold', 'cyan'], line)).join(' \\\n');
    this.print('', `${styleText('dim', '$')} ${typed}`);
  }

  /** A remark of the narrator; an empty line stays one. */
  note(...lines: readonly string[]): void {
    this.print(...lines.map((line) => (line === '' ? '' : styleText('dim', `# ${line}`))));
  }

  print(...lines: readonly string[]): void {
    process.stdout.write(`${lines.join('\n')}\n`);
  }
}
