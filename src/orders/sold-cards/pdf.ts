import type { Queries } from '../../db/database.ts';
import { anyText } from '../../catalogue/products/render.ts';
import { messagesIn } from '../../kernel/messages.ts';
import type { EmailRequest } from '../../platform/email/kind.ts';
import { shopSettings } from '../../shops/settings/settings.ts';
import { INK, mm, newSheet, PAPER, type TextStyle } from '../documents/sheet.ts';

/** A gift card that was sold, for its recipient. */
export interface GiftCardSent {
  giftCardId: string;
  code: string;
  amount: string;
  /** The last day, in the language of the order; missing: it does not expire. */
  lastDay?: string;
  /** ISO 8601. */
  issuedAt: string;
  /** The name on it. */
  name?: string;
  message?: string;
  /** Who has bought it for somebody else. */
  giver?: string;
}

/** Lines of a message on the card: a longer one is in the email in full. */
const MAX_MESSAGE_LINES = 18;

/** A gift card to print: its worth, its message and its code, on the upper half of a page. */
export async function giftCardPdf(
  db: Queries,
  { shopId, locale, facts }: EmailRequest<GiftCardSent>,
): Promise<Buffer> {
  const settings = await shopSettings(db, shopId);
  const { documents, email } = messagesIn(locale);
  const words = email.soldGiftCard;
  const sheet = await newSheet({
    title: words.title,
    createdAt: new Date(facts.issuedAt),
    id: facts.giftCardId,
    language: documents.language,
  });
  const { write, wrapped, rule, lineHeight } = sheet;
  const width = PAPER.right - PAPER.left;
  let y = mm(30);
  const paragraph = (text: string, style: TextStyle, most = 3) => {
    for (const line of wrapped(text, width, style).slice(0, most)) {
      write(line, PAPER.left, y, style);
      y += lineHeight(style);
    }
    y += mm(4);
  };
  paragraph(anyText(settings.name, locale, settings.defaultLocale) ?? settings.shopId, {
    size: 12,
    color: INK.soft,
  });
  paragraph(words.title, { size: 26, font: 'bold' });
  paragraph(facts.amount, { size: 22 });
  rule(y);
  y += mm(6);
  if (facts.name !== undefined) paragraph(words.forPerson({ name: facts.name }), { size: 12 });
  if (facts.message !== undefined) paragraph(facts.message, { size: 12 }, MAX_MESSAGE_LINES);
  if (facts.giver !== undefined) paragraph(words.fromPerson({ name: facts.giver }), { size: 12 });
  rule(y);
  y += mm(6);
  paragraph(words.code, { size: 10, color: INK.soft });
  paragraph(facts.code, { size: 20, font: 'bold' });
  paragraph(words.howTo, { size: 10 });
  if (facts.lastDay !== undefined) paragraph(words.until({ day: facts.lastDay }), { size: 10 });
  return sheet.finished(() => {});
}
