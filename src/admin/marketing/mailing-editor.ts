import type { Static } from 'typebox';
import { isBlockType, MAX_BLOCKS, type BlockType } from '../../content/blocks.ts';
import { letterHtml, loadLetter } from '../../content/mailings/letter.ts';
import { LEFT_OUT_BLOCKS } from '../../content/mailings/mailing.ts';
import { findMailing, findMailingTexts } from '../../content/mailings/queries.ts';
import { getMailing, updateMailing } from '../../content/mailings/routes.ts';
import { MailingBody, MailingText, type MailingAnswer } from '../../content/mailings/schema.ts';
import { isRefusal, notFound } from '../../http/errors.ts';
import { html, type Markup } from '../../http/html.ts';
import { textIn } from '../../http/locale.ts';
import { type FormRequest, type PageRequest, Redirect } from '../../http/page-kit.ts';
import { isId } from '../../kernel/ids.ts';
import { findSegments } from '../../people/customers/segments.ts';
import { createSenderLoader } from '../../shops/email/shop.ts';
import { declareForm, optionsOf, readFields, showFields } from '../components/declared-form.ts';
import { buttonForm, problemOf } from '../components/form.ts';
import { RICH_TEXT_SCRIPTS } from '../components/rich-text.ts';
import { problemText, refuseField } from '../components/validation.ts';
import { requireUnchanged, versionField } from '../components/version.ts';
import { blockInput, blockList, changedBlocks, editorLanguages, EDITING } from '../content/block-editor.ts';
import { blockLimits, readBlocks, toBlock, toTyped, type TypedBlock } from '../content/block-forms.ts';
import { PAGES_SCRIPT } from '../layout/assets.ts';
import type { AdminPage } from '../page.ts';
import type { Draft, ShopPages } from '../pages.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { mailingSubject, mailingsStep, newsletterChoices } from './mailing-parts.ts';
import { resultsCard, sendingCard } from './mailing-results.ts';
import { findListedCampaigns } from './queries.ts';
import { marketingStep } from './tabs.ts';

const MAILING = declareForm({ body: MailingBody }, ({ mailings }) => ({
  newsletters: { kind: 'ticks', label: mailings.newsletters },
  segmentId: { kind: 'choice', label: mailings.segment, empty: mailings.everybody },
  couponCampaignId: {
    kind: 'choice',
    label: mailings.couponCampaign,
    empty: '–',
    hint: mailings.couponCampaignHint,
  },
  perHour: { kind: 'integer', label: mailings.perHour, hint: mailings.perHourHint },
}));
const TEXT = declareForm({ body: MailingText }, ({ mailings }) => ({
  subject: { label: mailings.subject },
  preheader: { label: mailings.preheader, hint: mailings.preheaderHint },
}));

/** As many as the editor of a page. */
const MAX_VALUES = 2_900;
const MAX_CAMPAIGNS = 200;

type Answer = Static<typeof MailingAnswer>;

/** The editor of a mailing, one language at a time, and its results once it is under way. */
export function mailingEditor(pages: ShopPages): void {
  const { labels, limits } = optionsOf(MAILING, TEXT);
  const texts = { ...limits.texts, ...blockLimits((form) => optionsOf(form).limits.texts ?? {}) };
  pages.form(
    '/marketing/mailings/:mailingId',
    { read: 'newsletters_read', write: 'coupons_write' },
    { show, save },
    { labels, limits: { texts, values: MAX_VALUES } },
  );

  pages.file('/marketing/mailings/:mailingId/preview', 'newsletters_read', async (visit, request) => {
    const { db, config, origin, shopId } = visit;
    const mailing = await findMailing(db, shopId, requireId(request));
    if (!mailing) throw notFound();
    const stored = await findMailingTexts(db, shopId, mailing.mailingId);
    const text = stored.find(({ locale }) => locale === request.query('locale'));
    const sender = text && (await createSenderLoader({ db, config, origin, logo: 'in the page' })(shopId));
    if (!sender) throw notFound();
    const letter = await loadLetter(db, shopId, sender, { newsletterIds: mailing.newsletterIds, text });
    return {
      type: 'text/html; charset=utf-8',
      content: String(letterHtml(letter, sender, `${sender.storefront}/newsletter`)),
      showsPictures: true,
    };
  });
}

function requireId({ params }: PageRequest): string {
  const mailingId = params['mailingId']!;
  if (!isId(mailingId)) throw notFound();
  return mailingId;
}

const readMailing = (visit: ShopVisit, request: PageRequest): Promise<Answer> =>
  visit.call(getMailing, { params: { mailingId: requireId(request) } });

