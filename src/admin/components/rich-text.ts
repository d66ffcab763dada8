import { html, type Markup } from '../../http/html.ts';
import { MERCHANT_HTML_RULES } from '../../content/merchant-html/merchant-html.ts';
import { PICKER_SCRIPT, RICH_TEXT_SCRIPT, SQUIRE, type Asset } from '../layout/assets.ts';
import type { AdminMessages } from '../messages.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { longTextField, type LongTextField } from './form.ts';

/** A page with such a field loads these. */
export const RICH_TEXT_SCRIPTS: readonly Asset[] = [SQUIRE, PICKER_SCRIPT, RICH_TEXT_SCRIPT];

type Command = Exclude<keyof AdminMessages['richText']['commands'], 'source' | 'picture'>;

/** The buttons in their groups, each with its sign: a short text, or a drawing. */
const GROUPS: readonly (readonly (readonly [Command, Markup])[])[] = [
  [
    ['bold', html`<b>B</b>`],
    ['italic', html`<i>I</i>`],
  ],
  [
    ['heading2', html`H2`],
    ['heading3', html`H3`],
  ],
  [
    ['list', drawing(html`<path d="M9 6h11M9 12h11M9 18h11M4.500 6h.01M4.500 12h.01M4.500 18h.01" />`)],
    [
      'numberedList',
      drawing(html`<path d="M10 6h10M10 12h10M10 18h10M4 4.500 5.500 4v4.500M4 15h2.500L4 19h2.500" />`),
    ],
    ['quote', drawing(html`<path d="M5 5v14M10 8h10M10 12h10M10 16h6" />`)],
  ],
  [
    [
      'link',
      drawing(
        html`<path
          d="M10 14a4 4 0 0 0 6 .4l3-3a4 4 0 0 0-5.700-5.700l-1.500 1.500M14 10a4 4 0 0 0-6-.4l-3 3a4 4 0 0 0 5.700 5.700l1.500-1.500"
        />`,
      ),
    ],
  ],
  [
    ['undo', drawing(html`<path d="M8 5 4 9l4 4M4 9h10a5.500 5.500 0 0 1 0 11h-3" />`)],
    ['clear', drawing(html`<path d="M6 5h12M12 5l-2 14M4 20 20 4" />`)],
  ],
];

/** With the shop whose pictures can be chosen, if the page belongs to one. */
export type RichTextReader = Pick<ShopVisit, 'messages'> & Partial<Pick<ShopVisit, 'base' | 'may'>>;

/**
 * A field for a text with markup. It is a textarea, which is what the form sends; with scripts an editor takes its
 * place. The toolbar and its dialog are part of the page, because they are in the reader's language.
 */
export function richTextField(field: LongTextField, { messages, base, may }: RichTextReader): Markup {
  const { form, richText } = messages;
  const { commands } = richText;
  const pictures =
    base !== undefined && may?.('products_read') ? adminPath({ base }, '/media', { for: 'text' }) : undefined;
  const button = (command: Command, sign: Markup) =>
    html`<button
      type="button"
      data-command="${command}"
      aria-label="${commands[command]}"
      title="${commands[command]}"
    >
      ${sign}
    </button>`;
  return html`<div
    class="rich-text"
    data-rich-text="${JSON.stringify(MERCHANT_HTML_RULES)}"
    data-only-source="${richText.onlySource({ elements: '{elements}' })}"
  >
    ${longTextField(field)}
    <div class="rich-text-toolbar" role="toolbar" aria-label="${richText.toolbar}" hidden>
      ${GROUPS.map(
        (group) =>
          html`<span class="commands">${group.map(([command, sign]) => button(command, sign))}</span>`,
      )}
      ${
        pictures !== undefined &&
        html`<span class="commands">
          <button
            type="button"
            data-command="picture"
            data-pictures="${pictures}"
            data-close="${form.cancel}"
            aria-label="${commands.picture}"
            title="${commands.picture}"
          >
            ${drawing(html`<path d="M4 5h16v14H4zM4 16l5-5 4 4 3-3 4 4M15 9h.01" />`)}
          </button>
        </span>`
      }
      <button type="button" data-command="source" title="${commands.source}">HTML</button>
    </div>
    ${
      pictures !== undefined &&
      html`<p class="hint without-script">
        <a href="${pictures}" target="_blank" rel="noopener">${commands.picture}</a>
      </p>`
    }
    <p class="hint" data-why hidden></p>
    <template>
      <dialog class="link-dialog" aria-label="${commands.link}">
        <div class="field">
          <label>${richText.address} <input type="text" maxlength="2000" autocomplete="off" /></label>
          <p class="hint">${richText.addressHint}</p>
          <p class="field-problem" role="alert" hidden>${richText.wrongAddress}</p>
        </div>
        <div class="actions">
          <button type="button" class="main" value="set">${richText.setLink}</button>
          <button type="button" value="remove">${richText.removeLink}</button>
          <button type="button" value="cancel">${form.cancel}</button>
        </div>
      </dialog>
    </template>
  </div>`;
}

function drawing(paths: Markup): Markup {
  return html`<svg class="icon" viewBox="0 0 24 24" width="18" height="18" aria-hidden="true">${paths}</svg>`;
}
