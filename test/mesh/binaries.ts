/**
 * Linkerd's own programs, which the suite runs: its proxy, the program that makes the proxy's key, its controllers and
 * its command, which renders the CRDs. They are in a folder that `LINKERD_BINARIES` names.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** A program of Linkerd's. */
export type LinkerdBinary =
  'linkerd2-proxy' | 'proxy-identity' | 'linkerd-controller' | 'linkerd-policy-controller' | 'linkerd';

/** Environment variable that names the folder. */
export const BINARIES_VARIABLE = 'LINKERD_BINARIES';

const ALL: readonly LinkerdBinary[] = [
  'linkerd2-proxy',
  'proxy-identity',
  'linkerd-controller',
  'linkerd-policy-controller',
  'linkerd',
];

/** How the programs are had by whoever has containers. */
const REMEDY = `Copy them out of Linkerd's images, of one release for all (for example edge-26.8.1), into one folder:

  mkdir -p linkerd-bin
  copy() { id=$(docker create "cr.l5d.io/linkerd/$1:$RELEASE" x) && docker cp "$id:$2" "linkerd-bin/$3"; docker rm "$id"; }
  RELEASE=edge-26.8.1
  copy proxy             /usr/lib/linkerd/linkerd2-proxy          linkerd2-proxy
  copy proxy             /usr/lib/linkerd/linkerd2-proxy-identity proxy-identity
  copy controller        /controller                              linkerd-controller
  copy policy-controller /bin/linkerd-policy-controller           linkerd-policy-controller
  # and Linkerd's command, as \`linkerd\`

then run  ${BINARIES_VARIABLE}=$PWD/linkerd-bin npm run test:mesh`;

/**
 * Says what is missing, and how to get it; undefined if every program is there.
 */
export const missingLinkerd = (env: NodeJS.ProcessEnv): string | undefined => {
  const folder = env[BINARIES_VARIABLE];
  if (folder === undefined || folder === '') {
    return `${BINARIES_VARIABLE} is not set: it must name a folder with ${ALL.join(', ')}.\n${REMEDY}`;
  }
  const missing = ALL.filter((name) => !existsSync(join(folder, name)));
  return missing.length === 0 ? undefined : `${folder} lacks ${missing.join(', ')}.\n${REMEDY}`;
};

/** The path of a program that {@link missingLinkerd} has found. */
export const linkerdBinary = (name: LinkerdBinary): string => join(process.env[BINARIES_VARIABLE] ?? '', name);
