/**
 * The command that lists the contexts of a kubeconfig, one on each line; nothing without kubectl. Whoever wrote the
 * kubeconfig chose their names, so a script must not evaluate them.
 */
export const CONTEXTS = 'kubectl config get-contexts --output=name 2>/dev/null';
