import { HttpError, notFound, tooManyRequests } from '../../http/errors.ts';
import { html, type Markup } from '../../http/html.ts';
import { checkDomain } from '../../shops/domains/check.ts';
import type { ServiceAddresses } from '../../shops/domains/service-addresses.ts';
import { findDomainsOfShop, type NamedDomain } from '../../shops/domains/queries.ts';
import { domainSteps, type DnsRecord, type DomainStep } from '../../shops/domains/steps.ts';
import type { SettingsFormat } from '../../shops/settings/format.ts';
import { domainChallenges } from '../../shops/shop/domain-challenge.ts';
import type { ShopHosts } from '../../shops/shop/hosts.ts';
import { declaredButton, declareHidden, readFields } from '../components/declared-form.ts';
import { chip, momentText, plainDay, type ChipKind } from '../components/format.ts';
import type { ShopPages } from '../pages.ts';
import { recordAction } from '../record-action.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { fileProblemLine } from './problem-text.ts';
import { sectionPage } from './section-page.ts';
import { Redirect, type Notice } from '../../http/page-kit.ts';

/** Where domains must lead, and the hosts of this process, which know a new one at once. */
export interface DomainPageDeps {
  service: ServiceAddresses;
  hosts: ShopHosts;
}

const CHECK = declareHidden({ host: 253 });

/** The maximum number of domain checks per shop and hour: each check queries name servers. */
const MAX_CHECKS = 30;

export function domains(pages: ShopPages, format: SettingsFormat, { service, hosts }: DomainPageDeps): void {
  sectionPage(pages, format, {
    name: 'domains',
    beside: async (visit) => {
      const named = await findDomainsOfShop(visit.db, visit.shopId);
      const addresses = named.length === 0 ? [] : await service.find();
      return html`<div>
        ${directions(visit, service)}
        ${named.map((domain) => domainCard(visit, domain, { ...service, addresses }))}
      </div>`;
    },
  });

  pages.post('/settings/domains/check', 'settings_write', async (visit, form) => {
    const { host } = readFields(CHECK, form, visit);
    if (!visit.settings.domains.includes(host)) throw notFound();
    if (!(await form.isWithinLimit(`domain-check/${visit.shopId}`, MAX_CHECKS))) {
      const { headers } = tooManyRequests(MAX_CHECKS, 3600);
      throw new HttpError(429, visit.messages.settings.domainView.tooOften, headers);
    }
    return new Redirect(
      adminPath(visit, '/settings/domains'),
      await checkNow(visit, host, { service, hosts }),
    );
  });
}

async function checkNow(visit: ShopVisit, host: string, { service, hosts }: DomainPageDeps): Promise<Notice> {
  const messages = visit.messages.settings.domainView;
  const { db, shopId } = visit;
  const wasUsed = visit.settings.domainsInUse.includes(host);
  const checked = await checkDomain(
    { db, service, hosts, challengeOf: domainChallenges(visit.key) },
    { shopId, host },
    { onProved: (tx, proof) => recordAction(tx, visit, '/settings/domains/check', { host, proof }) },
  );
  if (!checked) throw notFound();
  const { proof, hasAnswer, problems } = checked;
  if (problems.length > 0) {
    return { text: problems.map((place) => fileProblemLine(place, visit)).join(' '), isProblem: true };
  }
  if (proof) return { text: messages.proved({ host }) };
  if (wasUsed) return { text: messages.checked({ host }) };
  return { text: (hasAnswer ? messages.notProved : messages.noAnswer)({ host }), isProblem: true };
}

/** The name that CNAME records lead to: PUBLIC_URL's, or the one at which this person has reached the service. */
const serverName = ({ origin }: ShopVisit, { name }: ServiceAddresses) => name ?? new URL(origin).hostname;

