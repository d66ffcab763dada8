import { notFound } from '../../http/errors.ts';
import { html, type Markup } from '../../http/html.ts';
import { Redirect, type FormRequest, type PageRequest } from '../../http/page-kit.ts';
import { isId } from '../../kernel/ids.ts';
import { approveAccess, declineAccess, listAccessRequests } from '../../people/access/routes.ts';
import { declareForm, optionsOf, readFields, showFields } from '../components/declared-form.ts';
import { buttonForm } from '../components/form.ts';
import { dayText } from '../components/format.ts';
import type { AdminPage } from '../page.ts';
import type { ShopPages } from '../pages.ts';
import { adminPath, type ShopVisit } from '../visit.ts';

const PATH = '/access-requests';
const ON_PAGE = 20;

const APPROVAL = declareForm(approveAccess, ({ accessRequests: messages }) => ({
  customerGroupId: { kind: 'choice', label: messages.group },
}));

/** Customers who ask to be let into a shop that is for some groups only. */
export function accessRequestPages(pages: ShopPages): void {
  pages.get(PATH, 'customers_read', showList);
  pages.post(`${PATH}/:customerId/approve`, 'customers_write', approve, optionsOf(APPROVAL));
  pages.post(`${PATH}/:customerId/decline`, 'customers_write', decline);
}

async function showList(visit: ShopVisit, request: PageRequest): Promise<AdminPage> {
  const messages = visit.messages.accessRequests;
  const page = Number(/^[1-9]\d{0,3}$/.exec(request.query('page') ?? '')?.[0] ?? 1);
  const { items, results } = await visit.call(listAccessRequests, {
    query: { page, resultsPerPage: ON_PAGE },
  });
  const { shop } = visit.settings.visibility;
  return {
    title: messages.title,
    menu: 'customers',
    breadcrumbs: [
      { href: adminPath(visit, '/customers'), text: visit.messages.layout.menuEntries.customers },
    ],
    main: html`<p class="hint intro">${messages.intro}</p>
      ${shop !== 'groups' && html`<p class="notice">${messages.notForGroups}</p>`}
      ${items.length === 0 && html`<p class="quiet">${messages.empty}</p>`}
      ${items.map((one) => requestCard(visit, one))}
      ${
        page * ON_PAGE < results &&
        html`<p>
          <a class="button" href="${adminPath(visit, PATH, { page: String(page + 1) })}">${messages.more}</a>
        </p>`
      }`,
  };
}

type Listed = Awaited<ReturnType<typeof callList>>['items'][number];
const callList = (visit: ShopVisit) => visit.call(listAccessRequests);

function requestCard(visit: ShopVisit, { customerId, email, company, vatId, text, askedOn }: Listed): Markup {
  const { language, messages, settings } = visit;
  const words = messages.accessRequests;
  const { groups } = settings.visibility;
  const choices = settings.customerGroups
    .filter(({ name }) => groups.includes(name))
    .map((group) => ({ value: group.customerGroupId, text: group.name }));
  const field = showFields(APPROVAL, visit, { values: {}, draft: undefined });
  return html`<section class="card" aria-labelledby="r-${customerId}">
    <h2 id="r-${customerId}">${company}</h2>
    <p class="quiet">
      <a href="${adminPath(visit, `/customers/${customerId}`)}">${email}</a> ·
      ${dayText(new Date(askedOn), language)} ${vatId !== '' && html` · ${words.vatId({ number: vatId })}`}
    </p>
    ${text !== '' && html`<p class="note-text">${text}</p>`}
    ${
      visit.may('customers_write') &&
      html`<div class="buttons">
        ${
          choices.length > 0 &&
          html`<form method="post" action="${adminPath(visit, `${PATH}/${customerId}/approve`)}">
            ${field('customerGroupId', { choices, id: `group-${customerId}` })}
            <button class="main">${words.approve}</button>
          </form>`
        }
        ${buttonForm({ action: adminPath(visit, `${PATH}/${customerId}/decline`), text: words.decline })}
      </div>`
    }
  </section>`;
}

function idOf({ params }: Pick<PageRequest, 'params'>): string {
  const customerId = params['customerId']!;
  if (!isId(customerId)) throw notFound();
  return customerId.toUpperCase();
}

async function approve(visit: ShopVisit, form: FormRequest): Promise<Redirect> {
  const body = readFields(APPROVAL, form, visit);
  const { email } = await visit.call(approveAccess, { params: { customerId: idOf(form) }, body });
  return new Redirect(adminPath(visit, PATH), visit.messages.accessRequests.approved({ email }));
}

async function decline(visit: ShopVisit, form: FormRequest): Promise<Redirect> {
  const { email } = await visit.call(declineAccess, { params: { customerId: idOf(form) } });
  return new Redirect(adminPath(visit, PATH), visit.messages.accessRequests.declined({ email }));
}
