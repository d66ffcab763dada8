import type { CartChange } from '../../carts/cart.ts';
import { CartGone } from '../../carts/cart-store.ts';
import { addLine } from '../../carts/lines.ts';
import type { Cart } from '../../carts/schema.ts';
import { startCart } from '../../checkout/visitor-cart.ts';
import type { Queries } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { isRefusal, notFound } from '../../http/errors.ts';
import { html, type Markup } from '../../http/html.ts';
import { Redirect } from '../../http/page-kit.ts';
import { messagesIn } from '../../kernel/messages.ts';
import type { Page } from '../page.ts';
import type { Pages } from '../pages.ts';
import { shopPath, type Visit } from '../visit.ts';
import { parseQuantity, rejectionText } from './line-form.ts';
import {
  MAX_ORDERED_CHARACTERS,
  MAX_ORDERED_LINES,
  typedLines,
  type OrderedLine,
} from './quick-order-lines.ts';
import { newCartTerms, setSessionCart, shopperOf, updateVisitorCart } from './visitor-cart.ts';

const PATH = '/quick-order';

/** A product that a line names, with what all lines that name it ask for. */
interface Wanted {
  productId: string;
  quantity: number;
  line: OrderedLine;
}

interface LineProblem {
  line: OrderedLine;
  message: string;
}

/**
 * Customers who know what they want type or paste the numbers of the products. All lines go into the cart, or none: who
 * corrects one of them sends the same list again.
 */
export function quickOrder(pages: Pages): void {
  pages.get(PATH, async (visit) => {
    requireOpen(visit);
    return quickOrderPage(visit, {});
  });

  pages.post(
    PATH,
    async (visit, { field }) => {
      requireOpen(visit);
      const words = messagesIn(visit.locale).storefront.quickOrder;
      const text = field('lines');
      const lines = typedLines(text);
      if (lines.length === 0) return quickOrderPage(visit, { text, missing: words.missing });
      const { wanted, problems } = await findWanted(visit, lines);
      if (problems.length > 0) return quickOrderPage(visit, { text, problems });
      const outcome = await putIntoCart(visit, wanted);
      if ('problems' in outcome) return quickOrderPage(visit, { text, problems: outcome.problems });
      setSessionCart(visit, outcome.cart, { event: 'cart:update' });
      const notice = words.added({ count: wanted.length });
      return new Redirect(
        shopPath(visit, '/cart'),
        outcome.isCorrected ? `${notice} ${words.corrected}` : notice,
      );
    },
    { limits: { texts: { lines: { characters: MAX_ORDERED_CHARACTERS, lines: MAX_ORDERED_LINES } } } },
  );
}

/** A link to the page, where the shop has it. */
export function quickOrderLink(visit: Visit): Markup | false {
  const { title } = messagesIn(visit.locale).storefront.quickOrder;
  return (
    visit.settings.quickOrder && html`<p><a class="quiet" href="${shopPath(visit, PATH)}">${title}</a></p>`
  );
}

function requireOpen({ settings }: Visit): void {
  if (!settings.quickOrder) throw notFound();
}

/** The products that the lines name, each once, in the order of the lines. */
async function findWanted(visit: Visit, lines: readonly OrderedLine[]) {
  const { locale } = visit;
  const { storefront } = messagesIn(locale);
  const names = lines.flatMap(({ meanings }) =>
    meanings.flatMap(({ productNumber }) => spellings(productNumber)),
  );
  const idByNumber = await findVisibleIds(visit.db, visit.shopId, names);
  const wanted = new Map<string, Wanted>();
  const problems: LineProblem[] = [];
  for (const line of lines) {
    const known = line.meanings.flatMap(({ productNumber, quantity }) => {
      const productId = spellings(productNumber)
        .map((name) => idByNumber.get(name))
        .find((id) => id !== undefined);
      return productId === undefined ? [] : { productId, quantity: parseQuantity(quantity) };
    })[0];
    if (!known) problems.push({ line, message: storefront.quickOrder.unknown });
    else if (!known.quantity) problems.push({ line, message: storefront.cart.wrongQuantity });
    else {
      const { productId, quantity } = known;
      const before = wanted.get(productId);
      wanted.set(productId, { line, ...before, productId, quantity: (before?.quantity ?? 0) + quantity });
    }
  }
  return { wanted: [...wanted.values()], problems };
}

