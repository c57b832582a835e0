/** docs/commands.md: every command with its help, made of the program that prints it, so that neither drifts. */
import type { Command } from 'commander';
import { program } from '../../../synth/program.ts';

/** Characters of a line of help in the page. */
const HELP_WIDTH = 118;

const INTRODUCTION = `# Commands

What \`linkspan\` does on the command line. This page is produced by the program: \`npm run docs\` writes it, and a test fails
when it has drifted.

## Conventions

- Commands that work on clusters take a kubeconfig of any kind, as kubectl does: \`--kubeconfig\`, else \`KUBECONFIG\`, else
  \`~/.kube/config\`, with client certificates, tokens, OIDC and the programs that a cloud's credentials come from. \`--context\`
  names a context of it; by default it is the current one.
- They print what they would do and change nothing. With \`--apply\` they do it, by server-side apply with the field manager
  \`linkspan-cli\`, and print what became of each object. Either is safe to run again.
- Manifests and results are on stdout, as \`-o yaml\` or \`-o json\` has them; progress, notes, warnings and errors are on
  stderr.
- All that stands in the way is reported at once, before anything is written: the flag or the object with its cluster, the
  reason, and in brackets the remedy.

| exit code | when |
| --- | --- |
| 0 | it is done, and nothing is wrong |
| 1 | a cluster stands in the way: an object is missing, refused or not there in time. Or the answer is no: \`check\` has found an error, a Link is not Ready (\`status\`), no client reaches the Service (\`explain\`), the files differ (\`synth --check\`) |
| 2 | the command line, a kubeconfig or a file is invalid; nothing was done |

\`plan\` has codes of its own: 0 without changes, 2 with changes, 1 for every error.
`;

