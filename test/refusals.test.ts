import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { API_REFUSALS, REFUSALS, SHARED_REFUSALS } from '../src/http/refusals.ts';

/** Sweeps over the source: every refusal has a code, and every code has words where a person reads it. */

const SOURCE = new URL('../src/', import.meta.url);

const files = new Map(
  readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
    .map((path) => [path.replaceAll('\\', '/'), readFileSync(new URL(path, SOURCE), 'utf8')]),
);

const filesWith = (text: string | RegExp) =>
  [...files].flatMap(([path, source]) =>
    path !== 'http/refusals.ts' && (typeof text === 'string' ? source.includes(text) : text.test(source))
      ? [path]
      : [],
  );

test('only pages throw texts of their own; everything else throws a code of the catalogue', () => {
  const throwing = filesWith(/\b(?:badRequest|conflict|forbidden|gone|new HttpError)\(|extends HttpError\b/);
  expect(throwing.filter((path) => !/^(?:admin|storefront)\//.test(path))).toEqual([
    // Has the codes of the protocol of assistants.
    'assistants/problem.ts',
    // Declares them.
    'http/errors.ts',
    // Words the problems of validation, which have codes of their own.
    'http/failures.ts',
    // A form of a page that is too large.
    'http/form-fields.ts',
    // Answers with the problems of the Model Context Protocol, as does mcp/routes.ts.
    'http/model-context.ts',
    // A form of another site, refused in the reader's language.
    'http/page-kit.ts',
    'mcp/routes.ts',
    // Reads the code that a stored refusal had.
    'rules/reasons.ts',
    // Answers with the problems of OAuth.
    'apps/oauth/routes.ts',
  ]);
});

test('every code of the catalogue is in use', () => {
  const unused = Object.keys(REFUSALS).filter((code) => filesWith(`'${code}'`).length === 0);
  expect(unused).toEqual([]);
});

test.each(['en', 'de', 'fr'])('every refusal that a page can meet has words of its own in %s', (language) => {
  const read = (name: string) =>
    (
      JSON.parse(readFileSync(new URL(`admin/messages/${name}.json`, SOURCE), 'utf8')) as {
        refusals: Record<string, string>;
      }
    ).refusals;
  const withoutValues = (texts: Record<string, string>) =>
    new Map(Object.entries(texts).map(([key, text]) => [key.replace(/\(.*/, ''), text]));
  const texts = withoutValues(read(language));
  const english = withoutValues(read('en'));
  const missing = Object.keys(SHARED_REFUSALS).filter(
    (code) => !texts.has(code) || (language !== 'en' && texts.get(code) === english.get(code)),
  );
  expect(missing).toEqual([]);
  expect([...texts.keys()].filter((code) => code !== 'other' && !(code in SHARED_REFUSALS))).toEqual([]);
});

test('a refusal without words for pages is thrown only where no page of the admin calls', () => {
  const reachable = Object.entries(API_REFUSALS).flatMap(([code, { status }]) =>
    // The admin calls as a user, who always has an app: a token is never missing.
    status === 401
      ? []
      : filesWith(`'${code}'`)
          // The network edge, operations for apps, for assistants and of the host, which replaces a shop by its backup, the
          // stream of events, the receiver of payment providers.
          .filter(
            (path) =>
              !/^(?:http|apps|assistants|host|openapi|platform\/events)\/|^imports\/backup\/restore|^orders\/payments\/webhook-route|^admin\/users\/staff/.test(
                path,
              ),
          )
          .map((path) => `${code} in ${path}`),
  );
  expect(reachable).toEqual([]);
});
