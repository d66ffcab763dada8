import { imageUrl, CLASSIFIERS } from '../../platform/media/images.ts';
import { basePriceText, shownPrice } from '../../catalogue/products/shown-price.ts';
import type { Product } from '../../catalogue/products/schema.ts';
import type { Design } from '../../platform/email/letter.ts';
import { html, plainText, webAddress, type Markup } from '../../http/html.ts';
import { textIn } from '../../http/locale.ts';
import { newPauses } from '../../http/pauses.ts';
import { priceText } from '../../http/price-text.ts';
import { messagesIn } from '../../kernel/messages.ts';
import type { Settings } from '../../shops/settings/settings.ts';
import { keyOfPicture, shownProducts, type BlockData } from '../block-data.ts';
import type { Block, BlockOf, BlockType } from '../blocks.ts';
import { emailMarkup, type EmailLinks } from './email-markup.ts';

/** The reader of a mailing's blocks, and where their links lead. */
export interface MailingReader {
  shopId: string;
  locale: string;
  settings: Settings;
  design: Design;
  /** The base address of the shop's pages. */
  storefront: string;
}

interface Context extends MailingReader, EmailLinks {
  data: BlockData;
  index: number;
}

/** A block as HTML and as text. */
interface EmailBlock {
  html: Markup;
  /** Its paragraphs. */
  text: readonly (string | undefined)[];
}

/** The width of the text of an email. */
const WIDTH = 552;
const HALF = 268;

