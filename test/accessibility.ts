import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { appendFile, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import type axe from 'axe-core';
import type { Page } from 'playwright-core';
import { inject } from 'vitest';

const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];

/**
 * What hinders people who use a page by screen reader, by keyboard or with weak eyes: a line for each place. Elements that
 * are like those of a page that was found fine in this run, on a screen of the same width, are not looked at again: axe
 * takes several times as long as the page itself.
 */
export async function seriousProblems(page: Page): Promise<string[]> {
  // A page without its stylesheet is another one.
  await page.waitForLoadState();
  const kinds = await describeElements(page);
  const file = path.join(inject('folder'), 'accessible-elements');
  const fine = existsSync(file) ? new Set((await readFile(file, 'utf8')).split('\n')) : new Set<string>();
  const unknown = kinds.filter(({ digest }) => !fine.has(digest));
  if (unknown.length === 0) return [];
  // What is below an unknown element is unknown too.
  const parts = unknown.filter(({ parent }) => parent === -1 || fine.has(kinds[parent]!.digest));
  await page.evaluate(await loadAxe());
  // Only the violations leave the page: the results name every rule that was kept, too.
  const violations = await page.evaluate<axe.Result[]>(
    `axe.run(
      { include: ${JSON.stringify(parts.map(({ index }) => index))}.map((index) => window.examples[index]) },
      { runOnly: ${JSON.stringify(RULES)}, resultTypes: ['violations'], preload: false, iframes: false },
    ).then((results) => results.violations)`,
  );
  const problems = violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, help, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id}: ${help} ${target.join(' ')} ${failureSummary ?? ''}`),
    );
  // The workers of a run share the file.
  if (problems.length === 0) await appendFile(file, unknown.map(({ digest }) => `${digest}\n`).join(''));
  return problems;
}

let source: Promise<string> | undefined;

/** The minified script: it is sent to and parsed in every page, and is less than half as long as `axe.source`. */
function loadAxe(): Promise<string> {
  return (source ??= readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8'));
}

interface ElementKind {
  index: number;
  /** The index of the kind that it is in; -1 for the whole document. */
  parent: number;
  digest: string;
}

/**
 * The kinds of elements on a page, as far as the rules of axe can tell them apart: what an element is, what is around it,
 * the stylesheets and the width of the screen, whether it has a text and a label, and whether what it refers to is there.
 * Texts and addresses do not count, so that a list of ten products is the same as one of two others.
 */
async function describeElements(page: Page): Promise<ElementKind[]> {
  const { screen, kinds } = await page.evaluate<{ screen: string; kinds: [parent: number, kind: unknown][] }>(
    DESCRIBE_ELEMENTS,
  );
  const described: ElementKind[] = [];
  for (const [index, [parent, kind]] of kinds.entries()) {
    const around = described[parent]?.digest ?? screen;
    const digest = createHash('sha256')
      .update(`${around} ${JSON.stringify(kind)}`)
      .digest('base64url');
    described.push({ index, parent, digest: digest.slice(0, 20) });
  }
  return described;
}

/** It runs in the page, and leaves an element of each kind in `window.examples`. */
const DESCRIBE_ELEMENTS = `(() => {
  const VALUES = /^(class|style|type|role|tabindex|autocomplete|scope|aria-(checked|current|disabled|expanded|haspopup|hidden|invalid|live|modal|pressed|selected|sort))$/;
  const REFERENCES = /^(for|list|headers|aria-(activedescendant|controls|describedby|details|errormessage|labelledby|owns))$/;
  const ids = new Map();
  for (const { id } of document.querySelectorAll('[id]')) ids.set(id, (ids.get(id) ?? 0) + 1);
  const describe = ({ name, value }) => {
    if (VALUES.test(name)) return name + '=' + value;
    if (REFERENCES.test(name)) return name + '=' + value.split(' ').every((id) => ids.has(id));
    if (name === 'id') return name + (ids.get(value) === 1 ? '' : ' twice');
    return value.trim() === '' ? name + '=' : name;
  };
  const hasText = (node) => node.nodeType === Node.TEXT_NODE && node.data.trim() !== '';
  const kinds = new Map();
  window.examples = [];
  const visit = (element, parent) => {
    const attributes = [...element.attributes].map(describe).toSorted();
    const { localName, labels, childNodes, textContent } = element;
    const kind = [localName, attributes, labels?.length > 0, [...childNodes].some(hasText), textContent.trim() === ''];
    const key = JSON.stringify([parent, kind]);
    if (!kinds.has(key)) {
      kinds.set(key, kinds.size);
      window.examples.push(element);
    }
    const index = kinds.get(key);
    for (const child of element.children) visit(child, index);
  };
  visit(document.documentElement, -1);
  const styles = [...document.querySelectorAll('style, link[rel=stylesheet]')];
  return {
    screen: JSON.stringify([
      innerWidth,
      document.title.trim() !== '',
      document.querySelector('meta[name=viewport]')?.content,
      styles.map((style) => style.textContent || new URL(style.href).pathname + style.media),
    ]),
    kinds: [...kinds.keys()].map((key) => JSON.parse(key)),
  };
})()`;
