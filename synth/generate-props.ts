/**
 * JSON schemas of the props of constructs, from their interfaces: a docstring with its `@default` is the description of
 * a prop, and its type is what plain JavaScript and cluster files are checked by. A number is whole unless its docstring
 * has `@asType number`; no error quotes a text with `@writeOnly`; `@maxItems` limits a list; and `@instanceOf` names the
 * class that an interface is of. Development only; not part of the package.
 */
import { dirname, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { plain, tagOf, wordsIn } from './generate-docstrings.ts';

const CONSTRUCTS = fileURLToPath(new URL('../constructs/', import.meta.url));

/** Source of the schemas of one folder of constructs/, as in `link`. */
export interface PropsSchemas {
  readonly folder: string;
  readonly source: string;
}

/** The schemas of a folder: its constants, each after those that it refers to, and what they import. */
interface Constants {
  readonly texts: Map<string, string>;
  readonly imports: Map<string, Set<string>>;
}

/** Source of every `constructs/<folder>/schema.gen.ts`. Takes seconds: TypeScript reads all constructs. */
export const propsSchemas = (): readonly PropsSchemas[] => {
  const root = dirname(dirname(CONSTRUCTS));
  const config = ts.readConfigFile(`${root}/tsconfig.json`, (path) => ts.sys.readFile(path)).config as object;
  const index = `${CONSTRUCTS}index.ts`;
  const { options } = ts.parseJsonConfigFileContent({ ...config, include: [], files: [index] }, ts.sys, root);
  const program = ts.createProgram([index], { ...options, skipLibCheck: true });
  const files = program.getSourceFiles().filter((file) => isWritten(file) && folderOf(file) !== undefined);
  const named = new Set(files.flatMap(schemasOf));
  const generator = new Generator(program.getTypeChecker());
  for (const { statements } of files) {
    for (const each of statements) {
      if (ts.isInterfaceDeclaration(each) && named.has(constantOf(each.name.text))) generator.add(each);
    }
  }
  return generator.schemas();
};

class Generator {
  readonly #checker: ts.TypeChecker;
  readonly #folders = new Map<string, Constants>();

  constructor(checker: ts.TypeChecker) {
    this.#checker = checker;
  }

  /** Adds the schema of an interface, and of those that it refers to. */
  add(declaration: ts.InterfaceDeclaration): void {
    this.#constant(this.#checker.getTypeAtLocation(declaration), folderOf(declaration.getSourceFile()) ?? '');
  }

  schemas(): readonly PropsSchemas[] {
    return [...this.#folders].map(([folder, { texts, imports }]) => {
      const lines = [...imports].sort(([a], [b]) => (a < b ? -1 : 1));
      const header = '/** Schemas of props, generated from their interfaces by `npm run generate`. Do not edit. */';
      const imported = lines.map(([from, names]) => `import { ${[...names].sort().join(', ')} } from '${from}';`);
      const constants = [...texts].map(([name, text]) => `export const ${name} = ${text};`);
      return { folder, source: [header, ...imported, '', constants.join('\n\n')].join('\n') };
    });
  }

  /** The name of the constant with the schema of an interface, imported into the folder that refers to it. */
  #constant(type: ts.Type, from: string): string {
    const { name, declarations: [declaration] = [] } = type.symbol;
    const folder = (declaration && folderOf(declaration.getSourceFile())) ?? from;
    const constant = constantOf(name);
    const { texts } = this.#constants(folder);
    if (!texts.has(constant)) {
      const text = `${this.#object(type, this.#docs(type.symbol), folder)} as const`;
      texts.set(constant, text);
    }
    if (folder !== from) this.#import(from, folder, constant);
    return constant;
  }

  #constants(folder: string): Constants {
    const found = this.#folders.get(folder) ?? { texts: new Map(), imports: new Map() };
    this.#folders.set(folder, found);
    return found;
  }

  #import(into: string, from: string, ...names: readonly string[]): void {
    const { imports } = this.#constants(into);
    const path = from.endsWith('.ts') ? from : `${from}/schema.gen.ts`;
    const found = relative(into, path);
    const specifier = found.startsWith('.') ? found : `./${found}`;
    imports.set(specifier, new Set([...(imports.get(specifier) ?? []), ...names]));
  }

  #object(type: ts.Type, description: string, folder: string): string {
    const props = this.#properties(type);
    const required = props.filter(({ flags }) => (flags & ts.SymbolFlags.Optional) === 0).map(({ name }) => name);
    const properties = props.map((prop) => `${quoted(prop.name)}: ${this.#prop(type, prop, folder)}`);
    return literal({
      type: quoted('object'),
      description: quoted(description),
      additionalProperties: 'false',
      required: `[${required.map(quoted).join(', ')}]`,
      properties: `{ ${properties.join(', ')} }`,
    });
  }

  /** Properties with those of the interfaces that it extends first. */
  #properties(type: ts.Type): readonly ts.Symbol[] {
    const bases = type.isClassOrInterface() ? this.#checker.getBaseTypes(type) : [];
    const inherited = bases.flatMap((base) => this.#properties(base).map(({ name }) => name));
    const rank = ({ name }: ts.Symbol): number =>
      inherited.includes(name) ? inherited.indexOf(name) : inherited.length;
    return this.#checker.getPropertiesOfType(type).toSorted((a, b) => rank(a) - rank(b));
  }

  #prop(owner: ts.Type, prop: ts.Symbol, folder: string): string {
    const where = `${owner.symbol.name}.${prop.name}`;
    const meaning = this.#docs(prop);
    if (meaning === '') throw new Error(`${where} has no docstring`);
    const isOptional = (prop.flags & ts.SymbolFlags.Optional) !== 0;
    const isGenerated = prop.declarations?.some((each) => !isWritten(each.getSourceFile())) ?? false;
    const text = tagOf(prop, 'default') ?? (isOptional && isGenerated ? 'none' : undefined);
    if (isOptional !== (text !== undefined)) throw new Error(`${where} needs @default if, and only if, it is optional`);
    const description = text === undefined ? meaning : `${meaning}; default ${text.replace(/^- /, '')}`;
    const type = this.#checker.getNonNullableType(this.#checker.getTypeOfSymbol(prop));
    const number = quoted(tagOf(prop, 'asType') ?? 'integer');
    const most = tagOf(prop, 'maxItems');
    const words = wordsIn(this.#checker, prop);
    const extra = {
      ...(tagOf(prop, 'writeOnly') !== undefined && { writeOnly: 'true' }),
      ...(most !== undefined && { maxItems: most }),
    };
    return this.#value(type, { description, folder, number, where, words, extra });
  }

  #value(type: ts.Type, of: Value): string {
    const description = quoted(of.description);
    const scalar = (kind: string): string => literal({ type: kind, description, ...of.extra });
    if ((type.flags & ts.TypeFlags.Boolean) !== 0) return scalar(quoted('boolean'));
    if (this.#checker.typeToString(type) === 'true') return literal({ description, enum: '[true]' });
    if (type.isUnion()) return this.#union(type.types, of);
    if (type.isStringLiteral())
      return literal({ type: quoted('string'), description, enum: `[${quoted(type.value)}]` });
    if ((type.flags & ts.TypeFlags.String) !== 0) return scalar(quoted('string'));
    if ((type.flags & ts.TypeFlags.Number) !== 0) return scalar(of.number);
    const [item] = this.#checker.isArrayType(type) ? this.#checker.getTypeArguments(type as ts.TypeReference) : [];
    if (item !== undefined) {
      return literal({ type: quoted('array'), description, items: this.#within(item, of), ...of.extra });
    }
    const values = this.#checker.getIndexTypeOfType(type, ts.IndexKind.String) ?? this.#mapped(type);
    if (values !== undefined) {
      return literal({ type: quoted('object'), description, additionalProperties: this.#within(values, of) });
    }
    return this.#reference(type, of);
  }

  /** The schema of an item of a list, or of a value of a map: an object has the description of its type. */
  #within(type: ts.Type, of: Value): string {
    const given = this.#checker.getNonNullableType(type);
    const scalar = { [ts.TypeFlags.String]: 'string', [ts.TypeFlags.Number]: 'integer' }[given.flags as number];
    if (scalar !== undefined) return literal({ type: quoted(scalar) });
    const named = given.isUnion() ? given.types.find(({ symbol }) => symbol as unknown) : given;
    const { symbol } = named ?? {};
    const docs = symbol === undefined ? '' : this.#docs(symbol);
    const description = docs === '' ? of.description.replace(/; default .*/, '') : docs;
    return this.#value(given, { ...of, description, extra: {} });
  }

  #union(types: readonly ts.Type[], of: Value): string {
    const description = quoted(of.description);
    const values = types.flatMap((each) => (each.isStringLiteral() ? [each.value] : []));
    const words = values.sort((a, b) => of.words.indexOf(a) - of.words.indexOf(b)).map(quoted);
    if (words.length === types.length) {
      return literal({ type: quoted('string'), description, enum: `[${words.join(', ')}]` });
    }
    const others = types.filter((each) => !each.isStringLiteral() && !isFalse(each));
    const has = (flag: ts.TypeFlags): boolean => others.some(({ flags }) => (flags & flag) !== 0);
    const objects = others.filter(({ flags }) => (flags & ts.TypeFlags.Object) !== 0);
    const [object] = objects;
    if (object?.symbol.name === 'Duration') {
      const units = /duration/i.test(of.description) ? '' : '; seconds, or a Go duration';
      return literal({ type: "['string', 'number']", description: quoted(`${of.description}${units}`) });
    }
    if (object === undefined && has(ts.TypeFlags.String) && has(ts.TypeFlags.Number)) {
      return literal({ type: `[${of.number}, 'string']`, description });
    }
    if (object === undefined || objects.length !== 1) throw new Error(`${of.where} is a union without a schema`);
    const alternatives = (kind: string, then: string): string =>
      literal({ description, if: literal({ type: quoted(kind) }), then, else: this.#value(object, of) });
    if (types.some(isFalse)) return alternatives('boolean', '{ enum: [false] }');
    if (words.length > 0) return alternatives('string', `{ enum: [${words.join(', ')}] }`);
    return alternatives('string', '{}');
  }

  #reference(type: ts.Type, of: Value): string {
    const { aliasSymbol, aliasTypeArguments: [inner, keys] = [] } = type;
    if (aliasSymbol?.name === 'Omit' && inner !== undefined && keys !== undefined) {
      this.#import(of.folder, 'common/schema.ts', 'without');
      const has = (key: string): boolean => this.#checker.getPropertyOfType(inner, key) !== undefined;
      const names = (keys.isUnion() ? keys.types : [keys]).flatMap((key) => (key.isStringLiteral() ? [key.value] : []));
      const left = names.filter(has).sort();
      return this.#described(`without(${[this.#constant(inner, of.folder), ...left.map(quoted)].join(', ')})`, of);
    }
    const [declaration] = type.symbol.declarations ?? [];
    const className = type.isClass() ? type.symbol.name : tagOf(type.symbol, 'instanceOf');
    if (className !== undefined) {
      this.#import(of.folder, '../crds/validate.ts', 'INSTANCE_OF');
      return literal({ '[INSTANCE_OF]': quoted(className), description: quoted(of.description) });
    }
    const home = declaration && ts.isInterfaceDeclaration(declaration) && folderOf(declaration.getSourceFile());
    if (home === undefined || home === false || !isVisible(home, of.folder)) {
      return this.#object(type, of.description, of.folder);
    }
    const constant = this.#constant(type, of.folder);
    return of.description === this.#docs(type.symbol) ? constant : this.#described(constant, of);
  }

  #described(schema: string, { description, folder }: Value): string {
    this.#import(folder, 'common/schema.ts', 'described');
    return `described(${schema}, ${quoted(description)})`;
  }

  /** The values of a type that is mapped over names, which the construct checks. */
  #mapped(type: ts.Type): ts.Type | undefined {
    if (!type.symbol.declarations?.some(ts.isMappedTypeNode) || type.aliasSymbol !== undefined) return undefined;
    const [first] = this.#checker.getPropertiesOfType(type);
    return first && this.#checker.getTypeOfSymbol(first);
  }

  /** A docstring as the start of a description: on one line, without Markdown and the last full stop. */
  #docs(symbol: ts.Symbol): string {
    const text = plain(ts.displayPartsToString(symbol.getDocumentationComment(this.#checker)));
    return text.replace(/\.$/, '');
  }
}

/** A value, and what is known of the prop that it is in. */
interface Value {
  readonly description: string;
  readonly folder: string;
  /** Type of its numbers, quoted. */
  readonly number: string;
  /** Name of the prop, for errors. */
  readonly where: string;
  /** Words that its type consists of, in the order that they are written in. */
  readonly words: readonly string[];
  /** Keywords that its docstring adds. */
  readonly extra: Readonly<Record<string, string>>;
}

/** Names of the generated schemas that a file imports. */
const schemasOf = ({ statements }: ts.SourceFile): readonly string[] =>
  statements.filter(ts.isImportDeclaration).flatMap(({ importClause, moduleSpecifier }) => {
    const bindings = importClause?.namedBindings;
    const isOfSchemas = ts.isStringLiteral(moduleSpecifier) && moduleSpecifier.text.endsWith('/schema.gen.ts');
    return isOfSchemas && bindings && ts.isNamedImports(bindings) ? bindings.elements.map(({ name }) => name.text) : [];
  });

const isFalse = (type: ts.Type): boolean => (type.flags & ts.TypeFlags.BooleanLiteral) !== 0;

/** As in GATEWAY_PROPS for GatewayProps. */
const constantOf = (name: string): string => name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase();

const isWritten = ({ fileName }: ts.SourceFile): boolean => !fileName.endsWith('.gen.ts');

/** The folder of constructs/ that a file is in; undefined for other files. */
const folderOf = ({ fileName }: ts.SourceFile): string | undefined =>
  fileName.startsWith(CONSTRUCTS) ? dirname(relative(CONSTRUCTS, fileName)) : undefined;

/** Reports whether a folder may import another: constructs/rendered/ shows others none of its files. */
const isVisible = (home: string, from: string): boolean =>
  !home.startsWith('rendered/') || from.startsWith('rendered/');

const quoted = (text: string): string => JSON.stringify(text);

const literal = (fields: Readonly<Record<string, string>>): string =>
  `{ ${Object.entries(fields)
    .map(([name, value]) => `${name}: ${value}`)
    .join(', ')} }`;