/** What the help of a command does not say. */
const NOTES: Readonly<Record<string, string>> = {
  install: `It renders \`Multicluster\` with an operator: the same objects as the [construct](constructs.md#multicluster), and a
ConfigMap \`linkspan-install\` that records what was chosen. Without \`--apply\`, it prints manifests that \`kubectl apply -f -\`
takes, and needs no cluster. With \`--context\` or \`--kubeconfig\` it reads the trust domain from Linkerd's ConfigMap
\`linkerd-config\`; otherwise that is \`cluster.local\`, or \`identityTrustDomain\` of a values file.

\`\`\`sh
linkspan install --context east --image registry.example.com/linkspan:0.1.0           # prints the manifests for east
linkspan install --context east --image registry.example.com/linkspan:0.1.0 --apply   # writes them, CRD and namespace first
linkspan install --ha --values values.yaml | kubectl --context east apply --server-side -f -
\`\`\`

No image is published yet: \`--apply\` needs \`--image\`. The README says how to build one.

Before anything is written, all of this is reported: Linkerd's namespace or the kinds of its policy are missing, its trust
domain is not that of the values file, Linkspan is installed in another namespace or with other settings, or other
manifests keep the operator.

\`--values\` takes a values file of Linkerd's multicluster chart. [A table](constructs.md#from-linkerds-chart) has each value
and the prop that it becomes. A value without a meaning here is ignored with a warning that gives the reason; a key that the
chart does not have is an error. \`--ha\` is Linkerd's \`--ha\`: three pods of the gateway and two of the operator, none on the
node of another. A values file wins over \`--ha\`, and \`--gateway\` over a values file.

Links are made later, and their credentials with them: the operator may read every Secret of the extension's namespace, by a
Role there, and no Secret elsewhere. Keep other Secrets out of that namespace.

Where Linkerd's multicluster extension is installed, its gateway, its policy, its CRD and its namespace are taken over in
place: they keep their uids and addresses, and \`uninstall\` leaves them. Linkerd's controllers are named, and go on until
their Links are handed over.`,
  upgrade: `\`install\` records its flags and values in the ConfigMap \`linkspan-install\`, and \`upgrade\` reads them there: a flag
replaces what is recorded, and what no flag gives stays. \`--values\` replaces all values; \`--ha=false\` and \`--gateway\` take
back what was chosen. The image stays too, so name that of the new version.

\`\`\`sh
linkspan upgrade --context east --image registry.example.com/linkspan:0.2.0           # prints the diff of each object
linkspan upgrade --context east --image registry.example.com/linkspan:0.2.0 --apply
linkspan upgrade --context east --output json    # each object: created, configured, unchanged or deleted
\`\`\`

Without \`--apply\`, the API server says what it would make of each object, by a dry run. With \`--apply\`, objects that an
earlier version has made and this one does not make are deleted; they are known by the label of \`install\`. An installation
of a newer version is refused. The exit code is 0 also if there are changes, and 1 if a cluster stands in the way.`,
  uninstall: `It refuses, naming them, while there are Links, mirrors, or accounts with which other clusters read this one: \`unlink\`
removes each. Then it deletes what carries the label \`app.kubernetes.io/managed-by: linkspan\`, which \`install\` puts on what
it makes: first the Deployments, then, when the operator has stopped, the rest, and the CRD and the namespace last.

\`\`\`sh
linkspan uninstall --context east           # prints the objects that would be deleted
linkspan uninstall --context east --apply
\`\`\`

What \`install\` has found in its place stays, as do objects that Linkerd's chart or Helm has marked as theirs. The CRD stays
while any namespace has a Link. The namespace stays while others have anything in it, of whatever kind; run the command
again when that is gone. Each is named, with the reason. A namespace that you have made gets back the labels that it had.`,
  link: `In the target it makes the account \`linkerd-service-mirror-remote-access-<source>\`, with its rights and a token that
Kubernetes fills in. In the source it writes the token as the Secret \`cluster-credentials-<target>\` for the operator, and a
copy for Linkerd's destination controller, and then the Link. What the Link says of the gateway is read from the gateway's
Service; the domains are read from Linkerd's ConfigMap \`linkerd-config\`.

\`\`\`sh
linkspan link --context east --to-context west                  # prints the manifests for both clusters
linkspan link --context east --to-context west --apply --wait   # writes them, and waits until the Link is Ready
\`\`\`

The manifests that it prints without \`--apply\` hold the token, if the account has one already: keep them as secret.

The address of the API server in your kubeconfig must be one that pods of the source reach. It is refused if it leads to your
own machine, as that of kind and k3d does: name another with \`--api-server-address\`.`,
  unlink: `The Link goes first. When the operator has removed the mirrors, the credentials follow, and last the account in the target
with its token. If no operator runs, the command ends with exit code 1 after \`--timeout\`, and deletes no credentials: run it
again later. Credentials that another Link uses stay.

\`\`\`sh
linkspan unlink --context east --to-context west           # prints the objects that would be deleted
linkspan unlink --context east --to-context west --apply
\`\`\``,
  allow: `For who reaches one of the two clusters only, with \`link-gen\`; who reaches both uses \`link\`. The flags are those of
\`linkerd multicluster allow\`. The manifests are an account, its rights, a Secret that Kubernetes fills with its token, and
the namespace where it is missing.

\`\`\`sh
linkspan allow --context west --service-account-name remote-access-east | kubectl --context west apply -f -
linkspan allow --context west --service-account-name remote-access-east --apply    # the same
\`\`\`

An account that exists already is refused, since it may be another's. \`--ignore-cluster\` gives it the rights all the same; with
it and without \`--apply\`, no cluster is asked.`,
  'link-gen': `Reads the target, changes nothing, and prints what the source needs: the Secret with the credentials, its copy for Linkerd's
destination controller, and the Link. The flags are those of \`linkerd multicluster link-gen\`, and what it prints works with
Linkerd's own controller too.

\`\`\`sh
linkspan link-gen --context west --cluster-name west --service-account-name remote-access-east | kubectl --context east apply -f -
\`\`\`

The manifests hold the token: keep them as secret. The address of the API server is refused if it leads to your own machine,
as that of kind and k3d does: name another with \`--api-server-address\`.`,
  check: `It reads the source with your kubeconfig, and each target with the credentials of its Link, and changes nothing. Each
fault is printed with its object, its cause and what to do; [checks.md](checks.md) explains every check by its id. What
cannot be read is an error or a warning, never a silent success.

\`\`\`sh
linkspan check --pre               # before the installation: Linkerd, versions, your rights, what is in the way
linkspan check                     # everything, of all Links
linkspan check --link west --wait  # one Link, until nothing is wrong
linkspan check -o json             # in the form of "linkerd check -o json", with ids and findings
\`\`\`

The exit code is 1 if anything is broken, and 0 if all is well or there are warnings alone. Of \`Links\` that Linkerd's own
controllers write for, the operator finds nothing out; what can be seen in the clusters is checked all the same.

A heartbeat that looks late is watched for as long as its Lease lasts before it is called dead, since the clocks of your
machine and of the cluster may differ: a check of an operator that has died can take as long as that.`,
  'credentials mint': `For a Link that Git or somebody else declares: it makes what \`link\` makes, without the Link. An account that has a token keeps
it, so running it again changes nothing.

\`\`\`sh
linkspan credentials mint --context east --to-context west           # prints the manifests for both clusters
linkspan credentials mint --context east --to-context west --apply
\`\`\`

The manifests that it prints without \`--apply\` hold the token, if the account has one already: keep them as secret.`,
  'credentials rotate': `Has Kubernetes make a second token for the account that the Link reads with, and writes it into the kubeconfig of the source.
The operator tries it beside the old one. When it reports, in condition \`CredentialsValid\` of the Link, that it uses the new
one, the old one is removed from the target. If the operator does not do so in time, the old one stays, and the command can be
run again.

\`\`\`sh
linkspan credentials rotate west --context east --to-context west           # prints what would be written and deleted
linkspan credentials rotate west --context east --to-context west --apply
\`\`\`

The copy for Linkerd's destination controller is deleted and created again, since the controller does not notice a Secret that
changes; flat mode pauses for as long. An account that has not the name \`linkerd-service-mirror-remote-access-<source>\` may be
used by other clusters, so its old token stays, unless \`--revoke\` is given.`,
  init: `It reads each cluster: the domains from Linkerd's ConfigMap \`linkerd-config\`, and the addresses of the gateway from its
Service. The name of a cluster is made of its context: \`east\` of \`admin@east\`. What a cluster does not answer within 10 s,
or nobody but you can know, has a comment \`DECIDE:\` in the file, and a note on stderr. Clusters are not written to.

\`\`\`sh
linkspan init                                    # every context of the kubeconfig
linkspan init --context east --context west --image registry.example.com/linkspan:0.1.0
\`\`\`

\`linkspan synth\` renders the file as it is. A file that is there already is not overwritten: the exit code is 2.`,
  gateways: `The columns are those of \`linkerd multicluster gateways\`, for the gateways of all Links. \`ALIVE\` is what the operator's
probe found last, and \`NUM_SVC\` the number of mirror Services. \`LATENCY\` is that of the last probe. It is in the metrics of
the operator's pod, which is asked through the API server: that needs the right to \`get\` \`pods/proxy\`. Without it, or
without an operator in the cluster, the column has \`-\`, and stderr has the reason.

\`\`\`sh
linkspan gateways            # CLUSTER  ALIVE  NUM_SVC  LATENCY
linkspan gateways -o wide    # also the Link, addresses, port and identity
linkspan gateways -o json    # a list with the fields of Linkerd's, and more
\`\`\``,
  status: `Each Link with its cluster, whether it is Ready and why, its gateway, and how many of the exported Services are mirrored; then
each condition that is not as it should be; then each Service that is not mirrored, with the reason. Where the cluster serves the
[MCS API](mcs.md), it also lists the ServiceImports with the clusters that they lead to, and names each ServiceExport that is not
valid or conflicts with others, and each ServiceImport that is not ready, with the reason; of each at most 50 without \`-o wide\`.

\`\`\`sh
linkspan status                 # all Links
linkspan status west --watch    # one Link, printed again whenever anything has changed
linkspan status -o json
\`\`\`

The exit code is 0 if all Links are Ready, and 1 otherwise. A Link that nobody serves any more is not Ready, whatever was last
reported. A Link lists the Services that are not mirrored first, and at most 100 of those that are. \`--watch\` goes on when the API server is
away for a while.`,
  completion: `The script holds every command, option and choice of this version; contexts are asked of \`kubectl\`. Where a shell
reads it:

\`\`\`sh
source <(linkspan completion bash)                        # bash: in ~/.bashrc
linkspan completion zsh > "\${fpath[1]}/_linkspan"         # zsh: a folder of $fpath
linkspan completion fish > ~/.config/fish/completions/linkspan.fish
\`\`\``,
  explain: `Says of each step whether it is taken, and of the one where it stops why, and what to do: the Link, the Service and its export,
the form of the mirror by the operator's own rules, its name, what the operator reports, the mirror, the pods, the gateway and
the endpoints, or each pod of a headless Service. A federated Service and a ServiceImport of the name are explained as well, with
what clients reach in each cluster.

\`\`\`sh
linkspan explain shop/web --context east --to-context west    # reads both clusters
linkspan explain shop/web-west --context east                 # by the name of the mirror, from the source alone
\`\`\`

The exit code is 0 if it ends at a ready address, and 1 otherwise. Without \`--to-context\`, what the source knows is all that is
looked at. Namespaces that the operator must not write to, and its limits, are known from what it reports.`,
  plan: `It is the operator that is asked: its own steps are made against a copy of the source cluster in memory, one after the
other, until nothing is left to do. What it reads is what the operator would read: the source by \`--context\`; the target
by the credentials of each Link, in the file or in the source, or by \`--to-context\`; the operator's settings from its
Deployment. Nothing is written.

\`\`\`sh
linkspan plan -f link.yaml                                       # by the current context and the Link's credentials
linkspan plan -f link.yaml --context east --to-context west -o wide
linkspan plan -f link.yaml --source-dump east/ --target-dump west/ -o json
\`\`\`

Dumps are what \`kubectl get services,endpoints,endpointslices,namespaces -A -o yaml\` prints, and of the source also
\`links,leases,deployments,pods -n linkerd-multicluster\`; a folder may hold several files.

| exit code | when                                                                                     |
| --------- | ---------------------------------------------------------------------------------------- |
| 0         | nothing would change                                                                     |
| 1         | it cannot be said: a cluster, a file or the command line stands in the way               |
| 2         | something would change                                                                   |

\`ACTION\` is \`create\`, \`change\`, \`replace\` (deleted and made anew), \`delete\`; \`refuse\` for what is not mirrored, with the
reason that the Link's status would have; and \`hold\` for deletions that the mass-deletion guard would hold. ClusterIPs that
only the API server gives are \`(assigned)\`. What it cannot know: the verdict on a gateway that has none yet (existing
mirrors keep their readiness, new ones are ready), and names that resolve differently in the source.`,
  migrate: `For each Link it shows what the operator would write as soon as it writes for the Link, which is nothing where Linkerd's
controller has done its work, and the steps. With \`--apply\` it makes them, Link by Link: it stops Linkerd's controller of the
Link, waits until the operator holds the Link's Lease and the Link is Ready, and verifies that every mirror has kept its uid
and ClusterIP. With the last Link it does the same for Linkerd's local mirror, which writes the members of federated Services
that this cluster has. It stops at the first obstacle; run it again, and it goes on. [migrate.md](migrate.md) is the whole way.

\`\`\`sh
linkspan migrate                         # what would be done, for all Links and the local mirror
linkspan migrate west --apply            # one Link
linkspan migrate west --apply --back     # and back to Linkerd's controller
\`\`\``,
  operator: `[configuration.md](configuration.md) is the table of these flags, with their defaults and variables.`,
};

/** The page. */
export const commandsPage = (): string =>
  [INTRODUCTION, ...program.commands.flatMap((command) => sections(command))].join('\n');

/** A command's section, or, of one that only has commands of its own, theirs. */
const sections = (command: Command, parent = ''): readonly string[] => {
  const name = `${parent}${command.name()}`;
  return command.commands.length === 0
    ? [section(command, name)]
    : command.commands.flatMap((each) => sections(each, `${name} `));
};

const section = (command: Command, name: string): string => {
  const help = command.configureHelp({ helpWidth: HELP_WIDTH }).helpInformation().trim();
  // The operator's flags are on a page of their own.
  const shown = name === 'operator' ? [] : [`\`\`\`text\n${help}\n\`\`\``];
  return [`## linkspan ${name}`, `${capital(command.description())}.`, NOTES[name], ...shown]
    .filter((part) => part !== undefined)
    .map((part) => `${part}\n`)
    .join('\n');
};

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
