/**
 * Runs before each test file. A command that a test ran in its worker, and that had not ended when the test timed out,
 * leaves the worker in a folder that is gone: without this, each file after it fails, too.
 */
process.chdir(new URL('..', import.meta.url).pathname);
