import { createCustomerNote, deleteCustomerNote, findNotes } from '../../people/customers/notes.ts';
import { notFound } from '../../http/errors.ts';
import { html, type Markup } from '../../http/html.ts';
import { Redirect } from '../../http/page-kit.ts';
import { isId } from '../../kernel/ids.ts';
import { declareForm, optionsOf, readFields, showFields } from '../components/declared-form.ts';
import { momentText } from '../components/format.ts';
import type { ShopPages } from '../pages.ts';
import { adminPath, type ShopVisit } from '../visit.ts';

const NOTE = declareForm(createCustomerNote, ({ customers: messages }) => ({
  note: { kind: 'long text', label: messages.newNote, hint: messages.noteHint, rows: 3, isRequired: true },
}));

/** Notes about a customer, which people of the shop write for each other. */
export function notePages(pages: ShopPages): void {
  pages.post(
    '/customers/:customerId/notes',
    'customers_write',
    async (visit, form) => {
      const messages = visit.messages.customers;
      const customerId = form.params['customerId']!;
      if (!isId(customerId)) throw notFound();
      await visit.call(createCustomerNote, { params: { customerId }, body: readFields(NOTE, form, visit) });
      return new Redirect(adminPath(visit, `/customers/${customerId}`), messages.noteAdded);
    },
    optionsOf(NOTE),
  );

  pages.post('/customers/:customerId/notes/:noteId/delete', 'customers_write', async (visit, form) => {
    const { customerId, noteId } = form.params as { customerId: string; noteId: string };
    if (!isId(customerId) || !isId(noteId)) throw notFound();
    await visit.call(deleteCustomerNote, { params: { customerId, noteId } });
    return new Redirect(adminPath(visit, `/customers/${customerId}`), visit.messages.customers.noteDeleted);
  });
}

export async function noteCard(visit: ShopVisit, customerId: string): Promise<Markup> {
  const { db, shopId, language, messages } = visit;
  const words = messages.customers;
  const notes = await findNotes(db, shopId, customerId);
  const mayWrite = visit.may('customers_write');
  const path = adminPath(visit, `/customers/${customerId}/notes`);
  return html`<section class="card" aria-labelledby="notes">
    <h2 id="notes">${words.notes}</h2>
    ${notes.length === 0 && html`<p class="quiet">${words.noNotes}</p>`}
    <ul class="notes">
      ${notes.map(
        ({ noteId, createdAt, author, note }) =>
          html`<li>
            <p class="note-text">${note}</p>
            <p class="quiet">
              ${author}, <time datetime="${createdAt.toISOString()}">${momentText(createdAt, language)}</time>
            </p>
            ${
              mayWrite &&
              html`<form method="post" action="${path}/${noteId}/delete">
                <button class="link" aria-label="${words.deleteNote}">×</button>
              </form>`
            }
          </li>`,
      )}
    </ul>
    ${
      mayWrite &&
      html`<form method="post" action="${path}">
        ${showFields(NOTE, visit, { draft: undefined })('note')}
        <button>${words.addNote}</button>
      </form>`
    }
  </section>`;
}
