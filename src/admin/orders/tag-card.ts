import { notFound } from '../../http/errors.ts';
import { html, type Markup } from '../../http/html.ts';
import { Redirect } from '../../http/page-kit.ts';
import { isId } from '../../kernel/ids.ts';
import { getOrderTags, setOrderTags } from '../../orders/tags.ts';
import { declareForm, optionsOf, readFields, showFields } from '../components/declared-form.ts';
import type { ShopPages } from '../pages.ts';
import { adminPath, type ShopVisit } from '../visit.ts';

const TAGS = declareForm(setOrderTags, ({ automation: { orderTags: words } }) => ({
  tags: { kind: 'tags', label: words.title, hint: words.hint },
}));

/** Saves the tags of an order. */
export function orderTagPages(pages: ShopPages): void {
  pages.post(
    '/orders/:orderId/tags',
    'orders_write',
    async (visit, form) => {
      const orderId = form.params['orderId']!;
      if (!isId(orderId)) throw notFound();
      const { tags } = readFields(TAGS, form, visit);
      await visit.call(setOrderTags, { params: { orderId: orderId.toUpperCase() }, body: { tags } });
      return new Redirect(adminPath(visit, `/orders/${orderId}`), visit.messages.automation.orderTags.saved);
    },
    optionsOf(TAGS),
  );
}

export async function tagCard(visit: ShopVisit, orderId: string): Promise<Markup> {
  const words = visit.messages.automation.orderTags;
  const { tags } = await visit.call(getOrderTags, { params: { orderId } });
  if (!visit.may('orders_write')) {
    return html`<section class="card">
      <h2>${words.title}</h2>
      <p>${tags.join(', ')}</p>
    </section>`;
  }
  return html`<form method="post" class="card" action="${adminPath(visit, `/orders/${orderId}/tags`)}">
    ${showFields(TAGS, visit, { values: { tags }, draft: undefined })('tags')}
    <button>${visit.messages.form.save}</button>
  </form>`;
}
