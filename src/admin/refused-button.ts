import { HttpError } from '../http/errors.ts';
import { Redirect, type Notice } from '../http/page-kit.ts';
import { refusalText } from './components/validation.ts';
import type { ShopVisit } from './visit.ts';

/**
 * The answer to a button: goes to `href` with the notice, or with the refusal in words, because a button has no field
 * beside which it could stand. A missing thing is answered with 404.
 */
export async function redirectWithNotice(
  visit: ShopVisit,
  href: string,
  work: () => Promise<Notice>,
  target = href,
): Promise<Redirect> {
  try {
    return new Redirect(target, await work());
  } catch (error) {
    if (!(error instanceof HttpError) || error.status === 404 || error.status >= 500) throw error;
    return new Redirect(href, { text: refusalText(visit, error), isProblem: true });
  }
}
