import path from 'node:path';
import {
  isArrayLiteralExpression,
  isArrowFunction,
  isAsExpression,
  isAwaitExpression,
  isBinaryExpression,
  isBindingElement,
  isBlock,
  isCallExpression,
  isConditionalExpression,
  isElementAccessExpression,
  isFunctionDeclaration,
  isIdentifier,
  isNonNullExpression,
  isNoSubstitutionTemplateLiteral,
  isObjectLiteralExpression,
  isParameterDeclaration,
  isParenthesizedExpression,
  isPropertyAccessExpression,
  isPropertyAssignment,
  isReturnStatement,
  isTaggedTemplateExpression,
  isVariableDeclaration,
  type ArrowFunction,
  type CallExpression,
  type FunctionDeclaration,
  type Node,
} from 'typescript/unstable/ast';
import {
  SymbolFlags,
  type Checker,
  type Project,
  type Type,
  type TypeReference,
} from 'typescript/unstable/sync';

/*
 * The API of the compiler is marked as unstable: a new version of TypeScript may need changes here, and in the test.
 */

/** A call of the database that returns rows, as `db.one<Row>(sql`...`)`. */
export interface QueryCall {
  /** The file and the line of the statement. */
  place: string;
  row: Type;
  /** The alternatives of the statement. Empty: the text is not in the source. */
  texts: readonly string[];
}

const METHODS = new Set(['one', 'many', 'search']);

