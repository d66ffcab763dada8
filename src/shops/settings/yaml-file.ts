import {
  Document,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  visit,
  type ErrorCode,
  type ParsedNode,
} from 'yaml';

import { MAX_PROBLEMS, type SettingsRule } from './problem.ts';

/** Characters and lines of a settings file: a thousand manufacturers with addresses fit in. */
export const MAX_SETTINGS_FILE = { characters: 500_000, lines: 10_000 };
/** Keys and entries of a submitted file, all levels together. */
export const MAX_ENTRIES = 20_000;

export interface YamlFile {
  value: unknown;
  /** The line of every key and entry, by its path as `lineKey` writes it. */
  lines: ReadonlyMap<string, number>;
}

export interface YamlProblem {
  line?: number;
  text: string;
  rule: SettingsRule;
}

export const lineKey = (path: readonly (string | number)[]): string => path.join('\n');

/** Common mistakes. */
const SYNTAX_RULES: Partial<Record<ErrorCode, 'indentation' | 'secondDocument'>> = {
  BAD_INDENT: 'indentation',
  MULTIPLE_DOCS: 'secondDocument',
  TAB_AS_INDENT: 'indentation',
};

/** Reads YAML, of which JSON is a part. Everything it returns can be sent to another thread. */
export function readYaml(text: string, maxEntries = Infinity): YamlFile | { problems: YamlProblem[] } {
  const counter = new LineCounter();
  // The library finds duplicate keys by comparing each with all others.
  const document = parseDocument(text, { lineCounter: counter, prettyErrors: false, uniqueKeys: false });
  const lineAt = (offset: number) => counter.linePos(offset).line;
  const problems = [...document.errors, ...document.warnings].map(({ code, pos, message }): YamlProblem => ({
    line: lineAt(pos[0]),
    text: code === 'MULTIPLE_DOCS' ? 'A second document begins here, expected one' : message,
    rule: { name: SYNTAX_RULES[code] ?? 'syntax' },
  }));
  const lines = new Map<string, number>();
  if (problems.length === 0) problems.push(...addLines(lines, document.contents, '', lineAt));
  if (lines.size > maxEntries) {
    const problem = `has more than ${maxEntries} entries`;
    problems.unshift({ text: problem, rule: { name: 'tooMany', limit: maxEntries } });
  }
  if (problems.length > 0) return { problems: problems.slice(0, MAX_PROBLEMS) };
  try {
    return { value: document.toJS({ maxAliasCount: 100 }), lines };
  } catch (error) {
    // Aliases are resolved only here; some have no anchor or multiply without end.
    return { problems: [{ text: (error as Error).message, rule: { name: 'aliases' } }] };
  }
}

/** Records the lines of everything below `node`, and yields duplicate keys. */
function* addLines(
  lines: Map<string, number>,
  node: ParsedNode | null,
  start: string,
  lineAt: (offset: number) => number,
): Generator<YamlProblem> {
  const add = function* (step: string | number, place: ParsedNode, value: ParsedNode | null) {
    const path = start === '' ? String(step) : `${start}\n${step}`;
    lines.set(path, lineAt(place.range[0]));
    yield* addLines(lines, value, path, lineAt);
  };
  if (isMap<ParsedNode, ParsedNode | null>(node)) {
    const keys = new Set<string>();
    for (const { key, value } of node.items) {
      if (!isScalar(key)) continue;
      const name = String(key.value);
      if (keys.has(name)) {
        yield { line: lineAt(key.range[0]), text: 'Map keys must be unique', rule: { name: 'duplicateKey' } };
      }
      keys.add(name);
      yield* add(name, key, value);
    }
  } else if (isSeq<ParsedNode>(node)) {
    for (const [index, item] of node.items.entries()) yield* add(index, item, item);
  }
}

/** A value as YAML; numbers below these keys are amounts with that many digits. */
export function writeYaml(value: unknown, amountKeys: ReadonlySet<string>, digits: number): string {
  const document = new Document(value);
  visit(document, {
    Pair: (_, { key, value: amount }) => {
      const isAmount = isScalar<string>(key) && amountKeys.has(key.value);
      if (isAmount && isScalar(amount) && typeof amount.value === 'number') amount.minFractionDigits = digits;
    },
  });
  return document.toString({ lineWidth: 0 });
}
