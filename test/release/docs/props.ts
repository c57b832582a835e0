/**
 * The props of each construct, read from the sources: name, type, default and meaning, as their declarations and
 * docstrings say. A prop without a docstring is an error, so that no table has a gap.
 */
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const INDEX = `${ROOT}constructs/index.ts`;

/** One prop. */
export interface Prop {
  readonly name: string;
  /** Markdown; types that have a table are links to it. */
  readonly type: string;
  /** Markdown; undefined for a prop that is required. */
  readonly default: string | undefined;
  /** Markdown, of one line. */
  readonly meaning: string;
}

/** A type of props, with all that it inherits. */
export interface PropsType {
  /** As in `LinkProps`. */
  readonly name: string;
  readonly meaning: string;
  readonly props: readonly Prop[];
}

/** Props by their types: those of each construct, and those that occur in props. */
export interface PropsReference {
  /** By name of the construct: the type of its last parameter. None for a construct that takes no props. */
  readonly byConstruct: ReadonlyMap<string, PropsType>;
  /** The types that props are of, in the order of their names. */
  readonly others: readonly PropsType[];
}

/** Reads the sources. Takes seconds: TypeScript checks them all. */
export const propsReference = (): PropsReference => {
  const config = ts.readConfigFile(`${ROOT}tsconfig.json`, (path) => ts.sys.readFile(path)).config as object;
  const { options } = ts.parseJsonConfigFileContent({ ...config, include: [], files: [INDEX] }, ts.sys, ROOT);
  const program = ts.createProgram([INDEX], { ...options, skipLibCheck: true });
  return new Reader(program.getTypeChecker(), program).read();
};

class Reader {
  readonly #checker: ts.TypeChecker;
  /** What can be constructed or called. */
  readonly #exported: readonly ts.Symbol[];
  /** Types that have a table, by name; undefined while it is made. */
  readonly #tables = new Map<string, PropsType | undefined>();

  constructor(checker: ts.TypeChecker, program: ts.Program) {
    this.#checker = checker;
    const index = program.getSourceFile(INDEX);
    const module = index && checker.getSymbolAtLocation(index);
    if (module === undefined) throw new Error(`${INDEX} cannot be read`);
    const values = checker.getExportsOfModule(module).filter((symbol) => !isTypeOnly(symbol));
    this.#exported = values.map((symbol) => this.#original(symbol));
  }

  read(): PropsReference {
    const ofConstructs = new Map<string, ts.Symbol>();
    for (const symbol of this.#exported) {
      const props = this.#propsOf(symbol);
      if (props !== undefined) ofConstructs.set(symbol.name, props);
    }
    for (const symbol of ofConstructs.values()) this.#table(symbol);
    const own = new Set([...ofConstructs.values()].map(({ name }) => name));
    const table = (name: string): PropsType => {
      const found = this.#tables.get(name);
      if (found === undefined) throw new Error(`there is no table of ${name}`);
      return found;
    };
    return {
      byConstruct: new Map([...ofConstructs].map(([construct, { name }]) => [construct, table(name)])),
      others: [...this.#tables.keys()]
        .filter((name) => !own.has(name))
        .sort()
        .map(table),
    };
  }

  /** The type of the last parameter of a class's constructor, or of its `of`, if it is an interface of ours. */
  #propsOf(symbol: ts.Symbol): ts.Symbol | undefined {
    const declaration = symbol.declarations?.find(ts.isClassDeclaration);
    const maker = declaration?.members.find(
      (member) =>
        ts.isConstructorDeclaration(member) ||
        (ts.isMethodDeclaration(member) && member.name.getText() === 'of' && isStatic(member)),
    );
    if (maker === undefined || !(ts.isConstructorDeclaration(maker) || ts.isMethodDeclaration(maker))) return undefined;
    const type = maker.parameters.at(-1)?.type;
    const named = type && ts.isTypeReferenceNode(type) ? this.#symbolOf(type.typeName) : undefined;
    return named !== undefined && isOurInterface(named) && named.name !== 'Construct' ? named : undefined;
  }

  /** Makes the table of an interface, and of those that it refers to. */
  #table(symbol: ts.Symbol): void {
    if (this.#tables.has(symbol.name)) return;
    this.#tables.set(symbol.name, undefined);
    const type = this.#checker.getDeclaredTypeOfSymbol(symbol);
    const props = this.#checker.getPropertiesOfType(type).map((prop) => this.#prop(symbol, prop));
    this.#tables.set(symbol.name, { name: symbol.name, meaning: this.#docs(symbol), props });
  }

  #prop(owner: ts.Symbol, prop: ts.Symbol): Prop {
    const where = `${owner.name}.${prop.name}`;
    const declaration = prop.declarations?.find(ts.isPropertySignature);
    if (declaration?.type === undefined) throw new Error(`${where} is no property with a type`);
    const isOptional = (prop.flags & ts.SymbolFlags.Optional) !== 0;
    const text = this.#defaultOf(prop, declaration);
    if (isOptional && text === undefined) throw new Error(`${where} has no @default`);
    if (!isOptional && text !== undefined) throw new Error(`${where} is required, and has a @default`);
    const meaning = this.#docs(prop);
    if (meaning === '') throw new Error(`${where} has no docstring`);
    return { name: prop.name, type: this.#type(declaration.type), default: text, meaning };
  }

