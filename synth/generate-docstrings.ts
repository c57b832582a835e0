/** What docstrings and types say of a prop, as they are written. Development only; not part of the package. */
import ts from 'typescript';

/** The text of a tag of a docstring; undefined if it has none of the name. */
export const tagOf = (symbol: ts.Symbol, name: string): string | undefined => {
  const tag = symbol.getJsDocTags().find((each) => each.name === name);
  return tag && plain(ts.displayPartsToString(tag.text));
};

/** A text on one line, without Markdown. */
export const plain = (text: string): string =>
  text
    .replaceAll(/\{@link ([\w.]+) ?\}/g, '$1')
    .replaceAll(/[`\s]+/g, (found) => (/\s/.test(found) ? found.replaceAll(/[`\s]+/g, ' ') : ''))
    .trim();

/** The words in the type of a prop, as they are written: the compiler keeps them in another order. */
export const wordsIn = (checker: ts.TypeChecker, { declarations = [] }: ts.Symbol): readonly string[] => {
  const words: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteral(node)) words.push(node.text);
    const of = ts.isTypeReferenceNode(node) ? checker.getSymbolAtLocation(node.typeName) : undefined;
    const named = of && (of.flags & ts.SymbolFlags.Alias) !== 0 ? checker.getAliasedSymbol(of) : of;
    named?.declarations?.filter(ts.isTypeAliasDeclaration).forEach(visit);
    ts.forEachChild(node, visit);
  };
  declarations.forEach(visit);
  return words;
};
