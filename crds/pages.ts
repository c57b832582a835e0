/**
 * Where the pages of this version are on the web. An alert or a message outlives the branch it was made from, so its link
 * leads to the page as it was released. The version stands here since these files are built as CommonJS, too, and are
 * bundled by their users; a test holds it against package.json.
 */

/** Version of the package, as in `1.2.3`. */
export const PACKAGE_VERSION = '0.1.0';

const RELEASE = `https://github.com/linkspan-dev/linkspan/blob/v${PACKAGE_VERSION}`;

/** Address of a page. @param path from the root of the repository */
export const pageUrl = (path: string): string => `${RELEASE}/${path}`;
