import { eraseCustomer, exportCustomer } from '../../people/privacy/routes.ts';
import { findPrivacyRequests, type PrivacyRequest } from '../../people/privacy/requests.ts';
import { html, type Markup } from '../../http/html.ts';
import { isId } from '../../kernel/ids.ts';
import { declareForm, optionsOf, readFields, showFields } from '../components/declared-form.ts';
import { problemOf } from '../components/form.ts';
import { momentText } from '../components/format.ts';
import type { AdminPage } from '../page.ts';
import type { ShopPages } from '../pages.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { customerStep, listStep, readCustomer } from './customer-steps.ts';
import { personName } from './names.ts';
import { type PageRequest, Redirect } from '../../http/page-kit.ts';

const ERASURE = declareForm({ body: eraseCustomer.query! }, ({ customers: messages }) => ({
  force: { kind: 'tick', label: messages.eraseForce, hint: messages.eraseForceHint },
}));

const PER_PAGE = 50;

/** Rights that the law grants a person: all data in a file, and erasure. */
export function privacyPages(pages: ShopPages): void {
  pages.get('/customers/privacy', 'customers_read', listPage);

  pages.file('/customers/:customerId/export.json', 'customers_read', async (visit, request) => {
    const customerId = request.params['customerId']!;
    return {
      type: 'application/json; charset=utf-8',
      fileName: `${visit.shopId}-${customerId}.json`,
      content: await visit.call(exportCustomer, { params: { customerId } }),
    };
  });

  pages.form(
    '/customers/:customerId/erase',
    { read: 'customers_write', write: 'customers_write' },
    {
      show: async (visit, request, draft) => {
        const customer = await readCustomer(visit, request.params['customerId']!);
        const messages = visit.messages.customers;
        const name = personName(customer.billingAddress ?? {}) || customer.customerNumber;
        return {
          title: messages.eraseTitle,
          menu: 'customers',
          breadcrumbs: [listStep(visit), customerStep(visit, customer)],
          main: html`<form method="post" class="card prose">
            ${problemOf(draft)}
            <p>${messages.eraseQuestion({ name })}</p>
            <h2>${messages.eraseGoes}</h2>
            <p>${messages.eraseGoesList}</p>
            <h2>${messages.eraseStays}</h2>
            <p>${messages.eraseStaysList}</p>
            ${showFields(ERASURE, visit, { draft })('force')}
            <div class="actions">
              <button class="danger">${messages.eraseButton}</button>
              <a class="button" href="${customerStep(visit, customer).href}">${visit.messages.form.cancel}</a>
            </div>
          </form>`,
        };
      },
      save: async (visit, form) => {
        const customerId = form.params['customerId']!;
        const { customerNumber } = await visit.call(eraseCustomer, {
          params: { customerId },
          query: readFields(ERASURE, form, visit),
        });
        return new Redirect(
          adminPath(visit, '/customers'),
          visit.messages.customers.erased({ number: customerNumber }),
        );
      },
    },
    { ...optionsOf(ERASURE), needsReauthentication: true },
  );
}

/** What people have asked for, and who did it: the shop's proof that it did, also of people who are erased. */
async function listPage(visit: ShopVisit, request: PageRequest): Promise<AdminPage> {
  const { db, shopId, messages } = visit;
  const words = messages.customers.requests;
  const after = request.query('after') ?? '';
  const found = await findPrivacyRequests(db, shopId, isId(after) ? after : undefined, PER_PAGE + 1);
  const shown = found.slice(0, PER_PAGE);
  return {
    title: words.title,
    menu: 'customers',
    breadcrumbs: [listStep(visit)],
    main: html`<p class="hint intro">${words.about}</p>
      ${
        shown.length === 0
          ? html`<p class="card">${words.none}</p>`
          : html`<div class="list">
              <table>
                <thead>
                  <tr>
                    <th scope="col">${words.at}</th>
                    <th scope="col">${words.kind}</th>
                    <th scope="col">${words.customer}</th>
                    <th scope="col">${words.doneBy}</th>
                  </tr>
                </thead>
                <tbody>
                  ${shown.map((one) => requestRow(visit, one))}
                </tbody>
              </table>
            </div>`
      }
      ${
        found.length > PER_PAGE &&
        html`<a
          class="button"
          href="${adminPath(visit, '/customers/privacy', { after: shown.at(-1)!.requestId })}"
          >${messages.list.next}</a
        >`
      }`,
  };
}

function requestRow(visit: ShopVisit, request: PrivacyRequest): Markup {
  const messages = visit.messages.customers.requests;
  const { kind, source, doneBy, customerId, customerNumber, createdAt } = request;
  return html`<tr>
    <td data-title="${messages.at}">
      <time datetime="${createdAt.toISOString()}">${momentText(createdAt, visit.language)}</time>
    </td>
    <td data-title="${messages.kind}">${messages.kinds[kind]}</td>
    <td data-title="${messages.customer}">
      <a href="${adminPath(visit, `/customers/${customerId}`)}">${customerNumber}</a>
    </td>
    <td data-title="${messages.doneBy}">
      ${doneBy ?? messages.sources[source === 'customer' ? 'customer' : 'command']}
    </td>
  </tr>`;
}