/** One renderer for each kind of block; undefined: it is left out. */
const RENDERERS: {
  readonly [Name in BlockType]: (block: BlockOf<Name>, context: Context) => EmailBlock | undefined;
} = {
  hero({ picture, alt, title, html: markup, link, linkText }, context) {
    return {
      html: html`${picture !== undefined && pictureView(context, picture, alt)}
      ${title !== undefined && html`<h1 style="margin: 20px 0 0; font-size: 26px; line-height: 1.25">${title}</h1>`}
      ${markup !== undefined && emailMarkup(markup, context)} ${buttonView(context, link, linkText)}`,
      text: [title?.toUpperCase(), textOf(markup), linkLine(context, link, linkText)],
    };
  },

  promises({ promises }) {
    return {
      html: html`<p style="margin: 16px 0 0; font-size: 14px; color: #434d5b">
        ${promises.map((text, index) => html`${index > 0 && ' · '}${text}`)}
      </p>`,
      text: [promises.join(' · ')],
    };
  },

  heading({ text, level }) {
    return {
      html:
        level === '2'
          ? html`<h2 style="margin: 28px 0 0; font-size: 20px; line-height: 1.3">${text}</h2>`
          : html`<h3 style="margin: 20px 0 0; font-size: 17px; line-height: 1.3">${text}</h3>`,
      text: [text.toUpperCase()],
    };
  },

  richText({ html: markup }, context) {
    return { html: emailMarkup(markup, context), text: [textOf(markup)] };
  },

  picture({ picture, alt, caption, link }, context) {
    const image = pictureView(context, picture, alt);
    const href = link === undefined ? undefined : context.addressOf(link);
    return {
      html: html`${href === undefined ? image : html`<a href="${href}">${image}</a>`}
      ${caption !== undefined && html`<p style="margin: 8px 0 0; font-size: 13px; color: #5b6573">${caption}</p>`}`,
      text: [altOf(context, picture, alt), caption, href],
    };
  },

  gallery({ title, pictures }, context) {
    return {
      html: html`${titleView(title)}
      ${pairs(pictures.map(({ picture, alt }) => pictureView(context, picture, alt, HALF)))}`,
      text: [title?.toUpperCase(), ...pictures.map(({ picture, alt }) => altOf(context, picture, alt))],
    };
  },

  pictureText({ picture, alt, html: markup, link, linkText }, context) {
    return {
      html: html`${pictureView(context, picture, alt)} ${emailMarkup(markup, context)}
      ${buttonView(context, link, linkText)}`,
      text: [textOf(markup), linkLine(context, link, linkText)],
    };
  },

  products(block, context) {
    const products = shownProducts(block, context.data, context.index);
    if (products.length === 0) return undefined;
    return {
      html: html`${titleView(block.title)} ${pairs(products.map((product) => productView(context, product)))}
        <p style="margin: 8px 0 0; font-size: 13px; color: #5b6573">${priceNote(context)}</p>`,
      text: [
        block.title?.toUpperCase(),
        ...products.map(
          (product) => `${product.name}\n${priceOf(context, product)}\n${context.addressOf(pathOf(product))}`,
        ),
        priceNote(context),
      ],
    };
  },

  categories({ title, categories = [] }, context) {
    const { data, addressOf, linkColour } = context;
    const cards =
      categories.length === 0
        ? data.topCards
        : categories.flatMap((alias) => data.chosenCards.find((card) => card.alias === alias) ?? []);
    if (cards.length === 0) return undefined;
    const links = cards.map(({ alias, name }) => ({
      name: textIn(name, context.locale, context.settings.defaultLocale) ?? alias,
      href: addressOf(`/Categories/${encodeURIComponent(alias)}`)!,
    }));
    return {
      html: html`${titleView(title)}
      ${links.map(
        ({ name, href }) =>
          html`<p style="margin: 12px 0 0"><a href="${href}" style="color: ${linkColour}">${name}</a></p>`,
      )}`,
      text: [title?.toUpperCase(), ...links.map(({ name, href }) => `${name}: ${href}`)],
    };
  },

  video({ video, title, picture }, context) {
    const href = webAddress(video)!;
    return {
      html: html`${picture !== undefined && html`<a href="${href}">${pictureView(context, picture, title)}</a>`}
        <p style="margin: 12px 0 0">
          ▶ <a href="${href}" style="color: ${context.linkColour}">${title}</a>
        </p>`,
      text: [`${title}: ${href}`],
    };
  },

  faq({ title, questions }, context) {
    return {
      html: html`${titleView(title)}
      ${questions.map(
        ({ question, answer }) =>
          html`<p style="margin: 20px 0 0"><strong>${question}</strong></p>
            ${emailMarkup(answer, context)}`,
      )}`,
      text: [
        title?.toUpperCase(),
        ...questions.flatMap(({ question, answer }) => [question, textOf(answer)]),
      ],
    };
  },

  quote({ text, source }) {
    return {
      html: html`<blockquote style="margin: 20px 0 0; padding: 0 0 0 16px; border-left: 3px solid #c9ced6">
        <p style="margin: 0; font-style: italic">${lines(text)}</p>
        ${source !== undefined && html`<p style="margin: 8px 0 0; font-size: 14px; color: #434d5b">${source}</p>`}
      </blockquote>`,
      text: [source === undefined ? text : `${text}\n${source}`],
    };
  },

  button({ link, linkText }, context) {
    return { html: html`${buttonView(context, link, linkText)}`, text: [linkLine(context, link, linkText)] };
  },

  contactForm: () => undefined,

  newsletter: () => undefined,

  app: () => undefined,

  columns({ columns }, context) {
    return {
      html: html`${columns.map(
        ({ picture, alt, title, html: markup, link, linkText }) =>
          html`${picture !== undefined && pictureView(context, picture, alt)} ${titleView(title)}
          ${markup !== undefined && emailMarkup(markup, context)} ${buttonView(context, link, linkText)}`,
      )}`,
      text: columns.flatMap(({ title, html: markup, link, linkText }) => [
        title?.toUpperCase(),
        textOf(markup),
        linkLine(context, link, linkText),
      ]),
    };
  },

  spacer({ size, line }) {
    const height = { small: 12, medium: 24, large: 40 }[size];
    const isLine = line === true;
    return {
      html: html`<table role="presentation" width="100%" cellpadding="0" cellspacing="0">
        <tr>
          <td height="${height}" style="height: ${height}px; font-size: 1px; line-height: 1px">&nbsp;</td>
        </tr>
        ${
          isLine &&
          html`<tr>
            <td
              height="${height}"
              style="height: ${height}px; border-top: 1px solid #e3e6ea; font-size: 1px; line-height: 1px"
            >
              &nbsp;
            </td>
          </tr>`
        }
      </table>`,
      text: isLine ? ['---'] : [],
    };
  },
};

