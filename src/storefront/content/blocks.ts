import { installedApps, type InstalledApp } from '../../apps/manifest/installed.ts';
import { keyOfPicture, ROW, shownProducts, type BlockData } from '../../content/block-data.ts';
import type { Block, BlockOf, BlockType } from '../../content/blocks.ts';
import { html, plainText, webAddress, type Markup } from '../../http/html.ts';
import { textIn } from '../../http/locale.ts';
import { newPauses } from '../../http/pauses.ts';
import { CLASSIFIERS, imageUrl } from '../../platform/media/images.ts';
import { messagesIn } from '../../kernel/messages.ts';
import { categoryTiles } from '../listing/category-cards.ts';
import { merchantHtml, prepareMerchantHtml } from '../../content/merchant-html/merchant-html.ts';
import { newsletterFields, offeredCampaigns } from '../newsletter/newsletter.ts';
import { CONTENT_STYLESHEET } from '../layout/assets.ts';
import { jsonScript } from '../page.ts';
import { priceNote, productCards } from '../product/product-card.ts';
import { shopPath, type Visit } from '../visit.ts';
import { appFrame, findAppBlock, originsOf } from './app-frame.ts';
import { contactFields } from './contact-form.ts';
import { findVideo, VIDEO_SITES } from './video.ts';

/** What a block is rendered in. */
export interface BlockContext {
  visit: Visit;
  data: BlockData;
  /** The place of the block, from 0. */
  index: number;
  /** Whether the block is the hero that has the main heading of the page. */
  isMain: boolean;
  /** The title of the page. */
  title: string;
  /** Read where a block is of an app. */
  apps: readonly InstalledApp[];
}

type Renderer<Name extends BlockType> = (block: BlockOf<Name>, context: BlockContext) => Markup | false;

