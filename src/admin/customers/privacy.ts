import { eraseCustomer, exportCustomer } from '../../people/privacy/routes.ts';
import { html } from '../../http/html.ts';
import { problemOf, tickField } from '../components/form.ts';
import type { ShopPages } from '../pages.ts';
import { adminPath } from '../visit.ts';
import { customerStep, listStep, readCustomer } from './customer-steps.ts';
import { personName } from './names.ts';
import { Redirect } from '../../http/page-kit.ts';

/** Rights that the law grants a person: all data in a file, and erasure. */
export function privacyPages(pages: ShopPages): void {
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
            ${tickField({ name: 'force', label: messages.eraseForce, hint: messages.eraseForceHint, draft })}
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
          query: { force: form.field('force') === 'yes' },
        });
        return new Redirect(
          adminPath(visit, '/customers'),
          visit.messages.customers.erased({ number: customerNumber }),
        );
      },
    },
    { needsReauthentication: true },
  );
}
