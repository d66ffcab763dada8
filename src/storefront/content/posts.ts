import { pathOfPage } from '../../content/pages/page.ts';
import { findPosts, type ListedPost } from '../../content/pages/queries.ts';
import { toSeconds } from '../../http/dates.ts';
import { notFound } from '../../http/errors.ts';
import { escapeHtml, html, safe, type Markup } from '../../http/html.ts';
import { languageTag } from '../../http/locale.ts';
import { messagesIn } from '../../kernel/messages.ts';
import type { Page } from '../page.ts';
import type { Pages } from '../pages.ts';
import { absoluteUrl, shopName, shopPath, type Visit } from '../visit.ts';
import { contentStyles } from './blocks.ts';
import { postDetails } from './post-details.ts';

const PER_PAGE = 12;
const MAX_PAGE = 100;
const FEED_LENGTH = 20;

const PATH = '/posts';
const FEED_PATH = '/posts.atom';

/** The list of posts, the newest first, and their feed. A shop without posts in a language has neither in it. */
export function postPages(pages: Pages): void {
  pages.get(PATH, async (visit, { query }) => {
    const number = Number(query('page') ?? 1);
    if (!Number.isInteger(number) || number < 1 || number > MAX_PAGE) throw notFound();
    const { db, shopId, locale } = visit;
    const found = await findPosts(db, shopId, locale, PER_PAGE + 1, (number - 1) * PER_PAGE);
    if (found.length === 0) throw notFound();
    return listPage(visit, found, number);
  });

  pages.file(FEED_PATH, async (visit) => {
    if (visit.access !== 'public') throw notFound();
    const { db, shopId, locale } = visit;
    const posts = await findPosts(db, shopId, locale, FEED_LENGTH, 0);
    if (posts.length === 0) throw notFound();
    return { type: 'application/atom+xml; charset=utf-8', content: feed(visit, posts) };
  });
}

function listPage(visit: Visit, found: readonly ListedPost[], number: number): Page {
  const messages = messagesIn(visit.locale).storefront.content.posts;
  const posts = found.slice(0, PER_PAGE);
  const link = (page: number, text: string) =>
    html`<a class="button quiet" href="${shopPath(visit, PATH, page === 1 ? {} : { page: String(page) })}"
      >${text}</a
    >`;
  return {
    title: messages.title,
    path: PATH,
    ...(number > 1 && { query: { page: String(number) } }),
    head: html`${contentStyles}<link
        rel="alternate"
        type="application/atom+xml"
        title="${messages.feed}"
        href="${shopPath(visit, FEED_PATH)}"
      />`,
    main: html`<article class="content">
      <h1>${messages.title}</h1>
      <ul class="posts">
        ${posts.map((post) => card(visit, post))}
      </ul>
      <p>
        ${number > 1 && link(number - 1, messages.newer)}
        ${found.length > PER_PAGE && link(number + 1, messages.older)}
      </p>
      <p><a href="${shopPath(visit, FEED_PATH)}">${messages.feed}</a></p>
    </article>`,
  };
}

function card(visit: Visit, post: ListedPost): Markup {
  const { title, slug, summary, picture, pictureText } = post;
  const href = shopPath(visit, pathOfPage('post', slug)!);
  return html`<li>
    ${picture !== null && html`<img src="${picture}" alt="${pictureText ?? ''}" loading="lazy" />`}
    <h2><a href="${href}">${title}</a></h2>
    ${postDetails(visit, post)} ${summary !== null && html`<p>${summary}</p>`}
  </li>`;
}

/** Atom (RFC 4287). The id of an entry stays when its address changes. */
function feed(visit: Visit, posts: readonly ListedPost[]): string {
  const { locale, home } = visit;
  const element = (name: string, text: string) => safe(`<${name}>${escapeHtml(text)}</${name}>`);
  const linkTo = (rel: string, href: string) => safe(`<link rel="${rel}" href="${escapeHtml(href)}"/>`);
  const newest = posts.reduce(
    (latest, { changedAt }) => (changedAt > latest ? changedAt : latest),
    new Date(0),
  );
  const entries = posts.map(({ pageId, title, slug, summary, author, publishAt, changedAt }) => {
    const parts = [
      element('id', `urn:uuid:${pageId.toLowerCase()}`),
      element('title', title ?? ''),
      linkTo('alternate', absoluteUrl(visit, pathOfPage('post', slug)!)),
      element('published', toSeconds(publishAt ?? changedAt)),
      element('updated', toSeconds(changedAt)),
      safe(`<author><name>${escapeHtml(author ?? shopName(visit))}</name></author>`),
      ...(summary === null ? [] : [element('summary', summary)]),
    ];
    return `<entry>${parts.map(({ text }) => text).join('')}</entry>`;
  });
  const head = [
    element('id', `${home}${PATH}?locale=${locale}`),
    element('title', shopName(visit)),
    element('updated', toSeconds(newest)),
    linkTo('self', absoluteUrl(visit, FEED_PATH)),
    linkTo('alternate', absoluteUrl(visit, PATH)),
  ];
  const language = languageTag(locale);
  return `<?xml version="1.0" encoding="UTF-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="${language}">${head
    .map(({ text }) => text)
    .join('')}${entries.join('')}</feed>\n`;
}