function directions(visit: ShopVisit, service: ServiceAddresses): Markup {
  const messages = visit.messages.settings.domainView;
  return html`<section class="card">
    <h2>${messages.title}</h2>
    <p>
      ${messages.now} <a href="${visit.storefront}" target="_blank" rel="noopener">${visit.storefront}</a>
    </p>
    <ol class="directions">
      <li>${messages.dns({ server: serverName(visit, service) })}</li>
      <li>${messages.add}</li>
      ${visit.domainPolicy.needsProof && html`<li>${messages.prove}</li>`}
      <li>${service.getsCertificates ? messages.certificateAuto : messages.certificate}</li>
    </ol>
  </section>`;
}

const CHIPS = { done: 'good', waiting: 'neutral', problem: 'bad' } as const satisfies Record<
  DomainStep['state'],
  ChipKind
>;

/** The steps of a domain, what to enter at the domain provider, and the button that checks it. */
function domainCard(
  visit: ShopVisit,
  domain: NamedDomain,
  service: ServiceAddresses & { addresses: readonly string[] },
): Markup {
  const messages = visit.messages.settings.domainView;
  const { host, isUsed, checkedAt } = domain;
  const steps = domainSteps(domain, {
    challenge: domainChallenges(visit.key)(visit.shopId, host),
    needsProof: visit.domainPolicy.needsProof,
    service: { ...service, name: serverName(visit, service) },
    now: visit.db.now,
  });
  const marks = isUsed ? html`data-domain="${host}"` : html`data-domain="${host}" data-pending="${host}"`;
  return html`<section class="card" ${marks}>
    <h2>${isUsed ? host : messages.pendingTitle({ host })}</h2>
    ${!isUsed && html`<p>${messages.pending}</p>`} ${steps.map((step) => stepPart(visit, domain, step))}
    ${!isUsed && html`<p class="quiet">${messages.wait}</p>`}
    <p class="quiet">
      ${
        checkedAt
          ? messages.lastCheck({ moment: momentText(checkedAt, visit.language) })
          : messages.notChecked
      }
    </p>
    ${
      visit.may('settings_write') &&
      declaredButton(
        CHECK,
        visit,
        { host },
        {
          action: adminPath(visit, '/settings/domains/check'),
          text: messages.check,
          label: `${messages.check} (${host})`,
          kind: 'main',
        },
      )
    }
  </section>`;
}

function stepPart(
  visit: ShopVisit,
  domain: NamedDomain,
  { step, state, reason, choices }: DomainStep,
): Markup {
  const messages = visit.messages.settings.domainView;
  const { addresses, issuer, validUntil } = domain;
  return html`<div class="domain-step" data-step="${step}" data-state="${state}">
    <h3>${messages.steps[step]} ${chip(messages.states[state], CHIPS[state])}</h3>
    <p>
      ${messages.reasons[reason]}
      ${reason === 'pointsElsewhere' && messages.found({ addresses: addresses.join(', ') })}
      ${
        step === 'certificate' &&
        validUntil &&
        messages.issued({ issuer: issuer ?? '', day: plainDay(validUntil, visit.language) })
      }
    </p>
    ${choices.length > 0 && html`<p>${choices.length > 1 ? messages.oneOf : messages.allOf}</p>`}
    ${choices.map(({ records }) => recordTable(visit, records))}
  </div>`;
}

/** Records to enter at a domain provider, each with a button that copies its value. */
export function recordTable(visit: ShopVisit, records: readonly DnsRecord[]): Markup {
  const messages = visit.messages.settings.domainView;
  return html`<div class="scroll">
    <table>
      <thead>
        <tr>
          <th scope="col">${messages.name}</th>
          <th scope="col">${messages.type}</th>
          <th scope="col">${messages.value}</th>
          <th scope="col"><span class="hidden">${messages.copy}</span></th>
        </tr>
      </thead>
      <tbody>
        ${records.map(
          ({ name, type, value }) =>
            html`<tr>
              <td>${name}</td>
              <td>${type}</td>
              <td>${value}</td>
              <td class="copy">
                <button
                  type="button"
                  data-copy-value="${value}"
                  data-copied="${messages.copied}"
                  aria-label="${messages.copyValue({ value })}"
                  hidden
                >
                  ${messages.copy}
                </button>
              </td>
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}
