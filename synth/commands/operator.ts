/**
 * `linkspan operator`: runs the operator until SIGTERM or SIGINT. Invalid flags exit 2 with every reason; a lost
 * leadership or an unusable kubeconfig exits 1, so that the kubelet starts it again.
 */
import { formatFieldErrors } from '../../crds/field-error.ts';
import { parseOperatorConfig, variableWarnings } from '../../operator/config/config.ts';
import type { FlagValues } from '../../operator/config/flags.ts';
import { printLine, warn } from '../print.ts';

const FAILURE = 1;
const USAGE_ERROR = 2;

/** Runs the operator, and ends the process: nothing that still hangs may keep it (rule H2). */
export const operate = async (flags: FlagValues): Promise<void> => {
  for (const warning of variableWarnings(process.env)) warn(warning);
  const parsed = parseOperatorConfig(flags, process.env);
  if (!parsed.ok) {
    for (const error of parsed.errors) printLine(`error: ${formatFieldErrors([error])}`);
    printLine('(see linkspan operator --help)');
    process.exitCode = USAGE_ERROR;
    return;
  }
  const config = parsed.value;
  const { createLogger, runOperator } = await import('../../operator/index.ts');
  const log = await createLogger({ level: config.logLevel, format: config.logFormat });
  const stop = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => {
      log.info({ signal }, 'stopping');
      stop.abort(new Error(signal));
    });
  }
  let code = 0;
  try {
    await runOperator({ config, log, signal: stop.signal });
  } catch (error) {
    log.error({ error: error instanceof Error ? error.message : String(error) }, 'linkspan operator has failed');
    code = FAILURE;
  }
  process.exit(code);
};