/** The content of a mailing, for the letters of all who read it in one language. */
export interface MailingContentView {
  html: Markup;
  /** Its paragraphs. */
  text: readonly string[];
}

/** Renders the blocks in their order. Long texts are sanitised one after the other, and other work runs in between. */
export async function renderMailingBlocks(
  reader: MailingReader,
  blocks: readonly Block[],
  data: BlockData,
): Promise<MailingContentView> {
  const links = linksOf(reader);
  const parts: EmailBlock[] = [];
  const pause = newPauses();
  for (const [index, block] of blocks.entries()) {
    const part = render(block, { ...reader, ...links, data, index });
    if (part) parts.push(part);
    await pause();
  }
  return {
    html: html`${parts.map((part) => part.html)}`,
    text: parts.flatMap(({ text }) => text.flatMap((paragraph) => paragraph || [])),
  };
}

function render<Name extends BlockType>(block: BlockOf<Name>, context: Context): EmailBlock | undefined {
  const renderer: (block: BlockOf<Name>, context: Context) => EmailBlock | undefined = RENDERERS[block.type];
  return renderer(block, context);
}

/** Files of the service and addresses that name the shop are on the same host as its pages, not below them. */
const ON_HOST = /^\/(?:media|shop)\//;

export function linksOf({ storefront, locale, settings, design }: MailingReader): EmailLinks {
  const { origin } = new URL(storefront);
  return {
    linkColour: design.link,
    pictureOf: (address) => (address.startsWith('/') ? origin + address : address),
    addressOf: (link) => {
      if (link.startsWith('mailto:')) return link;
      if (!link.startsWith('/') || link.startsWith('//')) return webAddress(link);
      const url = new URL(ON_HOST.test(link) ? origin + link : storefront + (link === '/' ? '' : link));
      // A link of the merchant that names a language keeps it.
      if (locale !== settings.defaultLocale && !url.searchParams.has('locale') && !ON_HOST.test(link))
        url.searchParams.set('locale', locale);
      return url.href;
    },
  };
}

const textOf = (markup: string | undefined) =>
  markup === undefined ? undefined : plainText(markup).replaceAll('\n', '\n\n');

const lines = (text: string) =>
  text.split('\n').map((line, index) => html`${index > 0 && html`<br />`}${line}`);

const titleView = (title: string | undefined) =>
  title !== undefined && html`<h2 style="margin: 28px 0 0; font-size: 20px; line-height: 1.3">${title}</h2>`;

const labelOf = ({ locale }: Context, text: string | undefined) =>
  text ?? messagesIn(locale).storefront.front.discover;

function buttonView(context: Context, link: string | undefined, text: string | undefined): Markup | false {
  const href = link === undefined ? undefined : context.addressOf(link);
  const { accent, onAccent } = context.design;
  return (
    href !== undefined &&
    html`<p style="margin: 20px 0 0">
      <a
        href="${href}"
        style="display: inline-block; padding: 12px 20px; border-radius: 6px; background: ${accent}; color: ${onAccent}; font-weight: bold; text-decoration: none"
        >${labelOf(context, text)}</a
      >
    </p>`
  );
}

function linkLine(context: Context, link: string | undefined, text: string | undefined): string | undefined {
  const href = link === undefined ? undefined : context.addressOf(link);
  return href && `${labelOf(context, text)}: ${href}`;
}

/** Wide enough for sharp screens, and no larger than an email should load. */
const MAX_FILE_WIDTH = 1_200;

