import { html, type Markup } from '../../http/html.ts';
import { findProblem } from '../../platform/email/problems.ts';
import type { ShopVisit } from '../visit.ts';
import { momentText } from './format.ts';

/** Says that the last email did not arrive at an address, with the words of the mail server. */
export async function emailProblemNotice(visit: ShopVisit, address: string | null): Promise<Markup | false> {
  const problem = address === null ? undefined : await findProblem(visit.db, visit.shopId, address);
  if (!problem) return false;
  const { messages, language } = visit;
  const words = messages.settings.emailProblem;
  const names = messages.settings.emailKinds as Readonly<Record<string, string>>;
  const kind = names[problem.template] ?? problem.template;
  return html`<div class="problem" role="note" data-email-problem="${problem.kind}">
    <span
      >${words[problem.kind]({ kind, address: problem.email })} ${words.said({ answer: problem.answer })}
      (${momentText(problem.at, language)})</span
    >
  </div>`;
}