  /** A value as code, or after a dash words, as cdk8s has it. Generated types have no defaults. */
  #defaultOf(prop: ts.Symbol, declaration: ts.PropertySignature): string | undefined {
    const tag = prop.getJsDocTags(this.#checker).find(({ name }) => name === 'default');
    const text = oneLine(ts.displayPartsToString(tag?.text));
    if (text.startsWith('- ')) return text.slice(2);
    if (text !== '') return code(text);
    const isGenerated = declaration.getSourceFile().fileName.endsWith('.gen.ts');
    return isGenerated && declaration.questionToken !== undefined ? 'none' : undefined;
  }

  /** A type as a reader writes it: without `undefined` and `readonly`, which say nothing to them. */
  #type(node: ts.TypeNode): string {
    if (ts.isParenthesizedTypeNode(node)) return this.#type(node.type);
    if (ts.isUnionTypeNode(node)) {
      const parts = node.types.filter((each) => each.kind !== ts.SyntaxKind.UndefinedKeyword);
      return parts.map((each) => this.#type(each)).join(' or ');
    }
    if (ts.isTypeOperatorNode(node)) return this.#type(node.type);
    if (ts.isArrayTypeNode(node)) return `array of ${this.#type(node.elementType)}`;
    if (ts.isTypeReferenceNode(node)) return this.#reference(node);
    if (ts.isIndexedAccessTypeNode(node)) return this.#resolved(node);
    const [member] = ts.isTypeLiteralNode(node) ? node.members : [];
    if (member !== undefined && ts.isIndexSignatureDeclaration(member)) return `map to ${this.#type(member.type)}`;
    this.#tablesWithin(node);
    return code(oneLine(node.getText().replaceAll('readonly ', '')));
  }

  #reference(node: ts.TypeReferenceNode): string {
    const [first, second] = node.typeArguments ?? [];
    const name = node.typeName.getText();
    if (name === 'Omit' && first !== undefined && second !== undefined) {
      return `${this.#type(first)} without ${this.#keys(second).map(code).join(', ')}`;
    }
    if (name === 'Readonly' && first !== undefined) return this.#type(first);
    if ((name === 'Record' || name === 'ReadonlyMap') && second !== undefined) return `map to ${this.#type(second)}`;
    const symbol = this.#symbolOf(node.typeName);
    if (symbol === undefined) return code(node.getText());
    const alias = symbol.declarations?.find(ts.isTypeAliasDeclaration);
    if (alias !== undefined && isOurs(alias) && !ts.isIntersectionTypeNode(alias.type)) return this.#type(alias.type);
    if (!isOurInterface(symbol)) return code(node.getText());
    this.#table(symbol);
    return propsLink(symbol.name);
  }

  /** Makes the tables of what an object type refers to, which is written out. */
  #tablesWithin(node: ts.TypeNode): void {
    const visit = (each: ts.Node): void => {
      if (ts.isTypeReferenceNode(each)) this.#reference(each);
      ts.forEachChild(each, visit);
    };
    if (ts.isTypeLiteralNode(node)) visit(node);
  }

  /** A type that is that of another prop. */
  #resolved(node: ts.IndexedAccessTypeNode): string {
    const object = this.#checker.getTypeFromTypeNode(node.objectType);
    const index = this.#checker.getTypeFromTypeNode(node.indexType);
    const prop = index.isStringLiteral() ? this.#checker.getPropertyOfType(object, index.value) : undefined;
    const declaration = prop?.declarations?.find(ts.isPropertySignature);
    return declaration?.type === undefined ? code(node.getText()) : this.#type(declaration.type);
  }

  #keys(node: ts.TypeNode): readonly string[] {
    const type = this.#checker.getTypeFromTypeNode(node);
    const parts = type.isUnion() ? type.types : [type];
    return parts.flatMap((each) => (each.isStringLiteral() ? [each.value] : [])).sort();
  }

  #symbolOf(node: ts.EntityName): ts.Symbol | undefined {
    const symbol = this.#checker.getSymbolAtLocation(node);
    return symbol && this.#original(symbol);
  }

  #original(symbol: ts.Symbol): ts.Symbol {
    return (symbol.flags & ts.SymbolFlags.Alias) === 0 ? symbol : this.#checker.getAliasedSymbol(symbol);
  }

  /** The docstring, on one line; what it links to is code. */
  #docs(symbol: ts.Symbol): string {
    const text = oneLine(ts.displayPartsToString(symbol.getDocumentationComment(this.#checker)));
    return text.replaceAll(/\{@link ([\w.]+) ?\}/g, '`$1`');
  }
}

/** Markdown of a type's name, linked to its table. */
export const propsLink = (name: string): string => `[${code(name)}](#${name.toLowerCase()})`;

const code = (text: string): string => `\`${text}\``;

const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();

const isStatic = (member: ts.MethodDeclaration): boolean =>
  member.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.StaticKeyword) ?? false;

const isTypeOnly = ({ declarations }: ts.Symbol): boolean =>
  declarations?.some((each) => ts.isExportSpecifier(each) && (each.isTypeOnly || each.parent.parent.isTypeOnly)) ??
  false;

const isOurs = (node: ts.Node): boolean => !node.getSourceFile().fileName.includes('/node_modules/');

const isOurInterface = ({ declarations }: ts.Symbol): boolean =>
  declarations?.some((each) => ts.isInterfaceDeclaration(each) && isOurs(each)) ?? false;
