import { changeCustomerTags, MAX_TAGGED } from '../../people/customers/tags.ts';
import { badRequest } from '../../http/errors.ts';
import { html } from '../../http/html.ts';
import { Redirect } from '../../http/page-kit.ts';
import { isId } from '../../kernel/ids.ts';
import { declareForm, optionsOf, readFields, showFields } from '../components/declared-form.ts';
import { problemOf } from '../components/form.ts';
import type { ShopPages } from '../pages.ts';
import { adminPath } from '../visit.ts';
import { listStep } from './customer-steps.ts';

const CHANGE = declareForm(changeCustomerTags, ({ customers: messages }) => ({
  add: { kind: 'tags', label: messages.addTags, hint: messages.tagsHint },
  remove: { kind: 'tags', label: messages.removeTags, hint: messages.tagsHint },
}));

/** Adds tags to the chosen customers of the list, and removes others. */
export function tagPages(pages: ShopPages): void {
  pages.form(
    '/customers/tags',
    { read: 'customers_write', write: 'customers_write' },
    {
      show: async (visit, request, draft) => {
        const messages = visit.messages.customers;
        const ids = chosenIds(request.queryList('id'));
        const field = showFields(CHANGE, visit, { draft });
        return {
          title: messages.tagsTitle({ count: ids.length }),
          menu: 'customers',
          breadcrumbs: [listStep(visit)],
          main:
            ids.length === 0
              ? html`<p class="card">
                  ${messages.noneChosen}
                  <a href="${listStep(visit).href}">${listStep(visit).text}</a>
                </p>`
              : html`<form method="post" class="card">
                  ${problemOf(draft)} ${field('add')} ${field('remove')}
                  <div class="actions">
                    <button class="main">${visit.messages.form.save}</button>
                    <a class="button" href="${listStep(visit).href}">${visit.messages.form.cancel}</a>
                  </div>
                </form>`,
        };
      },
      save: async (visit, form) => {
        const messages = visit.messages.customers;
        const customerIds = chosenIds(form.queryList('id'));
        const { add, remove } = readFields(CHANGE, form, visit);
        if (customerIds.length === 0) throw badRequest(messages.noneChosen);
        if (add.length + remove.length === 0) throw badRequest(messages.noTags);
        const { changed } = await visit.call(changeCustomerTags, { body: { customerIds, add, remove } });
        return new Redirect(adminPath(visit, '/customers'), messages.tagsSaved({ count: changed }));
      },
    },
    optionsOf(CHANGE),
  );
}

const chosenIds = (values: readonly string[]) =>
  [...new Set(values.filter(isId).map((id) => id.toUpperCase()))].slice(0, MAX_TAGGED);