/** The language that is edited: the one that the address names, else the first that the mailing has. */
function localeOf({ settings, locale }: ShopVisit, request: PageRequest, { texts }: Answer): string {
  const asked = settings.locales.find((one) => one === request.query('locale'));
  return asked ?? (texts.some((text) => text.locale === locale) ? locale : (texts[0]?.locale ?? locale));
}

/** What the editor shows: the stored mailing, or what was typed. */
interface Edited {
  locale: string;
  facts: Pick<Answer, 'newsletters' | 'segmentId' | 'couponCampaignId' | 'perHour'>;
  text: Readonly<Record<'subject' | 'preheader', string | null>>;
  blocks: readonly TypedBlock[];
  /** The typed values are not those of the mailing yet. */
  isChanged: boolean;
}

async function show(visit: ShopVisit, request: PageRequest, draft?: Draft): Promise<AdminPage> {
  const mailing = await readMailing(visit, request);
  const locale = localeOf(visit, request, mailing);
  if (draft) return editor(visit, mailing, { ...readTyped(visit, locale, draft), isChanged: true }, draft);
  const text = mailing.texts.find((one) => one.locale === locale);
  return editor(visit, mailing, {
    locale,
    facts: mailing,
    text: { subject: text?.subject ?? null, preheader: text?.preheader ?? null },
    blocks: await storedBlocks(visit, mailing, locale),
    isChanged: false,
  });
}

async function storedBlocks(
  { db, shopId, messages }: ShopVisit,
  { mailingId }: Answer,
  locale: string,
): Promise<TypedBlock[]> {
  const texts = await findMailingTexts(db, shopId, mailingId);
  const blocks = texts.find((one) => one.locale === locale)?.blocks ?? [];
  return blocks.map((block) => toTyped(block, messages));
}

function readTyped(
  visit: ShopVisit,
  locale: string,
  form: Pick<FormRequest, 'field' | 'fieldList'>,
): Omit<Edited, 'isChanged'> {
  const { newsletters, segmentId, couponCampaignId, perHour } = readFields(MAILING, form, visit);
  const { subject, preheader } = readFields(TEXT, form, visit);
  return {
    locale,
    facts: {
      newsletters,
      segmentId: segmentId ?? null,
      couponCampaignId: couponCampaignId ?? null,
      perHour: perHour ?? null,
    },
    text: { subject, preheader: preheader ?? null },
    blocks: readBlocks(form, visit.messages, isBlockType, MAX_BLOCKS + 1),
  };
}

async function save(visit: ShopVisit, form: FormRequest): Promise<Redirect | AdminPage> {
  const mailing = await readMailing(visit, form);
  const locale = localeOf(visit, form, mailing);
  const typed = readTyped(visit, locale, form);
  const { do: pressed, from: wanted, newType } = readFields(EDITING, form, visit);
  const [step = '', at = ''] = pressed.split(' ', 2);
  if (step === 'copy') {
    const from = visit.settings.locales.find((one) => one === wanted);
    if (from === undefined) throw notFound();
    return editor(visit, mailing, {
      ...typed,
      blocks: await storedBlocks(visit, mailing, from),
      isChanged: true,
    });
  }
  if (step !== '') {
    const blocks = changedBlocks(typed.blocks, step, Number(at), newType);
    return editor(visit, mailing, { ...typed, blocks, isChanged: true });
  }
  requireUnchanged(form, mailing.version, visit.messages);
  await saveTyped(visit, mailing, typed);
  return new Redirect(
    adminPath(visit, `/marketing/mailings/${mailing.mailingId}`, { locale }),
    visit.messages.form.saved,
  );
}

/** Saves the mailing as it is typed. A refusal names the place of its field in the form. */
async function saveTyped(
  visit: ShopVisit,
  mailing: Answer,
  { locale, facts, text, blocks }: Omit<Edited, 'isChanged'>,
): Promise<void> {
  const others = mailing.texts.filter((one) => one.locale !== locale);
  const isEmpty = (text.subject ?? '') === '' && (text.preheader ?? '') === '' && blocks.length === 0;
  // A language without any content is none of the mailing, as long as it has another one.
  const texts =
    isEmpty && others.length > 0 ? others : [...others, { ...text, locale, blocks: blocks.map(toBlock) }];
  try {
    await visit.call(updateMailing, {
      params: { mailingId: mailing.mailingId },
      body: { ...facts, texts: texts as MailingBody['texts'] },
    });
  } catch (error) {
    if (!isRefusal(error)) throw error;
    const [problem] = error.problems;
    const [, rest] = /^texts[.[]\d+\]?\.(.*)$/.exec(problem?.field ?? '') ?? [];
    if (!problem || rest === undefined) throw error;
    const labels = { ...visit.messages.pages.fields, subject: visit.messages.mailings.subject };
    throw refuseField(blockInput(rest, blocks), problemText(visit, problem, labels));
  }
}

