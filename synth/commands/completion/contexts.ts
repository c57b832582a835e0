/** The command that lists the contexts of a kubeconfig, one on each line; nothing without kubectl. */
export const CONTEXTS = 'kubectl config get-contexts --output=name 2>/dev/null';
