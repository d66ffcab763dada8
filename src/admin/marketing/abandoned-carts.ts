import { nameOf } from '../../catalogue/products/render.ts';
import { findAbandonedCarts, type AbandonedCart } from '../../carts/queries.ts';
import { remindOfCarts } from '../../carts/remind.ts';
import type { CartRow } from '../../carts/cart.ts';
import { html, type Markup } from '../../http/html.ts';
import { moneyText } from '../../http/price-text.ts';
import { isId } from '../../kernel/ids.ts';
import { contentOf } from '../../pricing/content.ts';
import { findConsenting } from '../../people/newsletters/queries.ts';
import { checkedRows } from '../components/list-table.ts';
import { chip, momentText, plainDay } from '../components/format.ts';
import { listView } from '../components/list.ts';
import { listState, type Column } from '../components/list-state.ts';
import type { ShopPages } from '../pages.ts';
import { recordAction } from '../record-action.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { marketingTabs } from './tabs.ts';
import { Redirect } from '../../http/page-kit.ts';

type Row = CartRow & AbandonedCart;

const MAX_CHOSEN = 100;
const SHOWN_PRODUCTS = 3;

export function abandonedCartPages(pages: ShopPages): void {
  pages.get('/marketing/carts', 'carts_read', async (visit, request) => {
    const { db, shopId, settings } = visit;
    const messages = visit.messages.abandoned;
    const state = listState(request, []);
    const found = await findAbandonedCarts(db, shopId, { limit: state.limit + 1, offset: state.offset });
    const rows = found.slice(0, state.limit);
    const consenting = await findConsenting(
      db,
      shopId,
      settings.newsletterCampaigns.map(({ campaignId }) => campaignId),
      rows.flatMap(({ email }) => email ?? []),
    );
    return {
      title: visit.messages.layout.menuEntries.marketing,
      menu: 'marketing',
      main: html`${marketingTabs(visit, 'carts')}
        <p class="intro">${messages.intro}</p>
        ${await listView(visit, request, {
          path: '/marketing/carts',
          caption: visit.messages.marketing.tabs.carts,
          columns: cartColumns(visit, consenting),
          filters: [],
          rows,
          results: state.offset + rows.length,
          isMore: found.length > rows.length,
          href: ({ email }) => adminPath(visit, '/customers', { q: email ?? undefined }),
          idOf: ({ cartId }) => cartId,
          bulk: visit.may('orders_write')
            ? [{ action: '/marketing/carts/remind', text: messages.remind }]
            : [],
          empty: messages.empty,
        })}`,
    };
  });

  pages.post('/marketing/carts/remind', 'orders_write', async (visit, form) => {
    const { db, settings } = visit;
    const cartIds = checkedRows(form).filter(isId).slice(0, MAX_CHOSEN);
    const count = await db.transaction(async (tx) => {
      const reminded = await remindOfCarts(tx, settings, cartIds);
      if (reminded > 0) await recordAction(tx, visit, '/carts/remind');
      return reminded;
    });
    const messages = visit.messages.abandoned;
    return new Redirect(
      adminPath(visit, '/marketing/carts'),
      count === 0 ? messages.nobody : messages.reminded({ count }),
    );
  });
}

function cartColumns(visit: ShopVisit, consenting: ReadonlySet<string>): Column<Row>[] {
  const { db, settings, locale, language } = visit;
  const messages = visit.messages.abandoned;
  return [
    { name: 'who', title: messages.who, cell: ({ email }) => email ?? messages.unknown },
    {
      name: 'items',
      title: messages.items,
      cell: ({ products }) => {
        const names = products.map((product) => nameOf(product, settings, locale));
        const more = names.length - SHOWN_PRODUCTS;
        return names.slice(0, SHOWN_PRODUCTS).join(', ') + (more > 0 ? ` + ${more}` : '');
      },
    },
    {
      name: 'value',
      title: messages.value,
      isNumeric: true,
      cell: (cart) => moneyText(contentOf(cart, settings, db.now).totals.grandTotal, cart.currency, locale),
    },
    { name: 'left', title: messages.left, cell: ({ changedAt }) => momentText(changedAt, language) },
    { name: 'consent', title: messages.consent, cell: (cart) => reminderChip(visit, cart, consenting) },
  ];
}

function reminderChip(
  { messages, language }: ShopVisit,
  { email, remindedAt }: Row,
  consenting: ReadonlySet<string>,
): Markup {
  const texts = messages.abandoned;
  if (remindedAt) return chip(texts.sent({ day: plainDay(remindedAt, language) }));
  if (email === null) return chip(texts.noEmail);
  return consenting.has(email) ? chip(texts.allowed, 'good') : chip(texts.noConsent, 'warning');
}