/** One renderer for each kind of block. */
const RENDERERS: { readonly [Name in BlockType]: Renderer<Name> } = {
  hero({ picture, alt, title, html: text, link, linkText }, context) {
    const { visit } = context;
    const heading = title ?? context.title;
    return html`<section class="hero ${picture !== undefined && 'pictured'}">
      ${
        picture !== undefined &&
        html`<img
          src="${picture}"
          alt="${altOf(context, picture, alt)}"
          width="800"
          height="600"
          ${context.isMain ? html`fetchpriority="high"` : html`loading="lazy"`}
        />`
      }
      <div>
        ${context.isMain ? html`<h1>${heading}</h1>` : title !== undefined && html`<h2>${title}</h2>`}
        ${text !== undefined && html`<div class="prose">${merchantHtml(visit, text)}</div>`}
        ${link !== undefined && html`<p>${buttonLink(visit, link, linkText)}</p>`}
      </div>
    </section>`;
  },

  promises({ promises }) {
    return html`<ul class="promises">
      ${promises.map((text) => html`<li>${text}</li>`)}
    </ul>`;
  },

  heading({ text, level }) {
    return level === '2' ? html`<h2>${text}</h2>` : html`<h3>${text}</h3>`;
  },

  richText({ html: text }, { visit }) {
    return html`<div class="prose">${merchantHtml(visit, text)}</div>`;
  },

  picture(block, context) {
    const { picture, alt, caption, link } = block;
    const image = pictureView(context, picture, alt, WIDE);
    const href = link === undefined ? undefined : linkAddress(context.visit, link);
    return html`<figure class="figure">
      ${href === undefined ? image : html`<a href="${href}">${image}</a>`}
      ${caption !== undefined && html`<figcaption>${caption}</figcaption>`}
    </figure>`;
  },

  gallery({ title, pictures }, context) {
    return html`<section>
      ${title !== undefined && html`<h2>${title}</h2>`}
      <ul class="gallery">
        ${pictures.map(({ picture, alt }) => html`<li>${pictureView(context, picture, alt, QUARTER)}</li>`)}
      </ul>
    </section>`;
  },

  pictureText({ picture, alt, side, html: text, link, linkText }, context) {
    return html`<section class="beside ${side === 'right' && 'right'}">
      ${pictureView(context, picture, alt, HALF)}
      <div>
        <div class="prose">${merchantHtml(context.visit, text)}</div>
        ${link !== undefined && html`<p>${buttonLink(context.visit, link, linkText)}</p>`}
      </div>
    </section>`;
  },

  products(block, { visit, data, index }) {
    const products = shownProducts(block, data, index);
    if (products.length === 0) return false;
    const { title, source } = block;
    const isChosen = source === 'chosen' || source === 'category';
    const row = products.length < ROW ? 'few' : isChosen ? undefined : 'full';
    return html`<section>
      ${title !== undefined && html`<h2>${title}</h2>`}
      ${productCards(visit, products, {
        heading: title === undefined ? 'h2' : 'h3',
        isBelow: true,
        ...(row && { row }),
      })}
    </section>`;
  },

  categories({ title, categories = [] }, { visit, data }) {
    const cards =
      categories.length === 0
        ? data.topCards
        : categories.flatMap((alias) => data.chosenCards.find((card) => card.alias === alias) ?? []);
    return (
      cards.length > 0 &&
      html`<section>
        ${title !== undefined && html`<h2>${title}</h2>`} ${categoryTiles(visit, cards)}
      </section>`
    );
  },

  video({ video, title, picture }, context) {
    const messages = messagesIn(context.visit.locale).storefront.content;
    const { site, frame } = findVideo(video);
    const { name } = VIDEO_SITES[site];
    return html`<figure class="video">
      <div data-video-frame>
        ${picture !== undefined && pictureView(context, picture, '', WIDE)}
        <a class="button" href="${video}" rel="noopener" data-video="${frame}" data-title="${title}"
          >${messages.play}<span class="visually-hidden">: ${title}</span></a
        >
      </div>
      <figcaption>${title} <small>${messages.videoNote({ site: name })}</small></figcaption>
    </figure>`;
  },

  faq({ title, questions }, { visit }) {
    return html`<section class="faq">
      ${title !== undefined && html`<h2>${title}</h2>`}
      ${questions.map(
        ({ question, answer }) =>
          html`<details>
            <summary>${question}</summary>
            <div class="prose">${merchantHtml(visit, answer)}</div>
          </details>`,
      )}
    </section>`;
  },

  quote({ text, source }) {
    return html`<figure class="quote">
      <blockquote>${lines(text)}</blockquote>
      ${source !== undefined && html`<figcaption>${source}</figcaption>`}
    </figure>`;
  },

  button({ link, linkText }, { visit }) {
    return html`<p class="centred">${buttonLink(visit, link, linkText)}</p>`;
  },

  contactForm({ title, text }, { visit, index }) {
    return html`<section class="boxed">
      ${title !== undefined && html`<h2>${title}</h2>`} ${text !== undefined && html`<p>${lines(text)}</p>`}
      ${contactFields(visit, `b${index}-`)}
    </section>`;
  },

  newsletter({ title, text }, { visit, index }) {
    if (offeredCampaigns(visit).length === 0) return false;
    return html`<section class="boxed">
      ${title !== undefined && html`<h2>${title}</h2>`} ${text !== undefined && html`<p>${lines(text)}</p>`}
      ${newsletterFields(visit, `b${index}-`)}
    </section>`;
  },

  columns({ columns }, context) {
    const { visit } = context;
    return html`<div class="columns">
      ${columns.map(
        ({ picture, alt, title, html: text, link, linkText }) =>
          html`<section>
            ${picture !== undefined && pictureView(context, picture, alt, QUARTER)}
            ${title !== undefined && html`<h2>${title}</h2>`}
            ${text !== undefined && html`<div class="prose">${merchantHtml(visit, text)}</div>`}
            ${link !== undefined && html`<p>${buttonLink(visit, link, linkText)}</p>`}
          </section>`,
      )}
    </div>`;
  },

  spacer({ size, line }) {
    return html`<div class="spacer ${size}">${line === true && html`<hr />`}</div>`;
  },

  app({ block }, { visit, apps }) {
    const found = findAppBlock(apps, block);
    return found !== undefined && appFrame(visit, found);
  },
};

export interface RenderedBlocks {
  main: Markup;
  /** The stylesheet of the blocks, and structured data of the page. */
  head: Markup | undefined;
  hasProducts: boolean;
  /** The places that frames of the page come from. */
  frames: string[];
}

/**
 * Renders the blocks in their order. Long texts are sanitised one after the other, and other requests run in between.
 * `isMainHero`: a hero at the top has the main heading of the page.
 */
export async function renderBlocks(
  visit: Visit,
  blocks: readonly Block[],
  data: BlockData,
  { title, isMainHero }: { title: string; isMainHero: boolean },
): Promise<RenderedBlocks> {
  const hasApps = blocks.some(({ type }) => type === 'app');
  const apps = hasApps ? await installedApps(visit.db, visit.settings) : [];
  const parts: Markup[] = [];
  const pause = newPauses();
  for (const [index, block] of blocks.entries()) {
    await prepareMerchantHtml(visit, ...htmlsOf(block));
    const isMain = isMainHero && index === 0;
    const part = render(block, { visit, data, index, isMain, title, apps });
    if (part) parts.push(part);
    await pause();
  }
  const hasProducts = blocks.some(
    (block, index) => block.type === 'products' && shownProducts(block, data, index).length > 0,
  );
  return { main: html`${parts}`, head: headOf(blocks), hasProducts, frames: framesOf(blocks, apps) };
}

