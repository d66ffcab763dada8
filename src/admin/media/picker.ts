import type { LibraryPicture } from '../../catalogue/media/queries.ts';
import { html, type Markup } from '../../http/html.ts';
import type { PageRequest } from '../../http/page-kit.ts';
import { isId } from '../../kernel/ids.ts';
import type { Permission } from '../users/permissions.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { isPicturePlace, pathOfPicture, PLACE_PATHS, type PicturePlace } from './look.ts';

/**
 * What a picture is chosen for. The picker is the media library with a button at each picture. A link leads to it; with
 * scripts it opens in a dialog over the page that asks for a picture (`assets/admin-picker.js`).
 */
export type PickTarget =
  | { kind: PicturePlace }
  | { kind: 'product' | 'category'; id: string }
  /** A text with markup: the picture is inserted by the editor. */
  | { kind: 'text' };

const PERMISSIONS: Readonly<Record<PickTarget['kind'], Permission>> = {
  logo: 'settings_write',
  home: 'settings_write',
  product: 'products_write',
  category: 'products_write',
  text: 'products_read',
};

/** As an address names it: `logo`, `product.<id>`. */
export const toParameter = (target: PickTarget) =>
  'id' in target ? `${target.kind}.${target.id}` : target.kind;

export function parseTarget(text: string): PickTarget | undefined {
  const [kind = '', id = ''] = text.split('.', 2);
  if (kind === 'product' || kind === 'category') return isId(id) ? { kind, id } : undefined;
  if (kind === 'text') return { kind };
  return isPicturePlace(kind) ? { kind } : undefined;
}

/** undefined: the library is only looked at, or the user may not change what the picture is for. */
export function pickTarget(visit: ShopVisit, { query }: PageRequest): PickTarget | undefined {
  const target = parseTarget(query('for') ?? '');
  return target && visit.may(PERMISSIONS[target.kind]) ? target : undefined;
}

/** The page that shows a chosen picture. */
export function pickTargetPage(visit: ShopVisit, target: Exclude<PickTarget, { kind: 'text' }>): string {
  if (!('id' in target)) return adminPath(visit, PLACE_PATHS[target.kind]);
  return adminPath(visit, `/${target.kind === 'product' ? 'products' : 'categories'}/${target.id}`);
}

/** `part`: the id of the part of the page that shows the chosen picture; without it, the page is loaded again. */
export function pickerLink(visit: ShopVisit, target: PickTarget, part?: string): Markup {
  return html`<a
    class="button"
    href="${adminPath(visit, '/media', { for: toParameter(target) })}"
    data-picker="${visit.messages.form.cancel}"
    ${part !== undefined && html`data-part="${part}"`}
    >${visit.messages.media.chooseFor[target.kind]}</a
  >`;
}

/** The button that chooses a picture. Without scripts, one copies the address for a text. */
export function chooseButton(
  visit: ShopVisit,
  target: PickTarget,
  picture: LibraryPicture,
  alt: string,
): Markup {
  const messages = visit.messages.media;
  const { imageKey, name } = picture;
  const label = messages.chooseNamed({ name });
  if (target.kind === 'text') {
    const path = pathOfPicture(visit, picture, ['MediumLarge', 'Large']);
    return html`<button
        type="button"
        class="with-script"
        data-picture="${path}"
        data-alt="${alt}"
        aria-label="${label}"
      >
        ${messages.choose}
      </button>
      <input class="without-script" value="${path}" aria-label="${messages.address({ name })}" readonly />`;
  }
  const action = 'id' in target ? '/media/assign' : '/media/choose';
  return html`<form method="post" action="${adminPath(visit, action)}">
    <input type="hidden" name="for" value="${toParameter(target)}" />
    <input type="hidden" name="imageKey" value="${imageKey}" />
    <button aria-label="${label}">${messages.choose}</button>
  </form>`;
}
