import { html, type Markup } from '../../http/html.ts';
import { CLASSIFIERS, imageUrl, type ImageFile } from '../../platform/media/images.ts';
import type { ShownPicture } from './queries.ts';
import { messagesIn } from '../../kernel/messages.ts';
import type { Visit } from '../visit.ts';

/** The picture takes half of a wide screen and all of a narrow one. */
const SIZES = '(min-width: 60rem) 36rem, 100vw';

/** Smaller files are made for lists. */
const MIN_WIDTH = 200;

export interface ResponsivePicture {
  large: string;
  /** The file for browsers that do not choose one of the set. */
  medium: ImageFile & { url: string };
  set: string;
  thumbnail: ImageFile & { url: string };
  /** The merchant's description of it; undefined: there is none in this language. */
  altText: string | undefined;
}

/** Addresses are paths without scheme and host. A picture without any file is left out. */
export function toPictures(
  { shopId, locale }: Visit,
  pictures: readonly ShownPicture[],
): ResponsivePicture[] {
  return pictures.flatMap(({ imageKey, sizes, altTexts }) => {
    const files = CLASSIFIERS.flatMap((classifier) => {
      const file = sizes[classifier];
      return file ? [{ ...file, classifier, url: imageUrl('', shopId, imageKey, file.file) }] : [];
    });
    const largest = files.at(-1);
    if (!largest) return [];
    const fileOf = (size: string) => files.find(({ classifier }) => classifier === size) ?? largest;
    const set = files
      .filter(({ width }, index) => width >= MIN_WIDTH && width !== files[index + 1]?.width)
      .map(({ url, width }) => `${url} ${width}w`);
    return [
      {
        large: largest.url,
        medium: fileOf('Medium'),
        set: set.join(', '),
        thumbnail: fileOf('Small'),
        altText: altTexts[locale],
      },
    ];
  });
}

/** The first picture is large, the others are links to their large files, which the script opens in place. */
export function pictureView({ locale }: Visit, pictures: readonly ResponsivePicture[], name: string): Markup {
  const messages = messagesIn(locale).storefront.product;
  const [first] = pictures;
  if (!first) return html`<div class="pictures"><span class="no-picture" aria-hidden="true"></span></div>`;
  const { medium } = first;
  return html`<div class="pictures" data-slideshow>
    <a href="${first.large}"
      ><img
        src="${medium.url}"
        srcset="${first.set}"
        sizes="${SIZES}"
        width="${medium.width}"
        height="${medium.height}"
        alt="${first.altText ?? name}"
        fetchpriority="high"
    /></a>
    ${
      pictures.length > 1 &&
      html`<ul class="thumbnails" aria-label="${messages.pictures}">
        ${pictures.map(
          ({ large, thumbnail, set, medium, altText }, index) =>
            html`<li>
              <a
                href="${large}"
                data-srcset="${set}"
                data-width="${medium.width}"
                data-height="${medium.height}"
                ><img
                  src="${thumbnail.url}"
                  width="${thumbnail.width}"
                  height="${thumbnail.height}"
                  alt="${altText ?? messages.picture({ name, number: index + 1 })}"
              /></a>
            </li>`,
        )}
      </ul>`
    }
  </div>`;
}

/** Lets the browser fetch the picture before it has parsed the page. */
export function picturePreload([first]: readonly ResponsivePicture[]): Markup | false {
  if (!first) return false;
  return html`<link
    rel="preload"
    as="image"
    href="${first.medium.url}"
    imagesrcset="${first.set}"
    imagesizes="${SIZES}"
    fetchpriority="high"
  />`;
}
