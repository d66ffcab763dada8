import type { Customer } from '../../people/customers/schema.ts';
import { html } from '../../http/html.ts';
import { longTextField, problemOf, textField } from '../components/form.ts';
import { dayText } from '../components/format.ts';
import { listState, listView, type Column } from '../components/list.ts';
import { requireUnchanged, versionField, versionOf } from '../components/version.ts';
import { Redirect } from '../page.ts';
import type { ShopPages } from '../pages.ts';
import { to, type ShopVisit } from '../visit.ts';
import { countListedCustomers, findListedCustomers, type ListedCustomer } from './queries.ts';

export function customers(pages: ShopPages): void {
  pages.get('/customers', 'customers_read', async (visit, request) => {
    const { db, shopId, words } = visit;
    const columns = customerColumns(visit);
    const state = listState(request, columns);
    const filter = { text: state.filter('q') };
    const [rows, results] = await Promise.all([
      findListedCustomers(db, shopId, filter, state),
      countListedCustomers(db, shopId, filter),
    ]);
    return {
      title: words.layout.menuEntries.customers,
      menu: 'customers',
      main: await listView(visit, request, {
        path: '/customers',
        caption: words.layout.menuEntries.customers,
        columns,
        filters: [{ kind: 'search', name: 'q', label: words.customers.search }],
        rows,
        results,
        href: ({ customerId }) => to(visit, `/customers/${customerId}`),
        empty: words.customers.empty,
      }),
    };
  });

  pages.form(
    '/customers/:customerId',
    { read: 'customers_read', write: 'customers_write' },
    {
      show: async (visit, request, draft) => {
        const customer = await readCustomer(visit, request.params['customerId']!);
        const words = visit.words.customers;
        const mayWrite = visit.may('customers_write');
        return {
          title: nameOf(customer.billingAddress ?? {}) || customer.customerNumber,
          menu: 'customers',
          trail: [{ href: to(visit, '/customers'), text: visit.words.layout.menuEntries.customers }],
          main: html`<form method="post" class="card">
            ${problemOf(draft)} ${versionField(customer)}
            ${textField({
              name: 'customerNumber',
              label: words.number,
              value: customer.customerNumber,
              isRequired: true,
              isDisabled: !mayWrite,
              draft,
            })}
            ${longTextField({
              name: 'internalNote',
              label: words.note,
              hint: words.noteHint,
              value: customer.internalNote,
              isDisabled: !mayWrite,
              draft,
            })}
            ${mayWrite && html`<button class="main">${visit.words.form.save}</button>`}
          </form>`,
        };
      },
      save: async (visit, form) => {
        const customerId = form.params['customerId']!;
        const before = await readCustomer(visit, customerId);
        requireUnchanged(form, before, visit.words);
        await visit.call('PATCH', `/rs/customers/${customerId}`, {
          body: [
            { op: 'add', path: '/customerNumber', value: form.field('customerNumber') },
            form.field('internalNote') === ''
              ? { op: 'remove', path: '/internalNote' }
              : { op: 'add', path: '/internalNote', value: form.field('internalNote') },
          ],
        });
        const path = to(visit, `/customers/${customerId}`);
        const after = await readCustomer(visit, customerId);
        return new Redirect(path, {
          text: visit.words.form.saved,
          undo: { action: path, fields: undoFields(before, after) },
        });
      },
    },
  );
}

const readCustomer = (visit: ShopVisit, customerId: string) =>
  visit.call<Customer>('GET', `/rs/customers/${encodeURIComponent(customerId)}`);

/** The form as it was before, made from the state that it has now. */
function undoFields(before: Customer, after: Customer): Record<string, string> {
  return {
    version: versionOf(after),
    customerNumber: before.customerNumber,
    internalNote: before.internalNote ?? '',
  };
}

function nameOf({
  firstName,
  lastName,
  company,
}: Partial<Pick<ListedCustomer, 'firstName' | 'lastName' | 'company'>>) {
  return [firstName, lastName].filter(Boolean).join(' ') || company || '';
}

function customerColumns({ words, language }: ShopVisit): Column<ListedCustomer>[] {
  const titles = words.customers;
  return [
    { name: 'name', title: titles.name, cell: (row) => nameOf(row) || row.email || row.customerNumber },
    { name: 'number', title: titles.number, cell: ({ customerNumber }) => customerNumber },
    { name: 'email', title: titles.email, cell: ({ email }) => email },
    { name: 'since', title: titles.since, cell: ({ createdAt }) => dayText(createdAt, language) },
    { name: 'company', title: titles.company, cell: ({ company }) => company, isExtra: true },
  ];
}
