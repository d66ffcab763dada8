import { changeCustomerTags, MAX_TAG_LENGTH, MAX_TAGGED, MAX_TAGS } from '../../people/customers/tags.ts';
import { badRequest } from '../../http/errors.ts';
import { html } from '../../http/html.ts';
import { Redirect } from '../../http/page-kit.ts';
import { isId } from '../../kernel/ids.ts';
import { problemOf, textField } from '../components/form.ts';
import type { ShopPages } from '../pages.ts';
import { adminPath } from '../visit.ts';
import { typedTags } from './customer-filter.ts';
import { listStep } from './customer-steps.ts';

export const MAX_TAGS_LENGTH = MAX_TAGS * (MAX_TAG_LENGTH + 2);

/** Adds tags to the chosen customers of the list, and removes others. */
export function tagPages(pages: ShopPages): void {
  pages.form(
    '/customers/tags',
    { read: 'customers_write', write: 'customers_write' },
    {
      show: async (visit, request, draft) => {
        const words = visit.messages.customers;
        const ids = chosenIds(request.queryList('id'));
        const tagField = (name: string, label: string) =>
          textField({ name, label, hint: words.tagsHint, maxLength: MAX_TAGS_LENGTH, draft });
        return {
          title: words.tagsTitle({ count: ids.length }),
          menu: 'customers',
          breadcrumbs: [listStep(visit)],
          main:
            ids.length === 0
              ? html`<p class="card">
                  ${words.noneChosen}
                  <a href="${listStep(visit).href}">${listStep(visit).text}</a>
                </p>`
              : html`<form method="post" class="card">
                  ${problemOf(draft)} ${tagField('add', words.addTags)}
                  ${tagField('remove', words.removeTags)}
                  <div class="actions">
                    <button class="main">${visit.messages.form.save}</button>
                    <a class="button" href="${listStep(visit).href}">${visit.messages.form.cancel}</a>
                  </div>
                </form>`,
        };
      },
      save: async (visit, form) => {
        const words = visit.messages.customers;
        const customerIds = chosenIds(form.queryList('id'));
        const [add, remove] = [typedTags(form.field('add')), typedTags(form.field('remove'))];
        if (customerIds.length === 0) throw badRequest(words.noneChosen);
        if (add.length + remove.length === 0) throw badRequest(words.noTags);
        const { changed } = await visit.call(changeCustomerTags, { body: { customerIds, add, remove } });
        return new Redirect(adminPath(visit, '/customers'), words.tagsSaved({ count: changed }));
      },
    },
    {
      limits: { texts: { add: MAX_TAGS_LENGTH, remove: MAX_TAGS_LENGTH } },
      labels: ({ customers }) => ({ add: customers.addTags, remove: customers.removeTags }),
    },
  );
}

const chosenIds = (values: readonly string[]) =>
  [...new Set(values.filter(isId).map((id) => id.toUpperCase()))].slice(0, MAX_TAGGED);