function render<Name extends BlockType>(block: BlockOf<Name>, context: BlockContext): Markup | false {
  const renderer: Renderer<Name> = RENDERERS[block.type];
  return renderer(block, context);
}

function htmlsOf(block: Block): string[] {
  if (block.type === 'faq') return block.questions.map(({ answer }) => answer);
  if (block.type === 'columns') return block.columns.flatMap((column) => column.html ?? []);
  return 'html' in block && block.html !== undefined ? [block.html] : [];
}

/** The built-in front page has these, so the stylesheet of all pages has theirs. */
const BUILT_IN: ReadonlySet<BlockType> = new Set(['hero', 'promises', 'products', 'categories']);

export const contentStyles = html`<link rel="stylesheet" href="${CONTENT_STYLESHEET.path}" />`;

function headOf(blocks: readonly Block[]): Markup | undefined {
  const hasOwnStyles = blocks.some(({ type }) => !BUILT_IN.has(type));
  return hasOwnStyles ? html`${contentStyles}${structuredQuestions(blocks)}` : undefined;
}

/** Search engines show questions with their answers. */
function structuredQuestions(blocks: readonly Block[]): Markup | undefined {
  const questions = blocks.flatMap((block) => (block.type === 'faq' ? block.questions : []));
  if (questions.length === 0) return undefined;
  return jsonScript(
    'page.questions',
    {
      '@context': 'https://schema.org',
      '@type': 'FAQPage',
      mainEntity: questions.map(({ question, answer }) => ({
        '@type': 'Question',
        name: question,
        acceptedAnswer: { '@type': 'Answer', text: plainText(answer, 2_000) },
      })),
    },
    'application/ld+json',
  );
}

function framesOf(blocks: readonly Block[], apps: readonly InstalledApp[]): string[] {
  const sites = blocks.flatMap((block) =>
    block.type === 'video' ? VIDEO_SITES[findVideo(block.video).site].origin : [],
  );
  const ofApps = blocks.flatMap((block) =>
    block.type === 'app' ? (findAppBlock(apps, block.block) ?? []) : [],
  );
  return [...new Set(sites), ...originsOf(ofApps)];
}

/** A path of the shop keeps the language of the page. */
export function linkAddress(visit: Visit, link: string): string | undefined {
  return link.startsWith('/') ? shopPath(visit, link === '/' ? '' : link) : webAddress(link);
}

function buttonLink(visit: Visit, link: string, text: string | undefined): Markup | false {
  const href = linkAddress(visit, link);
  return (
    href !== undefined &&
    html`<a class="button" href="${href}">${text ?? messagesIn(visit.locale).storefront.front.discover}</a>`
  );
}

const lines = (text: string) =>
  text.split('\n').map((line, index) => html`${index > 0 && html`<br />`}${line}`);

/** The widths that pictures are shown in. */
const WIDE = '(min-width: 78rem) 76rem, 100vw';
const HALF = '(min-width: 60rem) 38rem, 100vw';
const QUARTER = '(min-width: 60rem) 20rem, 50vw';

/** Smaller files are made for lists. */
const MIN_WIDTH = 200;

/** A picture of the library in the files that it has; another one as it is. */
function pictureView(context: BlockContext, address: string, alt: string | undefined, sizes: string): Markup {
  const { visit, data } = context;
  const text = altOf(context, address, alt);
  const picture = data.pictures.get(keyOfPicture(address) ?? '');
  const files = CLASSIFIERS.flatMap((classifier) => picture?.sizes[classifier] ?? []);
  const largest = files.at(-1);
  if (!picture || !largest) return html`<img src="${address}" alt="${text}" loading="lazy" />`;
  const set = files
    .filter(({ width }, at) => width >= MIN_WIDTH && width !== files[at + 1]?.width)
    .map(({ file, width }) => `${imageUrl('', visit.shopId, picture.imageKey, file)} ${width}w`);
  return html`<img
    src="${imageUrl('', visit.shopId, picture.imageKey, (picture.sizes.MediumLarge ?? largest).file)}"
    ${set.length > 1 && html`srcset="${set.join(', ')}" sizes="${sizes}"`}
    width="${largest.width}"
    height="${largest.height}"
    alt="${text}"
    loading="lazy"
  />`;
}

/** Without a text of its own, a picture of the library has that of the library. */
function altOf({ visit, data }: BlockContext, address: string, alt: string | undefined): string {
  const known = data.pictures.get(keyOfPicture(address) ?? '');
  return alt ?? (known && textIn(known.altTexts, visit.locale, visit.settings.defaultLocale)) ?? '';
}

/** Below the last block, where there are prices. */
export const noteBelow = (visit: Visit, { hasProducts }: RenderedBlocks) => hasProducts && priceNote(visit);
