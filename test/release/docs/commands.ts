/** docs/commands.md: every command with its help, made of the program that prints it, so that neither drifts. */
import type { Command } from 'commander';
import { program } from '../../../synth/program.ts';

/** Characters of a line of help in the page. */
const HELP_WIDTH = 118;

const INTRODUCTION = `# Commands

What \`linkspan\` does on the command line. This page is produced by the program: \`npm run docs\` writes it, and a test fails
when it has drifted.

## Conventions

- Commands that work on clusters read kubeconfigs as kubectl does: \`--kubeconfig\`, else the files of \`KUBECONFIG\`, else
  \`~/.kube/config\`, with client certificates, tokens, proxies (\`proxy-url\`, \`HTTPS_PROXY\`), impersonation and the login
  programs of clouds, which may ask for a login in the terminal. One that fails ends a command with exit code 1. An OIDC
  token that has expired is not renewed: kubectl does that. \`--context\` names a context; by default it is the current one.
- They print what they would do and change nothing. With \`--apply\` they do it, by server-side apply with the field manager
  \`linkspan-cli\`, and print what became of each object. Either is safe to run again. \`approve\` alone does it at once; it has \`--dry-run\`.
  Printed credentials hold a token that is asked for, and the Secret that the token is bound to, or in, says so from then on.
- Manifests and results are on stdout, as \`-o yaml\` or \`-o json\` has them; progress, notes, warnings and errors are on
  stderr.
- All that stands in the way is reported at once, before anything is written: the flag or the object with its cluster, the
  reason, and in brackets the remedy. So is what the API server would refuse, by rights or by a webhook: it is tried by dry runs
  first.

| exit code | when |
| --- | --- |
| 0 | it is done, and nothing is wrong |
| 1 | a cluster stands in the way: an object is missing, refused or not there in time. Or the answer is no: \`check\` has found an error, something that it lists is broken or not known (\`status\`), a gateway is not alive (\`gateways\`), clients do not reach all that is explained (\`explain\`), the files differ (\`synth --check\`). Or standard output is full or gone, other than by \`| head\` |
| 2 | the command line, a kubeconfig or a file is invalid; nothing was done |
| 129, 130, 143 | SIGHUP, SIGINT or SIGTERM (128 + signal) has stopped a command that writes: it stops where it would wait for something, or before the next Link, and undoes a step of \`migrate\` first. Run it again and it goes on. A second signal ends it at once |

\`plan\` has codes of its own: 0 without changes, 2 with changes or with what is held or refused, 1 for every error. What an import
policy excludes, or lets wait for approval, is listed and is no change.
`;

