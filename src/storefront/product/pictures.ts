import { html, type Markup } from '../../http/html.ts';
import { CLASSIFIERS, imageUrl, type ImageFile } from '../../platform/media/images.ts';
import type { Picture } from './queries.ts';
import { messages } from '../../kernel/messages.ts';
import type { Visit } from '../visit.ts';

/** Half of a wide screen, all of a narrow one. */
const SIZES = '(min-width: 60rem) 36rem, 100vw';

/** Smaller files are for lists. */
const SMALLEST_IN_SET = 200;

interface ShownPicture {
  large: string;
  /** What a browser shows that chooses none of the set. */
  medium: ImageFile & { url: string };
  set: string;
  thumbnail: ImageFile & { url: string };
}

/** Their paths, without scheme and host. Pictures of which no file is left are not shown. */
export function shownPictures({ shopId }: Visit, pictures: readonly Picture[]): ShownPicture[] {
  return pictures.flatMap(({ imageKey, sizes }) => {
    const files = CLASSIFIERS.flatMap((classifier) => {
      const file = sizes[classifier];
      return file ? [{ ...file, classifier, url: imageUrl('', shopId, imageKey, file.file) }] : [];
    });
    const largest = files.at(-1);
    if (!largest) return [];
    const of = (wanted: string) => files.find(({ classifier }) => classifier === wanted) ?? largest;
    const set = files
      .filter(({ width }, index) => width >= SMALLEST_IN_SET && width !== files[index + 1]?.width)
      .map(({ url, width }) => `${url} ${width}w`);
    return [{ large: largest.url, medium: of('Medium'), set: set.join(', '), thumbnail: of('Small') }];
  });
}

/** The first one large, the others as links to their large files; the script shows them in place. */
export function pictureView({ locale }: Visit, pictures: readonly ShownPicture[], name: string): Markup {
  const words = messages(locale).storefront.product;
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
        alt="${name}"
        fetchpriority="high"
    /></a>
    ${
      pictures.length > 1 &&
      html`<ul class="thumbnails" aria-label="${words.pictures}">
        ${pictures.map(
          ({ large, thumbnail, set, medium }, index) =>
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
                  alt="${words.picture({ name, number: index + 1 })}"
              /></a>
            </li>`,
        )}
      </ul>`
    }
  </div>`;
}

/** The browser fetches the picture before it has read the page. */
export function picturePreload([first]: readonly ShownPicture[]): Markup | false {
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
