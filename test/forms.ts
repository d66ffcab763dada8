import { MAX_FIELD_LENGTH } from '../src/http/form-fields.ts';
import type { AdminRoute } from '../src/admin/routes.ts';
import type { Merchant } from './admin.ts';

/** The forms of the admin, found as a person finds them: by opening its pages and following their links. */

export interface FormField {
  name: string;
  /** Text that people type; the others are sent as the page has them. */
  isText: boolean;
  /** Of a text: how many characters the page lets people type, or the form takes where the page does not say. */
  maxLength: number;
  value: string;
}

export interface FoundForm {
  /** The route that takes it: `/admin/shops/:shopId/products/new`. */
  route: string;
  /** The address that it is sent to. */
  action: string;
  /** The page on which it stands. */
  page: string;
  isMultipart: boolean;
  fields: FormField[];
}

/** Of pages of the same kind, which differ in what they are about. */
const PAGES_PER_ROUTE = 3;

/**
 * Opens `starts` and all that they lead to, and returns the forms by their routes: of each the one with most fields.
 * `onPage` is called for each page that was opened.
 */
export async function findForms(
  merchant: Merchant,
  routes: readonly AdminRoute[],
  starts: readonly string[],
  onPage: (address: string, markup: string) => void = () => {},
): Promise<Map<string, FoundForm>> {
  // `/products/new` is no product: the route with fewest parameters counts.
  const patterns = routes
    .map((route) => ({ ...route, pattern: patternOf(route.url) }))
    .toSorted((one, other) => parametersIn(one.url) - parametersIn(other.url));
  const routeOf = (method: string, path: string) =>
    patterns.find((route) => route.method === method && route.pattern.test(path))?.url;
  const forms = new Map<string, FoundForm>();
  const opened = new Map<string, number>();
  const known = new Set(starts);
  for (const page of known) {
    const route = routeOf('GET', pathOf(page));
    const times = route === undefined ? PAGES_PER_ROUTE : (opened.get(route) ?? 0);
    if (route === undefined || times === PAGES_PER_ROUTE) continue;
    opened.set(route, times + 1);
    const { text, headers, location } = await merchant.get(page);
    if (location !== undefined) known.add(location);
    if (!String(headers['content-type']).startsWith('text/html')) continue;
    onPage(page, text);
    for (const form of formsIn(text, page)) {
      const target = routeOf('POST', pathOf(form.action));
      if (target === undefined) continue;
      const before = forms.get(target);
      if (!before || before.fields.length < form.fields.length) forms.set(target, { ...form, route: target });
    }
    for (const [, href] of text.matchAll(/\bhref="(\/admin\/[^"#]*|\/admin)/g)) known.add(plain(href!));
  }
  return forms;
}

const parametersIn = (url: string) => (url.endsWith('*') ? 100 : url.split(':').length);

const pathOf = (address: string) => address.split('?', 1)[0]!;

/** Parameters are one step of the path. */
function patternOf(url: string): RegExp {
  const steps = url.split('/').map((step) => {
    if (step === '*') return '.*';
    return step.startsWith(':') ? '[^/]+' : step.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&');
  });
  return new RegExp(`^${steps.join('/')}$`);
}

export function* formsIn(markup: string, page: string): Generator<Omit<FoundForm, 'route'>> {
  for (const [, tag, content] of markup.matchAll(/<form\b([^>]*)>([\s\S]*?)<\/form>/g)) {
    if (attributeOf(tag!, 'method') !== 'post') continue;
    const isMultipart = attributeOf(tag!, 'enctype') === 'multipart/form-data';
    const fields = [...fieldsIn(content!)];
    const action = new URL(attributeOf(tag!, 'action') ?? page, `http://localhost${page}`);
    yield { action: action.pathname + action.search, page, isMultipart, fields };
    // A button or a script sends the same fields elsewhere: to a preview.
    if (!/\bdata-settings\b/.test(tag!)) continue;
    for (const [, elsewhere] of markup.matchAll(/\bdata-preview="([^"]*)"/g)) {
      const { pathname, search } = new URL(plain(elsewhere!), `http://localhost${page}`);
      yield { action: pathname + search, page, isMultipart, fields };
    }
  }
}

const NO_TEXT = /^(?:hidden|checkbox|radio|file|submit|button|date|datetime-local|number|color)$/;

function* fieldsIn(markup: string): Generator<FormField> {
  const tags = /<(input|textarea|select)\b([^>]*)>(?:([^<]*)<\/textarea>)?/g;
  for (const [, element, attributes, content] of markup.matchAll(tags)) {
    const name = attributeOf(attributes!, 'name');
    if (name === undefined || /\bdisabled\b/.test(attributes!)) continue;
    const type = attributeOf(attributes!, 'type') ?? 'text';
    yield {
      name,
      isText: element === 'textarea' || (element === 'input' && !NO_TEXT.test(type)),
      maxLength: Number(attributeOf(attributes!, 'maxlength') ?? MAX_FIELD_LENGTH),
      value: attributeOf(attributes!, 'value') ?? plain(content ?? '').trim(),
    };
  }
}

function attributeOf(tag: string, name: string): string | undefined {
  const [, value] = new RegExp(`(?:^|\\s)${name}="([^"]*)"`).exec(tag) ?? [];
  return value === undefined ? undefined : plain(value);
}

const plain = (text: string) =>
  text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');
