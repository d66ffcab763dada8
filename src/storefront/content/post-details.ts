import type { ShownPage } from '../../content/pages/queries.ts';
import { toSeconds, dateText } from '../../http/dates.ts';
import { html, type Markup } from '../../http/html.ts';
import { messagesIn } from '../../kernel/messages.ts';
import type { Visit } from '../visit.ts';

/** When a post was published, and who wrote it. */
export function postDetails(
  { locale }: Visit,
  { publishAt, author }: Pick<ShownPage, 'publishAt' | 'author'>,
): Markup {
  const messages = messagesIn(locale).storefront.content.posts;
  return html`<p class="details">
    ${publishAt && html`<time datetime="${toSeconds(publishAt)}">${dateText(publishAt, locale)}</time>`}
    ${author !== null && messages.by({ author })}
  </p>`;
}
