import { appLabel } from '../../apps/manifest/installed.ts';
import { inLanguage } from '../../apps/manifest/schema.ts';
import { BLOCK_TYPES, isBlockType, MAX_BLOCKS, type BlockType } from '../../content/blocks.ts';
import { html, type Markup } from '../../http/html.ts';
import { declareHidden, showFields } from '../components/declared-form.ts';
import { choiceField } from '../components/form.ts';
import { languageName } from '../components/language-name.ts';
import { ACTION_ICONS } from '../layout/icons.ts';
import type { Draft } from '../pages.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { BLOCK_FORMS, emptyBlock, fieldNames, ITEM_FORMS, type TypedBlock } from './block-forms.ts';

/* The editor of blocks, in one language at a time: for pages and for mailings. */

/** The button that was pressed, the language to copy from, and the type of a new block. */
export const EDITING = declareHidden({ do: 50, from: 5, newType: 50 });

/** The blocks after a button of the editor. An unknown step changes nothing. */
export function changedBlocks(
  blocks: readonly TypedBlock[],
  step: string,
  at: number,
  newType: string,
): TypedBlock[] {
  if (step === 'add') {
    return isBlockType(newType) && blocks.length < MAX_BLOCKS
      ? [...blocks, emptyBlock(newType)]
      : [...blocks];
  }
  const block = blocks[at];
  if (!block) return [...blocks];
  const others = blocks.toSpliced(at, 1);
  switch (step) {
    case 'up':
      return others.toSpliced(Math.max(0, at - 1), 0, block);
    case 'down':
      return others.toSpliced(at + 1, 0, block);
    case 'remove':
      return others;
    case 'duplicate':
      return blocks.length < MAX_BLOCKS ? blocks.toSpliced(at, 0, block) : [...blocks];
    case 'more': {
      const max = ITEM_FORMS[block.type]?.max ?? 0;
      const items = block.items.length < max ? [...block.items, {}] : block.items;
      return blocks.with(at, { ...block, items });
    }
    default:
      return [...blocks];
  }
}

/** `blocks.3.questions.0.answer` is the input `blocks.3.items.0.answer`. */
export function blockInput(field: string, blocks: readonly TypedBlock[]): string {
  const [, index, list, rest] = /^blocks\.(\d+)\.(\w+)\.(\d+\.\w+)$/.exec(field) ?? [];
  if (index === undefined) return field.replace(/^(blocks\.\d+\.\w+)\.\d+$/, '$1');
  const { type } = blocks[Number(index)] ?? {};
  return type && ITEM_FORMS[type]?.name === list ? `blocks.${index}.items.${rest}` : field;
}

/** Links to the editor in each language of the shop; a dash marks those in which there is nothing yet. */
export function editorLanguages(
  visit: ShopVisit,
  { path, present, current }: { path: string; present: readonly string[]; current: string },
): Markup | false {
  const { settings, language, messages } = visit;
  if (settings.locales.length < 2) return false;
  return html`<nav class="language-tabs" aria-label="${messages.pages.language}">
    ${settings.locales.map((locale) => {
      const isThere = present.includes(locale);
      return html`<a
        class="button"
        href="${adminPath(visit, path, { locale })}"
        ${locale === current && html`aria-current="page"`}
        >${languageName(locale, language, settings.locales)}${!isThere && ' –'}</a
      >`;
    })}
  </nav>`;
}

interface EditedBlocks {
  blocks: readonly TypedBlock[];
  draft: Draft | undefined;
  mayWrite: boolean;
  /** The other languages, whose blocks can be copied. */
  others: readonly string[];
  /** The text for a page without blocks that has some in another language. */
  noText: string;
  /** The text about blocks of a kind. */
  noteOf?: (type: BlockType) => string | undefined;
}

/** The blocks with their fields and buttons. Each button sends the form, and `changedBlocks` does what it says. */
export function blockList(visit: ShopVisit, edited: EditedBlocks): Markup {
  const messages = visit.messages.pages;
  const { mayWrite, others, noText } = edited;
  const { settings, language } = visit;
  return html`<section aria-labelledby="blocks">
    <h2 id="blocks">${messages.blocks}</h2>
    <input type="hidden" name="count" value="${edited.blocks.length}" />
    ${edited.blocks.length === 0 && html`<p class="card quiet">${others.length > 0 ? noText : messages.noBlocks}</p>`}
    ${edited.blocks.map((block, index) => blockCard(visit, block, index, edited))}
    ${
      mayWrite &&
      html`<div class="card row" id="add">
        ${choiceField({
          name: 'newType',
          label: messages.addBlock,
          choices: BLOCK_TYPES.map((value) => ({ value, text: messages.types[value] })),
          value: 'richText' satisfies BlockType,
        })}
        <button name="do" value="add" formaction="#add" formnovalidate>${messages.add}</button>
      </div>`
    }
    ${
      mayWrite &&
      others.length > 0 &&
      html`<div class="card row">
        ${choiceField({
          name: 'from',
          label: messages.copyFrom,
          choices: others.map((locale) => ({
            value: locale,
            text: languageName(locale, language, settings.locales),
          })),
        })}
        <button name="do" value="copy" formaction="#blocks" formnovalidate>${messages.copy}</button>
      </div>`
    }
  </section>`;
}