/** As it is typed, and in capital letters, as most shops write their numbers. */
const spellings = (productNumber: string) => [productNumber, productNumber.toUpperCase()];

async function findVisibleIds(
  db: Queries,
  shopId: string,
  numbers: readonly string[],
): Promise<Map<string, string>> {
  const rows = await db.many<{ productId: string; productNumber: string }>(sql`
    select upper(product_id::text) as "productId", product_number as "productNumber" from product
    where shop_id = ${shopId} and visible and product_number = any (${numbers}::text[])`);
  return new Map(rows.map(({ productId, productNumber }) => [productNumber, productId]));
}

/** Thrown out of a change of the cart, so that nothing of it is saved. */
class LinesRefused extends Error {
  readonly problems: readonly LineProblem[];

  constructor(problems: readonly LineProblem[]) {
    super('Some lines of a quick order can not be added');
    this.problems = problems;
  }
}

type Outcome = { cart: Cart; isCorrected: boolean } | { problems: readonly LineProblem[] };

async function putIntoCart(visit: Visit, wanted: readonly Wanted[]): Promise<Outcome> {
  const { session, settings } = visit;
  let isCorrected = false;
  const change: CartChange = (cart, context) => {
    if (!settings.currencies.includes(cart.currency)) throw new CartGone('CART_CURRENCY_ENDED');
    isCorrected = false;
    let { lines } = cart;
    const problems: LineProblem[] = [];
    for (const { productId, quantity, line } of wanted) {
      try {
        const before = total(lines, productId);
        ({ lines } = addLine({ ...cart, lines }, { productId, quantity }, context));
        isCorrected ||= rounded(total(lines, productId) - before) !== rounded(quantity);
      } catch (error) {
        if (!isRefusal(error)) throw error;
        problems.push({ line, message: rejectionText(visit, error) });
      }
    }
    if (problems.length > 0) throw new LinesRefused(problems);
    return { lines };
  };
  const update = (cartId: string) =>
    updateVisitorCart(visit, cartId, change, { productIds: wanted.map(({ productId }) => productId) });
  try {
    const changed = session.cart && (await update(session.cart.id));
    if (changed) return { cart: changed, isCorrected };
    const { cartId } = await startCart(shopperOf(visit), newCartTerms(visit));
    return { cart: (await update(cartId))!, isCorrected };
  } catch (error) {
    if (!(error instanceof LinesRefused)) throw error;
    return { problems: error.problems };
  }
}

const total = (lines: readonly { productId: string; quantity: string }[], productId: string) =>
  lines.reduce((sum, line) => sum + (line.productId === productId ? Number(line.quantity) : 0), 0);

const rounded = (amount: number) => Number(amount.toFixed(6));

function quickOrderPage(
  visit: Visit,
  {
    text = '',
    missing,
    problems = [],
  }: { text?: string; missing?: string; problems?: readonly LineProblem[] },
): Page {
  const words = messagesIn(visit.locale).storefront.quickOrder;
  const isRefused = missing !== undefined || problems.length > 0;
  return {
    title: words.title,
    path: PATH,
    isPrivate: true,
    ...(isRefused && { status: 400 }),
    main: html`<h1>${words.title}</h1>
      ${
        problems.length > 0 &&
        html`<div class="notice" role="alert">
          <p class="error">${words.check}</p>
          <ul>
            ${problems.map(({ line, message }) => html`<li>${words.line({ place: line.place, text: line.text })} ${message}</li>`)}
          </ul>
        </div>`
      }
      <form method="post" action="${shopPath(visit, PATH)}">
        <div class="field">
          <label for="lines">${words.lines}</label>
          <p id="lines.hint"><small>${words.hint}</small></p>
          <textarea
            id="lines"
            name="lines"
            rows="12"
            required
            maxlength="${MAX_ORDERED_CHARACTERS}"
            placeholder="KN-100 2"
            autocapitalize="characters"
            autocomplete="off"
            spellcheck="false"
            aria-describedby="lines.hint${missing !== undefined && ' lines.problem'}"
            ${missing !== undefined && html`aria-invalid="true"`}
          >
${text}</textarea>
          ${missing !== undefined && html`<p class="error" id="lines.problem">${missing}</p>`}
        </div>
        <button>${words.add}</button>
      </form>`,
  };
}
