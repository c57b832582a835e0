/** In what a mirror differs from what the operator would make of its Service now. Pure. */
import { Annotation } from '../../../crds/wire.ts';
import type { Service } from '../../../operator/kube/objects.ts';
import { desired } from '../../../operator/mirror/desired.ts';
import { endpointMirrorNames, type NameOf } from '../../../operator/mirror/names.ts';
import type { Observed } from '../../../operator/mirror/observed.ts';
import { shapeOf } from '../../../operator/mirror/shape.ts';

type Texts = Readonly<Record<string, string>>;

/** What differs, as in `label app` or `port 80`. */
export const differencesOf = (observed: Observed, mirror: Service): readonly string[] => {
  const { name, link } = observed;
  const nameOf: NameOf = (hostname) => {
    const [first] = hostname === undefined ? [mirror.metadata.name] : endpointMirrorNames(hostname, name, link.cluster);
    return first === undefined ? undefined : { name: first };
  };
  const { services } = desired(observed, shapeOf(observed), { nameOf, revision: 0 });
  const wanted = services.find(({ object }) => object.metadata.name === mirror.metadata.name)?.object as
    Service | undefined;
  if (wanted === undefined) return [];
  return [
    ...keysOf('label', wanted.metadata.labels, mirror.metadata.labels),
    ...keysOf('annotation', wanted.metadata.annotations, mirror.metadata.annotations),
    ...ports(wanted, mirror),
    ...((wanted.spec?.clusterIP === 'None') === (mirror.spec?.clusterIP === 'None') ? [] : ['whether it is headless']),
  ];
};

const keysOf = (what: string, wanted: Texts = {}, found: Texts = {}): readonly string[] =>
  [...new Set([...Object.keys(wanted), ...Object.keys(found)])]
    // It is the version that the mirror was last written at.
    .filter((key) => key !== Annotation.remoteResourceVersion && wanted[key] !== found[key])
    .map((key) => `${what} ${key}`);

const ports = (wanted: Service, found: Service): readonly string[] => {
  const text = ({ spec }: Service): readonly string[] =>
    (spec?.ports ?? []).map(({ name = '', port, protocol = 'TCP' }) => `port ${port}/${protocol} ${name}`.trim());
  const [ours, theirs] = [new Set(text(wanted)), new Set(text(found))];
  return [...new Set([...ours, ...theirs])].filter((each) => !(ours.has(each) && theirs.has(each)));
};
