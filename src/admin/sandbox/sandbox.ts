import { notFound } from '../../http/errors.ts';
import { html, type Markup } from '../../http/html.ts';
import { Redirect } from '../../http/page-kit.ts';
import { isId } from '../../kernel/ids.ts';
import { openMediaStorage } from '../../platform/media/open-storage.ts';
import { findEmail, findSandboxEmails, lockSandbox, type SandboxEmail } from '../../shops/sandbox/queries.ts';
import { advanceClock } from '../../shops/sandbox/routes.ts';
import type { Sandbox } from '../../shops/settings/settings.ts';
import { deleteShop } from '../../shops/shop/queries.ts';
import { declaredButton, declareHidden, readFields } from '../components/declared-form.ts';
import { buttonForm } from '../components/form.ts';
import { momentText } from '../components/format.ts';
import type { ShopPages } from '../pages.ts';
import { adminPath, type ShopVisit } from '../visit.ts';

const STEPS = { hour: 'PT1H', day: 'P1D', weeks: 'P2W', month: 'P1M' } as const;
type Step = keyof typeof STEPS;

const CLOCK = declareHidden({ step: 10 });

/** The pages of a sandbox: its clock, its emails and its end. A shop of its own has none of them. */
export function sandboxPages(pages: ShopPages): void {
  pages.get('/sandbox', 'orders_read', async (visit) => {
    const { messages, mayReadEmails } = { ...visit, mayReadEmails: visit.may('customers_read') };
    const sandbox = requireSandbox(visit);
    const emails = mayReadEmails ? await findSandboxEmails(visit.db, visit.shopId) : [];
    return {
      title: messages.sandbox.title({ shop: sandbox.of }),
      main: html`<div class="stack">
        ${clockCard(visit)} ${mayReadEmails && emailCard(visit, emails)}
        ${visit.may('shop_write') && deletionCard(visit, sandbox)}
      </div>`,
    };
  });

  pages.post('/sandbox/clock', 'orders_write', async (visit, form) => {
    requireSandbox(visit);
    const { step } = readFields(CLOCK, form, visit);
    if (!isStep(step)) throw notFound();
    const { now } = await visit.call(advanceClock, { body: { advance: STEPS[step] } });
    const text = visit.messages.sandbox.advanced({ now: momentText(new Date(now), visit.language) });
    return new Redirect(adminPath(visit, '/sandbox'), text);
  });

  pages.get('/sandbox/emails/:emailId', 'customers_read', async (visit, { params }) => {
    const sandbox = requireSandbox(visit);
    const emailId = params['emailId']!;
    const email = isId(emailId) ? await findEmail(visit.db, visit.shopId, emailId) : undefined;
    if (!email) throw notFound();
    return emailPage(visit, sandbox, email);
  });

  pages.post('/sandbox/delete', 'shop_write', async (visit) => {
    const { db, config, shopId, messages } = visit;
    await db.transaction(async (tx) => {
      // Asked for once more under a lock: only a sandbox is deleted here, whatever the page has shown.
      if (!(await lockSandbox(tx, shopId))) throw notFound();
      await deleteShop(tx, shopId);
    });
    await openMediaStorage(config).removeShop(shopId);
    return new Redirect('/admin', messages.sandbox.deleted({ shop: shopId }));
  });
}

const isStep = (text: string): text is Step => Object.hasOwn(STEPS, text);

function requireSandbox({ settings }: ShopVisit): Sandbox {
  if (!settings.sandbox) throw notFound();
  return settings.sandbox;
}

function clockCard(visit: ShopVisit): Markup {
  const messages = visit.messages.sandbox;
  const { now } = visit.db;
  return html`<section class="card" aria-labelledby="clock">
    <h2 id="clock">${messages.clock}</h2>
    <p>
      ${messages.now}
      <time datetime="${now.toISOString()}"><strong>${momentText(now, visit.language)}</strong></time>
    </p>
    <p class="hint">${messages.clockHint}</p>
    ${
      visit.may('orders_write') &&
      html`<div class="actions">
        ${(Object.keys(STEPS) as Step[]).map((step) =>
          declaredButton(
            CLOCK,
            visit,
            { step },
            { action: adminPath(visit, '/sandbox/clock'), text: messages.steps[step] },
          ),
        )}
      </div>`
    }
  </section>`;
}

function emailCard(visit: ShopVisit, emails: readonly SandboxEmail[]): Markup {
  const messages = visit.messages.sandbox;
  return html`<section class="card" aria-labelledby="emails">
    <h2 id="emails">${messages.emails}</h2>
    <p class="quiet">${messages.emailsHint}</p>
    ${
      emails.length > 0 &&
      html`<table>
        <thead>
          <tr>
            <th scope="col">${messages.at}</th>
            <th scope="col">${messages.to}</th>
            <th scope="col">${messages.subject}</th>
          </tr>
        </thead>
        <tbody>
          ${emails.map(
            ({ emailId, at, recipient, subject }) =>
              html`<tr>
                <td>${momentText(at, visit.language)}</td>
                <td>${recipient}</td>
                <td><a href="${adminPath(visit, `/sandbox/emails/${emailId}`)}">${subject}</a></td>
              </tr>`,
          )}
        </tbody>
      </table>`
    }
  </section>`;
}

function deletionCard(visit: ShopVisit, { of: shop }: Sandbox): Markup {
  const messages = visit.messages.sandbox;
  return html`<section class="card" aria-labelledby="deletion">
    <h2 id="deletion">${messages.delete}</h2>
    <p>${messages.deleteHint({ shop })}</p>
    ${buttonForm({
      action: adminPath(visit, '/sandbox/delete'),
      text: messages.delete,
      kind: 'danger',
      confirm: messages.deleteQuestion({ shop: visit.shopId }),
    })}
  </section>`;
}

function emailPage(
  visit: ShopVisit,
  { of: shop }: Sandbox,
  { at, kind, recipient, subject, body, attachments }: SandboxEmail,
) {
  const messages = visit.messages.sandbox;
  return {
    title: subject,
    breadcrumbs: [{ href: adminPath(visit, '/sandbox'), text: messages.title({ shop }) }],
    main: html`<section class="card">
      <dl class="pairs">
        <dt>${messages.at}</dt>
        <dd>${momentText(at, visit.language)}</dd>
        <dt>${messages.to}</dt>
        <dd>${recipient}</dd>
        <dt>${messages.kind}</dt>
        <dd><code>${kind}</code></dd>
        ${
          attachments.length > 0 &&
          html`<dt>${messages.attachments}</dt>
            <dd>${attachments.join(', ')}</dd>`
        }
      </dl>
      <pre>${body}</pre>
    </section>`,
  };
}