async function editor(visit: ShopVisit, mailing: Answer, edited: Edited, draft?: Draft): Promise<AdminPage> {
  const { messages } = visit;
  const words = messages.mailings;
  const { mailingId, state, texts } = mailing;
  const mayWrite = visit.may('coupons_write');
  const isDraft = state === 'draft';
  const path = `/marketing/mailings/${mailingId}`;
  const present = texts.map(({ locale }) => locale);
  const isOver = state === 'sent' || state === 'cancelled';
  return {
    title: mailingSubject(visit, texts),
    menu: 'marketing',
    scripts: [...RICH_TEXT_SCRIPTS, PAGES_SCRIPT],
    breadcrumbs: [marketingStep(visit), mailingsStep(visit)],
    actions:
      mayWrite &&
      html`${buttonForm({ action: adminPath(visit, `${path}/copy`), text: words.copy })}
      ${
        (isDraft || isOver) &&
        buttonForm({
          action: adminPath(visit, `${path}/delete`),
          text: messages.form.delete,
          kind: 'danger',
          confirm: words.confirmDelete,
        })
      }`,
    main: html`${!isDraft && resultsCard(visit, mailing)}
    ${mayWrite && sendingCard(visit, mailing, edited.locale, edited.isChanged)}
    ${editorLanguages(visit, { path, present, current: edited.locale })}
    ${isDraft && mayWrite && (await draftForm(visit, mailing, edited, draft))}
    ${present.includes(edited.locale) && previewFrames(visit, path, edited.locale)}`,
  };
}

async function draftForm(
  visit: ShopVisit,
  { version, texts }: Answer,
  edited: Edited,
  draft: Draft | undefined,
): Promise<Markup> {
  const { db, shopId, locale, settings, messages } = visit;
  const words = messages.mailings;
  const field = showFields(MAILING, visit, { values: edited.facts, draft });
  const text = showFields(TEXT, visit, { values: edited.text, draft });
  const segments = await findSegments(db, shopId);
  const campaigns = await findListedCampaigns(db, shopId, { limit: MAX_CAMPAIGNS, offset: 0 });
  return html`<form method="post" class="page-editor">
    <div class="actions stay-above">
      <button class="main">${messages.form.save}</button>
      ${edited.isChanged && html`<span class="quiet" role="status">${messages.pages.unsaved}</span>`}
    </div>
    ${problemOf(draft)} ${versionField(version)}
    <div class="sides">
      <div class="stack">
        <section class="card">${text('subject')} ${text('preheader')}</section>
        ${blockList(visit, {
          blocks: edited.blocks,
          draft,
          mayWrite: true,
          others: texts.map((one) => one.locale).filter((one) => one !== edited.locale),
          noText: words.noText,
          noteOf: (type) => noteOf(visit, type),
        })}
      </div>
      <div class="stack">
        <section class="card">
          <h2>${words.recipients}</h2>
          ${field('newsletters', { choices: newsletterChoices(visit) })}
          ${field('segmentId', {
            choices: segments.map(({ segmentId, name }) => ({ value: segmentId, text: name })),
          })}
          ${field('perHour')}
        </section>
        <section class="card">
          ${field('couponCampaignId', {
            choices: campaigns.map(({ campaignId, name }) => ({
              value: campaignId,
              text: textIn(name, locale, settings.defaultLocale) ?? campaignId,
            })),
          })}
        </section>
      </div>
    </div>
  </form>`;
}

/** What becomes of a block that makes no sense in an email. */
function noteOf({ messages: { mailings } }: ShopVisit, type: BlockType): string | undefined {
  if (LEFT_OUT_BLOCKS.has(type)) return mailings.leftOut;
  return type === 'video' ? mailings.videoLink : undefined;
}

function previewFrames(visit: ShopVisit, path: string, locale: string): Markup {
  const { pages: messages, mailings } = visit.messages;
  const address = adminPath(visit, `${path}/preview`, { locale });
  const frame = (kind: 'phone' | 'wide') =>
    html`<figure>
      <figcaption>${messages[kind]}</figcaption>
      <iframe
        class="${kind}"
        src="${address}"
        title="${messages.preview}: ${messages[kind]}"
        loading="lazy"
        sandbox=""
      ></iframe>
    </figure>`;
  return html`<section class="card" id="preview">
    <h2>${messages.preview}</h2>
    <p class="hint">${mailings.previewHint}</p>
    <div class="page-previews" role="group" aria-label="${messages.preview}" tabindex="0">
      ${frame('phone')} ${frame('wide')}
    </div>
  </section>`;
}
