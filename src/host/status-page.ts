import type { FastifyInstance } from 'fastify';
import type { Config } from '../config.ts';
import type { Database } from '../db/database.ts';
import { html, type Markup } from '../http/html.ts';
import { messagesIn } from '../kernel/messages.ts';
import { brandOf, type Brand } from '../platform/brand.ts';
import { brandLink, sendPage, type StartPage } from '../site/start-page/page.ts';
import { startingPage } from '../site/start-page/start-view.ts';
import type { CurrentMessages } from './current-messages.ts';
import { isCurrent, textOfMessage } from './message-audience.ts';
import type { HostMessage } from './message-queries.ts';
import { createStatus, STATUS_PARTS, type Status } from './status.ts';

export interface StatusPageDeps {
  db: Database;
  config: Config;
  messages: Pick<CurrentMessages, 'all'>;
  isMigrated: () => boolean;
}

const LANGUAGES = ['en', 'de', 'fr'] as const;
type Language = (typeof LANGUAGES)[number];

/** The page /status of the service: whether it is up, and what its host says in public. Hosts of shops have none. */
export function statusPage(app: FastifyInstance, { db, config, messages, isMigrated }: StatusPageDeps): void {
  const statusNow = createStatus({ db, config });
  const brand = brandOf(config);

  app.get<{ Querystring: { lang?: unknown } }>(
    '/status',
    { schema: { hide: true } },
    async (request, reply) => {
      if (!isMigrated()) {
        return sendPage(reply.code(503).headers({ 'retry-after': '1', refresh: '1' }), startingPage(brand));
      }
      const status = await statusNow();
      const shown = messages.all().filter(({ isPublic }) => isPublic);
      const language = languageOf(request.query.lang, request.headers['accept-language']);
      const isDown = status.shops === 'down';
      return sendPage(
        reply.code(isDown ? 503 : 200),
        statusView(brand, language, { status, messages: shown, now: db.now }),
        {
          vary: 'accept-language',
          'cache-control': 'public, max-age=5',
        },
      );
    },
  );
}

function languageOf(asked: unknown, accepted = ''): Language {
  const known = (text: string) => LANGUAGES.find((one) => one === text);
  const ranges = accepted.slice(0, 200).split(',');
  return (
    (typeof asked === 'string' ? known(asked) : undefined) ??
    ranges.map((range) => known(range.trim().slice(0, 2).toLowerCase())).find((one) => one !== undefined) ??
    'en'
  );
}

const NAMES: Readonly<Record<Language, string>> = { en: 'English', de: 'Deutsch', fr: 'Français' };

function statusView(
  brand: Brand,
  language: Language,
  { status, messages, now }: { status: Status; messages: readonly HostMessage[]; now: Date },
): StartPage {
  const { status: words } = messagesIn(language);
  const states = Object.values(status);
  const whole = states.includes('down') ? 'down' : states.includes('delayed') ? 'delayed' : 'works';
  const current = messages.filter((message) => isCurrent(message, now));
  const coming = messages.filter(({ startsAt }) => startsAt > now);
  return {
    brand,
    language,
    title: words.title,
    header: html`${brandLink(brand)}
      <nav aria-label="${words.languages}">
        <ul>
          ${LANGUAGES.map((one) => html`<li><a href="/status?lang=${one}" lang="${one}">${NAMES[one]}</a></li>`)}
        </ul>
      </nav>`,
    main: html`<div class="hero"><h1>${words.whole[whole]}</h1></div>
      ${messageCard(words.now, current, language)}
      <section class="card" aria-labelledby="page.parts">
        <h2 id="page.parts">${words.title}</h2>
        <ul>
          ${STATUS_PARTS.map((part) => html`<li>${words.parts[part]}: <strong>${words.states[status[part]]}</strong></li>`)}
        </ul>
      </section>
      ${messageCard(words.coming, coming, language)}`,
  };
}

function messageCard(title: string, messages: readonly HostMessage[], language: Language): Markup | false {
  const moment = (at: Date) => {
    const text = at.toLocaleString(language, { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' });
    return html`<time datetime="${at.toISOString()}">${text} UTC</time>`;
  };
  return (
    messages.length > 0 &&
    html`<section class="card">
      <h2>${title}</h2>
      <ul>
        ${messages.map(
          ({ texts, startsAt, endsAt }) =>
            html`<li>
              <p>${textOfMessage(texts, language)}</p>
              <p>${moment(startsAt)} – ${moment(endsAt)}</p>
            </li>`,
        )}
      </ul>
    </section>`
  );
}