/** What the help of a command does not say. */
const NOTES: Readonly<Record<string, string>> = {
  install: `It renders \`Multicluster\` with an operator: the same objects as the [construct](constructs/multicluster.md), and a
ConfigMap \`linkspan-install\` that records what was chosen. Without \`--apply\`, it prints manifests that \`kubectl apply -f -\`
takes, and needs no cluster. With \`--context\` or \`--kubeconfig\` it reads the trust domain from Linkerd's ConfigMap
\`linkerd-config\`; otherwise that is \`cluster.local\`, or \`identityTrustDomain\` of a values file. \`--output diff\` prints
what would change in the cluster instead, field by field; on a terminal that is the default where a cluster is named.

\`\`\`sh
linkspan install --context east --image registry.example.com/linkspan:0.1.0           # prints the manifests for east
linkspan install --context east --image registry.example.com/linkspan:0.1.0 --apply   # writes them, CRD and namespace first
linkspan install --context east --image registry.example.com/linkspan:0.1.0 --output diff
linkspan install --ha --values values.yaml | kubectl --context east apply --server-side -f -
\`\`\`

\`--apply\` needs \`--image\`. A release comes with an image; [the README](../README.md#start) says how to build one from a checkout.

Before anything is written, all of this is reported: Linkerd's namespace or the kinds of its policy are missing, its trust
domain is not that of the values file, Linkspan is installed in another namespace or with other settings, other manifests
keep the operator, the API server would refuse an object, or what others have set would change (see below). The record is
written before the rest, and the Deployment of the operator after its rights: a command that is stopped half-way leaves what
works, and the same command finishes. \`--wait\`, which is the default on a terminal, waits until the operator runs, and names
what keeps its pods from it.

\`--values\` takes a values file of Linkerd's multicluster chart. [A table](constructs.md#from-linkerds-chart) has each value
and the prop that it becomes. A value without a meaning here is ignored with a warning that gives the reason; a key that the
chart does not have is an error. \`--ha\` is Linkerd's \`--ha\`: three pods of the gateway and two of the operator, none on the
node of another. A values file wins over \`--ha\`, and \`--gateway\` over a values file.

\`--source-networks\` names the networks that clients of the gateway connect from, as the gateway sees them. Without it, the
gateway is open to every network, of which the command warns. \`--flat\` gives the operator the right to see the credentials
that Linkerd's control plane has in its own namespace: federated Services on a flat network need it, those through gateways,
which are the default of \`link\`, do not. \`--grant-namespace-creation\` gives it the right to create namespaces, for Links
with \`--enable-namespace-creation\`.

Links are made later, and their credentials with them: the operator may read every Secret of the extension's namespace, by a
Role there, and no Secret elsewhere. Keep other Secrets out of that namespace.

Where Linkerd's multicluster extension is installed, its gateway, its policy, its CRD and its namespace are taken over in
place: they keep their uids and addresses, and \`uninstall\` leaves them. Linkerd's controllers are named, and go on until
their Links are handed over.

What others have set of an object stays where it is a setting, and a note says so: type, ports, annotations and load
balancer of the gateway's Service; replicas, placement, resources, strategy and annotations of Deployments; the budget, the
networks and identities of clients and all other policy; labels of the namespace. A flag or a value of this run that differs
from its default changes it. The images, the security context and the labels that the gateway and the operator work with are
changed whoever has set them. Anything else that others have set and that would change refuses the command with the field,
both values and the field manager. \`--force-conflicts\` changes all of it, the settings too.`,
  upgrade: `\`install\` records its flags and values in the ConfigMap \`linkspan-install\`, and \`upgrade\` reads them there: a flag
replaces what is recorded, and what no flag gives stays. \`--values\` replaces all values; \`--ha=false\` and \`--gateway\` take
back what was chosen. The image stays too, so name that of the new version. An image that only the ConfigMap names is
refused: it must run already, or be given by \`--image\`, so that who may edit the ConfigMap cannot choose what runs with the
operator's rights. What others have set stays, as it does with \`install\`: replicas that an autoscaler has chosen are not set
back.

\`\`\`sh
linkspan upgrade --context east --image registry.example.com/linkspan:0.2.0           # prints what would change
linkspan upgrade --context east --image registry.example.com/linkspan:0.2.0 --apply
linkspan upgrade --context west --gateway-access exported --apply    # only what is exported is reached through its gateway
linkspan upgrade --context east --output json    # each object: created, configured, unchanged or deleted
\`\`\`

Without \`--apply\`, the API server says what it would make of each object, by a dry run, and the fields that differ are
printed. With \`--apply\`, objects that an earlier version has made and this one does not make are deleted; they are known by
the label of \`install\`, and rights among them go only when the operator runs with its new ones, unless \`--wait=false\` is
given. The policy that the operator keeps of the gateway stays while there is a gateway; with \`--gateway-access open\`, the command
waits for the operator, and lets everyone in again. An installation of a newer version is refused, and so is \`--gateway=false\` while other clusters have accounts here.
The exit code is 0 also if there are changes, and 1 if a cluster stands in the way.`,
  uninstall: `It refuses while anything needs the installation, or would be left with nobody to follow it: an operator that others have made,
Links and their mirrors,
accounts with which other clusters read this one, however they were made, federated Services, ServiceImports with their
Services, and the routes of ServiceFailovers. Each is named, with the command that removes it. A Link that
[\`migrate --back\`](migrate.md#back) has handed back stays with its mirrors: it is suspended, and Linkerd's controller holds its
Lease. So do federated Services whose members are in clusters of such Links, or are local ones that a running
\`linkerd-local-service-mirror\` follows, unless they lead through gateways. Then it deletes what carries the label \`app.kubernetes.io/managed-by: linkspan\`, which \`install\` puts on what
it makes: first the Deployments, then, when the operator has stopped, the rest, and the CRD and the namespace last.

\`\`\`sh
linkspan uninstall --context east           # prints the objects that would be deleted
linkspan uninstall --context east --apply
\`\`\`

What \`install\` has found in its place stays, as do objects that Linkerd's chart or Helm has marked as theirs. The CRD stays
while any namespace has a Link. The namespace stays while others have anything in it, of whatever kind, or while that
is not known, since a list is forbidden or an aggregated API server is down; run the command again later. Each is named, with the reason. Where Linkspan is
installed in another namespace as well, what is not of the one namespace stays for that installation. A namespace that you have made gets back the labels that it had.`,
  link: `In the target it makes the account \`linkerd-service-mirror-remote-access-<source>\` with its rights, and the Secret
\`linkspan-peer-<source>\`, which holds nothing. It asks the target for a token of the account that is bound to that Secret, writes
it to the source as the Secret \`cluster-credentials-<target>\` for the operator, and then the Link. What the Link says of the gateway is read from the gateway's Service; the domains are read from Linkerd's ConfigMap
\`linkerd-config\`. Federated Services are reached through the gateway.

\`\`\`sh
linkspan link --context east --to-context west                  # on a terminal, what would change; in a pipe, the manifests
linkspan link --context east --to-context west --apply --wait   # writes it, and waits until the Link is Ready
\`\`\`

**The token ends** after two days, which \`--token-lifetime\` changes, if the target does not shorten it. The operator renews it
before (rule P2); it may be away for as long as a token lives. A token that the target accepts is kept, whichever it is:
\`credentials rotate\` replaces one that does not end.

**A flat network** is asked for with \`--flat\`. Only then may the account read pods, ReplicaSets and Jobs, are credentials
written for Linkerd's destination controller, with a token of their own that does not end, and are Services with
\`exported: remote-discovery\` mirrored. With \`--export-namespaces shop,bank\`, the account may read these namespaces alone.
Without the flag, an account that is limited stays so; \`--export-namespaces=\` takes the limit away. One without the rights of
Linkerd's own controller, as \`linkerdController: false\` renders it, does not get them.

**A Link that is there** keeps what no flag gives: selectors, headless mode, federation, excluded keys, the name of its Secret,
the address of the API server, whatever set it. So it is safe to run again, and brings what was read of the target up to date:
the address, port and identity of its gateway, and the domains. What somebody else has set to another value is not changed, and
rights of the account that somebody else has set are not deleted: the
command ends before it writes anything, and names the field, both values and the field manager. A flag that gives the value
takes it over, and \`--force-conflicts\` takes over all. \`-o diff\` shows every field that would change, in a pipe too. A Link that
is not called like its cluster keeps its cluster, if its credentials are certainly those of the target. A flag of the gateway is
refused for a Link without one, unless \`--gateway\` is given.

**Clusters are told apart** by the uid of their namespace \`kube-system\`, where you may read it. The account records the source
that it is for, and the Secret the target. An account that another source cluster has, as one whose context has the same name,
is refused: name this source with \`--source-name\`. Two Links of one source to one target share an account: a command that would
take rights from it which the other Link reads with is refused, too. An account that records nothing, as \`linkspan allow\`, Linkerd and Git make it, is
adopted if this source has its token already, or if none of its tokens was ever used, or printed for another source. A Secret that a controller keeps, such
as one of External Secrets, or that Argo CD or Helm has written, is never written over; the error says where the new credentials belong.
So is one that a Link of another cluster reads by, unless it is certainly of this target, and one that records a target where
you may not read which cluster this is. Rights of an account of the same name in another namespace are not taken either.

\`unlink\` may be run again after it was stopped. What another Link may read with stays, and so does all that is left if a Link is
made while it waits for the operator.

The manifests that it prints without \`--apply\` hold a token, if the account is there already: keep them as secret. They are
those of both clusters, and \`kubectl apply -f -\` would make all of them in one. \`allow\` and \`link-gen\` print those of one.

Without \`--name\`, the context of the target is the name. \`link\` warns where a Link of another name leads to this cluster already;
\`unlink\` fails where that is all that it finds.

The address of the API server in your kubeconfig must be one that pods of the source reach. It is refused if it leads to your
own machine, like those of kind and k3d: name another with \`--api-server-address\`. The credentials hold the CA that your
kubeconfig names for it. If it names none, because CAs of your machine prove the server, as they do one with a public certificate,
they keep the CA that they have; if they have none, they get the cluster's own, with a warning.`,
  unlink: `The Link goes first. When the operator has removed the mirrors, the credentials follow, and last the account in the target
with its tokens. If no operator runs, the command ends with exit code 1 after \`--timeout\`, and deletes no credentials: run it
again later. The Lease of the Link says by then that its mirrors are to go, so that an operator that comes back removes them at
once. Credentials stay that another Link uses, or that a controller keeps. Mirrors stay that another Link of the cluster takes over.
A Link that is not called like its cluster is not deleted: the error names it, with the command of kubectl that does.

The account is that of the token in the Link's Secret, whatever it is called; when the Secret is gone, that which records this
source. It stays if it is another source's, if other credentials of this source are of it, or if it records nothing and is not
named after this source, like that of Linkerd's chart. The command says so, with the commands that delete it by name.

\`\`\`sh
linkspan unlink --context east --to-context west           # prints the objects that would be deleted
linkspan unlink --context east --to-context west --apply
\`\`\``,
  allow: `For who reaches one of the two clusters only, with \`link-gen\`; who reaches both uses \`link\`. The flags are those of
\`linkerd multicluster allow\`, and more. The manifests are an account, its rights, and a Secret that
holds nothing, to which its tokens are bound; the namespace must be there. With \`--long-lived-token\` or \`--flat\`, there is also a
Secret that Kubernetes fills with a token that does not end. The rights of a flat network are granted with \`--flat\` alone, and \`--export-namespaces\` limits
them to namespaces.

\`\`\`sh
linkspan allow --context west --service-account-name remote-access-east | kubectl --context west apply -f -
linkspan allow --context west --service-account-name remote-access-east --apply    # the same
\`\`\`

An account that exists already is refused, since it may be another's. \`--ignore-cluster\` gives it the rights all the same, and
deletes roles that it is to have no more, such as the ClusterRole of one that \`--export-namespaces\` now limits; those that others
have set, with \`--force-conflicts\` alone. With \`--ignore-cluster\` and without \`--apply\`, no cluster is asked. To remove an account, delete it by its name:

\`\`\`sh
kubectl --context west -n linkerd-multicluster delete serviceaccount/remote-access-east secret/linkspan-peer-remote-access-east rolebindings/remote-access-east roles/remote-access-east
kubectl --context west delete clusterrolebindings/remote-access-east clusterroles/remote-access-east
\`\`\``,
  'link-gen': `Reads the target, and prints what the source needs: the Secret with the credentials and the Link; on a flat network also the
credentials of Linkerd's destination controller. Without \`--flat\`, that is so if the account may read pods. The Link
names the namespaces that the account is limited to. The flags are those
of \`linkerd multicluster link-gen\`. What it prints works with Linkerd's own controller too, with \`--long-lived-token\`: that
controller does not renew a token.

\`\`\`sh
linkspan link-gen --context west --cluster-name west --service-account-name remote-access-east | kubectl --context east apply -f -
\`\`\`

Each run asks for a token of the account that ends, and marks the Secret that it is bound to, so that no other source takes
the account for its own. An account that may not renew its token, as those that Linkerd makes, has one that does not end.

The manifests hold the token: keep them as secret. The address of the API server is refused if it leads to your own machine,
like those of kind and k3d: name another with \`--api-server-address\`.`,
  check: `It reads the source with your kubeconfig, and each target with the credentials of its Link, and changes nothing. Each
fault is printed with its object, its cause and what to do; [checks.md](checks.md) explains every check by its id. What
cannot be read is an error or a warning, never a silent success.

\`\`\`sh
linkspan check --pre               # before the installation: Linkerd, versions, your rights, what is in the way
linkspan check                     # everything, of all Links
linkspan check --link west --wait  # one Link, until nothing is wrong
linkspan check -o json             # in the form of "linkerd check -o json", with ids and findings
linkspan check --gateway-access --context west   # in a cluster that exports: who uses its gateway, and what closing it refuses
\`\`\`

The exit code is 1 if anything is broken, and 0 if all is well or there are warnings alone. Of \`Links\` that Linkerd's own
controllers write for, the operator finds nothing out; what can be seen in the clusters is checked all the same.

A heartbeat that looks late is watched for as long as its Lease lasts before it is called dead, since the clocks of your
machine and of the cluster may differ: a check of an operator that has died can take as long as that.

\`--gateway-access\` reads the cluster that exports, by your kubeconfig, and what the proxies of its gateway have counted.
[gateway-access.md](gateway-access.md#move-from-open) says how to get that, and what to do with what is found.`,
  approve: `For a Link with \`approval: required\` in its import policy: what its target offers for the first time waits until it is
approved here. [import-policy.md](import-policy.md#approval) says how it works.

\`\`\`sh
linkspan approve shop/web --from west                 # one Service
linkspan approve 'till-*/*' --from west               # all that match a pattern, now and later
linkspan approve --existing --from west               # what is mirrored, joined or imported by now
\`\`\`

It adds to \`spec.importPolicy.approved\` of the Link, at once; \`--dry-run\` says what it would add. Where Git, or other software,
keeps that list, the command says so and writes nothing: approve there. To take an approval back, remove it from the list: what
was made of the Service goes (much of it at once is held, rule E6).`,
  'credentials mint': `For a Link that Git or somebody else declares: it makes what \`link\` makes, without the Link. A token that the
target accepts is kept, so running it again changes nothing; one that has ended, or was revoked, is replaced. The Secret is the
one that the Link names, if there is a Link. \`--flat\`, \`--export-namespaces\` and \`--token-lifetime\` are those of \`link\`.

\`\`\`sh
linkspan credentials mint --context east --to-context west           # on a terminal, what would change; in a pipe, the manifests
linkspan credentials mint --context east --to-context west --apply
\`\`\`

The manifests that it prints without \`--apply\` hold a token, if the account is there already: keep them as secret. For a Secret
that somebody else keeps, it is always a new one. The operator does not renew that (rule P5): have it live as long as it takes
to put the next one there.`,
  'credentials revoke': `Deletes the account with which a source cluster reads this one: its rights first, then the account, and last
the Secrets of its tokens, and those that tokens are bound to, \`linkspan-peer-<peer>\` among them. All tokens of the account are refused from
then on, also those that somebody has made of a stolen one. Only the target is asked, since the peer may be lost. Other peers
notice nothing.

\`\`\`sh
linkspan credentials revoke east --context west           # prints what would be deleted
linkspan credentials revoke east --context west --apply
\`\`\`

The command refuses the account of Linkerd's chart, which several sources may use, and an account without the label of the
extension. An account that Git declares comes back without tokens: remove it there as well. Where there is no such
account, the command says so and exits with 0, and names the accounts that the cluster is read with: one of them may be the peer's.`,
  'credentials rotate': `Asks the target for another token of the account that the Link reads with, and writes it into the kubeconfig of the source.
The operator tries it beside the old one. When it reports, in condition \`CredentialsValid\` of the Link, that it uses the new
one, the old one is revoked: the Secret that it is bound to, or that holds it, is deleted in the target. If the operator does not
do so in time, the old one stays, and the command can be run again. The new token ends, also where the old one did not: so an
account that may not renew it, like that of Linkerd's chart, is refused, and \`credentials mint\` gives the Link another.

\`\`\`sh
linkspan credentials rotate west --context east --to-context west           # prints what would be written and deleted
linkspan credentials rotate west --context east --to-context west --apply
\`\`\`

The credentials of Linkerd's destination controller get a new token that does not end. They are deleted and created again, since
the controller does not notice a Secret that changes; flat mode pauses for as long. What is yet to be done is written on the
Secret of the Link first, in the annotation \`linkspan.dev/rotation\`: whatever stops the command, running it again finishes.

The old tokens stay, unless \`--revoke\` is given, if the account does not record this source, and is not named after it; and if
other credentials of this source are bound to the same Secret. One that does not end goes only if it was that of the Link, or of
the copy in the namespace that \`--linkerd-namespace\` names: another may be that of Linkerd elsewhere. A Secret that a controller keeps, such as one of External Secrets, is
not rotated, since the old token would be back after it was revoked: apply the Secret that the command prints without
\`--apply\`, have \`linkspan credentials mint\` print the credentials with \`-o yaml\`, put them where the controller takes them from,
and delete the old Secret in the target when \`CredentialsValid\` names the new kubeconfig.`,
  init: `It reads each cluster: the domains from Linkerd's ConfigMap \`linkerd-config\`, and the addresses of the gateway from its
Service. The name of a cluster is made of its context: \`east\` of \`admin@east\`. What a cluster does not answer within 10 s,
or nobody but you can know, has a comment \`DECIDE:\` in the file, and a note on stderr. A context whose cluster or user is gone
from the kubeconfig is left out, with a note, unless it is given. Clusters are not written to.

Where Linkspan runs already, the file has what runs: the image and the settings of the operator, by its Deployment and by
what \`install\` has recorded; for each cluster who may come through its gateway; which clusters are linked, and in which
direction; and for each Link what it has of its own, such as selectors and excluded keys. Clusters have the names that
Links call them. What the file cannot have, or would change, is a note. The last notes are the commands that come next:
\`linkspan synth\`, and \`linkspan plan\` for each folder.

\`\`\`sh
linkspan init                                    # every context of the kubeconfig
linkspan init --context east --context west --image registry.example.com/linkspan:0.1.0
\`\`\`

\`linkspan synth\` renders the file as it is. A file that is there already is not overwritten: the exit code is 2.`,
  gateways: `The columns are those of \`linkerd multicluster gateways\`, for the gateways of all Links. \`ALIVE\` is what the operator's
probe found last: it is \`unknown\` (\`null\` in JSON) where the operator's Lease of the Link is not held, not renewed or may not
be read: nobody has probed the gateway then.

\`\`\`sh
linkspan gateways            # CLUSTER  ALIVE  NUM_SVC  LATENCY
linkspan gateways -o wide    # also the Link, addresses, port and identity
linkspan gateways -o json    # a list with the fields of Linkerd's, and more
\`\`\`

The exit code is 0 if all of them are alive, and 1 if one is not, or is \`unknown\`, or no Link is to the cluster that
\`--cluster-name\` names. Without any gateway it is 0.`,
  status: `Each Link with its cluster, whether it is Ready and why, its gateway, and how many of the exported Services are mirrored; then
each condition that is not as it should be; then each Service that is not mirrored, with the reason. Where the cluster serves the
[MCS API](mcs.md), it also lists the ServiceImports with the clusters that they lead to, and names each ServiceExport that is not
valid or conflicts with others, and each ServiceImport that is not ready, with the reason. Last come the
[ServiceFailovers](failover.md): those that are not ready, with the reason, and where each sends requests. Of ServiceImports,
ServiceExports and ServiceFailovers at most 50 are listed without \`-o wide\`.

\`\`\`sh
linkspan status                 # all Links
linkspan status west --watch    # one Link, printed again whenever anything has changed
linkspan status -o json
\`\`\`

The exit code is 0 if nothing of this is broken and all of it is known, and 1 otherwise: a Link that is not Ready, a Service that
is not mirrored or does not join, a ServiceExport that is not valid, a ServiceImport or a ServiceFailover that is not ready, or
something that may not be read or that nobody has reported on. Three things are listed and are no fault: a headless Service
without pods, a Service that the import policy does not admit or nobody has approved, and a conflict between ServiceExports, which is settled. A Link that nobody serves any more is not Ready, whatever
was last reported; where the Leases may not be read, \`READY\` is \`Unknown\`. A Link lists the Services that are not mirrored first, and at most 100 of those that are. \`--watch\` goes on when the API server is
away for a while.`,
  synth: `The folder may contain other files, which stay as they are. \`.linkspan-synth\` lists what was written: such a file is
deleted when it is wanted no more. Below the folder, a symbolic link is refused. \`.gitattributes\` keeps Git from changing the
line ends of these files; \`--check\` ignores line ends. A file \`.gitattributes\` of your own is left alone.`,
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
what clients reach in each cluster; if no operator keeps them, a step says so.

\`\`\`sh
linkspan explain shop/web --context east --to-context west    # reads both clusters
linkspan explain shop/web-west --context east                 # by the name of the mirror, from the source alone
linkspan explain -n shop web-west                             # as kubectl has it; svc/web-west and web-west.shop too
linkspan explain http://web-west.shop.svc.cluster.local:8080  # what a log has: a URL, a name in DNS, a ClusterIP
linkspan explain web.shop.svc.clusterset.local                # a ServiceImport
linkspan explain shop/web --context east --to-context west --as shop/cart   # does this ServiceAccount come through the gateway?
\`\`\`

With \`--as\`, a client is followed through the gateway of the target: by which route and which policy it is admitted, or what it is
answered (403, 404, the end of the connection), why, and the command that lets it in. It is a ServiceAccount of the source, as
\`shop/cart\`, or of another trust domain, as \`shop/cart@north.example\`, or an identity in full. The policy is read in the target, as
it is there: so it needs \`--to-context\`. The exit code is 1 unless the client is admitted to every port.

The name of a mirror is taken also where there is none, since it could not be made. \`--namespace\` is that of the Service, other
than in the other commands; \`--multicluster-namespace\` is that of the extension. With a Service whose name has another
namespace, \`--namespace\` is still taken for that of the extension, as it once was, and a note says so.

The exit code is 0 if all that is explained ends at a ready address and every step was looked at, and 1 otherwise: a mirror that
is broken is not hidden by a ServiceImport of its name that works. A step that could not be looked at has the sign \`?\`: where
the target does not answer, what the source knows of the Service is said all the same. Without \`--to-context\`, what the source
knows is all that is looked at. Namespaces that the operator must not write to, and its limits, are known from what it reports.`,
  plan: `It is the operator that is asked: its own steps are made against a copy of the source cluster in memory, one after the
other, until nothing is left to do. What it reads is what the operator would read: the source by \`--context\`; the target
by the credentials of each Link, in the file or in the source, or by \`--to-context\`; the operator's settings from its
Deployment, in the file or in the source. Where the source has the Link already, it is planned as a server-side apply would leave it, which is asked as a
dry run. Nothing is written.

\`\`\`sh
linkspan plan -f link.yaml                                       # by the current context and the Link's credentials
linkspan plan -f link.yaml --context east --to-context west -o wide
linkspan plan -f link.yaml --source-dump east/ --target-dump west/ -o json
\`\`\`

Dumps are what \`kubectl get services,endpoints,endpointslices,namespaces -A -o yaml\` prints, and of the source also
\`links,leases,deployments,pods -n linkerd-multicluster\`; a folder may hold several files. Where the MCS API is used, add
\`serviceexports,serviceimports -A\` and \`clusterproperties\`; where there are ServiceFailovers, \`servicefailovers,httproutes,grpcroutes
-A\`, and \`crds\`, which say which kinds of routes there can be.

| exit code | when                                                                                     |
| --------- | ---------------------------------------------------------------------------------------- |
| 0         | nothing would change                                                                     |
| 1         | it cannot be said: a cluster, a file or the command line stands in the way               |
| 2         | something would change, or is held or refused                                            |

Besides mirrors and federated Services it shows ServiceImports, where the source has their CRD, and the routes of all
ServiceFailovers, those in the file included: what becomes of these depends on what the Link brings. ServiceExports of Links
that are not planned are not read, and what they have a part in stays as it is.

\`ACTION\` is \`create\`, \`change\`, \`replace\` (deleted and made anew), \`delete\`; \`refuse\` for what is not mirrored, with the
reason that the Link's status would have, and for what stands in the way of a ServiceImport or a ServiceFailover; and \`hold\` for deletions that the mass-deletion guard would hold. ClusterIPs that
only the API server gives are \`(assigned)\`. What it cannot know: the verdict on a gateway that has none yet (existing
mirrors keep their readiness, new ones are ready, and a ServiceFailover takes what is not known for what its status says),
and names that resolve differently in the source.`,
  migrate: `For each Link it shows what the operator would write as soon as it writes for the Link, which is nothing where Linkerd's
controller has done its work, and the steps. With \`--apply\` it makes them, Link by Link: it waits until an operator stands
by, stops Linkerd's controller of the Link, waits until the operator holds the Link's Lease and the Link is Ready, and verifies that every mirror has kept its uid
and ClusterIP. With the last Link it does the same for Linkerd's local mirror, which writes the members of federated Services
that this cluster has. At the first obstacle it gives the Link back to Linkerd's controller and ends; run it again, and it goes
on. [migrate.md](migrate.md) is the whole way.

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
