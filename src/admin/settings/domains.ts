import { HttpError, notFound, tooManyRequests } from '../../http/errors.ts';
import { html, type Markup } from '../../http/html.ts';
import { SettingsProblem } from '../../shops/settings/file.ts';
import type { SettingsFormat } from '../../shops/settings/format.ts';
import { useDomain } from '../../shops/settings/prove-domain.ts';
import { domainChallenges, findProof } from '../../shops/shop/domain-challenge.ts';
import { buttonForm } from '../components/form.ts';
import type { ShopPages } from '../pages.ts';
import { recordAction } from '../record-action.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { fileProblemLine } from './problem-text.ts';
import { sectionPage } from './section-page.ts';
import { Redirect, type Notice } from '../../http/page-kit.ts';

/** The maximum number of domain checks per shop and hour: each check queries name servers. */
const MAX_CHECKS = 30;

export function domains(pages: ShopPages, format: SettingsFormat): void {
  sectionPage(pages, format, {
    name: 'domains',
    beside: async (visit) =>
      html`<div>${directions(visit)} ${pendingOf(visit).map((host) => challengeCard(visit, host))}</div>`,
  });

  pages.post('/settings/domains/check', 'settings_write', async (visit, form) => {
    const host = form.field('host');
    if (!pendingOf(visit).includes(host)) throw notFound();
    if (!(await form.isWithinLimit(`domain-check/${visit.shopId}`, MAX_CHECKS))) {
      const { headers } = tooManyRequests(MAX_CHECKS, 3600);
      throw new HttpError(429, visit.messages.settings.domainView.tooOften, headers);
    }
    return new Redirect(adminPath(visit, '/settings/domains'), await checkDomain(visit, host));
  });
}

/** The domains that wait for their proof. */
const pendingOf = ({ settings }: ShopVisit) =>
  settings.domains.filter((host) => !settings.domainsInUse.includes(host));

const challengeOf = ({ key, shopId }: ShopVisit, host: string) => domainChallenges(key)(shopId, host);

/** Looks up the proof of a domain, and uses the domain if there is one. */
async function checkDomain(visit: ShopVisit, host: string): Promise<Notice> {
  const messages = visit.messages.settings.domainView;
  const { proof, hasAnswer } = await findProof(challengeOf(visit, host));
  if (!proof)
    return { text: (hasAnswer ? messages.notProved : messages.noAnswer)({ host }), isProblem: true };
  try {
    await visit.db.transaction(async (tx) => {
      if (!(await useDomain(tx, visit.shopId, host, proof))) throw notFound();
      await recordAction(tx, visit, '/settings/domains/check', { host, proof });
    });
  } catch (error) {
    if (!(error instanceof SettingsProblem)) throw error;
    return { text: error.places.map((place) => fileProblemLine(place, visit)).join(' '), isProblem: true };
  }
  return { text: messages.proved({ host }) };
}

function directions(visit: ShopVisit): Markup {
  const messages = visit.messages.settings.domainView;
  const server = new URL(visit.origin).hostname;
  const { domains: hosts } = visit.settings;
  return html`<section class="card">
    <h2>${messages.title}</h2>
    <p>
      ${messages.now} <a href="${visit.storefront}" target="_blank" rel="noopener">${visit.storefront}</a>
    </p>
    <ol class="directions">
      <li>${messages.dns({ server })}</li>
      <li>${messages.add}</li>
      ${visit.domainPolicy.needsProof && html`<li>${messages.prove}</li>`}
      <li>${messages.certificate}</li>
    </ol>
    ${
      hosts.length > 0 &&
      recordTable(
        visit,
        hosts.map((host) => [host, 'CNAME', server]),
      )
    }
  </section>`;
}

/** The record to enter at the domain provider for a pending domain, and the button that checks it. */
function challengeCard(visit: ShopVisit, host: string): Markup {
  const messages = visit.messages.settings.domainView;
  const { name, text, label } = challengeOf(visit, host);
  const server = new URL(visit.origin).hostname;
  return html`<section class="card" data-pending="${host}">
    <h2>${messages.pendingTitle({ host })}</h2>
    <p>${messages.pending}</p>
    ${recordTable(visit, [
      [name, 'TXT', text],
      [name, 'CNAME', `${label}.${server}`],
    ])}
    <p class="quiet">${messages.wait}</p>
    ${
      visit.may('settings_write') &&
      buttonForm({
        action: adminPath(visit, '/settings/domains/check'),
        fields: { host },
        text: messages.check,
        kind: 'main',
      })
    }
  </section>`;
}

function recordTable(visit: ShopVisit, rows: readonly (readonly string[])[]): Markup {
  const messages = visit.messages.settings.domainView;
  return html`<div class="scroll">
    <table>
      <thead>
        <tr>
          <th scope="col">${messages.name}</th>
          <th scope="col">${messages.type}</th>
          <th scope="col">${messages.value}</th>
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (cells) =>
            html`<tr>
              ${cells.map((cell) => html`<td>${cell}</td>`)}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}
