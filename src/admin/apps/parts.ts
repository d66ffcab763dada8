import { html, type Markup } from '../../http/html.ts';
import { SCOPES, type Scope } from '../../http/scopes.ts';
import { AppProblem, type AppReason } from '../../apps/apps.ts';
import { ManifestProblem } from '../../apps/manifest/manifest.ts';
import { badRequest } from '../../http/errors.ts';
import { refuseField } from '../components/validation.ts';
import { adminPath, type ShopVisit } from '../visit.ts';

const TABS = [
  { name: 'installed', path: '/apps' },
  { name: 'webhooks', path: '/apps/webhooks' },
  { name: 'scripts', path: '/apps/scripts' },
  { name: 'audit', path: '/apps/audit' },
] as const;

export type AppTab = (typeof TABS)[number]['name'];

export function appTabs(visit: ShopVisit, current: AppTab): Markup {
  const messages = visit.messages.apps.tabs;
  return html`<nav class="tabs" aria-label="${messages.label}">
    ${TABS.map(
      ({ name, path }) =>
        html`<a href="${adminPath(visit, path)}" ${name === current && html`aria-current="page"`}
          >${messages[name]}</a
        >`,
    )}
  </nav>`;
}

export const appsStep = (visit: ShopVisit) => ({
  href: adminPath(visit, '/apps'),
  text: visit.messages.layout.menuEntries.apps,
});

const isWrite = (scope: Scope) => scope.endsWith('_write');

/** The permissions of an app in plain words: changes first, because they matter most. */
export function scopeLists({ messages }: ShopVisit, scopes: readonly Scope[]): Markup {
  const { writes, reads, scopes: texts } = messages.apps;
  const group = (title: string, chosen: Scope[]) =>
    chosen.length > 0 &&
    html`<div>
      <h3>${title}</h3>
      <ul class="rights">
        ${chosen.map((scope) => html`<li>${texts[scope]}</li>`)}
      </ul>
    </div>`;
  const known = SCOPES.filter((scope) => scopes.includes(scope));
  return html`${group(writes, known.filter(isWrite))}
  ${group(
    reads,
    known.filter((scope) => !isWrite(scope)),
  )}`;
}

/** Users cannot give an app more permissions than they have. */
export const grantableScopes = (visit: ShopVisit) => SCOPES.filter((scope) => visit.may(scope));

/** The fields that a problem is about. */
const FIELDS: Readonly<Partial<Record<AppReason, string>>> = {
  callback: 'callbackUrl',
  endInThePast: 'expires',
  name: 'name',
  nameTaken: 'name',
  network: 'networks',
  tokenByInstalling: 'name',
  tooManyNetworks: 'networks',
};

/** A problem that the command line would print in one line is shown on the form, in the reader's language. */
export async function onForm<Result>({ messages }: ShopVisit, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ManifestProblem) {
      const text = messages.apps.manifestProblems[error.reason];
      throw refuseField('address', error.detail === '' ? text : `${text} (${error.detail})`);
    }
    if (!(error instanceof AppProblem)) throw error;
    const { reason, message } = error;
    if (reason === undefined) throw badRequest(message);
    const text = messages.apps.problems[reason];
    const field = FIELDS[reason];
    throw field === undefined ? badRequest(text) : refuseField(field, text);
  }
}