function blockCard(
  visit: ShopVisit,
  { type, values, items }: TypedBlock,
  index: number,
  { blocks: { length: count }, draft, mayWrite, noteOf }: EditedBlocks,
): Markup {
  const { messages } = visit;
  const words = messages.pages;
  const note = noteOf?.(type);
  const prefix = `blocks.${index}.`;
  const name = `${index + 1}. ${words.types[type]}`;
  const list = ITEM_FORMS[type];
  const step = (action: string, sign: Markup | string, label: string, target = index) =>
    html`<button
      name="do"
      value="${action} ${index}"
      formaction="#block-${target}"
      formnovalidate
      aria-label="${label}"
      title="${label}"
    >
      ${sign}
    </button>`;
  return html`<section class="card block" id="block-${index}" aria-labelledby="block-${index}-name">
    <div class="actions">
      <h3 id="block-${index}-name">${name}</h3>
      ${
        mayWrite &&
        html`${index > 0 && step('up', ACTION_ICONS.up, words.moveUp({ name }), index - 1)}
        ${index < count - 1 && step('down', ACTION_ICONS.down, words.moveDown({ name }), index + 1)}
        ${step('duplicate', ACTION_ICONS.copy, words.duplicate({ name }))}
        ${step('remove', '×', words.remove({ name }))}`
      }
    </div>
    ${note !== undefined && html`<p class="hint">${note}</p>`}
    <input type="hidden" name="${prefix}type" value="${type}" />
    ${blockFields(visit, BLOCK_FORMS[type], values, prefix, draft)}
    ${
      list &&
      html`<input type="hidden" name="${prefix}items" value="${items.length}" /> ${items.map(
          (item, at) =>
            html`<fieldset class="stack">
              <legend>${words.entry({ number: at + 1 })}</legend>
              ${blockFields(visit, list.form, item, `${prefix}items.${at}.`, draft)}
            </fieldset>`,
        )}
        ${
          items.length < list.max &&
          html`<button name="do" value="more ${index}" formaction="#block-${index}" formnovalidate>
            ${words.more}
          </button>`
        }`
    }
  </section>`;
}

function blockFields(
  visit: ShopVisit,
  form: (typeof BLOCK_FORMS)[BlockType],
  values: Readonly<Record<string, string>>,
  prefix: string,
  draft: Draft | undefined,
): Markup {
  const field = showFields(form, visit, {
    values: { ...values, line: values['line'] === 'yes' },
    draft,
    prefix,
  });
  return html`${fieldNames(form, visit.messages).map((name) =>
    name === 'picture'
      ? pictureField(visit, field(name), `field-${prefix}picture`, `field-${prefix}alt`)
      : name === 'block'
        ? appBlockField(visit, field, values)
        : field(name),
  )}`;
}

/** The blocks of the installed apps, and the one that is chosen even when its app is gone. */
function appBlockField(
  visit: ShopVisit,
  field: ReturnType<typeof showFields>,
  { block = '' }: Readonly<Record<string, string>>,
): Markup {
  const messages = visit.messages.pages;
  const offered = visit.apps.flatMap((app) =>
    app.storefrontBlocks
      .filter(({ place }) => place === 'page')
      .map(({ name, title }) => ({
        value: `${app.host}/${name}`,
        text: `${inLanguage(title, visit.language)}: ${appLabel(app)}`,
      })),
  );
  const isOffered = block === '' || offered.some(({ value }) => value === block);
  const choices = isOffered ? offered : [...offered, { value: block, text: block }];
  return field('block', {
    choices,
    hint: offered.length === 0 ? messages.noAppBlocks : messages.appBlockHint,
  });
}

/** The field of an address, with a button that chooses a picture of the library where scripts run. */
export function pictureField(visit: ShopVisit, field: Markup, input: string, alt: string): Markup {
  if (!visit.may('products_read')) return field;
  return html`${field}<button
      type="button"
      class="with-script"
      data-choose-picture="${adminPath(visit, '/media', { for: 'text' })}"
      data-close="${visit.messages.form.cancel}"
      data-input="${input}"
      data-alt="${alt}"
    >
      ${visit.messages.pages.choosePicture}
    </button>`;
}