/** Finds the calls in src/, with the types of their rows and the texts of their statements. */
export function findQueryCalls(root: string, { program, checker, rootFiles }: Project): QueryCall[] {
  const isSql = sqlTypes();
  const textsOf = statementReader(checker, isSql);
  const src = path.join(root, 'src');
  return rootFiles
    .filter((file) => file.startsWith(src) && file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .filter((file) => file !== path.join(src, 'db/database.ts'))
    .flatMap((file) => {
      const source = program.getSourceFile(file)!;
      const calls = descendants(source, isCallExpression).filter(
        (call) => METHODS.has(methodOf(call)) && call.arguments.length === 1,
      );
      const given = checker.getTypeAtLocation(calls.map((call) => call.arguments[0]!));
      return calls
        .filter((_, index) => isSql(given[index]))
        .map((call) => {
          const [statement] = call.arguments;
          const line = source.text.slice(0, statement!.getStart()).split('\n').length;
          return {
            place: `${path.relative(root, file)}:${line}`,
            row: rowOf(checker, call),
            texts: textsOf(statement!),
          };
        });
    });
}

function methodOf({ expression }: CallExpression): string {
  return isPropertyAccessExpression(expression) ? expression.name.text : '';
}

/** The type of a row: it is written at the call, or inferred from the use of the result. */
function rowOf(checker: Checker, call: CallExpression): Type {
  const argumentOf = (type: Type) => checker.getTypeArguments(type as TypeReference)[0]!;
  const result = argumentOf(checker.getTypeAtLocation(call)!);
  return methodOf(call) === 'one' ? checker.getNonNullableType(result)! : argumentOf(result);
}

/** The arguments of the functions that an expression is in, by the declaration of the parameter. */
type Scope = ReadonlyMap<Node, Value>;

/** An expression, with the meaning of the parameters in it. */
interface Value {
  node: Node;
  scope: Scope;
}

/** Stands for a parameter of a statement, until all of its parts are known. */
const PARAMETER = '\0';

/**
 * Reads the texts of a statement from the source. Its fragments are followed through constants, functions, properties
 * and conditions to the templates they are written in. The first text has the first alternative of each fragment, the
 * second text the second one, and so on: all combinations would be too many.
 */
function statementReader(
  checker: Checker,
  isSql: (type: Type | undefined) => boolean,
): (statement: Node) => string[] {
  const textsOf = (value: Value): string[] => templatesOf(value).flatMap(textsOfTemplate);

  function textsOfTemplate({ node, scope }: Value): string[] {
    if (!isTaggedTemplateExpression(node)) return [];
    const { template } = node;
    if (isNoSubstitutionTemplateLiteral(template)) return [template.text];
    const spans = [...template.templateSpans];
    const types = checker.getTypeAtLocation(spans.map(({ expression }) => expression));
    const parts = spans.map(({ expression, literal }, index) => {
      const inner = isSql(types[index]) ? textsOf({ node: expression, scope }) : [PARAMETER];
      return inner.map((text) => text + literal.text);
    });
    if (parts.some((alternatives) => alternatives.length === 0)) return [];
    const count = Math.max(...parts.map((alternatives) => alternatives.length));
    return Array.from(
      { length: count },
      (_, index) =>
        template.head.text + parts.map((alternatives) => alternatives[index % alternatives.length]).join(''),
    );
  }

  /** The templates and objects that an expression stands for. A list stands for its elements. */
  function templatesOf({ node, scope }: Value): Value[] {
    const inScope = (nodes: readonly Node[]) => nodes.flatMap((one) => templatesOf({ node: one, scope }));
    if (isTaggedTemplateExpression(node) || isObjectLiteralExpression(node)) return [{ node, scope }];
    if (
      isParenthesizedExpression(node) ||
      isAwaitExpression(node) ||
      isAsExpression(node) ||
      isNonNullExpression(node)
    ) {
      return inScope([node.expression]);
    }
    if (isConditionalExpression(node)) return inScope([node.whenTrue, node.whenFalse]);
    if (isBinaryExpression(node)) return inScope([node.left, node.right]);
    if (isArrayLiteralExpression(node)) return inScope(node.elements);
    if (isElementAccessExpression(node))
      return inScope([node.expression]).flatMap((one) => propertiesOf(one));
    if (isPropertyAccessExpression(node)) {
      return inScope([node.expression]).flatMap((one) => propertiesOf(one, node.name.text));
    }
    if (isCallExpression(node)) return resultsOf(node, scope);
    return isIdentifier(node) ? valuesOf(declarationOf(node), scope) : [];
  }

  /** Without a name, each property may be meant. */
  function propertiesOf({ node, scope }: Value, name?: string): Value[] {
    if (!isObjectLiteralExpression(node)) return [];
    return node.properties.flatMap((property) => {
      if (name !== undefined && property.getText().split(/\W/, 1)[0] !== name) return [];
      return isPropertyAssignment(property)
        ? templatesOf({ node: property.initializer, scope })
        : valuesOf(checker.getShorthandAssignmentValueSymbol(property)?.valueDeclaration?.resolve(), scope);
    });
  }

  function valuesOf(declaration: Node | undefined, scope: Scope): Value[] {
    if (!declaration) return [];
    if (isParameterDeclaration(declaration)) {
      const given = scope.get(declaration);
      return given ? templatesOf(given) : argumentsOf(declaration);
    }
    if (isBindingElement(declaration)) {
      const name = (declaration.propertyName ?? declaration.name)!.getText();
      return valuesOf(declaration.parent.parent, scope).flatMap((one) => propertiesOf(one, name));
    }
    if (!isVariableDeclaration(declaration) || !declaration.initializer) return [];
    return templatesOf({ node: declaration.initializer, scope });
  }

  /** The arguments of all calls of a function, for a statement that is inside of it. */
  function argumentsOf(parameter: Node): Value[] {
    const called = parameter.parent;
    if (!isFunction(called)) return [];
    const position = called.parameters.findIndex((one) => one === parameter);
    const declared = isVariableDeclaration(called.parent) ? called.parent : called;
    return checker.getSignatureUsage(declared).flatMap(({ call }) => {
      const node = call?.resolve();
      const given = node && isCallExpression(node) ? node.arguments[position] : undefined;
      return given ? templatesOf({ node: given, scope: new Map() }) : [];
    });
  }

  function resultsOf(call: CallExpression, scope: Scope): Value[] {
    const { expression } = call;
    const [first] = call.arguments;
    if (isPropertyAccessExpression(expression)) {
      const list = { node: expression.expression, scope };
      // Of a list with one element.
      if (methodOf(call) === 'reduce') return templatesOf(list);
      if (/^(?:map|flatMap)$/.test(methodOf(call)) && first && isFunction(first)) {
        return returnedBy(first, new Map([...scope, [first.parameters[0]!, list]]));
      }
    }
    const declaration = declarationOf(expression);
    const called = declaration && isVariableDeclaration(declaration) ? declaration.initializer : declaration;
    if (!called || !isFunction(called)) return [];
    const given = called.parameters.flatMap((parameter, index): [Node, Value][] => {
      const node = call.arguments[index] ?? parameter.initializer;
      return node ? [[parameter, { node, scope }]] : [];
    });
    return returnedBy(called, new Map([...scope, ...given]));
  }

  function returnedBy({ body }: ArrowFunction | FunctionDeclaration, scope: Scope): Value[] {
    if (!isBlock(body!)) return templatesOf({ node: body!, scope });
    return descendants(body, isReturnStatement).flatMap(({ expression }) =>
      expression ? templatesOf({ node: expression, scope }) : [],
    );
  }

  function declarationOf(node: Node): Node | undefined {
    const symbol = checker.getSymbolAtLocation(node);
    const isImported = symbol && symbol.flags & SymbolFlags.Alias;
    return (isImported ? checker.getAliasedSymbol(symbol) : symbol)?.valueDeclaration?.resolve();
  }

  return (statement) => textsOf({ node: statement, scope: new Map() }).map(withNumbers);
}

function withNumbers(text: string): string {
  let count = 0;
  return text.replaceAll(PARAMETER, () => `$${++count}`);
}

/** Each question about a symbol goes to the process of the compiler, so the answers are kept by type. */
function sqlTypes(): (type: Type | undefined) => boolean {
  const known = new Map<number, boolean>();
  const isSql = (type: Type | undefined): boolean => {
    if (!type) return false;
    let answer = known.get(type.id);
    if (answer === undefined) {
      answer = type.isUnionType() ? type.getTypes().some(isSql) : type.getSymbol()?.name === 'Sql';
      known.set(type.id, answer);
    }
    return answer;
  };
  return isSql;
}

function isFunction(node: Node): node is ArrowFunction | FunctionDeclaration {
  return isArrowFunction(node) || isFunctionDeclaration(node);
}

function descendants<Kind extends Node>(node: Node, isKind: (node: Node) => node is Kind): Kind[] {
  const found: Kind[] = [];
  const visit = (one: Node): void => {
    if (isKind(one)) found.push(one);
    one.forEachChild(visit);
  };
  visit(node);
  return found;
}
