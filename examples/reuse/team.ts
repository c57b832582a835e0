/**
 * A company's own construct, built on Linkspan's: a team gets a namespace in the mesh, and every Service that it puts
 * there can be called from all clusters that link to this one.
 */
import { Deployment, Namespace, Service } from 'cdk8s-plus-27';
import { Construct } from 'constructs';
import { Exported } from 'linkspan';

/** Properties of {@link Team}. */
export interface TeamProps {
  /** Who is called when something breaks. */
  readonly contact: string;
}

/** Properties of an application of a {@link Team}. */
export interface ApplicationProps {
  readonly image: string;
  /** Port that the application listens on; its Service has the same. */
  readonly port: number;
}

/** A team, with a namespace named by the construct's id. */
export class Team extends Construct {
  /** Namespace of all that the team runs. */
  readonly namespace: Namespace;

  constructor(scope: Construct, id: string, { contact }: TeamProps) {
    super(scope, id);
    const annotations = { 'linkerd.io/inject': 'enabled', 'example.com/contact': contact };
    this.namespace = new Namespace(this, 'Namespace', { metadata: { name: id, annotations } });
    // Holds for all Services below the team, also for those that are added later.
    Exported.of(this);
  }

  /** Adds an application and its Service, both of that name. */
  application(name: string, { image, port }: ApplicationProps): Service {
    const metadata = { name, namespace: this.namespace.name };
    const application = new Construct(this, name);
    application.node.addDependency(this.namespace);
    const deployment = new Deployment(application, 'Deployment', {
      metadata,
      containers: [{ image, resources: {}, ports: [{ name: 'http', number: port }] }],
    });
    return new Service(application, 'Service', {
      metadata,
      selector: deployment,
      ports: [{ name: 'http', port }],
    });
  }
}