/** A picture of the library in one of the files that it has; another one as it is. */
function pictureView(context: Context, address: string, alt: string | undefined, width = WIDTH): Markup {
  const { data, shopId, pictureOf } = context;
  const picture = data.pictures.get(keyOfPicture(address) ?? '');
  const files = CLASSIFIERS.flatMap((classifier) => picture?.sizes[classifier] ?? []);
  const file = files.findLast((one) => one.width <= MAX_FILE_WIDTH) ?? files[0];
  const source = picture && file ? imageUrl('', shopId, picture.imageKey, file.file) : address;
  const shownWidth = Math.min(width, file?.width ?? width);
  return html`<img
    src="${pictureOf(source)}"
    width="${shownWidth}"
    alt="${altOf(context, address, alt)}"
    style="display: block; width: 100%; max-width: ${shownWidth}px; height: auto; margin: 20px 0 0; border: 0"
  />`;
}

/** Without a text of its own, a picture of the library has that of the library. */
function altOf({ data, locale, settings }: Context, address: string, alt: string | undefined): string {
  const known = data.pictures.get(keyOfPicture(address) ?? '');
  return alt ?? (known && textIn(known.altTexts, locale, settings.defaultLocale)) ?? '';
}

/** Two beside each other. */
function pairs(cells: readonly Markup[]): Markup {
  const rows = cells.flatMap((cell, index) => (index % 2 === 0 ? [[cell, cells[index + 1]]] : []));
  return html`<table
    role="presentation"
    width="100%"
    cellpadding="0"
    cellspacing="0"
    style="margin: 0; border-collapse: collapse"
  >
    ${rows.map(
      ([left, right]) =>
        html`<tr style="vertical-align: top">
          <td width="50%" style="padding: 0 8px 8px 0; vertical-align: top">${left}</td>
          <td width="50%" style="padding: 0 0 8px 8px; vertical-align: top">${right}</td>
        </tr>`,
    )}
  </table>`;
}

const pathOf = ({ productNumber }: Product) => `/Products/${encodeURIComponent(productNumber)}`;

function productView(context: Context, product: Product): Markup {
  const { pictureOf, addressOf, linkColour } = context;
  const href = addressOf(pathOf(product))!;
  const image = product.images.find(({ classifier }) => classifier === 'Medium') ?? product.images[0];
  return html`${
      image &&
      html`<a href="${href}"
        ><img
          src="${pictureOf(image.url)}"
          width="${Math.min(HALF, image.width)}"
          alt="${product.name}"
          style="display: block; width: 100%; max-width: ${Math.min(HALF, image.width)}px; height: auto; margin: 20px 0 0; border: 0"
      /></a>`
    }
    <p style="margin: 12px 0 0">
      <a href="${href}" style="color: ${linkColour}; font-weight: bold">${product.name}</a>
    </p>
    <p style="margin: 4px 0 0">${lines(priceOf(context, product))}</p>`;
}

/** The public price, and below it the price per litre or kilogram. */
function priceOf({ settings, locale }: Context, product: Product): string {
  const messages = messagesIn(locale).storefront.product;
  const shown = shownPrice(product, settings, locale);
  if (!shown) return messages.onRequest;
  const { price, isFrom, unit, base } = shown;
  const from = isFrom ? `${messages.from} ` : '';
  const per = unit === undefined ? '' : ` ${messages.per({ unit })}`;
  return `${from}${priceText(price, locale)}${per}${base ? `\n${from}${basePriceText(base, locale)}` : ''}`;
}

/** The note about tax and shipping below a list. */
function priceNote({ settings, locale }: Context): string {
  const messages = messagesIn(locale).storefront.product;
  const tax = !settings.displayTaxes
    ? settings.noTaxesMessage
    : settings.taxModel === 'GROSS'
      ? messages.pricesIncludeVat
      : messages.pricesExcludeVat;
  return [tax, messages.shipping].filter(Boolean).join(', ');
}
